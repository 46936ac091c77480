//! What is answered about a real keyspace.

use crate::instance::{Instance, Place, SCHEMA};
use keyward_testkit::{Server, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

/// Carts had another name, and other software has keys beside them.
const MIGRATION: &str = r#"
[foreign.vendor]
glob = "vendor:*"

[migrations.v2]
phase = "read-fallback"
started = 2025-09-17
remove_after = 2099-10-17

[migrations.v2.renames]
cart = "shop:basket:{user_id:uint}"
"#;

fn filled(server: &Server) {
    for user in 0..20 {
        server.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "3600"]);
    }
    server.command(&["SET", "shop:cart:99", "[]"]);
    server.command(&["HSET", "shop:rates", "EUR", "1"]);
    server.command(&["SET", "shop:crt:1", "typo"]);
}

#[test]
fn the_api_tells_what_an_audit_saw() {
    for server in Server::all() {
        filled(&server);
        let place = Place::new();
        let instance = place.start(&server.url());
        instance.wait_for_audits(1);

        let servers = instance.get("/api/v1/servers").is(200).json();
        assert_eq!(servers["servers"][0]["keys"], 23, "{servers:#}");
        assert_eq!(servers["servers"][0]["name"], "main");

        let overview = instance.api("overview");
        assert_eq!(overview["summary"]["keys"], 23);
        assert_eq!(overview["owners"]["checkout"]["keys"], 21);
        assert_eq!(overview["groups"]["sales"]["definitions"], 1);
        assert_eq!(overview["complete"], true, "{overview:#}");

        let definitions = instance.api("definitions");
        let cart = &definitions[0];
        assert_eq!((&cart["name"], &cart["keys"]), (&json!("cart"), &json!(21)));
        assert_eq!(cart["no_ttl"], 1);

        let cart = instance.api("definitions/shop/cart");
        assert_eq!(cart["contact"], "checkout@example.com");
        assert_eq!(cart["doc"], "What a customer is about to buy");
        let samples = cart["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 10);
        let is_masked = |key: &str| key.starts_with("shop:cart:<uint#");
        assert!(samples.iter().all(|it| is_masked(it["key"].as_str().unwrap())), "{cart:#}");
        assert_eq!(cart["findings"][0]["rule"], "ttl-missing");
        let schema = place.schema().display().to_string();
        let (url, rest) = (server.url(), "--rule ttl-missing --out plan.json");
        let fix = format!("keyward plan fix {url} --schema {schema} {rest}");
        assert_eq!(cart["findings"][0]["fix"], fix);
        let page = instance.get("/s/main/definitions/shop/cart").is(200).text;
        let scan = format!("redis-cli -h 127.0.0.1 -p {} --scan --pattern ", server.port());
        assert!(page.contains(&scan), "no `{scan}` in {page}");

        let unknown = instance.api("unknown");
        assert_eq!(unknown[0]["nearest"]["definition"], "cart", "{unknown:#}");
        let findings = instance.api("findings");
        let rules = findings.as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap());
        assert_eq!(rules.collect::<BTreeSet<_>>(), BTreeSet::from(["ttl-missing", "unknown-key"]));
        assert_eq!(instance.api("report")["version"], 3);
        let checklist = instance.api("checklist");
        assert_eq!(checklist[0]["state"], "broken", "{checklist:#}");
        assert_eq!(checklist[1]["state"], "by-review");
        assert_eq!(instance.api("forecast")["expiries"]["keys"], 20);
        assert_eq!(instance.api("forecast")["memory"]["state"], "not-enough");

        wait_until("the server was asked", || instance.api("server")["info"].is_object());
        wait_until("it is up", || instance.api("server")["health"]["state"] == "up");
        let info = instance.api("server");
        let node = &info["info"]["nodes"][0];
        assert_eq!(node["databases"]["0"]["keys"], 23, "{info:#}");
        assert_eq!(node["family"], server.flavor().to_string().to_lowercase());
        assert!(node["used_memory"].as_u64().unwrap() > 0);
        assert_eq!(node["denied"], json!([]));
    }
}

#[test]
fn a_repair_is_offered_only_where_a_plan_repairs() {
    let server = Server::redis();
    server.command(&["RPUSH", "shop:log", "a", "b", "c"]);
    server.command(&["ZADD", "shop:rank", "1", "a", "2", "b", "3", "c"]);
    for key in ["shop:log", "shop:rank"] {
        server.command(&["EXPIRE", key, "3600"]);
    }
    server.command(&["SET", "shop:rates", "not a hash"]);
    server.command(&["SET", "zebra", "fits nothing"]);
    let place = Place::new();
    place.write_schema(
        "version = 1\n[keyspace]\nname = \"shop\"\nprefix = \"shop:\"\n\
         [keys.log]\npattern = \"log\"\ntype = \"list\"\nvalue = \"text\"\nmax_len = 2\nttl = \"1d\"\n\
         [keys.rank]\npattern = \"rank\"\ntype = \"zset\"\nmax_len = 2\nttl = \"1d\"\n\
         [keys.rates]\npattern = \"rates\"\ntype = \"hash\"\nopen = true\nttl = \"none\"\n",
    );
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    let findings = instance.api("findings");
    let fix = |rule: &str, definition: Option<&str>| {
        let found = findings.as_array().unwrap().iter();
        let mut found = found.filter(|it| it["rule"] == rule);
        let found = found.find(|it| it["definition"].as_str() == definition);
        found.unwrap_or_else(|| panic!("{rule}: {findings:#}"))["fix"].clone()
    };
    let rule = "oversized-collection";
    let planned = fix(rule, Some("rank")).as_str().unwrap().to_owned();
    assert!(planned.ends_with(" --rule oversized-collection --out plan.json"), "{planned}");
    // Only its writers know at which end a list is trimmed.
    assert_eq!(fix(rule, Some("log")), Value::Null);
    assert_eq!(fix("wrong-type", Some("rates")), Value::Null);
    assert_eq!(fix("unknown-key", None), Value::Null);
    let page = instance.get("/s/main/findings").is(200).text;
    assert_eq!(page.matches("keyward plan fix ").count(), 1, "{page}");
    assert!(page.contains("keyward explain wrong-type"), "{page}");
}

#[test]
fn slow_commands_name_definitions_and_show_no_value() {
    let server = Server::redis();
    server.command(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    server.command(&["SET", "shop:cart:7", "a secret value"]);
    server.command(&["CONFIG", "SET", "slowlog-log-slower-than", "-1"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    let slow = || instance.api("server")["info"]["nodes"][0]["slow"].clone();
    wait_until("the server was asked", || slow().is_array());
    let slow = slow();
    let of_cart = slow.as_array().unwrap().iter().find(|it| it["definition"] == "cart");
    let of_cart = of_cart.unwrap_or_else(|| panic!("{slow:#}"));
    assert_eq!((&of_cart["command"], &of_cart["schema"]), (&json!("set"), &json!("shop")));
    assert!(of_cart["key"].as_str().unwrap().starts_with("shop:cart:<uint#"), "{of_cart}");
    assert!(!slow.to_string().contains("secret"), "{slow:#}");
}

#[test]
fn a_pasted_key_is_explained() {
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let instance = place.start(&server.url());
    let ask = |key: &str| {
        instance.post("/api/v1/servers/main/key", &json!({ "key": key })).is(200).json()
    };
    let known = ask("shop:cart:3");
    assert_eq!((&known["name"], &known["keyspace"]), (&json!("cart"), &json!("shop")));
    assert_eq!(known["rows"][0], json!({ "name": "user_id", "value": "3  (uint)" }));
    assert_eq!(known["live"]["exists"], true);
    assert_eq!(known["live"]["key_type"], "string");
    assert!(known["live"]["ttl"].as_u64().unwrap() <= 3_600_000);
    assert!(known["live"]["bytes"].as_u64().unwrap() > 0);
    assert_eq!(ask("shop:cart:1234")["live"]["exists"], false);
    let unknown = ask("shop:cart:x");
    assert_eq!(
        (&unknown["name"], &unknown["nearest"]["definition"]),
        (&json!(null), &json!("cart"))
    );
    assert!(unknown["why"].as_str().unwrap().contains('x'), "{unknown:#}");

    let wrong = instance.send("POST", "/api/v1/servers/main/key", &[], "{\"key\": \"a secret");
    assert!(wrong.status == 400 && !wrong.text.contains("secret"), "{wrong:?}");
    server.kill();
    let away = ask("shop:cart:3");
    assert_eq!(away["name"], "cart");
    assert!(away["live_error"].as_str().unwrap().contains("cannot be reached"), "{away:#}");
}

#[test]
fn every_resource_is_described() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    let api = instance.get("/api/v1/openapi.json").is(200).json();
    let paths = api["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 19, "{:?}", paths.keys());
    for (path, methods) in paths {
        let path = path.replace("{server}", "main").replace("{schema}", "shop");
        let path = path.replace("{definition}", "cart");
        if methods.get("get").is_some() {
            instance.get(&path).is(if path.ends_with("/compare") { 400 } else { 200 }).json();
        }
    }
    let text = api.to_string();
    for name in text.split("#/components/schemas/").skip(1) {
        let name = name.split('"').next().unwrap();
        assert!(api["components"]["schemas"].get(name).is_some(), "`{name}` is not described");
    }
    instance.get("/api/v1/servers/nobody/overview").is(404);
    instance.get("/api/v1/servers/main/definitions/shop/nothing").is(404);
    instance.get("/api/v1/servers/main/history?from=2&to=1").is(400);
    instance.get("/nothing").is(404);
}

#[test]
fn two_moments_are_compared_and_a_change_of_the_schema_is_noted() {
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    let first = instance.api("history")["audits"][0]["at"].as_u64().unwrap();
    for user in 100..150 {
        server.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "3600"]);
    }
    place.write_schema(&format!(
        "{SCHEMA}\n[keys.code]\npattern = \"crt:{{n:uint}}\"\nttl = \"1d\"\n"
    ));
    wait_until("the schema was read again", || {
        instance.api("definitions").as_array().unwrap().len() == 3
    });
    let last = instance.api("overview")["at"].as_u64().unwrap();
    let compared = instance.api(&format!("compare?from={first}&to={last}"));
    assert_eq!(compared["keys"], json!([23, 73]), "{compared:#}");
    assert_eq!(compared["parts"][0]["name"], "cart");
    let changes = instance.api("history")["changes"].clone();
    assert_eq!(changes[0]["text"], "added code", "{changes:#}");
    let rows = instance.api("history/shop/cart");
    let keys: Vec<u64> =
        rows.as_array().unwrap().iter().map(|it| it["keys"].as_u64().unwrap()).collect();
    assert_eq!((keys.first(), keys.last()), (Some(&21), Some(&71)));

    place.write_schema("version = 1\nnonsense");
    wait_until("the error is told", || {
        let servers = instance.get("/api/v1/servers").json();
        servers["servers"][0]["schema_error"].as_str().is_some_and(|it| it.contains("not TOML"))
    });
    assert_eq!(
        instance.api("definitions").as_array().unwrap().len(),
        3,
        "the last good one is used"
    );
    place.write_schema(SCHEMA);
    wait_until("it can be read again", || {
        instance.get("/api/v1/servers").json()["servers"][0]["schema_error"].is_null()
    });
    let said = instance.said();
    let lines = said.iter().filter(|it| it.contains("the schema of `main`")).collect::<Vec<_>>();
    assert_eq!(lines.len(), 2, "{said:?}");
    assert!(
        lines[0].contains("the last good one is used") && !lines[0].contains('\n'),
        "{lines:?}"
    );
    assert_eq!(lines[1], "the schema of `main` can be read again");
}

#[test]
fn hostile_names_break_neither_json_nor_metrics() {
    let server = Server::redis();
    for key in [
        &b"<script>alert(1)</script>"[..],
        b"a\"}\n# TYPE evil counter\nevil_total 1\n",
        b"\xff\xfe\x00:\x1b[31m",
        "shop:\u{202e}cart".as_bytes(),
    ] {
        server.command(&[&b"SET"[..], key, b"1"]);
    }
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    assert_eq!(instance.api("overview")["summary"]["unknown"]["keys"], 4);
    let unknown = instance.api("unknown").to_string();
    assert!(!unknown.contains("<script>") && !unknown.contains('\u{202e}'), "{unknown}");
    let metrics = instance.get("/metrics").is(200).text;
    assert!(!metrics.lines().any(|line| line.contains("evil") || line.contains("script")));
    instance.get("/s/main").is(200);
}

#[test]
fn metrics_are_written_in_both_forms() {
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    wait_until("the server was asked", || instance.api("server")["info"].is_object());
    let text = instance.get("/metrics").is(200);
    assert!(text.head.contains("text/plain; version=0.0.4"), "{}", text.head);
    let openmetrics =
        instance.send("GET", "/metrics", &[("Accept", "application/openmetrics-text")], "").is(200);
    assert!(openmetrics.text.ends_with("# EOF\n") && !text.text.contains("# EOF"));
    let labels =
        "server=\"main\",schema=\"shop\",definition=\"cart\",group=\"sales\",owner=\"checkout\"";
    for line in [
        "keyward_keys{server=\"main\",class=\"unknown\"} 1".to_owned(),
        format!("keyward_definition_keys{{{labels}}} 21"),
        format!("keyward_definition_keys_without_ttl{{{labels}}} 1"),
        format!("keyward_definition_keys_expiring{{{labels},within=\"3600\"}} 20"),
        "keyward_server_up{server=\"main\"} 1".to_owned(),
        "keyward_findings{server=\"main\",rule=\"unknown-key\",severity=\"error\"} 1".to_owned(),
        "keyward_audit_complete{server=\"main\"} 1".to_owned(),
    ] {
        for answer in [&text, &openmetrics] {
            assert!(answer.text.lines().any(|it| it == line), "no `{line}` in\n{}", answer.text);
        }
    }
    assert!(text.text.contains("# TYPE keyward_server_evicted_keys_total counter"));
    assert!(openmetrics.text.contains("# TYPE keyward_server_evicted_keys counter"));
    let families: Vec<&str> =
        text.text.lines().filter_map(|it| it.strip_prefix("# TYPE ")).collect();
    let distinct: BTreeSet<&str> = families.iter().copied().collect();
    assert_eq!(families.len(), distinct.len(), "a family is written once");
}

#[test]
fn promtool_accepts_metrics_and_alerts() {
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    wait_until("the server was asked", || instance.api("server")["info"].is_object());
    let metrics = instance.get("/metrics").is(200).text;
    let mut check = Command::new("promtool");
    let check = check.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut check = check.spawn().expect("`./test tools` installs promtool");
    check.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let checked = check.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success(), "{said}\n{metrics}");
    let rules = keyward_testkit::repository().join("docs/src/guide/alerts.yml");
    let checked = Command::new("promtool").args(["check", "rules"]).arg(rules).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

fn dashboard() -> Value {
    let path = keyward_testkit::repository().join("docs/src/guide/grafana.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// All texts under a name, at any depth.
fn texts(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.extend(value.as_str().filter(|_| key == name).map(str::to_owned));
                texts(value, name, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| texts(it, name, found)),
        _ => {}
    }
}

#[test]
fn promtool_accepts_the_questions_of_the_dashboard() {
    let mut questions = Vec::new();
    texts(&dashboard(), "expr", &mut questions);
    assert!(questions.len() > 40);
    let rules = questions.iter().enumerate().map(|(number, question)| {
        let expr = question.replace("$__rate_interval", "5m");
        json!({ "record": format!("panel:{number}"), "expr": expr })
    });
    let file = json!({ "groups": [{ "name": "dashboard", "rules": rules.collect::<Vec<_>>() }] });
    let folder = tempfile::tempdir().unwrap();
    // JSON is YAML too.
    let path = folder.path().join("rules.yml");
    std::fs::write(&path, file.to_string()).unwrap();
    let checked = Command::new("promtool").args(["check", "rules"]).arg(path).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn the_dashboard_has_its_variables_and_leads_to_pages_that_there_are() {
    let board = dashboard();
    let variables = board["templating"]["list"].as_array().unwrap();
    let names: BTreeSet<&str> = variables.iter().map(|it| it["name"].as_str().unwrap()).collect();
    for name in ["server", "group", "owner"] {
        assert!(names.contains(name), "{names:?}");
    }
    let mut questions = Vec::new();
    texts(&board, "expr", &mut questions);
    for name in ["server", "group", "owner", "definition"] {
        let used = format!("{name}=~\"${name}\"");
        assert!(questions.iter().any(|it| it.contains(&used)), "{name} chooses nothing");
    }
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    let mut links = Vec::new();
    texts(&board, "url", &mut links);
    assert!(links.len() > 10, "{links:?}");
    for link in links {
        let path = link.strip_prefix("${keyward}").unwrap_or_else(|| panic!("{link}"));
        let path = path.split('#').next().unwrap();
        let path = path.replace("${__field.labels.server}", "main");
        let path = path.replace("${__data.fields.server}", "main");
        let path = path.replace("${__data.fields.schema}", "shop");
        let path = path.replace("${__data.fields.definition}", "cart");
        assert!(!path.contains('$'), "{path}");
        instance.get(&path).is(200);
    }
}

#[test]
fn changes_are_told_as_they_happen() {
    let server = Server::redis();
    filled(&server);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.servers[0].watch = true;
    let instance = Instance::start(config);
    let mut stream = instance.connect();
    write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", instance.address).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "event: audit"), "an audit is told");
    wait_until("it is watched", || instance.api("server")["watching"]["via"] == "client tracking");
    server.command(&["SET", "shop:basket:1", "x"]);
    assert!(lines.any(|line| line == "event: found"), "a finding is told");
    let found = lines.find(|line| line.starts_with("data: ")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found["data: ".len()..]).unwrap();
    assert_eq!(found["finding"]["rule"], "unknown-key", "{found:#}");
}

/// Keys under old names, derived keys and those of other software are keys, too.
#[test]
fn every_key_is_in_the_totals_of_ttls() {
    let server = Server::redis();
    let place = Place::new();
    place.write_schema(&format!("{SCHEMA}{MIGRATION}"));
    for number in 0..5 {
        server.command(&["SET", &format!("shop:cart:{number}"), "[]", "EX", "3600"]);
        server.command(&["SET", &format!("shop:basket:{number}"), "[]", "EX", "3600"]);
        server.command(&["SET", &format!("shop:cart:9{number}"), "[]"]);
        server.command(&["SET", &format!("shop:basket:9{number}"), "[]"]);
        server.command(&["SET", &format!("vendor:{number}"), "", "EX", "60"]);
        server.command(&["SET", &format!("vendor:9{number}"), ""]);
    }
    let instance = place.start(&server.url());
    instance.wait_for_audits(2);
    let expiries = &instance.api("forecast")["expiries"];
    assert_eq!((&expiries["keys"], &expiries["other"]), (&15.into(), &10.into()), "{expiries:#}");
    let audits = instance.api("history")["audits"].clone();
    assert_eq!(audits[1]["no_ttl"], 15, "{audits:#}");
    let page = instance.get("/s/main").is(200).text;
    let numbers = page.split("Without a TTL").nth(1).unwrap();
    assert!(numbers.contains(">15<"), "{numbers}");
}

/// The definition's page, its chart, the API and the metrics count its own keys, and say what is beside them.
#[test]
fn a_definition_has_the_same_number_of_keys_everywhere() {
    let server = Server::redis();
    let place = Place::new();
    place.write_schema(&format!("{SCHEMA}{MIGRATION}"));
    for number in 0..20 {
        server.command(&["SET", &format!("shop:cart:{number}"), "[]", "EX", "3600"]);
        server.command(&["SET", &format!("shop:basket:{number}"), "[]", "EX", "3600"]);
        server.command(&["SET", &format!("shop:basket:9{number}"), "[]", "EX", "3600"]);
    }
    let instance = place.start(&server.url());
    instance.wait_for_audits(2);
    let detail = instance.api("definitions/shop/cart");
    assert_eq!(detail["definition"]["keys"], 20);
    let page = instance.get("/s/main/definitions/shop/cart").is(200).text;
    let keys = page.split("<dt>Keys</dt>").nth(1).unwrap().split("</div>").next().unwrap();
    assert!(keys.contains("<dd>20</dd>"), "{keys}");
    assert!(keys.contains("of its own pattern; 40 more under old names"), "{keys}");
    let list = instance.get("/s/main/definitions").is(200).text;
    assert!(list.contains("data-label=\"keys\">20<"), "{list}");
    assert!(list.contains("40 more under old names"), "{list}");
    let metrics = instance.get("/metrics").text;
    let line = metrics
        .lines()
        .find(|it| it.starts_with("keyward_definition_keys{") && it.contains("\"cart\""));
    assert!(line.unwrap().ends_with(" 20"), "{line:?}");
}
