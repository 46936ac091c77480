//! `keyward plan` and `keyward migrate`.

use keyward_testkit::{Cli, Flavor, Server, wait_until};
use std::fs;

pub(crate) const SHOP: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[plans]
require_owner = true
[owners.accounts]
[keys.user]
pattern = "user:{id:uint}"
owner = "accounts"
group = "people"
type = "hash"
[keys.page]
pattern = "page:{path:slug}"
group = "pages"
value = "text"
ttl = "1h"
[groups.people]
[groups.pages]
[events.user_changed]
params = { path = "slug" }
invalidates = ["page"]
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
user = "User:{id}"
"#;

pub(crate) struct Shop {
    pub(crate) cli: Cli,
    pub(crate) server: Server,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let shop = Shop { cli: crate::shop(SHOP), server: Flavor::Redis.server().start() };
        for id in 1..=200 {
            shop.server.command(&["HSET", &format!("User:{id}"), "name", "ann"]);
        }
        shop
    }

    pub(crate) fn plan(&self, args: &[&str]) -> keyward_testkit::Output {
        let url = self.server.url();
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "URL" { &url } else { *arg }).collect();
        let all = ["plan"].into_iter().chain(args);
        self.cli.command(all).env("XDG_RUNTIME_DIR", self.runtime()).run()
    }

    /// Short: the path of a socket must be.
    pub(crate) fn runtime(&self) -> std::path::PathBuf {
        let runtime = self.cli.folder().join("run");
        fs::create_dir_all(&runtime).unwrap();
        runtime
    }
}

#[test]
fn a_plan_is_made_approved_applied_and_undone() {
    let shop = Shop::new();
    let made = shop.plan(&["migrate", "URL", "--out", "plan.json"]);
    assert_eq!(made.code, Some(0), "{made}");
    assert!(made.stdout.contains("copy 200 keys"), "{made}");
    assert!(!made.stdout.contains("User:1\n"), "keys are masked: {made}");

    let asked = shop.plan(&["apply", "plan.json", "URL"]);
    assert_eq!(asked.code, Some(2), "{asked}");
    assert!(asked.stderr.contains("nobody can be asked here"), "{asked}");

    let early = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(early.code, Some(2), "{early}");
    assert!(early.stderr.contains("`accounts` has not approved"), "{early}");
    let wrong = shop.plan(&["approve", "plan.json", "--owner", "nobody", "--by", "Ada"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    let approved = shop.plan(&["approve", "plan.json", "--owner", "accounts", "--by", "Ada"]);
    assert_eq!(approved.code, Some(0), "{approved}");

    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(shop.server.command(&["HGET", "shop:user:7", "name"]).text(), "ann");
    let undone = shop.plan(&["undo", "plan.json", "URL", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(shop.server.command(&["EXISTS", "shop:user:7"]).integer(), 0);
    let over = shop.plan(&["migrate", "URL", "--out", "keyward.toml"]);
    assert_eq!(over.code, Some(2), "{over}");
    assert!(over.stderr.contains("is another file"), "{over}");
    let all = shop.plan(&["drop", "URL", "*", "--no-prefix", "--out", "all.json"]);
    assert_eq!(all.code, Some(0), "{all}");
    let all = shop.plan(&["apply", "all.json", "URL", "--yes"]);
    assert!(all.stderr.contains("`accounts` has not approved"), "a glob asks owners too: {all}");
    let again = shop.plan(&["migrate", "URL", "--out", "plan.json"]);
    assert_eq!(again.code, Some(2), "{again}");
    assert!(again.stderr.contains("is a plan that was applied"), "{again}");
}

#[test]
fn conflicts_and_single_keys_are_told_in_words_that_help() {
    let schema = SHOP.replace("[plans]\nrequire_owner = true\n", "");
    let shop = Shop { cli: crate::shop(&schema), server: Flavor::Redis.server().start() };
    let redis = |args: &[&str]| _ = shop.server.command(args);
    let says = |args: &[&str], code: i32, words: &[&str]| {
        let output = shop.plan(args);
        assert_eq!(output.code, Some(code), "{output}");
        for word in words {
            assert!(
                output.stdout.contains(word) || output.stderr.contains(word),
                "{word}: {output}"
            );
        }
    };
    redis(&["SET", "User:1", "of another type"]);
    let shown = ["; `--show-keys` names these keys", "0 of 1 key would change"];
    says(&["migrate", "URL", "--out", "plan.json"], 1, &shown);
    let named = ["User:1: another type", "1 key was changed, and the above is left"];
    redis(&["HSET", "User:2", "name", "ann"]);
    says(&["apply", "plan.json", "URL", "--yes", "--show-keys"], 3, &named);
    redis(&["DEL", "User:2"]);
    let lone = "`--remove-lone` plans to remove what stands under one name only";
    says(&["migrate", "URL", "--out", "lone.json"], 1, &[lone]);
    let lone = "a plan with `--remove-lone` removes what stands under one name only";
    says(&["apply", "lone.json", "URL", "--yes"], 3, &["`--show-keys` names some of them", lone]);

    redis(&["FLUSHALL"]);
    redis(&["SET", "shop:page:a", "x", "EX", "60"]);
    says(&["invalidate", "URL", "user_changed", "path=a", "--out", "event.json"], 0, &["1 key"]);
    let once = "1 key was changed; one pass over all keys left nothing";
    says(&["apply", "event.json", "URL", "--yes"], 0, &[once]);
    let goes_on = "with this one, `keyward plan apply` goes on";
    says(&["drop", "URL", "page", "--out", "event.json"], 2, &[goes_on]);

    redis(&["HSET", "shop:user:7", "name", "ann"]);
    says(&["forget", "URL", "id=7", "--out", "forget.json"], 0, &["erase 1 key\n"]);
    says(&["apply", "forget.json", "URL", "--subject", "id=7", "--yes"], 0, &["1 key or part"]);
    let again = ["is a plan that was applied", "its certificate is named after it"];
    says(&["forget", "URL", "id=7", "--out", "forget.json"], 2, &again);
}

#[test]
fn a_plan_that_was_edited_torn_or_forged_is_refused() {
    let shop = Shop::new();
    shop.plan(&["drop", "URL", "pages", "--out", "plan.json"]);
    let path = shop.cli.folder().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    let refused = |text: &str, why: &str| {
        fs::write(&path, text).unwrap();
        let output = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(why), "{output}");
    };
    refused(&text.replace("\"pages\"", "\"people\""), "was edited");
    refused(&text[..text.len() / 2], "is not a plan");
    refused("{}", "is not a plan");
    refused("", "is not a plan");
    refused(&text.replace("\"keyward_plan\": 1", "\"keyward_plan\": 2"), "of version 2");
    let (before, id) = text.split_once("\"id\": \"").unwrap();
    refused(&format!("{before}\"id\": \"../../../../{}", &id[12..]), "is not a plan");
    assert_eq!(shop.server.command(&["DBSIZE"]).integer(), 200);
}

#[test]
fn a_running_plan_is_steered_from_another_terminal() {
    let shop = Shop::new();
    shop.plan(&["migrate", "URL", "--out", "plan.json"]);
    shop.plan(&["approve", "plan.json", "--owner", "accounts", "--by", "Ada"]);
    assert_eq!(shop.plan(&["status", "plan.json"]).code, Some(2));
    let missing = shop.plan(&["show", "no-such-plan.json"]);
    assert!(missing.stderr.contains("no such file or folder"), "{missing}");
    assert!(missing.stderr.contains("help: check the name of the file"), "{missing}");
    let url = shop.server.url();
    let args = ["plan", "apply", "plan.json", &url, "--yes", "--max-rate", "20"];
    let running = shop.cli.command(args).env("XDG_RUNTIME_DIR", shop.runtime()).start();
    wait_until("the plan listens", || shop.plan(&["status", "plan.json"]).code == Some(0));
    let second = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert!(second.stderr.contains("is being applied on this machine already"), "{second}");
    assert_eq!(shop.plan(&["pause", "plan.json"]).stdout, "paused\n");
    assert!(shop.plan(&["status", "plan.json"]).stdout.contains("; paused"));
    assert_eq!(shop.plan(&["resume", "plan.json"]).stdout, "going on\n");
    assert!(shop.plan(&["rate", "plan.json", "30"]).stdout.starts_with("at most 30"));
    assert_eq!(shop.plan(&["rate", "plan.json", "0"]).code, Some(2));
    assert!(shop.plan(&["rate", "plan.json", "none"]).stdout.starts_with("no limit"));
    assert!(shop.plan(&["rate", "plan.json", "30"]).stdout.starts_with("at most 30"));
    assert_eq!(shop.plan(&["stop", "plan.json"]).stdout, "stopping\n");
    let stopped = running.finish();
    assert_eq!(stopped.code, Some(3), "{stopped}");
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(shop.server.command(&["DBSIZE"]).integer(), 401);
}

#[test]
fn a_lost_server_is_waited_for_aloud_and_all_keys_are_counted() {
    let server = Flavor::Redis.server().config("appendonly", "yes").config("appendfsync", "always");
    let shop = Shop { cli: crate::shop(SHOP), server: server.start() };
    for id in 1..=200 {
        shop.server.command(&["HSET", &format!("User:{id}"), "name", "ann"]);
    }
    shop.plan(&["migrate", "URL", "--out", "plan.json"]);
    shop.plan(&["approve", "plan.json", "--owner", "accounts", "--by", "Ada"]);
    let url = shop.server.url();
    let args = ["plan", "apply", "plan.json", &url, "--yes", "--max-rate", "100"];
    let running = shop.cli.command(args).env("XDG_RUNTIME_DIR", shop.runtime()).start();
    let status = || -> Option<serde_json::Value> {
        let said = shop.plan(&["status", "plan.json", "--format", "json"]);
        (said.code == Some(0)).then(|| serde_json::from_str(&said.stdout).unwrap())
    };
    wait_until("some keys are copied", || {
        status().is_some_and(|it| it["changed"].as_u64().unwrap() > 0)
    });
    shop.plan(&["pause", "plan.json"]);
    // The old keys, the marker, and what was copied: nothing is under way.
    wait_until("the plan waits", || {
        let copied = shop.server.command(&["DBSIZE"]).integer() - 201;
        status().is_some_and(|it| it["changed"] == copied)
    });
    shop.server.kill();
    shop.plan(&["resume", "plan.json"]);
    let told = status().unwrap_or_else(|| panic!("it runs"));
    assert!(told["seen_per_second"].is_u64() && told["changed_per_second"].is_u64(), "{told}");
    assert!(told["seconds_left_of_pass"].is_u64(), "{told}");
    wait_until("the server is missed", || status().is_some_and(|it| it["waiting_for"].is_string()));
    assert!(shop.plan(&["status", "plan.json"]).stdout.contains("waiting for a server: "));
    shop.server.restart();
    shop.plan(&["rate", "plan.json", "none"]);
    let applied = running.finish();
    assert_eq!(applied.code, Some(0), "{applied}");
    assert!(applied.stdout.contains("200 keys were changed"), "{applied}");
    assert_eq!(applied.stderr.matches("waiting for a server: ").count(), 1, "{applied}");
    assert_eq!(applied.stderr.matches("the server is back").count(), 1, "{applied}");
}

#[test]
fn where_a_migration_stands_is_told_to_programs_too() {
    let shop = Shop::new();
    let url = shop.server.url();
    let told = shop.cli.run(["migrate", &url, "--format", "json"]);
    assert_eq!(told.code, Some(1), "{told}");
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["version"], 1);
    let v2 = &told["migrations"][0];
    assert_eq!((&v2["name"], &v2["phase"]), (&"v2".into(), &"dual-write".into()));
    assert!(v2["days_left"].is_null(), "it has no `remove_after`");
    let user = &v2["renames"][0];
    assert_eq!((&user["unseen_use"], &user["queues_with_jobs"]), (&0.into(), &0.into()));
    assert_eq!((&user["from"], &user["old_keys"]), (&"User:{id}".into(), &200.into()));
    assert_eq!((&user["to_do"], &user["new_keys"]), (&200.into(), &0.into()));
    assert!(told["clients"]["announced"].is_object());
}

#[test]
fn old_names_without_keys_take_one_line() {
    let shop = Shop::new();
    shop.cli.write("keyward.toml", SHOP.to_owned() + "page = \"Page:{path}\"\n");
    let made = shop.plan(&["migrate", "URL", "--out", "plan.json"]);
    assert!(made.stdout.contains("\nno keys: Page:{path}\n"), "{made}");
    assert!(!made.stdout.contains("copy Page:"), "{made}");
}

#[test]
fn events_groups_and_globs_are_planned_with_their_prefix() {
    let shop = Shop::new();
    for page in ["a", "b"] {
        shop.server.command(&["SET", &format!("shop:page:{page}"), "x", "EX", "60"]);
    }
    let changes = |args: &[&str]| {
        let output = shop.plan(args);
        let plan = fs::read_to_string(shop.cli.folder().join("plan.json")).unwrap_or_default();
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap_or_default();
        (output.code, plan["estimate"]["changes"].as_u64())
    };
    let event = ["invalidate", "URL", "user_changed", "path=a", "--out", "plan.json"];
    assert_eq!(changes(&event), (Some(0), Some(1)));
    assert_eq!(changes(&["drop", "URL", "page:*", "--out", "plan.json"]), (Some(0), Some(2)));
    assert_eq!(changes(&["drop", "URL", "pages", "--out", "plan.json"]), (Some(0), Some(2)));
    let one = ["drop", "URL", "page", "path=b", "--out", "plan.json"];
    assert_eq!(changes(&one), (Some(0), Some(1)));
    let whole = ["drop", "URL", "User:1*", "--no-prefix", "--out", "plan.json"];
    assert_eq!(changes(&whole), (Some(0), Some(111)));
    let wrong = shop.plan(&["drop", "URL", "pagse", "--out", "other.json"]);
    assert!(
        wrong.stderr.contains("did you mean `page`")
            || wrong.stderr.contains("did you mean `pages`"),
        "{wrong}"
    );
    let unknown = shop.plan(&["invalidate", "URL", "user_changed", "--out", "other.json"]);
    assert!(unknown.stderr.contains("needs a value for `path`"), "{unknown}");
}

const REPAIRED: &str = r#"
version = 1
[keyspace]
name = "shop"
[keys.session]
pattern = "session:{id:uint}"
type = "hash"
ttl = "1h..2h"
[keys.recent]
pattern = "recent:{id:uint}"
type = "list"
value = "text"
max_len = 2
keep = "last"
ttl = "none"
[migrations.v2]
phase = "cleanup"
remove_after = 2025-10-17
renames = { recent = "Recent:{id}" }
"#;

#[test]
fn what_breaks_rules_is_planned_by_rule_and_day() {
    let shop = Shop { cli: crate::shop(REPAIRED), server: Flavor::Redis.server().start() };
    shop.server.command(&["HSET", "session:1", "user", "7"]);
    shop.server.command(&["HSET", "sesion:2", "user", "7"]);
    shop.server.command(&["RPUSH", "recent:1", "a", "b", "c"]);
    shop.server.command(&["RPUSH", "Recent:1", "a", "b", "c"]);
    let url = shop.server.url();
    let fix = |day: &str, rules: &[&str]| {
        let rules = rules.iter().flat_map(|rule| ["--rule", rule]);
        let args = ["plan", "fix", &url, "--out", "plan.json"].into_iter().chain(rules);
        shop.cli.command(args).env("KEYWARD_TODAY", day).run()
    };
    let all = fix("2025-10-18", &[]);
    assert_eq!(all.code, Some(0), "{all}");
    let mut shown = all.stdout.replace(url.trim_start_matches("redis://"), "127.0.0.1:6379");
    let speed = shown.find("; about").map(|at| shown[at..].find('\n').map(|end| (at, at + end)));
    if let Some(Some((from, to))) = speed {
        shown.replace_range(from..to, "; …");
    }
    let masked = shown.split('#').map(|part| part.split_once('>').map_or(part, |it| it.1));
    insta::assert_snapshot!(masked.collect::<Vec<_>>().join("#>"));

    let before = fix("2025-10-17", &[]);
    assert!(!before.stdout.contains("old-name"), "its day is not over: {before}");
    let one = fix("2025-10-18", &["old-name", "oversized-collection"]);
    assert!(!one.stdout.contains("ttl-missing") && one.stdout.contains("old-name"), "{one}");
    let wrong = fix("2025-10-18", &["ttl-mising"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("did you mean `ttl-missing`?"), "{wrong}");
    let lint = shop.plan(&["lint", "plan.json"]);
    assert!(
        lint.stdout.contains("destructive: 1 key `recent:{id:uint}` would lose entries"),
        "{lint}"
    );
}

#[test]
fn a_repair_that_is_killed_goes_on_and_can_be_undone() {
    let shop = Shop { cli: crate::shop(REPAIRED), server: Flavor::Redis.server().start() };
    for id in 0..300 {
        shop.server.command(&["HSET", &format!("session:{id}"), "user", "7"]);
        shop.server.command(&["RPUSH", &format!("recent:{id}"), "a", "b", "c", "d"]);
    }
    let url = shop.server.url();
    assert_eq!(shop.plan(&["fix", "URL", "--out", "plan.json"]).code, Some(0));
    let state = || {
        let one = |id: u32| {
            let ttl = shop.server.command(&["PTTL", &format!("session:{id}")]).integer();
            (ttl > 0, shop.server.command(&["LLEN", &format!("recent:{id}")]).integer())
        };
        (0..300).map(one).collect::<Vec<_>>()
    };
    for killed in 1..=3 {
        let args =
            ["plan", "apply", "plan.json", &url, "--yes", "--accept-unnamed", "--max-rate", "300"];
        let running = shop.cli.command(args).env("XDG_RUNTIME_DIR", shop.runtime()).start();
        let changed = || state().iter().filter(|it| **it == (true, 2)).count();
        wait_until("some are repaired", || changed() > killed * 20);
        let kill =
            std::process::Command::new("kill").args(["-KILL", &running.id().to_string()]).status();
        assert!(kill.unwrap().success());
        running.finish();
    }
    assert!(state().contains(&(false, 4)), "it was killed before it was done");
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes", "--accept-unnamed"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(state(), vec![(true, 2); 300]);
    let undone = shop.plan(&["undo", "plan.json", "URL", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(state(), vec![(false, 4); 300]);
}

pub(crate) const JOBS: &str = r#"
version = 1
[keyspace]
name = "jobs"
prefix = "app:"
[keys.label]
pattern = "label"
queue = { dead_letter = "old_label" }
value = "text"
[keys.old_label]
pattern = "label:old"
type = "list"
value = "text"
ttl = "none"
[keys.seen]
pattern = "seen:{user_id:uint}:{item:uint}"
value = "text"
ttl = "none"
"#;

impl Shop {
    /// Applies a plan slowly, and kills the program each time it has come further.
    fn kill_thrice(&self, more: &[&str], done: impl Fn() -> usize) {
        let url = self.server.url();
        for killed in 1..=3 {
            let args = ["plan", "apply", "plan.json", &url, "--yes", "--max-rate", "300"];
            let args = args.iter().chain(more);
            let running = self.cli.command(args).env("XDG_RUNTIME_DIR", self.runtime()).start();
            wait_until("some are done", || done() > killed * 20);
            let id = running.id().to_string();
            let kill = std::process::Command::new("kill").args(["-KILL", &id]).status();
            assert!(kill.unwrap().success());
            running.finish();
        }
        assert!(done() < 300, "it was killed before it was done");
    }
}

#[test]
fn a_requeue_that_is_killed_pushes_each_letter_once() {
    let shop = Shop { cli: crate::shop(JOBS), server: Flavor::Redis.server().start() };
    let jobs: Vec<String> = (0..300).map(|job| format!("job-{job:03}")).collect();
    for job in &jobs {
        shop.server.command(&["RPUSH", "app:label:old", job]);
    }
    let made = shop.plan(&["requeue", "URL", "label", "--out", "plan.json"]);
    assert_eq!(made.code, Some(0), "{made}");
    let pushed = || {
        let list = shop.server.command(&["LRANGE", "app:label", "0", "-1"]).array();
        let mut list: Vec<String> = list.into_iter().map(keyward_testkit::Reply::text).collect();
        list.sort();
        list
    };
    shop.kill_thrice(&[], || pushed().len());
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(pushed(), jobs);
    assert_eq!(shop.server.command(&["EXISTS", "app:label:old"]).integer(), 0);
}

#[test]
fn a_person_is_forgotten_however_often_that_is_killed() {
    let shop = Shop { cli: crate::shop(JOBS), server: Flavor::Redis.server().start() };
    for (user, item) in [7, 8].into_iter().flat_map(|user| (0..300).map(move |item| (user, item))) {
        shop.server.command(&["SET", &format!("app:seen:{user}:{item}"), "x"]);
    }
    let made = shop.plan(&["forget", "URL", "user_id=7", "--out", "plan.json"]);
    assert_eq!(made.code, Some(0), "{made}");
    let left =
        |user: u32| shop.server.command(&["KEYS", &format!("app:seen:{user}:*")]).array().len();
    shop.kill_thrice(&["--subject", "user_id=7"], || 300 - left(7));
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes", "--subject", "user_id=7"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!((left(7), left(8)), (0, 300));
    // Whoever is killed between a step and its note counts one key less.
    let text = fs::read_to_string(shop.cli.folder().join("plan.json.certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
    let erased = certificate["erased"].as_array().unwrap();
    let erased: u64 = erased.iter().map(|it| it["count"].as_u64().unwrap()).sum();
    assert!((297..=300).contains(&erased), "{certificate:#}");
}

#[test]
fn the_batch_patterns_of_reed_cms_work_with_their_prefix() {
    let server = Server::redis();
    let schema = fs::read(keyward_testkit::repository().join("examples/reed-cms/keyward.toml"));
    let cli = crate::cli();
    cli.write("keyward.toml", schema.unwrap());
    let keys = [
        "entity:snippet:550e8400-e29b-41d4-a716-446655440000",
        "entity:page:550e8400-e29b-41d4-a716-446655440001",
        "page:cache:x:de_DE:corporate",
        "session:abc123",
        "word:welcome",
    ];
    for key in keys {
        server.command(&["SET", &format!("reed:{key}"), "x"]);
        server.command(&["SET", &format!("other:{key}"), "x"]);
    }
    let url = server.url();
    for glob in ["entity:snippet:*", "page:cache:*", "session:*", "entity:*", "word:*"] {
        let args = ["plan", "drop", &url, glob, "--bind", "site=reed", "--out", "drop.json"];
        let made = cli.run(args);
        assert_eq!(made.code, Some(0), "{made}");
        assert!(made.stdout.contains("remove 1 key"), "{made}");
        let applied = cli.run(["plan", "apply", "drop.json", &url, "--yes"]);
        assert_eq!(applied.code, Some(0), "{applied}");
        fs::remove_file(cli.folder().join("drop.json")).unwrap();
    }
    let reed = server.command(&["KEYS", "reed:[a-z]*"]).array().len();
    let other = server.command(&["KEYS", "other:*"]).array().len();
    assert_eq!((reed, other), (0, keys.len()));
    let unbound = cli.run(["plan", "drop", &url, "word:*", "--out", "drop.json"]);
    assert_eq!(unbound.code, Some(2), "{unbound}");
    assert!(unbound.stderr.contains("--bind site="), "{unbound}");
}
