//! `serve`, as a service manager runs it.

use crate::{SHOP, shop};
use insta::assert_snapshot;
use keyward_testkit::{App, Server, wait_until};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn serve(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyward"));
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.arg("--schema").arg(folder.join("keyward.toml"));
    command.arg("--state").arg(folder.join("state"));
    command.env_remove("KEYWARD_TOKEN");
    command
}

fn servers(app: &App) -> Value {
    app.send("GET", "/api/v1/servers", &[], None).is(200).json()
}

#[test]
fn it_serves_until_it_is_told_to_stop() {
    let server = Server::redis();
    server.command(&["HSET", "shop:cart:7", "mug", "1"]);
    let place = shop(SHOP);
    let mut command = serve(place.folder());
    command.arg(server.url());
    let mut app = App::start(command);
    wait_until("it was audited", || app.send("GET", "/readyz", &[], None).status == 200);
    assert_eq!(servers(&app)["servers"][0]["keys"], 1);
    assert_eq!(app.stop().code(), Some(0));
    let log = app.log();
    assert!(log.starts_with("listening on http://127.0.0.1:") && log.lines().count() == 1, "{log}");
}

#[test]
fn a_configuration_names_several_servers() {
    let (first, second) = (Server::redis(), Server::valkey());
    first.command(&["HSET", "shop:cart:7", "mug", "1"]);
    let place = shop(SHOP);
    place.write("token", format!("{TOKEN}\n"));
    place.write("second", format!("{}\n", second.url()));
    place.write(
        "serve.toml",
        format!(
            "listen = \"127.0.0.1:0\"\nstate = \"here\"\ntoken_file = \"token\"\n\
             [servers.first]\nurl = \"{}\"\nschemas = [\"keyward.toml\"]\n\
             [servers.second]\nurl_file = \"second\"\nevery = \"1h\"\nmax_ops = 500\n",
            first.url()
        ),
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyward"));
    command.arg("serve").arg("--config").arg(place.folder().join("serve.toml"));
    let app = App::start(command);
    app.send("GET", "/api/v1/servers", &[], None).is(401);
    let bearer = format!("Bearer {TOKEN}");
    let ask = |path: &str| app.send("GET", path, &[("Authorization", &bearer)], None);
    wait_until("both were audited", || app.send("GET", "/readyz", &[], None).status == 200);
    let all = ask("/api/v1/servers").is(200).json();
    let names: Vec<&Value> =
        all["servers"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, [&json!("first"), &json!("second")]);
    assert_eq!(ask("/api/v1/servers/first/overview").json()["summary"]["keys"], 1);
    assert!(place.folder().join("here/history.sqlite").exists());
}

#[test]
fn a_disk_that_is_full_is_said_and_audits_go_on() {
    let server = Server::redis();
    server.command(&["HSET", "shop:cart:7", "mug", "1"]);
    let place = shop(SHOP);
    // No file may have more than 32 KiB, which is less than the tables take.
    let inner = serve(place.folder());
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    command.arg(inner.get_program()).args(inner.get_args()).args([&server.url(), "--every", "10s"]);
    let mut app = App::start(command);
    wait_until("it was audited", || app.send("GET", "/readyz", &[], None).status == 200);
    wait_until("it is said", || {
        servers(&app)["notices"].to_string().contains("the history cannot be used")
    });
    assert_eq!(servers(&app)["servers"][0]["keys"], 1);
    assert!(app.log().contains("warning: the history cannot be used"), "{}", app.log());
    assert_eq!(app.stop().code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_said() {
    let cli = shop(SHOP);
    cli.write(
        "serve.toml",
        "listn = \"127.0.0.1:1\"\n\n[histroy]\n\n[servers.main]\nurl = 6379\nevery = \"soon\"\nwatch = \"yes\"\n\
         pasword_file = \"x\"\n\n[servers.\"a b\"]\nurl = \"http://user:secret@example.com\"\n\n\
         [servers.none]\npassword_file = \"missing\"\n",
    );
    let refused = cli.run(["serve", "--config", "serve.toml"]);
    assert!(!refused.stderr.contains("user:secret"), "{refused}");
    assert_snapshot!("typos", refused);
    cli.write(
        "hooks.toml",
        "[servers.main]\nurl = \"redis://127.0.0.1:1\"\n\n[webhooks.a]\nurl = \"https://example.com/services/zebra\"\n\
         events = [\"found\", \"resovled\"]\nservers = [\"mian\"]\nseverity = \"fatal\"\ntimeout = \"1h\"\n\n\
         [webhooks.b]\nurl = \"example.com/zebra\"\ntoken_file = \"missing\"\n\n\
         [webhooks.c]\nurl = \"https://user:zebra@example.com\"\ntoken = \"zebra\"\n\n[webhooks.d]\n",
    );
    let refused = cli.run(["serve", "--config", "hooks.toml"]);
    assert!(!refused.stderr.contains("zebra"), "{refused}");
    assert_snapshot!("webhooks", refused);
    cli.write("empty.toml", "");
    cli.write("broken.toml", "[servers");
    cli.write("short", "1234\n");
    for args in [
        &["serve"][..],
        &["serve", "--config", "missing.toml"],
        &["serve", "--config", "empty.toml"],
        &["serve", "--config", "broken.toml"],
        &["serve", "--config", "empty.toml", "--schema", "keyward.toml"],
        &["serve", "dump.rdb"],
        &["serve", "redis://127.0.0.1:1", "--listen", "0.0.0.0:0"],
        &["serve", "redis://127.0.0.1:1", "--token-file", "short"],
        &["serve", "redis://127.0.0.1:1", "--every", "1s"],
        &["serve", "redis://127.0.0.1:1", "--state", "keyward.toml"],
        &["serve", "redis://127.0.0.1:1", "--schema", "missing.toml"],
    ] {
        let refused = cli.run(args);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert_snapshot!(refused);
    }
}
