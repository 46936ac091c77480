//! Adding, updating and removing documents.

use super::harness::{Shelf, numbered, set};
use document_library::import::{self, Desired};
use document_library::server::Library;
use keyward_testkit::Flavor;
use std::time::SystemTime;
use tokio::runtime::Runtime;

const GUIDE: &str = "---\ntitle: Portfolio Guide\nauthor: Oskar Sch\ncategory: Investment\ntags: [Diversification]\n---\n\
                     Vorwort.\n\n# Risk Management\n\nDiversifikation ist der Grundstein.\n\n## Volatility Analysis\n\n\
                     Standard Deviation misst Volatilität.\n\n# Risk Management\n\nSchluss.\n";

#[test]
fn a_document_becomes_elements_relations_and_lists() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        shelf.write("guide.md", GUIDE);
        let added = shelf.ok(&["add", "guide.md"]);
        assert!(
            added.starts_with("added      doc:portfolio_guide:001  7 elements  [DIR]/guide.md\n"),
            "{added}"
        );

        let doc = "doc:portfolio_guide:001";
        let [foreword, one, base, para, measure, two, end] = [
            "chunk:vorwort:001",
            "ch:risk_management:001",
            "chunk:diversifikation_grundstein:001",
            "para:volatility_analysis:001",
            "chunk:standard_deviation_misst_volat:001",
            "ch:risk_management:002",
            "chunk:schluss:001",
        ];
        let order = [foreword, one, base, para, measure, two, end];
        assert_eq!(shelf.sequence(&format!("{doc}:sequence")), order);
        assert_eq!(shelf.sequence(&format!("{one}:sequence")), [base, para, measure]);
        assert_eq!(shelf.members(&format!("{doc}:children")), set([foreword, one, two]));
        assert_eq!(shelf.members(&format!("{one}:children")), set([base, para]));
        assert_eq!(shelf.members(&format!("{doc}:all_descendants")), set(order));
        assert_eq!(shelf.members(&format!("{para}:all_descendants")), set([measure]));
        for pair in order.windows(2) {
            assert_eq!(shelf.get(&format!("{}:next", pair[0])).as_deref(), Some(pair[1]));
            assert_eq!(shelf.get(&format!("{}:previous", pair[1])).as_deref(), Some(pair[0]));
        }
        assert_eq!(shelf.get(&format!("{foreword}:previous")), None);
        assert_eq!(shelf.get(&format!("{end}:next")), None);
        assert_eq!(shelf.members(&format!("{one}:siblings")), set([foreword, two]));
        assert_eq!(shelf.members(&format!("{measure}:siblings")), set([]));
        assert_eq!(shelf.members("category:investment:docs"), set([doc]));
        assert_eq!(shelf.members("author:oskar_sch:docs"), set([doc]));
        let chunks = set([foreword, base, measure, end]);
        assert_eq!(shelf.members("tag:diversification:chunks"), chunks);
        assert_eq!(shelf.members("level:chunk:chunks"), chunks);
        assert_eq!(shelf.members("level:doc:chunks"), set([foreword]));
        assert_eq!(shelf.members("level:ch:chunks"), set([base, end]));
        assert_eq!(shelf.members("level:para:chunks"), set([measure]));
        assert_eq!(shelf.field(measure, "parent"), para);
        assert_eq!(shelf.field(measure, "position"), "5");
        assert_eq!(shelf.field(one, "title"), "Risk Management");
        assert_eq!(shelf.field(one, "heading"), "# Risk Management\n\n");
        shelf.reads_like(doc, &shelf.cli.folder().join("guide.md"));
        shelf.verify();

        // Again, it is there already.
        let before = shelf.keys("*");
        let again = shelf.ok(&["add", "guide.md"]);
        assert!(again.starts_with("unchanged  "), "{again}");
        assert_eq!(shelf.keys("*"), before);
        // Nothing is left of it, except that a stale writer would still be known for a day.
        shelf.ok(&["remove", doc]);
        let left = shelf.keys("*");
        assert!(left.iter().all(|key| key.contains("fence")), "{left:?}");
        for key in left {
            let seconds = shelf.server.command(&["TTL", &key]).integer();
            assert!((1..=86_410).contains(&seconds), "{key}: {seconds}");
        }
        let unknown = shelf.run(&["remove", doc]);
        assert_eq!(unknown.code, Some(2), "{unknown}");
    }
}

#[test]
fn what_did_not_change_keeps_its_keys() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        let example =
            |name: &str| format!("## {name}\n\n### Example\n\nCode of {name} in many words.\n\n");
        let text = |parts: &[&str]| {
            format!("# All\n\n{}", parts.iter().map(|it| example(it)).collect::<String>())
        };
        shelf.write("first.md", text(&["Alpha", "Beta"]));
        shelf.ok(&["add", "first.md"]);
        let beta = shelf.sequence("para:beta:001:sequence");
        assert_eq!(beta, ["subpara:example:002", "chunk:code_beta_many_words:001"]);

        // A part before both: equal headings stay below their own parents.
        shelf.write("first.md", text(&["Gamma", "Alpha", "Beta"]));
        let updated = shelf.ok(&["add", "first.md"]);
        assert!(updated.contains("10 elements, 3 new, 0 gone"), "{updated}");
        assert_eq!(shelf.sequence("para:beta:001:sequence"), beta);
        assert_eq!(shelf.sequence("para:gamma:001:sequence")[0], "subpara:example:003");
        assert_eq!(shelf.field("para:beta:001", "position"), "8");
        shelf.verify();

        // A part that moves, one that goes, and a text that changes behind its first words.
        shelf.write(
            "first.md",
            text(&["Beta", "Gamma"])
                .replace("Gamma in many words.", "Gamma in many words.\n\nAnd more."),
        );
        let updated = shelf.ok(&["add", "first.md"]);
        assert!(updated.contains("7 elements, 0 new, 3 gone"), "{updated}");
        assert_eq!(shelf.sequence("para:beta:001:sequence"), beta);
        assert!(
            !shelf.keys("*").iter().any(|key| key.contains("alpha")),
            "{:?}",
            shelf.keys("*alpha*")
        );
        shelf.reads_like("doc:first:001", &shelf.cli.folder().join("first.md"));
        shelf.verify();

        // Only space.
        let spaced = shelf.cli.read("first.md").replace("\n\n", "\n\n\n");
        shelf.write("first.md", &spaced);
        let updated = shelf.ok(&["add", "first.md"]);
        assert!(updated.contains(", 0 new, 0 gone"), "{updated}");
        shelf.verify();
        assert_eq!(shelf.ok(&["read", "doc:first:001"]), spaced);
    }
}

#[test]
fn titles_labels_and_levels_can_change() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        let text = |title: &str, labels: &str, heading: &str| {
            format!("---\ntitle: {title}\n{labels}\n---\n{heading}\n\nSome words here.\n")
        };
        shelf.write("other.md", "# Neighbour\n");
        shelf.write("first.md", text("First Title", "tags: [one, two]\nauthor: Ada", "## Part"));
        shelf.ok(&["add", "."]);
        assert_eq!(shelf.get("doc:first_title:001:next").as_deref(), Some("doc:other:001"));
        shelf
            .write("first.md", text("Second Title", "tags: [two, three]\ncategory: Cat", "# Part"));
        shelf.ok(&["add", "."]);
        assert!(shelf.keys("*first_title*").is_empty());
        assert_eq!(shelf.get("doc:other:001:previous").as_deref(), Some("doc:second_title:001"));
        assert_eq!(shelf.members("doc:other:001:siblings"), set(["doc:second_title:001"]));
        assert!(shelf.keys("tag:one:*").is_empty() && shelf.keys("author:*").is_empty());
        assert_eq!(shelf.members("tag:three:chunks"), set(["chunk:some_words_here:001"]));
        assert_eq!(shelf.members("level:ch:chunks"), set(["chunk:some_words_here:001"]));
        assert!(shelf.keys("level:para:*").is_empty());
        assert_eq!(shelf.members("category:cat:docs"), set(["doc:second_title:001"]));
        shelf.verify();
    }
}

#[test]
fn documents_follow_each_other_in_the_order_of_their_paths() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        for at in (0..130).rev() {
            shelf.write(&format!("d/{at:03}.md"), format!("---\ntitle: Same\n---\n# {at}\n"));
        }
        shelf.ok(&["add", "--jobs", "8", "--quiet", "d"]);
        shelf.verify();
        let at = |number: usize| shelf.get(&source(&shelf, &format!("d/{number:03}.md"))).unwrap();
        let middle = at(65);
        assert_eq!(shelf.get(&format!("{middle}:next")), Some(at(66)));
        assert_eq!(shelf.members(&format!("{middle}:siblings")).len(), 100);
        assert_eq!(shelf.members(&format!("{}:siblings", at(0))).len(), 50);
        for gone in [0, 64, 66, 129] {
            shelf.ok(&["remove", &format!("d/{gone:03}.md")]);
        }
        assert_eq!(shelf.get(&format!("{middle}:next")), Some(at(67)));
        shelf.verify();
        let listed = shelf.ok(&["list"]);
        let paths: Vec<&str> =
            listed.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
        assert_eq!(paths.len(), 126);
        assert!(paths.is_sorted());
    }
}

#[test]
fn an_element_has_the_nearest_hundred_siblings() {
    let shelf = Shelf::new(Flavor::Valkey);
    shelf.write("first.md", numbered(300, |at| format!("# Chapter {at}\n")));
    shelf.ok(&["add", "first.md"]);
    let order = shelf.sequence("doc:first:001:sequence");
    assert_eq!(shelf.members(&format!("{}:siblings", order[0])).len(), 50);
    assert_eq!(shelf.members(&format!("{}:siblings", order[150])).len(), 100);
    shelf.verify();
}

#[test]
fn after_the_thousandth_of_a_name_the_time_is_in_it() {
    let shelf = Shelf::new(Flavor::Redis);
    let text = "# Example\n\n## Part\n".repeat(2100);
    shelf.write("first.md", &text);
    shelf.ok(&["add", "first.md"]);
    let order = shelf.sequence("doc:first:001:sequence");
    assert_eq!(order.len(), 4200);
    assert_eq!(order[1996], "ch:example:999");
    let timed = order[1998].strip_prefix("ch:example_").unwrap();
    assert_eq!((timed.len(), &timed[15..]), (19, ":001"));
    assert!(order.iter().all(|key| document_library::convention::validate_key_format(key)));
    shelf.verify();
    assert_eq!(shelf.ok(&["read", "doc:first:001"]), text);
}

#[test]
fn a_process_gives_numbers_again_that_it_freed() {
    let shelf = Shelf::new(Flavor::Redis);
    let runtime = Runtime::new().unwrap();
    let library = runtime.block_on(Library::connect(&shelf.server.url())).unwrap();
    let add = |path: &str, headings: usize| {
        let text = "# Same Name\n".repeat(headings);
        let desired = Desired::new(path, &text, SystemTime::now()).unwrap();
        let document = runtime.block_on(import::add(&library, &desired)).unwrap().document;
        shelf.sequence(&format!("{document}:sequence"))
    };
    assert_eq!(add("/texts/first.md", 20)[19], "ch:same_name:020");
    assert_eq!(add("/texts/second.md", 20)[19], "ch:same_name:040");
    runtime.block_on(import::remove(&library, "/texts/first.md")).unwrap();
    assert_eq!(add("/texts/third.md", 1), ["ch:same_name:001"]);
    // A number in the middle that somebody else took is left out.
    shelf.server.command(&["HSET", "ch:same_name:005", "title", "x"]);
    let order = add("/texts/fourth.md", 20);
    assert_eq!((order[2].as_str(), order[3].as_str()), ("ch:same_name:004", "ch:same_name:006"));
    assert_eq!(order[19], "ch:same_name:042");
}

#[test]
fn a_dry_run_writes_nothing() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("guide.md", GUIDE);
    let shown = shelf.ok(&["add", "--dry-run", "guide.md"]);
    assert!(shown.starts_with("would add  doc:portfolio_guide  7 elements  "), "{shown}");
    assert!(shelf.keys("*").is_empty());
    shelf.ok(&["add", "guide.md"]);
    let before = shelf.keys("*");
    shelf.write("guide.md", GUIDE.replace("Schluss.", "Anderes Ende."));
    let shown = shelf.ok(&["add", "--dry-run", "guide.md"]);
    assert!(
        shown.starts_with("would update  doc:portfolio_guide:001  7 elements, 1 new, 1 gone"),
        "{shown}"
    );
    assert_eq!(shelf.keys("*"), before);
}

#[test]
fn a_cluster_is_refused() {
    let server = Flavor::Redis.server().config("cluster-enabled", "yes").start();
    let shelf = Shelf::new(Flavor::Redis);
    let of_a_cluster = shelf.cli.command(["list"]).env("LIBRARY_SERVER", server.url()).run();
    let by_address = shelf.run(&["--server", "redis+cluster://127.0.0.1:1", "list"]);
    for refused in [of_a_cluster, by_address] {
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains("needs a single server"), "{refused}");
    }
}

#[test]
fn a_full_server_refuses_documents_and_keeps_what_it_has() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("first.md", GUIDE);
    shelf.ok(&["add", "first.md"]);
    shelf.server.command(&["CONFIG", "SET", "maxmemory", "1mb"]);
    shelf.write("other.md", GUIDE);
    let refused = shelf.run(&["add", "other.md"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(
        refused.stderr.contains("the server is full: remove documents or raise its `maxmemory`"),
        "{refused}"
    );
    let message = "stopped after 0 documents; others may be written in part: running this again completes them";
    assert!(refused.stderr.contains(message), "{refused}");
    // What frees memory works.
    let removed = shelf.ok(&["remove", "first.md"]);
    assert!(removed.starts_with("removed  first.md  7 elements  "), "{removed}");
    shelf.server.command(&["CONFIG", "SET", "maxmemory", "4gb"]);
    let left = shelf.keys("*");
    assert!(left.iter().all(|key| key.contains("fence")), "{left:?}");
    shelf.ok(&["add", "first.md", "other.md"]);
    shelf.verify();
}

#[test]
fn who_writes_a_document_is_stopped_by_its_removal_from_a_full_server() {
    let shelf = Shelf::new(Flavor::Valkey);
    for file in ["first.md", "second.md", "third.md"] {
        shelf.write(file, GUIDE);
    }
    shelf.ok(&["add", "."]);
    shelf.server.command(&["CONFIG", "SET", "maxmemory", "1mb"]);
    let id = document_library::keyspace::source_id(&shelf.path("second.md")).unwrap();
    let fence = format!("source:{id}:fence");
    let before: u64 = shelf.get(&fence).unwrap().parse().unwrap();
    // The neighbours are linked to each other, which writes.
    shelf.ok(&["remove", "second.md"]);
    let after: u64 = shelf.get(&fence).unwrap().parse().unwrap();
    assert!(after > before, "{after}");
    shelf.server.command(&["CONFIG", "SET", "maxmemory", "4gb"]);
    shelf.verify();
    shelf.ok(&["add", "second.md"]);
    shelf.verify();
}

/// The key that names the document of a file.
fn source(shelf: &Shelf, file: &str) -> String {
    let id = document_library::keyspace::source_id(&shelf.path(file)).unwrap();
    format!("source:{id}:doc")
}
