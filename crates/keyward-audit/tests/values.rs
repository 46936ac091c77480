//! Whether values are what their definitions declare.

mod support;

use keyward_audit::{Audit, Options, Salt, Subject};
use std::sync::Arc;
use support::{Dump, TODAY, messages, report, schema};

const SHOP: &str = r#"
[keyspace]
name = "shop"
[keys.stock]
pattern = "stock"
counter = {}
[keys.balance]
pattern = "balance"
counter = { negative = true }
[keys.drift]
pattern = "drift"
counter = {}
value = "int"
[keys.used]
pattern = "used"
quota = { limit = 10 }
"#;

#[test]
fn a_count_below_zero_is_reported_unless_it_is_allowed() {
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(SHOP))], &options));
    let said = |number: i32| {
        let keys = ["stock", "balance", "drift", "used"];
        let commands: String = keys.map(|key| format!("SET {key} {number}\n")).concat();
        let mut said = messages(&report(&audit, &Dump::of(&commands).bytes()));
        said.retain(|line| line.starts_with("invalid-value"));
        said
    };
    assert_eq!(said(0), Vec::<String>::new());
    let said = said(-1);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().any(|line| line.contains("`stock`")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("`used`")), "{said:?}");
}

#[test]
fn a_count_must_be_what_incr_accepts() {
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(SHOP))], &options));
    let wrong = |value: &str| {
        let keys = ["stock", "balance", "drift", "used"];
        let commands: String = keys.map(|key| format!("SET {key} \"{value}\"\n")).concat();
        let said = messages(&report(&audit, &Dump::of(&commands).bytes()));
        said.iter().filter(|line| line.starts_with("invalid-value")).count()
    };
    for right in ["0", "7", "9223372036854775807"] {
        assert_eq!(wrong(right), 0, "{right}");
    }
    let refused = ["007", " 5", "+5", "-0", "1e3", "5 ", "", "18446744073709551615", "nonsense"];
    for refused in refused {
        assert_eq!(wrong(refused), 4, "`{refused}`");
    }
}

#[test]
fn undeclared_fields_hold_the_declared_type_and_decided_ties_have_a_fraction() {
    let text = r#"
[keyspace]
name = "shop"
[keys.sold]
pattern = "sold"
open = "uint"
fields = { product = "text" }
[keys.racers]
pattern = "racers"
ranking = { ties = "first" }
member = "text"
score = "int"
[keys.board]
pattern = "board"
ranking = {}
member = "text"
score = "int"
"#;
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(text))], &options));
    let said = |commands: &str| {
        let mut said = messages(&report(&audit, &Dump::of(commands).bytes()));
        said.retain(|line| line.starts_with("invalid-value"));
        said
    };
    let good = "HSET sold product kettle berlin 3\nZADD racers 40.25 ada\nZADD board 40 ada\n";
    assert_eq!(said(good), Vec::<String>::new());
    let bad = said("HSET sold product kettle berlin many\nZADD board 40.25 ada\n");
    assert_eq!(bad.len(), 2, "{bad:?}");
    assert!(bad.iter().any(|line| line.contains("an undeclared field")), "{bad:?}");
    assert!(bad.iter().any(|line| line.contains("a score")), "{bad:?}");
}
