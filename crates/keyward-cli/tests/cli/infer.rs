use crate::{cli, shop};
use insta::assert_snapshot;
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_testkit::{Cli, Cluster, Flavor, Server};

/// When the snapshots of these tests were taken, in seconds since 1970.
const TAKEN: u64 = 1_794_700_800;

/// A shop's keys, as nobody declared them.
fn dump(cli: &Cli, name: &str, users: std::ops::RangeInclusive<u32>) {
    let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
    writer.aux(b"ctime", TAKEN.to_string().as_bytes()).unwrap();
    writer.select(0).unwrap();
    for user in users {
        let expiring = Attributes {
            expires_at: Some(TAKEN * 1000 + 6_000_000 * u64::from(user)),
            ..Attributes::default()
        };
        let key = format!("shop:user:{user}");
        let mail = format!("a{user}@example.org");
        let fields: [(&[u8], &[u8]); 2] = [(b"name", b"Ann"), (b"mail", mail.as_bytes())];
        writer.key(key.as_bytes(), &Attributes::default(), &Content::Hash(&fields)).unwrap();
        let key = format!("shop:cart:{user}");
        writer.key(key.as_bytes(), &expiring, &Content::List(&[b"mug", b"pot"])).unwrap();
    }
    writer.key(b"shop:stats:orders", &Attributes::default(), &Content::String(b"31")).unwrap();
    cli.write(name, writer.finish().unwrap());
}

#[test]
fn a_snapshot_becomes_a_schema_that_is_sound_and_formatted() {
    let cli = cli();
    dump(&cli, "dump.rdb", 1..=40);
    assert_snapshot!(cli.run(["infer", "dump.rdb"]));
    assert_snapshot!(cli.run(["infer", "dump.rdb", "--out", "keyward.toml"]));
    for command in [&["check", "--set", "minimal"][..], &["fmt", "--check"], &["audit", "dump.rdb"]]
    {
        let output = cli.run(command);
        assert_eq!(output.code, Some(0), "{output}");
    }
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let cli = shop("version = 1\n");
    dump(&cli, "dump.rdb", 1..=10);
    assert_snapshot!(cli.run(["infer", "dump.rdb", "--out", "keyward.toml"]));
    assert_eq!(cli.read("keyward.toml"), "version = 1\n");
}

#[test]
fn what_is_new_is_added_and_the_rest_stays_as_it_is() {
    let ours = "\
version = 1

[keyspace]
name = \"shop\"
prefix = \"shop:\"

# Ours.
[keys.customer]
pattern = \"user:{id:uint}\"   # not user_id

[keys.gone]
pattern = \"gone:{id:uint}\"
";
    let cli = shop(ours);
    dump(&cli, "dump.rdb", 1..=40);
    assert_snapshot!(cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]));
    let merged = cli.read("keyward.toml");
    assert!(merged.starts_with(ours), "{merged}");
    assert_snapshot!(merged[ours.len()..]);
    let again = cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]);
    assert_eq!(cli.read("keyward.toml"), merged, "{again}");
}

/// Keys of a queue of other software, beside ours.
fn queue(cli: &Cli, name: &str) {
    let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
    writer.aux(b"ctime", TAKEN.to_string().as_bytes()).unwrap();
    writer.select(0).unwrap();
    let none = Attributes::default();
    for job in 1..=20 {
        let key = format!("bull:mail:{job}");
        writer.key(key.as_bytes(), &none, &Content::Hash(&[(b"name", b"x")])).unwrap();
        let key = format!("user:{job}");
        writer.key(key.as_bytes(), &none, &Content::Hash(&[(b"name", b"Ann")])).unwrap();
    }
    writer.key(b"bull:mail:stalled-check", &none, &Content::String(b"1")).unwrap();
    cli.write(name, writer.finish().unwrap());
}

#[test]
fn other_software_that_is_new_is_added_once() {
    let ours = "version = 1\n\n[keyspace]\nname = \"shop\"\n";
    let cli = shop(ours);
    queue(&cli, "dump.rdb");
    assert_snapshot!(cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]));
    let merged = cli.read("keyward.toml");
    assert!(merged.contains("[foreign.bullmq]") && merged.contains("[keys.user]"), "{merged}");
    let again = cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]);
    assert_eq!(cli.read("keyward.toml"), merged, "{again}");
    let audit = cli.run(["audit", "dump.rdb"]);
    assert_eq!(audit.code, Some(0), "{audit}");
}

#[test]
fn definitions_of_included_files_are_known_and_stay_where_they_are() {
    let ours = "version = 1\ninclude = [\"users.toml\"]\n\n[keyspace]\nname = \"shop\"\nprefix = \"shop:\"\n";
    let cli = shop(ours);
    let users = "[keys.customer]\npattern = \"user:{id:uint}\"\n";
    cli.write("users.toml", users);
    dump(&cli, "dump.rdb", 1..=40);
    let output = cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]);
    assert_eq!(output.code, Some(0), "{output}");
    let merged = cli.read("keyward.toml");
    assert!(merged.starts_with(ours) && merged.contains("[keys.cart]"), "{merged}");
    assert!(!merged.contains("user:"), "{merged}");
    assert_eq!(cli.read("users.toml"), users);
    assert_eq!(cli.run(["check", "--set", "minimal"]).code, Some(0));
}

#[test]
fn what_is_outside_the_prefix_is_named_and_fails() {
    let cli = cli();
    let ours = "version = 1\n\n[keyspace]\nname = \"billing\"\nprefix = \"billing:\"\n\n[keys.order]\npattern = \"order:{id:uint}\"\n";
    cli.write("keyward.toml", ours);
    dump(&cli, "dump.rdb", 1..=40);
    let output = cli.run(["infer", "dump.rdb", "--merge", "keyward.toml"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("it is outside the prefix `billing:`"), "{output}");
    assert_eq!(cli.read("keyward.toml"), ours);
}

#[test]
fn people_are_never_words_of_a_draft() {
    let server = Flavor::Redis.start();
    for name in ["anna.mueller", "bernd.schmidt"] {
        let mail = format!("{name}@example.org");
        for number in ["1", "2", "3"] {
            server.command(&["SET", &format!("session:{mail}:{number}"), "x"]);
            server.command(&["SET", &format!("mailbox/{mail}/{number}"), "x"]);
        }
        server.command(&["HSET", "lastseen", &mail, "5", "primary", "6"]);
        server.command(&["SET", &format!("prefs:{}", mail.len()), &format!("{{\"{mail}\":1}}")]);
        server.command(&["SET", &format!("reset:{name}%40example.org:x"), "1"]);
    }
    let output = cli().run(["infer", &server.url()]);
    for part in ["mueller", "schmidt", "example.org", "example_org"] {
        assert!(!output.stdout.contains(part) && !output.stderr.contains(part), "{output}");
    }
    assert!(output.stdout.contains("{email}"), "{output}");
}

#[test]
fn several_sources_are_one_keyspace() {
    let cli = cli();
    dump(&cli, "all.rdb", 1..=40);
    dump(&cli, "a.rdb", 1..=17);
    dump(&cli, "b.rdb", 18..=40);
    let body = |text: &str| text[text.find("version").unwrap()..].to_owned();
    let name = "keyspace";
    let whole =
        cli.run(["infer", "all.rdb", "-q"]).stdout.replace("\"all\"", &format!("\"{name}\""));
    let parts = cli.run(["infer", "a.rdb", "b.rdb", "-q"]).stdout;
    assert_eq!(body(&parts), body(&whole));
}

#[test]
fn nothing_can_be_inferred_from_nothing() {
    let server = Server::redis();
    let output = cli().run(["infer", &server.url()]).to_string();
    assert_snapshot!(output.replace(&server.url(), "redis://server"));
}

#[test]
fn keys_that_no_pattern_can_have_are_the_rest() {
    let server = Server::redis();
    for key in ["user:1", "user:2", "user:3", "a\u{1}b"] {
        server.command(&["SET", key, "x"]);
    }
    let output = cli().run(["infer", &server.url()]);
    assert_eq!(output.code, Some(1));
    assert_snapshot!(output.to_string().replace(&server.url(), "redis://server"));
}

#[test]
fn a_cluster_is_one_keyspace() {
    let cluster = Cluster::start(Flavor::Redis);
    for user in 1..=30 {
        cluster.command(&["SET", &format!("user:{user}:token"), "x", "EX", "3000"]);
    }
    let output = cli().run(["infer", &cluster.nodes()[0].url(), "-q"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("pattern = \"user:{user_id:uint}:token\""), "{output}");
    assert!(output.stdout.contains("ttl = \"1h\""), "{output}");
}

#[test]
fn sessions_whose_every_use_began_their_ttl_again_are_sliding() {
    let cli = cli();
    let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
    writer.aux(b"ctime", TAKEN.to_string().as_bytes()).unwrap();
    writer.select(0).unwrap();
    for session in 0..60 {
        let idle = 20 * session;
        let attributes = Attributes {
            expires_at: Some((TAKEN + 1800 - idle) * 1000),
            idle: Some(idle),
            ..Attributes::default()
        };
        let created = (TAKEN - 7000).to_string();
        let fields: [(&[u8], &[u8]); 2] = [(b"user_id", b"7"), (b"created_at", created.as_bytes())];
        let key = format!("session:{session:032x}");
        writer.key(key.as_bytes(), &attributes, &Content::Hash(&fields)).unwrap();
    }
    cli.write("dump.rdb", writer.finish().unwrap());
    assert_snapshot!(cli.run(["infer", "dump.rdb"]));
}

#[test]
fn values_are_not_read_where_that_changes_what_is_evicted() {
    let server = Flavor::Redis.server().memory("50mb", "allkeys-lru").start();
    for user in 1..=10 {
        server.command(&["HSET", &format!("user:{user}"), "name", "Ann"]);
    }
    let output = cli().run(["infer", &server.url()]);
    assert_eq!(output.code, Some(0), "{output}");
    let is_told = output.stdout.contains("Values were not read");
    // From Redis 7.0 on, CLIENT NO-TOUCH lets them be read.
    assert_ne!(is_told, output.stdout.contains("[keys.user.fields]"), "{output}");
}
