//! Relations between keys that must agree.

mod support;

use keyward_audit::{Options, Report, Salt, Subject, live, merge};
use keyward_testkit::{Cluster, Flavor, Server};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Dump, NOW, TODAY, audit, report, schema};

/// Folders and files of several tenants, related in every way.
const TREE: &str = r#"
[keyspace]
name = "tree"
prefix = "{tenant}:"
[params]
tenant = "slug"
id = "uint"
folder_key = { key = "folder" }
item_key = { key = ["folder", "file"] }
[keys.folder]
pattern = "folder:{id}"
value = "text"
ttl = "none"
[keys.file]
pattern = "file:{id}"
value = "text"
ttl = "none"
[keys.children]
pattern = "{folder_key}:children"
member = { key = ["folder", "file"] }
inverse = "parent"
ttl = "none"
[keys.parent]
pattern = "{item_key}:parent"
value = { key = "folder" }
inverse = "children"
ttl = "none"
[keys.descendants]
pattern = "{folder_key}:descendants"
member = { key = ["folder", "file"] }
closure_of = "children"
ttl = "none"
[keys.sequence]
pattern = "{folder_key}:sequence"
member = { key = ["folder", "file"] }
score = "uint"
same_as = "descendants"
ttl = "none"
[keys.order]
pattern = "{folder_key}:order"
type = "list"
value = { key = ["folder", "file"] }
same_as = "children"
ttl = "none"
[keys.siblings]
pattern = "{item_key}:siblings"
member = { key = ["folder", "file"] }
inverse = "siblings"
ttl = "none"
[keys.next]
pattern = "{item_key}:next"
value = { key = ["folder", "file"] }
inverse = "previous"
ttl = "none"
[keys.previous]
pattern = "{item_key}:previous"
value = { key = ["folder", "file"] }
ttl = "none"
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

fn rules(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.rule.name()).collect()
}

/// An audit that shows keys.
fn shown(commands: &str) -> String {
    let options =
        Options { salt: Salt::of("test"), today: TODAY, show_keys: true, ..Options::default() };
    let audit = keyward_audit::Audit::new(vec![Subject::new(schema(TREE))], &options);
    found(&report(&Arc::new(audit), &Dump::of(commands).bytes())).join("\n")
}

/// The members of each key of a relation, by the key's and the relation's name.
type Sets = BTreeMap<(String, &'static str), BTreeSet<String>>;

/// All relations of a forest. Node `i` hangs below `parents[i]`, if any; only nodes with children are folders.
fn related(parents: &[Option<usize>]) -> (Vec<String>, Sets) {
    let has_children = |node: usize| parents.contains(&Some(node));
    let name = |node: usize| {
        let kind = if has_children(node) { "folder" } else { "file" };
        format!("{kind}:{node}")
    };
    let mut sets = Sets::new();
    let mut add = |from: usize, relation, to: usize| {
        sets.entry((name(from), relation)).or_default().insert(name(to));
    };
    for (node, parent) in parents.iter().enumerate() {
        for sibling in (0..parents.len()).filter(|it| *it != node && parents[*it] == *parent) {
            add(node, "siblings", sibling);
        }
        if node + 1 < parents.len() {
            add(node, "next", node + 1);
            add(node + 1, "previous", node);
        }
        let Some(parent) = parent else { continue };
        add(*parent, "children", node);
        add(*parent, "order", node);
        add(node, "parent", *parent);
        let mut above = Some(*parent);
        while let Some(folder) = above {
            add(folder, "descendants", node);
            add(folder, "sequence", node);
            above = parents[folder];
        }
    }
    ((0..parents.len()).map(name).collect(), sets)
}

/// The commands that store relations, some keys with the prefix and some without.
fn stored(nodes: &[String], sets: &Sets) -> String {
    let mut commands = String::new();
    for node in nodes {
        let _ = writeln!(commands, "SET acme:{node} x");
    }
    for (number, ((from, relation), to)) in sets.iter().enumerate() {
        let prefix = if number % 2 == 0 { "acme:" } else { "" };
        let members: Vec<String> = to.iter().map(|to| format!("{prefix}{to}")).collect();
        let (command, members) = match *relation {
            "sequence" => {
                ("ZADD", members.iter().enumerate().map(|(at, it)| format!("{at} {it}")).collect())
            }
            "order" => ("RPUSH", members),
            "next" | "previous" | "parent" => ("SET", members),
            _ => ("SADD", members),
        };
        let _ = writeln!(commands, "{command} acme:{from}:{relation} {}", members.join(" "));
    }
    commands
}

/// A forest in which every node hangs below an earlier one or nowhere.
fn forests() -> impl Strategy<Value = Vec<Option<usize>>> {
    prop::collection::vec(prop::option::weighted(0.8, 0..1000usize), 2..24).prop_map(|parents| {
        let below = |(node, parent): (usize, Option<usize>)| {
            parent.filter(|_| node > 0).map(|parent| parent % node)
        };
        parents.into_iter().enumerate().map(below).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn relations_of_a_forest_agree_and_any_one_change_is_found(
        parents in forests(),
        at in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let audit = audit(vec![schema(TREE)]);
        let (nodes, sets) = related(&parents);
        let clean = report(&audit, &Dump::of(&stored(&nodes, &sets)).bytes());
        prop_assert_eq!(found(&clean), [""; 0]);

        // One member less.
        let mut less = sets.clone();
        if !less.is_empty() {
            let key = less.keys().nth(at.index(less.len())).unwrap().clone();
            let set = less.get_mut(&key).unwrap();
            let member = set.iter().nth(other.index(set.len())).unwrap().clone();
            set.remove(&member);
            less.retain(|_, set| !set.is_empty());
            let found = report(&audit, &Dump::of(&stored(&nodes, &less)).bytes());
            let is_found = rules(&found).iter().any(|it| it.starts_with("relation-"));
            prop_assert!(is_found, "{key:?} without {member}");
        }

        // One member more; a value becomes another.
        let mut more = sets;
        let from = &nodes[at.index(nodes.len())];
        let to = &nodes[other.index(nodes.len())];
        let relation = match (at.index(4), from.starts_with("folder")) {
            (0, true) => "descendants",
            (1, true) => "children",
            (2, true) => "sequence",
            (3, _) => "next",
            _ => "siblings",
        };
        let set = more.entry((from.clone(), relation)).or_default();
        let is_new = !set.contains(to);
        if relation == "next" {
            set.clear();
        }
        set.insert(to.clone());
        // What is next to itself is its own sibling on both sides.
        if is_new && !(relation == "siblings" && from == to) {
            let found = report(&audit, &Dump::of(&stored(&nodes, &more)).bytes());
            let is_found = rules(&found).iter().any(|it| it.starts_with("relation-"));
            prop_assert!(is_found, "{from} {relation} {to}");
        }
    }
}

/// A tree that is right: 0 above 1 and 4, 1 above 2 and 3.
fn tree() -> String {
    let (nodes, sets) = related(&[None, Some(0), Some(1), Some(1), Some(0)]);
    stored(&nodes, &sets)
}

fn without(commands: &str, line: &str) -> String {
    assert!(commands.contains(line), "{line} in {commands}");
    commands.replace(line, "")
}

/// File 2 is not among the descendants of folder 0.
fn lacking() -> String {
    let whole = "SADD acme:folder:0:descendants acme:file:2 ";
    assert!(tree().contains(whole), "{}", tree());
    tree().replace(whole, "SADD acme:folder:0:descendants ")
}

#[test]
fn a_relation_without_its_inverse_is_reported() {
    let one_way = without(&tree(), "SET acme:file:2:next acme:file:3\n");
    let asymmetric = "SET acme:file:1 x\nSET acme:file:2 x\nSADD acme:file:1:siblings file:2\n";
    let elsewhere = "SET acme:folder:1 x\nSET acme:file:2 x\nSET globex:file:2 x\n\
                     SADD acme:folder:1:children file:2\nRPUSH acme:folder:1:order file:2\n\
                     SADD acme:folder:1:descendants file:2\nZADD acme:folder:1:sequence 1 file:2\n\
                     SET globex:file:2:parent folder:1\nSET globex:folder:1 x\n";
    let all = [one_way.as_str(), asymmetric, elsewhere];
    insta::assert_snapshot!(all.map(shown).join("\n\n"));
}

#[test]
fn a_closure_that_lacks_a_key_or_has_one_too_many_is_reported() {
    let lacking = lacking();
    let too_many = format!("{}SET acme:file:9 x\n", tree());
    let too_many = too_many
        .replace("SADD acme:folder:1:descendants ", "SADD acme:folder:1:descendants acme:file:9 ");
    insta::assert_snapshot!([lacking, too_many].map(|it| shown(&it)).join("\n\n"));
}

#[test]
fn a_cycle_reaches_itself() {
    let commands = "SET acme:folder:1 x\nSET acme:folder:2 x\n\
                    SADD acme:folder:1:children folder:2\nSADD acme:folder:2:children folder:1\n\
                    SET acme:folder:1:parent folder:2\nSET acme:folder:2:parent folder:1\n\
                    RPUSH acme:folder:1:order folder:2\nRPUSH acme:folder:2:order folder:1\n\
                    SADD acme:folder:1:descendants folder:1 folder:2\n\
                    SADD acme:folder:2:descendants folder:1 folder:2\n\
                    ZADD acme:folder:1:sequence 1 folder:1 2 folder:2\n\
                    ZADD acme:folder:2:sequence 1 folder:1 2 folder:2\n";
    // All relations agree; that a parent is below itself is a finding of its own.
    assert_eq!(
        shown(commands),
        "reference-cycle: keys of `parent` refer to themselves by the value: 2 of 2 references (100 %)\n  \
         acme:folder:1:parent: refers to a key that refers back to it"
    );
}

#[test]
fn names_of_any_length_are_compared_on_both_sides_or_on_none() {
    const LONG: &str = r#"
[keyspace]
name = "long"
prefix = "prefix:"
[params]
page_key = { key = "page" }
[keys.page]
pattern = "page:{name:text}"
value = "text"
[keys.next]
pattern = "{page_key}:next"
value = { key = "page" }
inverse = "previous"
[keys.previous]
pattern = "{page_key}:previous"
value = { key = "page" }
"#;
    let audit = audit(vec![schema(LONG)]);
    for length in (225..270).chain([500, 1010, 1020, 1030, 4000]) {
        let long = "x".repeat(length);
        let commands = format!(
            "SET prefix:page:{long} x\nSET prefix:page:a x\n\
             SET prefix:page:{long}:next page:a\nSET prefix:page:a:previous page:{long}\n\
             SET prefix:page:a:next page:{long}\nSET prefix:page:{long}:previous page:a\n"
        );
        let report = report(&audit, &Dump::of(&commands).bytes());
        let related = rules(&report).into_iter().filter(|it| it.starts_with("relation"));
        assert_eq!(related.count(), 0, "{length}: {:?}", found(&report));
    }
}

#[test]
fn shards_are_compared_when_their_reports_are_merged() {
    let audit = audit(vec![schema(TREE)]);
    let shards = |commands: &str| {
        let halves: [Vec<&str>; 2] =
            [0, 1].map(|half| commands.lines().skip(half).step_by(2).collect());
        let halves = halves.map(|lines| Dump::of(&(lines.join("\n") + "\n")).bytes());
        // Nodes of a cluster, and servers that do not know of each other.
        let marked = merge(halves.iter().map(|it| of_shard(&audit, it)).collect()).unwrap();
        let unmarked = merge(halves.iter().map(|it| kept(&report(&audit, it))).collect()).unwrap();
        assert_eq!(rules(&marked), rules(&unmarked));
        marked
    };
    assert_eq!(found(&shards(&tree())), [""; 0]);
    let both = found(&shards(&lacking()));
    assert!(both.iter().any(|it| it.starts_with("relation-closure-mismatch: ")), "{both:?}");
    assert!(both.iter().any(|it| it.contains("which `descendants` lacks")), "{both:?}");
    let one_way = without(&tree(), "SET acme:file:2:next acme:file:3\n");
    let both = found(&shards(&one_way));
    assert!(both.iter().any(|it| it.starts_with("relation-inverse-mismatch: ")), "{both:?}");
}

/// A report of a node of a cluster.
fn of_shard(audit: &Arc<keyward_audit::Audit>, bytes: &[u8]) -> Report {
    let mut bytes = bytes.to_vec();
    let end = bytes.len() - 9;
    bytes.truncate(end);
    // Slot 5 with 3 keys, none of which expires; the end; no checksum.
    bytes.extend([244, 5, 3, 0, 255]);
    bytes.extend([0; 8]);
    kept(&report(audit, &bytes))
}

/// A report as a file carries it.
fn kept(report: &Report) -> Report {
    let read: Report = serde_json::from_str(&serde_json::to_string(report).unwrap()).unwrap();
    assert_eq!(read.counts, report.counts);
    read
}

#[test]
fn no_key_of_a_relation_is_in_a_report() {
    let commands = "SET acme:folder:77001 x\nSET acme:file:77002 x\n\
                    SADD acme:folder:77001:children file:77002\n\
                    SADD acme:folder:77001:descendants file:77003\n\
                    SET acme:file:77002:next file:77003\n\
                    RPUSH acme:folder:77001:order file:77004\n";
    let audit = audit(vec![schema(TREE)]);
    for report in
        [report(&audit, &Dump::of(commands).bytes()), of_shard(&audit, &Dump::of(commands).bytes())]
    {
        let written = serde_json::to_string(&report).unwrap();
        assert!(!written.contains("7700"), "{written}");
    }
}

#[test]
fn of_more_than_fits_a_sample_is_compared_and_the_report_says_so() {
    let commands = |pages: u32| {
        let mut commands = String::new();
        for page in 0..pages {
            let _ = writeln!(commands, "SET acme:file:{page} x");
        }
        for (page, next) in (1..pages).enumerate() {
            let _ = writeln!(commands, "SET acme:file:{page}:next file:{next}");
            let _ = writeln!(commands, "SET acme:file:{next}:previous file:{page}");
        }
        commands
    };
    let audit = audit(vec![schema(TREE)]);
    let clean = report(&audit, &Dump::of(&commands(20_000)).bytes());
    assert_eq!(found(&clean), [""; 0]);
    let notes = clean.source.notes.join("\n");
    assert!(notes.contains("judged on a sample: `relation-inverse-mismatch` of `next`"), "{notes}");
    let broken = commands(20_000).replace(":previous ", ":next ");
    let broken = report(&audit, &Dump::of(&broken).bytes());
    let finding = broken.findings.iter().find(|it| it.rule.name() == "relation-inverse-mismatch");
    assert!(finding.is_some_and(|it| it.sampled), "{:?}", found(&broken));
}

#[test]
fn of_more_steps_than_can_be_followed_a_closure_is_not_judged_and_the_report_says_so() {
    let mut commands = "SADD acme:folder:0:children".to_owned();
    (1..=65_537).for_each(|file| {
        let _ = write!(commands, " file:{file}");
    });
    commands.push('\n');
    let report = report(&audit(vec![schema(TREE)]), &Dump::of(&commands).bytes());
    assert!(!rules(&report).contains(&"relation-closure-mismatch"), "{:?}", found(&report));
    let notes = report.source.notes.join("\n");
    let why = "not judged: `relation-closure-mismatch` of `descendants`, because `children` has more than 65,536 references";
    assert!(notes.contains(why), "{notes}");
}

fn run(commands: &str, mut send: impl FnMut(&[&str])) {
    for line in commands.lines() {
        send(&line.split(' ').collect::<Vec<_>>());
    }
}

fn observed(url: &str) -> Report {
    let audit = audit(vec![schema(TREE)]);
    audit.observe(url, &live::Options::default(), || None, NOW).unwrap()
}

/// One wrong reference of every kind.
fn wrong() -> String {
    let wrong = without(&tree(), "SET acme:file:2:next acme:file:3\n");
    let set = "SADD acme:folder:0:descendants ";
    let wrong = wrong.replace(set, &format!("{set}acme:file:9 "));
    assert_eq!(wrong.matches("file:9").count(), 1);
    format!("{wrong}SET acme:file:9 x\nSADD acme:file:9:siblings acme:file:2\n")
}

fn assert_all_found(report: &Report) {
    let all = rules(report);
    for rule in
        ["relation-closure-mismatch", "relation-inverse-mismatch", "relation-members-mismatch"]
    {
        assert!(all.contains(&rule), "{rule} in {:?}", found(report));
    }
}

#[test]
fn a_live_server_is_compared_too() {
    for server in Server::all() {
        run(&tree(), |command| drop(server.command(command)));
        assert_eq!(found(&observed(&server.url())), [""; 0]);
        server.command(&["FLUSHALL"]);
        run(&wrong(), |command| drop(server.command(command)));
        let live = observed(&server.url());
        assert_all_found(&live);
        // A snapshot shows the same.
        let dump = report(&audit(vec![schema(TREE)]), &Dump::of(&wrong()).bytes());
        assert_eq!(found(&live), found(&dump));
    }
}

#[test]
fn the_shards_of_a_cluster_are_compared_with_each_other() {
    let cluster = Cluster::start(Flavor::Redis);
    let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
    let url = format!("redis+cluster://{}", nodes.join(","));
    run(&tree(), |command| drop(cluster.command(command)));
    assert_eq!(found(&observed(&url)), [""; 0]);
    for line in wrong().lines().chain(["DEL acme:file:2:next"]) {
        cluster.command(&line.split(' ').collect::<Vec<_>>());
    }
    let all = rules(&observed(&url)).join(" ");
    assert!(all.contains("relation-closure-mismatch"), "{all}");
    assert!(all.contains("relation-inverse-mismatch"), "{all}");
}

#[test]
fn what_cannot_be_read_again_is_not_reported_but_said() {
    let server = Server::redis();
    run(&wrong(), |command| drop(server.command(command)));
    server.command(&["ACL", "SETUSER", "reader", "on", ">pw", "~*", "+@all", "-sismember", "-get"]);
    let report = observed(&server.url().replace("redis://", "redis://reader:pw@"));
    assert!(!rules(&report).contains(&"relation-closure-mismatch"), "{:?}", found(&report));
    let notes = &report.source.notes;
    assert!(notes.iter().any(|it| it.contains("could not be read again")), "{notes:?}");
}

#[test]
fn what_changes_during_an_audit_is_not_a_mismatch() {
    for server in Server::all() {
        // File 2 moves from folder to folder, with all that says where it is.
        let states = [
            [None, Some(0), Some(1), Some(1), Some(0)],
            [None, Some(0), Some(0), Some(1), Some(0)],
        ];
        let states = states.map(|parents| {
            let (nodes, sets) = related(&parents);
            stored(&nodes, &sets)
        });
        let written = |states: &[String]| -> BTreeSet<String> {
            let lines = states.iter().flat_map(|it| it.lines());
            lines.filter_map(|line| Some(line.split(' ').nth(1)?.to_owned())).collect()
        };
        let old = written(&states);
        let scripts = states.map(|state| {
            let deleted = old.iter().map(|key| format!("DEL {key}"));
            let lines = deleted.chain(state.lines().map(str::to_owned));
            let script = "for _, line in ipairs(ARGV) do local words = {} \
                          for word in string.gmatch(line, '%S+') do words[#words + 1] = word end \
                          redis.call(unpack(words)) end";
            let head = ["EVAL", script, "0"].map(str::to_owned);
            head.into_iter().chain(lines).collect::<Vec<String>>()
        });
        server.command(&scripts[0]);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    server.command(&scripts[1]);
                    server.command(&scripts[0]);
                }
            });
            let audits = (0..10).flat_map(|_| found(&observed(&server.url())));
            let all: Vec<_> = audits.filter(|it| it.starts_with("relation")).collect();
            is_over.store(true, Ordering::SeqCst);
            writer.join().unwrap();
            assert_eq!(all, [""; 0]);
        });
        assert_eq!(found(&observed(&server.url())), [""; 0]);
    }
}
