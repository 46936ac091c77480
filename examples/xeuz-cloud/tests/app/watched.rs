//! The application's tests under `keyward watch`: a key outside the schema fails them.

use super::harness::{App, redis};
use super::{ADA, BOB, id};
use keyward_testkit::{Cli, Flavor, Output, Server};
use serde_json::json;
use std::env;
use std::process::Command;

/// Runs the test below under watch, which writes one more key where one is planted.
fn under_watch(server: &Server, planted: &str) -> Output {
    let cli = Cli::beside();
    cli.copy("examples/xeuz-cloud/keyward.toml");
    let (url, test) = (server.url(), env::current_exe().expect("this test is a file"));
    let schema = "examples/xeuz-cloud/keyward.toml";
    let watch = ["watch", &url, "--schema", schema, "--show-keys", "--", test.to_str().unwrap()];
    let suite = ["--exact", "watched::a_day_on_the_redis_that_is_given", "--ignored"];
    cli.command([&watch[..], &suite].concat()).env("REDIS_URL", &url).env("PLANTED", planted).run()
}

#[test]
fn a_planted_wrong_key_fails_tests_that_pass_without_it() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let output = under_watch(&redis(flavor), "");
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains("1 passed"), "{output}");
        for (planted, rule) in
            [("xc:flie:7:meta", "unknown-key"), ("xc:quota:7:used", "invalid-param")]
        {
            let output = under_watch(&redis(flavor), planted);
            assert_eq!(output.code, Some(1), "{output}");
            assert!(output.stdout.contains("1 passed"), "the tests themselves pass: {output}");
            assert!(output.stderr.contains(rule) && output.stderr.contains(planted), "{output}");
        }
    }
}

#[test]
#[ignore = "the test above runs it, under watch"]
fn a_day_on_the_redis_that_is_given() {
    let redis = env::var("REDIS_URL").expect("it runs under watch");
    let app = App::start(&redis).with_people();
    super::api::a_day(&app);
    app.add_folder(ADA, id(21), ADA, "folder").is(201);
    app.upload(ADA, id(31), id(21), "file.pdf", 100).is(201);
    let share = format!("/folders/{}/shares/{BOB}", id(21));
    app.put(ADA, &share, json!({ "permission": "viewer" })).is(204);
    app.names(BOB, id(21));
    let planted = env::var("PLANTED").unwrap_or_default();
    if !planted.is_empty() {
        let status = Command::new("redis-cli").args(["-u", &redis, "SET", &planted, "x"]).status();
        assert!(status.expect("redis-cli runs").success());
    }
}
