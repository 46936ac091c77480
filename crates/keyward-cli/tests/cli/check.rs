use crate::{SHOP, cli, shop};
use insta::assert_snapshot;

/// A counter that the server may evict, and a hash whose fields nobody knows.
pub(crate) const LEAKY: &str = r#"version = 1

[keyspace]
name = "leaky"

[server]
maxmemory-policy = "allkeys-lru"

[keys.visits]
pattern = "visits:{page}"
counter = {}
ttl = "none"

[keys.profile]
pattern = "profile:{user_id:uuid}"
type = "hash"
ttl = "10m"
"#;

#[test]
fn a_sound_schema_is_told_so() {
    assert_snapshot!(shop(SHOP).run(["check"]));
}

#[test]
fn findings_show_the_lines_they_are_about() {
    assert_snapshot!(shop(LEAKY).run(["check"]));
}

#[test]
fn a_quiet_check_says_nothing_about_a_sound_schema() {
    assert_snapshot!(shop(SHOP).run(["check", "-q"]));
}

#[test]
fn a_verbose_check_says_what_it_read() {
    assert_snapshot!(shop(SHOP).run(["check", "-v"]));
}

#[test]
fn the_schema_is_found_upwards() {
    let cli = cli();
    cli.write("keyward.toml", LEAKY);
    cli.write("a/b/here", "");
    let output = cli.command(["check", "--format", "concise"]).at("a/b").run();
    assert_snapshot!(output);
}

#[test]
fn without_a_schema_it_says_how_to_begin() {
    assert_snapshot!(cli().run(["check"]));
}

#[test]
fn a_schema_with_errors_shows_them_all() {
    let schema = "version = 1\n[keyspace]\nnam = \"shop\"\n[keys.cart]\npattern = \"cart:{id\"\n";
    assert_snapshot!(shop(schema).run(["check"]));
}

#[test]
fn a_rule_that_does_not_exist_is_refused() {
    let schema = SHOP.replace("[params]", "[rules]\nmising-ttl = \"off\"\n\n[params]");
    assert_snapshot!(shop(&schema).run(["check"]));
}

#[test]
fn a_schema_without_keys_is_no_pass() {
    assert_snapshot!(shop("version = 1\n[keyspace]\nname = \"shop\"\n").run(["check"]));
}

#[test]
fn the_rule_set_can_be_overridden() {
    assert_snapshot!(shop(LEAKY).run(["check", "--set", "strict", "--format", "concise"]));
    assert_snapshot!(shop(LEAKY).run(["check", "--set", "minimal"]));
}

#[test]
fn overlaps_between_schemas_name_both_files() {
    let cli = cli();
    cli.write("shop.toml", SHOP);
    cli.write("billing.toml", BILLING);
    assert_snapshot!(cli.run(["check", "shop.toml", "billing.toml"]));
}

#[test]
fn keys_of_two_databases_do_not_meet() {
    let cli = cli();
    let db = |schema: &str, db| schema.replace("[keyspace]\n", &format!("[keyspace]\ndb = {db}\n"));
    cli.write("shop.toml", db(SHOP, 0));
    cli.write("billing.toml", db(BILLING, 1));
    assert_snapshot!(cli.run(["check", "shop.toml", "--schema", "billing.toml"]));
}

#[test]
fn an_overlap_with_another_schema_can_be_allowed() {
    let cli = cli();
    let allow = "allow = [{ rule = \"overlapping-patterns\", reason = \"billing reads it\" }]\n";
    cli.write("shop.toml", SHOP);
    cli.write("billing.toml", BILLING.to_owned() + allow);
    assert_snapshot!(cli.run(["check", "shop.toml", "billing.toml"]));
}

#[test]
fn a_schema_named_twice_does_not_overlap_with_itself() {
    let output = shop(SHOP).run(["check", "keyward.toml", "./keyward.toml"]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn one_bad_schema_does_not_hide_the_findings_of_another() {
    let cli = cli();
    cli.write("leaky.toml", LEAKY);
    assert_snapshot!(cli.run(["check", "leaky.toml", "missing.toml", "--format", "concise"]));
}

#[test]
fn a_migration_is_judged_by_the_day() {
    let schema = SHOP.to_owned()
        + "\n[migrations.v2]\nphase = \"dual-write\"\nremove_after = 2026-12-31\n\
           [migrations.v2.renames]\ncart = \"CART:{user_id}\"\n";
    let on = |day| shop(&schema).command(["check"]).env("KEYWARD_TODAY", day).run();
    assert_eq!(on("2026-12-31").code, Some(0), "{}", on("2026-12-31"));
    assert_snapshot!(on("2027-01-01"));
    assert_snapshot!(on("tomorrow"));
}

const BILLING: &str = r#"version = 1

[keyspace]
name = "billing"

[keys.customer]
doc = "A customer's open orders"
owner = "billing"
pattern = "shop:{what}:{customer_id:uint}"
value = "json"
ttl = "5m"
"#;

#[test]
fn a_checklist_is_ticked_by_its_rules() {
    let cli = shop(
        r#"version = 1

[keyspace]
name = "shop"

[rules]
undocumented = "off"

[[checklist]]
text = "Every key has a TTL"
rules = ["missing-ttl"]

[[checklist]]
text = "Words are in lower case"
rules = ["uppercase-literal"]

[[checklist]]
text = "Nothing is written beside the schema"
rules = ["unknown-key"]

[[checklist]]
text = "Every key is documented"
level = "should"
rules = ["undocumented"]

[[checklist]]
text = "Names mean something to the business"
level = "should"

[keys.cart]
owner = "web"
pattern = "cart:{user_id:uint}"
type = "string"

[owners.web]
"#,
    );
    assert_snapshot!("checklist", cli.run(["check"]));
    let document: serde_json::Value =
        serde_json::from_str(&cli.run(["check", "--format", "json"]).stdout).unwrap();
    let states: Vec<&str> = document["checklist"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["broken", "holds", "by-audit", "off", "by-review"]);
    // A rule that does not exist decides nothing.
    let wrong = cli.read("keyward.toml").replace("\"missing-ttl\"", "\"missing-tll\"");
    cli.write("keyward.toml", wrong);
    assert_snapshot!("checklist_unknown_rule", cli.run(["check"]));
}
