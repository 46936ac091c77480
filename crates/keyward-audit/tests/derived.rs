//! Keys that were derived from a definition's.

mod support;

use keyward_rules::Rule;
use support::{Dump, audit, schema, told};

const SHOP: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.price]
pattern = "price:{sku:slug}"
value = "uint"
ttl = "10m"
negative_ttl = "1m"
stale_if_error = "1h"
"#;

/// What is said about derived keys.
fn leaked(commands: &str) -> Vec<String> {
    let report = told(&audit(vec![schema(SHOP)]), &Dump::of(commands));
    let findings = report.findings.iter().filter(|it| it.rule == Rule::LeakedDerivedKey);
    findings.map(|finding| finding.message.clone()).collect()
}

#[test]
fn a_derived_key_lives_as_long_as_its_purpose() {
    let fine = "SET shop:~none:{shop:price:lamp} x\n\
                EXPIRE shop:~none:{shop:price:lamp} 60\n\
                SET shop:~lease:{shop:price:lamp} x\n\
                EXPIRE shop:~lease:{shop:price:lamp} 10\n\
                SET shop:~stale:{shop:price:lamp} 7\n\
                EXPIRE shop:~stale:{shop:price:lamp} 4200\n";
    assert_eq!(leaked(fine), [""; 0]);
    let long = "SET shop:~none:{shop:price:lamp} x\n\
                SET shop:~lease:{shop:price:lamp} x\n\
                EXPIRE shop:~lease:{shop:price:lamp} 60\n\
                SET shop:~stale:{shop:price:lamp} 7\n\
                EXPIRE shop:~stale:{shop:price:lamp} 42000\n";
    insta::assert_snapshot!(leaked(long).join("\n"));
}

#[test]
fn a_derived_key_that_its_definition_does_not_have_is_reported() {
    insta::assert_snapshot!(
        leaked(
            "SET shop:~fence:{shop:price:lamp} x\n\
                EXPIRE shop:~fence:{shop:price:lamp} 1\n"
        )
        .join("\n")
    );
}
