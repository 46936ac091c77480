//! What a definition implies without saying it.

use keyward_schema::model::{Definition, Role, Schema, Ttl, Value};
use keyward_schema::{Style, read, render};

fn schema(body: &str) -> Schema {
    let loaded = read(&format!("version = 1\n[keyspace]\nname = \"shop\"\n{body}"));
    loaded
        .schema
        .unwrap_or_else(|errors| panic!("{}", render(&loaded.sources, &errors, &Style::default())))
}

fn definition(body: &str) -> Definition {
    schema(&format!("[keys.a]\npattern = \"a:{{id}}\"\n{body}")).keys.remove(0)
}

fn summary(body: &str) -> String {
    let key = definition(body);
    let ttl = match key.ttl.as_ref().map(|ttl| &ttl.value) {
        None => "-".to_owned(),
        Some(Ttl::None) => "none".to_owned(),
        Some(Ttl::Fixed(ttl)) => ttl.to_string(),
        Some(other) => format!("{other:?}"),
    };
    let key_type = key.key_type.as_ref().map_or("-", |key_type| key_type.name());
    let value = key.value.as_ref().map_or("-".to_owned(), |value| format!("{:?}", value.value));
    format!("{key_type} {value} {ttl} {}", key.lifecycle.name())
}

#[test]
fn a_role_implies_type_value_ttl_and_lifecycle() {
    for (body, expected) in [
        ("", "- - - cache"),
        ("ttl = \"1h\"", "- - 1h cache"),
        ("ttl = \"none\"", "- - none protected"),
        ("lifecycle = \"protected\"", "- - none protected"),
        ("counter = {}", "string Int - cache"),
        ("counter = {}\nttl = \"none\"", "string Int none protected"),
        ("counter = {}\nttl = \"1d\"", "string Int 1d retained"),
        ("quota = { limit = 5 }\nttl = \"none\"", "string Int none protected"),
        ("quota = { limit = 5, window = \"1d\" }", "string Int 1d retained"),
        ("rate_limit = { limit = 5, window = \"60s\" }", "string Int 1m temporary"),
        ("rate_limit = { limit = 5, window = \"1h\" }", "string Int 1h temporary"),
        ("rate_limit = { limit = 5, window = \"2h\" }", "string Int 2h retained"),
        ("lock = {}", "string Text - retained"),
        ("lock = {}\nttl = \"30s\"", "string Text 30s retained"),
        ("queue = {}", "list - none protected"),
        ("queue = {}\ntype = \"stream\"", "stream - none protected"),
        ("session = {}\nttl = \"7d\"", "- - 7d session"),
        ("index = { of = \"a\" }\nttl = \"1h\"", "set - 1h cache"),
        ("index = { of = \"a\" }\nscore = \"unix\"\nttl = \"1h\"", "zset - 1h cache"),
        ("flag = {}\nttl = \"none\"", "string Bool none protected"),
        (
            "flag = {}\nvalue = \"json\"\nttl = \"1h\"",
            "string Json { of: None, zstd: false } 1h cache",
        ),
        ("ranking = {}\nttl = \"1h\"", "zset - 1h cache"),
        ("fields = { x = \"text\" }", "hash - - cache"),
        ("fields = { x = \"text\" }\ntype = \"stream\"", "stream - - cache"),
        ("member = \"text\"", "set - - cache"),
        ("member = \"text\"\nscore = \"float\"", "zset - - cache"),
        ("score = \"float\"", "zset - - cache"),
        ("value = \"text\"", "string Text - cache"),
        ("value = \"text\"\ntype = \"list\"", "list Text - cache"),
        ("ttl = \"1h\"\nlifecycle = \"temporary\"", "- - 1h temporary"),
    ] {
        assert_eq!(summary(body), expected, "{body}");
    }
}

#[test]
fn what_a_queue_or_a_session_relies_on_lasts_as_long() {
    let schema = schema(
        "[keys.jobs]\npattern = \"jobs\"\nqueue = { dead_letter = \"dead\", status = \"status\", job_id = \"id\" }\n\
         [keys.dead]\npattern = \"dead\"\nttl = \"7d\"\n\
         [keys.status]\npattern = \"status:{id}\"\nttl = \"1d\"\n\
         [keys.session]\npattern = \"session:{id}\"\nttl = \"7d\"\nsession = { revoked = \"revoked\", index = \"sessions\" }\n\
         [keys.revoked]\npattern = \"revoked:{id}\"\nttl = \"7d\"\n\
         [keys.sessions]\npattern = \"user:{user}:sessions\"\nindex = { of = \"session\" }\nttl = \"7d\"\n",
    );
    let names: Vec<&str> = schema.keys.iter().map(|key| key.lifecycle.name()).collect();
    assert_eq!(names, ["protected", "retained", "retained", "session", "retained", "session"]);
}

#[test]
fn defaults_fill_what_is_not_written() {
    let schema = schema(
        "[defaults]\nttl = \"1h\"\nmax_len = 100\nmax_bytes = \"1mb\"\njitter = \"10%\"\nowner = \"backend\"\n\
         [keys.a]\npattern = \"a\"\nvalue = \"text\"\n\
         [keys.b]\npattern = \"b\"\nmember = \"text\"\nttl = \"none\"\nowner = \"search\"\nmax_len = 5\n\
         [keys.c]\npattern = \"c\"\nlock = {}\nttl = \"1m\"\n",
    );
    let [a, b, c] = schema.keys.as_slice() else { panic!() };
    assert_eq!(a.ttl.as_ref().unwrap().longest().unwrap().to_string(), "1h");
    assert_eq!(a.max_len, None, "a string has no length");
    assert_eq!(a.max_bytes.as_ref().unwrap().to_string(), "1mb");
    assert!((a.jitter.as_ref().unwrap().value - 10.0).abs() < f64::EPSILON);
    assert_eq!(a.owner.as_ref().unwrap().value, "backend");
    assert_eq!(b.ttl.as_ref().unwrap().value, Ttl::None);
    assert_eq!(b.jitter, None, "nothing expires");
    assert_eq!(c.jitter, None, "the application sets the TTL of a lock");
    assert_eq!(b.max_len.as_ref().unwrap().value, 5);
    assert_eq!(b.owner.as_ref().unwrap().value, "search");
}

#[test]
fn a_type_in_place_wins_over_own_params_and_those_over_shared_ones() {
    let schema = schema(
        "prefix = \"{tenant}:\"\n[params]\ntenant = \"slug\"\na = \"uint\"\nb = { type = \"uint\", pii = false, doc = \"b\" }\nc = \"uint\"\n\
         [keys.x]\npattern = \"x:{a}:{b:uuid}:{c}:{d}\"\nparams = { c = \"hex\" }\n",
    );
    let shown: Vec<String> = schema.keys[0]
        .params
        .iter()
        .map(|param| format!("{}={}", *param.name, param.param.ty))
        .collect();
    assert_eq!(shown, ["tenant=slug", "a=uint", "b=uuid", "c=hex", "d=text"]);
    assert!(!schema.keys[0].params[2].pii, "the declaration still says what it means");
    let compiled = schema.compiled.definition(schema.compiled.find("x").unwrap());
    let names: Vec<&str> = compiled.params().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tenant", "a", "b", "c", "d"]);
}

#[test]
fn a_ttl_by_a_parameter_has_a_duration_for_each_word() {
    let key = definition(
        "params = { id = [\"5m\", \"daily\"] }\nttl = { by = \"id\", values = { daily = \"1d\" } }",
    );
    let ttl = key.ttl.unwrap().value;
    let Ttl::By { param, values } = &ttl else { panic!("{ttl:?}") };
    let values: Vec<String> = values.iter().map(|(word, ttl)| format!("{word}={ttl}")).collect();
    assert_eq!((param.as_str(), values), ("id", vec!["5m=5m".to_owned(), "daily=1d".to_owned()]));
    assert_eq!(ttl.longest().unwrap().to_string(), "1d");
}

#[test]
fn every_form_of_a_value_is_read() {
    let key = definition(
        "[keys.a.fields]\na = \"text?\"\nb = [\"on\"]\nc = { json = \"T\", compress = \"zstd\" }\nd = { json = [\"uint\"] }\ne = { ref = \"session.session_id\" }\nf = { key = \"entity\", optional = true }\nh = { key = [\"chapter\", \"chunk\"] }\ng = { type = \"unix_ms\", ttl = \"1h\", doc = \"when\" }\n",
    );
    let shown: Vec<String> = key
        .fields
        .iter()
        .map(|field| {
            let optional = if field.optional { "?" } else { "" };
            format!("{}{optional} {:?}", *field.name, field.value.value)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    a? Text
    b Enum(["on"])
    c Json { of: Some(Named("T")), zstd: true }
    d Json { of: Some(Array(Uint)), zstd: false }
    e Ref { definition: "session", param: "session_id" }
    f? Key(["entity"])
    h Key(["chapter", "chunk"])
    g? UnixMs
    "#);
    assert_eq!(key.fields[7].ttl.as_ref().unwrap().longest().unwrap().to_string(), "1h");
}

#[test]
fn a_migration_takes_types_from_its_definition() {
    let schema = schema(
        "[params]\nuser = \"uuid\"\nother = \"slug\"\n\
         [keys.a]\npattern = \"a:{user}:{n}\"\nparams = { n = \"uint\" }\n\
         [migrations.v2]\nphase = \"dual-write\"\nremove_after = 2026-12-31\n\
         [migrations.v2.renames]\na = [\"A:{user}:{n}\", \"B:{user:hex}:{other}:{x}\"]\n",
    );
    let shown: Vec<String> = schema.migrations[0]
        .renames
        .iter()
        .map(|rename| {
            let types: Vec<String> =
                rename.params.iter().map(|param| param.param.ty.to_string()).collect();
            format!("{} {}", *rename.from, types.join(" "))
        })
        .collect();
    assert_eq!(shown, ["A:{user}:{n} uuid uint", "B:{user:hex}:{other}:{x} hex slug text"]);
}

#[test]
fn roles_keep_their_settings() {
    let key = definition(
        "rate_limit = { limit = \"caller\", window = \"1m\", algorithm = \"gcra\", on_outage = \"closed\" }",
    );
    insta::assert_snapshot!(match &key.role.unwrap().value {
        Role::RateLimit(limit) => format!("{:?} {:?} {:?}", limit.limit.value, limit.algorithm, limit.on_outage),
        other => panic!("{other:?}"),
    }, @"Caller Gcra Closed");
}

#[test]
fn server_settings_are_read_as_the_server_does() {
    let server = schema("[server]\nmaxmemory = 1024\nsave = [\"900 1\", \"300  10\"]\nappendonly = \"no\"\ntimeout = 0\nactivedefrag = true\n").server;
    assert_eq!(server.maxmemory.unwrap().bytes(), 1024);
    assert_eq!(server.save.unwrap().value, "900 1 300 10");
    assert!(!server.appendonly.unwrap().value);
    let other: Vec<(&str, &str)> =
        server.other.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(other, [("timeout", "0"), ("activedefrag", "yes")]);
}

#[test]
fn a_constant_is_an_enum_of_one_word() {
    assert_eq!(
        definition("value = [\"revoked\"]").value.unwrap().value,
        Value::Enum(vec!["revoked".to_owned()])
    );
}

#[test]
fn a_reserved_word_is_no_value_of_any_parameter_but_those_of_the_prefix() {
    let schema = schema(
        r#"
prefix = "{tenant}:"
[layout]
shape = "<rest...>"
reserved = ["active"]
[keys.symbol]
pattern = "symbol:{symbol}:{number:uint}:{state}"
params = { state = ["active", "gone"] }
[events.changed]
params = { symbol = "text" }
invalidates = []
[migrations.v2]
phase = "cleanup"
renames = { symbol = "Symbol:{symbol}:{number:uint}:{state}" }
"#,
    );
    let params = schema.keys[0].params.iter().chain(&schema.events[0].params);
    let params = params.chain(&schema.migrations[0].renames[0].params);
    let except: Vec<_> = params.map(|it| (it.name.as_str(), it.param.except.len())).collect();
    let expected =
        [("tenant", 0), ("symbol", 1), ("number", 0), ("state", 0), ("symbol", 1), ("symbol", 1)];
    assert_eq!(except[..6], expected);
}
