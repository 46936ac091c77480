//! Indexes that contradict what they find, and keys that refer to themselves.

mod support;

use keyward_audit::{Report, live, merge};
use keyward_testkit::{Cluster, Flavor, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Dump, NOW, audit, report, schema};

keyward::keyspace!("tests/written.toml");

/// Two tenants, each with pages, the words of these, and folders.
const SITE: &str = r#"
[keyspace]
name = "site"
prefix = "{tenant}:"
[params]
tenant = "slug"
id = "uint"
[keys.page]
pattern = "page:{kind:slug}:{id}"
fields = { status = "text" }
ttl = "none"
[keys.by_status]
pattern = "status:{status}"
params = { status = { type = "text", normalize = "lower" } }
index = { of = "page", by = "status" }
member = { key = "page" }
ttl = "none"
[keys.by_kind]
pattern = "kind:{page_kind:slug}"
index = { of = "page", by = "kind" }
member = { key = "page" }
ttl = "none"
[keys.word]
pattern = "word:{group:slug}:{word:slug}"
index = { of = "page", reverse = "words_of" }
member = { key = "page" }
ttl = "none"
[keys.words_of]
pattern = "words_of:{page_id:uint}"
type = "set"
member = { key = "word" }
ttl = "none"
[keys.folder]
pattern = "folder:{id}"
value = { key = "folder" }
ttl = "none"
allow = [{ rule = "dangling-reference", reason = "a root has no folder" }]
"#;

/// What is wrong, with examples.
fn found(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for finding in &report.findings {
        found.push(format!("{}: {}", finding.rule, finding.message));
        found.extend(finding.examples.iter().map(|example| {
            format!("  {}: {}", example.key, example.detail.as_deref().unwrap_or_default())
        }));
    }
    found
}

fn in_site(commands: &str) -> Vec<String> {
    found(&report(&audit(vec![schema(SITE)]), &Dump::of(commands).bytes()))
}

#[test]
fn an_index_that_agrees_is_clean() {
    let commands = "HSET acme:page:post:1 status Draft\n\
                    HSET globex:page:post:1 status live\n\
                    SADD acme:status:draft page:post:1\n\
                    SADD globex:status:live globex:page:post:1\n\
                    SADD acme:kind:post page:post:1\n\
                    SADD acme:word:a:tea page:post:1\n\
                    SADD acme:words_of:1 word:a:tea\n\
                    SET acme:folder:1 folder:2\n\
                    SET acme:folder:2 folder:3\n\
                    SET globex:folder:3 folder:1\n\
                    SET globex:folder:2 folder:3\n";
    assert_eq!(in_site(commands), [""; 0]);
}

#[test]
fn a_member_that_contradicts_its_index_is_reported() {
    // The field of one tenant says nothing about the other's.
    let by_field = in_site(
        "HSET acme:page:post:1 status draft\n\
         HSET globex:page:post:1 status live\n\
         SADD acme:status:live page:post:1\n\
         SADD globex:status:live page:post:1\n",
    );
    let by_param = in_site(
        "HSET acme:page:post:1 status draft\n\
         SADD acme:kind:news page:post:1\n",
    );
    insta::assert_snapshot!([by_field, by_param].concat().join("\n"));
}

#[test]
fn a_set_that_disagrees_with_its_reverse_is_reported() {
    insta::assert_snapshot!(
        in_site(
            "HSET acme:page:post:1 status draft\n\
             SADD acme:word:a:tea page:post:1\n\
             SADD acme:word:a:cup page:post:1\n\
             SADD acme:word:b:tea acme:page:post:1\n\
             SADD acme:words_of:1 word:a:tea acme:word:b:tea word:b:gone\n"
        )
        .join("\n")
    );
}

#[test]
fn a_key_that_is_its_own_descendant_is_reported() {
    insta::assert_snapshot!(
        in_site(
            "SET acme:folder:1 folder:2\n\
             SET acme:folder:2 acme:folder:3\n\
             SET acme:folder:3 folder:1\n\
             SET acme:folder:4 folder:1\n\
             SET globex:folder:1 folder:1\n"
        )
        .join("\n")
    );
}

#[test]
fn shards_are_compared_when_their_reports_are_merged() {
    let audit = audit(vec![schema(SITE)]);
    let sets = "SADD acme:word:a:tea page:post:1\nSET acme:folder:1 folder:2\n";
    let members = "HSET acme:page:post:1 status draft\n\
                   SADD acme:words_of:1 word:a:tea word:a:cup\n\
                   SET acme:folder:2 folder:1\n";
    let both = merge(vec![
        report(&audit, &Dump::of(sets).bytes()),
        report(&audit, &Dump::of(members).bytes()),
    ]);
    let found = found(&both.unwrap());
    assert!(found.iter().any(|it| it.starts_with("index-reverse-mismatch: ")), "{found:?}");
    assert!(!found.iter().any(|it| it.contains("2 of 2 members")), "{found:?}");
}

#[test]
fn no_key_of_an_index_is_in_a_report() {
    let audit = audit(vec![schema(SITE)]);
    let commands = "HSET acme:page:post:77001 status secret\n\
                    SADD acme:status:live page:post:77001\n\
                    SADD acme:word:a:tea page:post:77001\n\
                    SADD acme:word:a:cup page:post:77002\n\
                    SADD acme:words_of:77001 word:a:cup\n\
                    SET acme:folder:77001 folder:77001\n";
    let report = report(&audit, &Dump::of(commands).bytes());
    assert_eq!(report.findings.len(), 4, "{:?}", found(&report));
    let written = serde_json::to_string(&report).unwrap();
    assert!(!written.contains("77001") && !written.contains("secret"), "{written}");
}

fn observed(url: &str) -> Vec<String> {
    let written = keyward_schema::read(include_str!("written.toml")).schema.unwrap();
    let options = live::Options::default();
    found(&audit(vec![written]).observe(url, &options, || None, NOW).unwrap())
}

const WRONG: [&[&str]; 8] = [
    &["HSET", "wr:article:1", "title", "a", "status", "draft", "parent", "2"],
    &["HSET", "wr:article:2", "title", "b", "status", "live", "parent", "1"],
    &["SADD", "wr:status:live", "1", "2"],
    &["SADD", "wr:word:tea", "article:1"],
    &["SADD", "wr:words_of:2", "tea"],
    &["HSET", "wr:login:x", "user", "7"],
    &["EXPIRE", "wr:login:x", "600"],
    &["SADD", "wr:logins:8", "x"],
];

fn assert_all_found(found: &[String]) {
    let of = |start: &str| found.iter().filter(|it| it.starts_with(start)).count();
    assert_eq!(of("index-contradiction: "), 2, "{found:?}");
    assert_eq!(of("index-reverse-mismatch: "), 1, "{found:?}");
    assert_eq!(of("reference-cycle: "), 1, "{found:?}");
}

#[test]
fn a_live_server_is_compared_too() {
    for server in Server::all() {
        for command in WRONG {
            server.command(command);
        }
        server.command(&["EXPIRE", "wr:logins:8", "600"]);
        assert_all_found(&observed(&server.url()));
    }
}

#[test]
fn the_shards_of_a_cluster_are_compared_with_each_other() {
    let cluster = Cluster::start(Flavor::Redis);
    for command in WRONG {
        cluster.command(command);
    }
    cluster.command(&["EXPIRE", "wr:logins:8", "600"]);
    let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
    assert_all_found(&observed(&format!("redis+cluster://{}", nodes.join(","))));
}

#[test]
fn what_cannot_be_read_again_is_not_reported_but_said() {
    let server = Server::redis();
    for command in WRONG {
        server.command(command);
    }
    server.command(&["ACL", "SETUSER", "reader", "on", ">pw", "~*", "+@all", "-sismember"]);
    let url = server.url().replace("redis://", "redis://reader:pw@");
    let written = keyward_schema::read(include_str!("written.toml")).schema.unwrap();
    let audit = audit(vec![written]);
    let report = audit.observe(&url, &live::Options::default(), || None, NOW).unwrap();
    let found = found(&report);
    assert!(!found.iter().any(|it| it.starts_with("index-contradiction")), "{found:?}");
    assert!(found.iter().any(|it| it.starts_with("reference-cycle")), "{found:?}");
    let notes = &report.source.notes;
    assert!(notes.iter().any(|it| it.contains("could not be read again")), "{notes:?}");
}

/// Trees whose references are beside what they are between, each tenant with its own.
const TREES: &str = r#"
[keyspace]
name = "trees"
prefix = "{tenant}:"
[params]
tenant = "slug"
id = "uuid"
number = "uint"
user_key = { key = "user" }
[keys.entity]
pattern = "entity:{kind:slug}:{id}"
fields = { title = "text" }
ttl = "none"
[keys.parent]
pattern = "parent:{child_id:uuid}"
value = { key = "entity" }
ttl = "none"
[keys.origin]
pattern = "origin:{copy:uuid}"
value = { ref = "entity.id" }
ttl = "none"
[keys.user]
pattern = "user:{number}"
fields = { name = "text" }
ttl = "none"
[keys.referrer]
pattern = "referrer:{user_number:uint}"
value = { key = "user" }
ttl = "none"
[keys.manager]
pattern = "{user_key}:manager"
value = { key = "user" }
ttl = "none"
[keys.partner]
pattern = "{user_key}:partner"
value = { key = "user" }
inverse = "partner"
ttl = "none"
[keys.customer]
pattern = "customer:{order:uint}"
value = { key = "user" }
ttl = "none"
"#;

/// The last digit of an entity's id decides.
fn entity(number: u8) -> String {
    format!("550e8400-e29b-41d4-a716-44665544000{number}")
}

/// Four entities and three users, each in a tree of its kind.
fn plant(server: &Server) {
    for number in 1..5 {
        server.command(&["HSET", &format!("acme:entity:page:{}", entity(number)), "title", "t"]);
        server.command(&["HSET", &format!("acme:user:{number}"), "name", "n"]);
    }
    for (child, parent) in [(2, 1), (3, 2), (4, 2)] {
        let (child, parent) = (entity(child), entity(parent));
        server.command(&["SET", &format!("acme:parent:{child}"), &format!("entity:page:{parent}")]);
        server.command(&["SET", &format!("acme:origin:{child}"), &parent]);
    }
    for (below, above) in [("2", "user:1"), ("3", "acme:user:2")] {
        server.command(&["SET", &format!("acme:referrer:{below}"), above]);
        server.command(&["SET", &format!("acme:user:{below}:manager"), above]);
    }
    // Partners lead back to each other, and an order has another number than who orders.
    server.command(&["SET", "acme:user:1:partner", "user:2"]);
    server.command(&["SET", "acme:user:2:partner", "user:1"]);
    server.command(&["SET", "acme:customer:1", "user:2"]);
    server.command(&["SET", "acme:customer:2", "user:1"]);
}

#[test]
fn a_parent_beside_its_child_that_is_its_descendant_is_reported() {
    let audit = audit(vec![schema(TREES)]);
    let observed = |server: &Server| {
        let options = live::Options::default();
        found(&audit.observe(&server.url(), &options, || None, NOW).unwrap())
    };
    for server in Server::all() {
        plant(&server);
        assert_eq!(observed(&server), [""; 0]);
        server.command(&[
            "SET",
            &format!("acme:parent:{}", entity(1)),
            &format!("acme:entity:page:{}", entity(3)),
        ]);
        server.command(&["SET", &format!("acme:origin:{}", entity(4)), &entity(4)]);
        server.command(&["SET", "acme:referrer:1", "user:2"]);
        server.command(&["SET", "acme:user:1:manager", "user:3"]);
        insta::assert_snapshot!("a_parent_beside_its_child", observed(&server).join("\n"));
    }
}

fn article(id: u64, status: &str) -> written::fields::Article {
    let status = status.to_owned();
    written::fields::Article { title: "a title".to_owned(), status, parent: id.checked_sub(1) }
}

/// Moves articles from word to word and from status to status, until it is over.
async fn keep_moving(store: &keyward::Store, is_over: &AtomicBool) {
    use written::{fields, keys, values};
    let word = |number: u64| values::Word::new(format!("w{number}")).unwrap();
    let index = store.index::<keys::Words>();
    for round in 0.. {
        for id in 0..20 {
            let words = (0..3).map(|at| keys::Words { word: word((id + round + at) % 9) });
            index.assign(&keys::Article { id }, words).await.unwrap();
            let (old, new) = if round % 2 == 0 { ("draft", "live") } else { ("live", "draft") };
            let of = |status: &str| keys::ByStatus { status: values::Status::new(status).unwrap() };
            let changed = [fields::Article::STATUS.to(&new.to_owned())];
            store.at(keys::Article { id }).update(changed).await.unwrap();
            store.at(of(old)).move_to(&id, &of(new)).await.unwrap();
        }
        if is_over.load(Ordering::SeqCst) {
            return;
        }
    }
}

#[test]
fn what_changes_during_an_audit_is_not_a_contradiction() {
    for server in Server::all() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let store = runtime.block_on(keyward::Store::connect(server.url())).unwrap();
            runtime.block_on(async {
                for id in 0..20 {
                    let key = written::keys::Article { id };
                    store.at(key).set(&article(id, "draft")).await.unwrap();
                }
            });
            let writing = is_over.clone();
            let writer = scope.spawn(move || runtime.block_on(keep_moving(&store, &writing)));
            let found: Vec<_> = (0..10).flat_map(|_| observed(&server.url())).collect();
            is_over.store(true, Ordering::SeqCst);
            assert_eq!(found, [""; 0]);
            writer.join().unwrap();
        });
        assert_eq!(observed(&server.url()), [""; 0]);
    }
}

#[test]
fn what_the_store_writes_is_clean() {
    use written::{fields, keys, values};
    for server in Server::all() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let held = runtime.block_on(async {
            let store = keyward::Store::connect(server.url()).await.unwrap();
            for id in 0..50 {
                let article = article(id, if id % 2 == 0 { "live" } else { "draft" });
                let status = values::Status::new(&article.status).unwrap();
                store.at(keys::Article { id }).set(&article).await.unwrap();
                store.at(keys::ByStatus { status }).put(&id).await.unwrap();
                let words = ["Tea", "cup", "pot"].map(|it| values::Word::new(it).unwrap());
                let words = words.into_iter().zip(0..id % 4).map(|(word, _)| keys::Words { word });
                store.index::<keys::Words>().assign(&keys::Article { id }, words).await.unwrap();
            }
            let sessions = store.sessions::<keys::Login>();
            for user in 0..5 {
                let kept = sessions.create(&fields::Login { user, seen: None }).await.unwrap();
                store.at(kept.clone()).touch().await.unwrap();
                store.at(kept).rotate().await.unwrap().unwrap();
                let gone = sessions.create(&fields::Login { user, seen: None }).await.unwrap();
                store.at(gone).revoke().await.unwrap();
            }
            let mail = store.at(keys::Mail {});
            for number in 0..5 {
                mail.push(&number.to_string()).await.unwrap();
            }
            let held = store.at(keys::Import { id: 1 }).acquire().await.unwrap();
            (store, held)
        });
        assert_eq!(observed(&server.url()), [""; 0]);
        drop(held);
    }
}
