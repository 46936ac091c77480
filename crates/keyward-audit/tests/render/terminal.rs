//! What a person sees on a terminal.

use crate::fixture;
use keyward_audit::Report;
use keyward_audit::render::{Shown, concise, difference, summary, terminal};
use keyward_audit::report::{
    BaselineInfo, BytesKind, Change, ChangeVerdict, Definition, Sample, SchemaInfo, Shard,
};
use keyward_schema::Style;

fn plain(report: &Report, width: usize) -> String {
    terminal(report, &Style { color: false, width }, Shown::Top)
}

#[test]
fn a_report_fits_80_columns() {
    let text = plain(&fixture::report(), 80);
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_report_on_140_columns_also_says_how_long_names_are() {
    let text = plain(&fixture::report(), 140);
    let table: Vec<&str> = text.lines().skip_while(|it| !it.starts_with("definition ")).collect();
    insta::assert_snapshot!(table[..4].join("\n"));
}

#[test]
fn a_report_on_120_columns_says_more() {
    insta::assert_snapshot!(plain(&fixture::report(), 120));
}

#[test]
fn without_a_schema_groups_take_the_place_of_definitions() {
    insta::assert_snapshot!(plain(&fixture::without_schema(), 100));
}

#[test]
fn a_sample_of_a_cluster_against_a_baseline_says_what_it_is() {
    let mut report = fixture::report();
    let shard = |name: &str, keys_seen| Shard {
        name: name.to_owned(),
        keys_seen,
        dbsize: Some(keys_seen * 10 + 3),
        run_id: None,
        alone: false,
        again: false,
    };
    report.source.shards = vec![shard("10.0.3.1:6379", 51_402), shard("10.0.3.2:6379", 51_377)];
    report.source.sample = Some(Sample { percent: 10.0, error: 0.34 });
    report.source.complete = false;
    report.source.bytes = BytesKind::Estimated;
    report.source.checked = false;
    report.source.server.version = Some("8.8.1".to_owned());
    report.baseline = Some(BaselineInfo {
        name: "audit.json".to_owned(),
        created_at: "2026-11-01T08:00:00Z".to_owned(),
        tolerance: 0.5,
        worse: 2,
        gone: Vec::new(),
    });
    let verdicts = [ChangeVerdict::Worse, ChangeVerdict::New, ChangeVerdict::Better];
    for (finding, verdict) in report.findings.iter_mut().zip(verdicts) {
        finding.change = Some(Change { verdict, share: 0.031, count: 2_704 });
    }
    report.definitions.clear();
    report.unknown.clear();
    report.foreign.clear();
    report.settings.clear();
    insta::assert_snapshot!(plain(&report, 100));
}

#[test]
fn long_lists_are_cut_with_a_count() {
    let mut report = fixture::report();
    let definition = report.definitions[0].clone();
    let many = |number: usize| Definition {
        name: format!("definition_{number}"),
        schema: ["shop", "blog"][number % 2].to_owned(),
        ..definition.clone()
    };
    report.definitions = (0..50).map(many).collect();
    let schema = |name: &str| SchemaInfo { name: name.to_owned(), path: None, definitions: 25 };
    report.schemas = vec![schema("shop"), schema("blog")];
    report.unknown = (0..20).map(|_| report.unknown[0].clone()).collect();
    report.findings = (0..40).map(|number| report.findings[number % 8].clone()).collect();
    let shown = plain(&report, 80);
    for line in [
        "and 10 more with 1.5 GiB",
        "and 8 more patterns with 170,640 keys",
        "and 25 more findings, of them 12 errors; `--all` shows them",
    ] {
        assert!(shown.lines().any(|it| it == line), "{line}\n{shown}");
    }
    assert!(shown.contains("blog/definition_1"), "{shown}");
    let all = terminal(&report, &Style { color: false, width: 80 }, Shown::All);
    assert!(all.contains("shop/definition_48") && !all.contains("more pattern"), "{all}");
}

#[test]
fn a_pattern_is_never_cut() {
    let mut report = fixture::without_schema();
    let long = "service-<number>:region:eu-central-<number>:tenant:<number>:profile:settings:v2";
    report.groups[0].pattern = fixture::masked(long);
    for width in [40, 80, 100, 200] {
        let text = plain(&report, width);
        for group in &report.groups {
            assert!(text.contains(group.pattern.as_str()), "{width}: {text}");
        }
        assert!(!text.contains('…'), "{width}: {text}");
    }
    let row = |width| plain(&report, width).lines().any(|it| it.starts_with(long) && it != long);
    assert!(row(200) && !row(80), "where there is room, it stands in its row");
}

#[test]
fn colours_add_nothing_but_colours() {
    let (before, after) = (fixture::report(), fixture::a_week_later());
    let changed = keyward_audit::difference(&before, &after, 0.5);
    let both = |color| {
        let style = Style { color, width: 80 };
        terminal(&before, &style, Shown::Top) + &difference(&changed, &style, Shown::Top)
    };
    let coloured = both(true);
    let mut plainly = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plainly.push_str(before);
        rest = after.split_once('m').expect("every escape here is a colour").1;
    }
    plainly.push_str(rest);
    assert_eq!(plainly, both(false));
    assert_ne!(coloured, plainly);
}

#[test]
fn a_terminal_obeys_nothing_that_a_report_says() {
    let mut report = fixture::report();
    let evil = "\u{1b}]0;owned\u{7}\r\n\u{202e}";
    report.source.name.push_str(evil);
    report.source.notes.push(evil.to_owned());
    report.unknown[0].pattern = fixture::masked(evil);
    report.definitions[0].name.push_str(evil);
    report.findings[0].message.push_str(evil);
    report.findings[0].examples[0].key = fixture::masked(evil);
    report.foreign[0].glob.push_str(evil);
    report.settings[0].want.push_str(evil);
    for text in [plain(&report, 100), concise(&report)] {
        let obeyed = |char: char| char.is_control() && char != '\n' || char == '\u{202e}';
        assert!(!text.contains(obeyed), "{text:?}");
        assert!(text.contains("\\u{1b}]0;owned\\u{7}\\r\\n\\u{202e}"), "{text}");
    }
}

#[test]
fn concise_is_one_line_a_finding() {
    insta::assert_snapshot!(concise(&fixture::report()));
}

#[test]
fn the_last_line_sums_up() {
    let style = Style { color: false, width: 80 };
    let mut report = fixture::report();
    let findings = summary(&report, &style);
    report.baseline = Some(BaselineInfo {
        name: "audit.json".to_owned(),
        created_at: "2026-11-01T08:00:00Z".to_owned(),
        tolerance: 0.5,
        worse: 0,
        gone: Vec::new(),
    });
    let compared = summary(&report, &style);
    report.baseline = None;
    report.findings.clear();
    report.source.complete = false;
    let clean = summary(&report, &style);
    let groups = summary(&fixture::without_schema(), &style);
    insta::assert_snapshot!([findings, compared, clean, groups].join("\n"));
}

#[test]
fn a_difference_says_what_grew_and_what_got_worse() {
    let (before, after) = (fixture::report(), fixture::a_week_later());
    let changed = keyward_audit::difference(&before, &after, 0.5);
    let style = Style { color: false, width: 80 };
    insta::assert_snapshot!(difference(&changed, &style, Shown::Top));
    let same = keyward_audit::difference(&before, &before, 0.5);
    insta::assert_snapshot!("nothing_has_changed", difference(&same, &style, Shown::Top));
}

#[test]
fn bytes_that_are_not_known_are_not_shown_as_nothing() {
    for report in [fixture::report(), fixture::without_schema()] {
        let mut report = fixture::without_bytes(report);
        report.source.notes =
            vec!["bytes are not known, because the server denies MEMORY USAGE".into()];
        report.findings.truncate(1);
        report.settings.clear();
        let text = plain(&report, 100);
        let style = Style { color: false, width: 100 };
        let line = summary(&report, &style);
        for unit in [" B ", " B\n", "KiB", "MiB", "GiB", "share"] {
            assert!(!format!("{text}{line}\n").contains(unit), "{unit}: {text}{line}");
        }
        insta::assert_snapshot!(format!("{text}\n{line}"));
        let page = keyward_audit::render::html(&report);
        for unit in ["KiB", "MiB", "GiB", "of all bytes", "id=\"memory\"", "id=\"sizes\""] {
            assert!(!page.contains(unit), "{unit}");
        }
        assert!(page.contains("not known"));
    }
}

#[test]
fn reports_that_cannot_be_compared_say_so() {
    let (before, mut after) = (fixture::report(), fixture::report());
    after.source.bytes = BytesKind::Estimated;
    after.source.sample = Some(Sample { percent: 10.0, error: 0.34 });
    after.source.complete = false;
    let style = Style { color: false, width: 100 };
    let told = |before: &Report, after: &Report| {
        let found = keyward_audit::difference(before, after, 0.5);
        difference(&found, &style, Shown::Top)
    };
    insta::assert_snapshot!(told(&before, &after));
    let unknown = fixture::without_bytes(fixture::a_week_later());
    insta::assert_snapshot!("unknown_bytes", told(&unknown, &before));
    assert!(keyward_audit::difference(&before, &before, 0.5).warnings.is_empty());
    assert_eq!(after.source.notes, before.source.notes);
    keyward_audit::compare(&mut after, &before, "audit.json", 0.5);
    assert_eq!(after.source.notes.len(), before.source.notes.len() + 3);
}
