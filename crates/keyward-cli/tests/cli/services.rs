//! The files of the guide for systemd, for containers and for `--config` do what they say.

use crate::{SHOP, shop};
use keyward_testkit::{App, Cli, Server, repository, wait_until};
use std::fs;
use std::path::Path;
use std::process::Command;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn guide(path: &str) -> String {
    fs::read_to_string(repository().join("docs/src/guide").join(path)).unwrap()
}

/// A command of the guide, with a folder in the place of the system's.
fn here(command: &str, folder: &Path) -> String {
    let mut command = command.to_owned();
    for (path, own) in [
        ("/etc/keyward", "etc"),
        ("/var/lib/keyward-audit", "audit"),
        ("/var/lib/keyward", "state"),
        ("/run/secrets", "secrets"),
    ] {
        let own = folder.join(own);
        command = command.replace(path, own.to_str().unwrap());
    }
    let program = env!("CARGO_BIN_EXE_keyward");
    command.replace("/usr/local/bin/keyward", program).replace("0.0.0.0:9736", "127.0.0.1:0")
}

/// A place with a configuration for a server, its schema and a token.
fn place(server: &Server) -> Cli {
    let cli = shop(SHOP);
    cli.write("etc/keyward.toml", SHOP);
    let config =
        format!("[servers.shop]\nurl = \"{}\"\nschemas = [\"keyward.toml\"]\n", server.url());
    cli.write("etc/serve.toml", config);
    cli.write("secrets/token", format!("{TOKEN}\n"));
    for folder in ["audit", "state"] {
        fs::create_dir(cli.folder().join(folder)).unwrap();
    }
    cli
}

fn exec_start(unit: &str) -> String {
    unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap().to_owned()
}

#[test]
fn the_service_serves_and_the_timer_audits() {
    let server = Server::redis();
    server.command(&["HSET", "shop:cart:7", "mug", "1"]);
    let cli = place(&server);
    let line = here(&exec_start(&guide("service/keyward.service")), cli.folder());
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["--listen", "127.0.0.1:0"]).env_remove("KEYWARD_TOKEN");
    command.env("XDG_STATE_HOME", cli.folder().join("state"));
    let app = App::start(command);
    wait_until("it was audited", || app.send("GET", "/readyz", &[], None).status == 200);
    assert!(cli.folder().join("state/keyward/history.sqlite").exists());
    drop(app);

    let line = exec_start(&guide("service/keyward-audit.service"));
    let line = here(&line, cli.folder()).replace("${KEYWARD_SOURCE}", &server.url());
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let audited = cli.run(words);
    // The cart has no TTL.
    assert_eq!(audited.code, Some(1), "{audited}");
    assert!(cli.read("audit/report.json").contains("ttl-missing"));
    assert!(cli.read("audit/report.html").contains("<!doctype html>"));
}

#[test]
fn the_container_serves() {
    let server = Server::redis();
    let cli = place(&server);
    let file = guide("service/Containerfile");
    let command = file.lines().find_map(|line| line.strip_prefix("CMD ")).unwrap();
    let words: Vec<String> = serde_json::from_str(&here(command, cli.folder())).unwrap();
    assert_eq!(words[0], "keyward");
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyward"));
    command.args(&words[1..]).env_remove("KEYWARD_TOKEN");
    let app = App::start(command);
    app.send("GET", "/api/v1/servers", &[], None).is(401);
    let bearer = format!("Bearer {TOKEN}");
    app.send("GET", "/api/v1/servers", &[("Authorization", &bearer)], None).is(200);
    // What is copied and built is there.
    assert!(file.contains("--package keyward-cli") && file.contains("target/release/keyward "));
    let toolchain = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let version = toolchain.lines().find_map(|it| it.strip_prefix("rust-version = ")).unwrap();
    assert!(file.contains(&format!("rust:{}-", version.trim_matches('"'))), "{version}");
}

#[test]
fn systemd_knows_every_setting_of_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        // Only Linux distributions with systemd have it.
        return;
    }
    let cli = shop(SHOP);
    let names = ["keyward.service", "keyward-audit.service", "keyward-audit.timer"];
    for name in names {
        let unit = guide(&format!("service/{name}"));
        cli.write(name, unit.replace("/usr/local/bin/keyward", env!("CARGO_BIN_EXE_keyward")));
    }
    let mut verify = Command::new("systemd-analyze");
    let verified = verify.args(["verify", "--man=no"]).args(names.map(|name| format!("./{name}")));
    let verified = verified.current_dir(cli.folder()).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success() && !said.contains("keyward"), "{said}");
}

#[test]
fn the_configuration_of_the_guide_is_accepted() {
    let guide = guide("serve.md");
    let block = guide.split("```toml\n").find(|it| it.starts_with("listen = ")).unwrap();
    let config = block.split("\n```").next().unwrap();
    let cli = shop(SHOP);
    let config = here(config, cli.folder()).replace("redis://10.0.0.7:6379", "redis://127.0.0.1:1");
    cli.write("serve.toml", config.replace("127.0.0.1:9736", "127.0.0.1:0"));
    cli.write("secrets/shop", "password\n");
    cli.write("secrets/oncall-token", format!("{TOKEN}\n"));
    for schema in ["shop/keyward.toml", "sessions/keyward.toml"] {
        cli.write(schema, SHOP);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyward"));
    command.args(["serve", "--config"]).arg(cli.folder().join("serve.toml"));
    command.env("SESSIONS_URL", "redis://127.0.0.1:1").env("ONCALL_URL", "http://127.0.0.1:1/hook");
    command.env_remove("KEYWARD_TOKEN");
    let app = App::start(command);
    let fleet = app.send("GET", "/api/v1/fleet", &[], None).is(200).json();
    let mut names: Vec<&str> = fleet["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["sessions", "shop"]);
    assert_eq!(fleet["webhooks"][0]["name"], "oncall");
}
