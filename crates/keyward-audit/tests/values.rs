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
