//! Parents and children: in order, from both sides, and never in a circle.

use super::harness::{App, reference, server};
use keyward_testkit::Flavor;
use serde_json::{Value, json};

#[test]
fn children_are_in_order_and_move_with_their_parent() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let ada = app.ada();
        let [one, two, child] =
            ["One", "Two", "Child"].map(|title| ada.draft("snippet", "text", title, json!({})));
        let other = ada.draft("snippet", "text", "Other", json!({}));
        let children = |of: &str| ada.get(&format!("/api/entities/{of}/children")).is(200).json();
        let parent = |of: &str| ada.get(&format!("/api/entities/{of}/parent")).is(200).json();
        ada.attach(&child, &one, 2).is(204);
        ada.attach(&other, &one, 1).is(204);
        assert_eq!(children(&one), json!([reference(&other), reference(&child)]));
        ada.attach(&other, &one, 3).is(204);
        assert_eq!(children(&one), json!([reference(&child), reference(&other)]));
        assert_eq!(parent(&child), reference(&one));

        ada.attach(&child, &two, 1).is(204);
        assert_eq!(
            (children(&one), children(&two)),
            (json!([reference(&other)]), json!([reference(&child)]))
        );
        assert_eq!(parent(&child), reference(&two));

        ada.attach(&two, &other, 1).is(204);
        let circle = ada.attach(&one, &child, 1).is(422);
        assert_eq!(circle.json()["error"], "an entity cannot be below itself");
        ada.attach(&one, &one, 1).is(422);
        ada.delete(&format!("/api/entities/{child}/parent")).is(204);
        assert_eq!((children(&two), parent(&child)), (json!([]), Value::Null));
    }
}
