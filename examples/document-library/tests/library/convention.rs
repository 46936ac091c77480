//! The functions of the document, with its examples. The line numbers are those of the document.

use document_library::convention::{
    LONGEST_KEY, analyze_key_quality, check_cross_type_conflicts, check_key_uniqueness,
    generate_timestamp, generate_unique_key, handle_invalid_input, optimize_key_length,
    resolve_key_collision, validate_key_format, validate_set_key_format,
};
use document_library::kind::Kind;
use document_library::quality::measure;
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_110_400) // 2024-01-01 12:00
}

#[test]
fn the_five_keys_of_the_document_are_valid_or_not() {
    // 282-286
    assert!(validate_key_format("doc:portfolio_strategies:001"));
    assert!(validate_key_format("chunk:diversifikation_grundstein:001"));
    assert!(!validate_key_format("Doc:Portfolio_Strategies:001"));
    assert!(!validate_key_format("doc:portfolio-strategies:001"));
    assert!(!validate_key_format("doc:portfolio_strategies:1"));
}

#[test]
fn a_key_has_one_of_five_prefixes_a_name_and_three_digits() {
    for key in ["ch:ab:999", "subpara:a1_:001", "para:a_b:010"] {
        assert!(validate_key_format(key), "{key}");
    }
    let long = format!("doc:{}:001", "a".repeat(41));
    for key in [
        "doc:a:001",
        "doc:1a:001",
        "doc:ab:000",
        "doc:ab:1000",
        "tag:ab:001",
        "doc:ab:001\n",
        "doc:ab",
        "",
        &long,
    ] {
        assert!(!validate_key_format(key), "{key}");
    }
}

#[test]
fn relations_and_lists_have_valid_keys() {
    for key in [
        "doc:portfolio_guide:001:children",
        "ch:risk_management:001:sequence",
        "chunk:diversifikation_grundstein:001:next",
        "chunk:volatilitaet_messung:002:previous",
        "para:risk_assessment:001:siblings",
        "doc:portfolio_guide:001:siblings",
        "doc:portfolio_guide:001:all_descendants",
        "category:investment:docs",
        "author:oskar_sch:docs",
        "tag:diversification:chunks",
        "level:chunk:chunks",
    ] {
        assert!(validate_set_key_format(key), "{key}");
    }
    for key in [
        "a:::children",
        "children",
        "chunk:ab:001:children",
        "doc:ab:001",
        "category:investment:chunks",
        "level:x:chunks",
    ] {
        assert!(!validate_set_key_format(key), "{key}");
    }
}

#[test]
fn numbers_count_for_each_kind_and_name() {
    // 97-98
    let mut keys = HashSet::new();
    for (kind, key) in [
        (Kind::Chapter, "ch:risk_management:001"),
        (Kind::Chapter, "ch:risk_management:002"),
        (Kind::Paragraph, "para:risk_management:001"),
    ] {
        let unique =
            generate_unique_key(kind, "risk_management", |key| keys.contains(key)).unwrap();
        assert_eq!(unique, key);
        keys.insert(unique);
    }
    keys.remove("ch:risk_management:001");
    let free = generate_unique_key(Kind::Chapter, "risk_management", |key| keys.contains(key));
    assert_eq!(free.as_deref(), Some("ch:risk_management:001"));
    assert_eq!(generate_unique_key(Kind::Chapter, "Risk", |_| false), None);
    assert_eq!(generate_unique_key(Kind::Chapter, "risk", |_| true), None);
}

#[test]
fn after_the_last_number_the_time_makes_a_name_unique() {
    let long = "korrelationen_bestimmen_risikoreduktion";
    let base = format!("chunk:{long}:001");
    let mut taken: HashSet<String> =
        (1..1000).map(|number| format!("chunk:{long}:{number:03}")).collect();
    let resolve = |taken: &HashSet<String>| {
        resolve_key_collision(&base, |key| taken.contains(key), noon()).unwrap()
    };
    assert_eq!(resolve(&HashSet::new()), base);
    let first = resolve(&taken);
    assert_eq!(first, "chunk:korrelationen_bestimmen_20240101_120000:001");
    assert!(validate_key_format(&first));
    // As many as one likes, in the same second.
    for number in 1..1000 {
        taken.insert(format!("chunk:korrelationen_bestimmen_20240101_120000:{number:03}"));
    }
    assert_eq!(resolve(&taken), "chunk:korrelationen_bestimmen_20240101_120001:001");
    assert_eq!(resolve_key_collision("chunk", |_| false, noon()), None);
    assert_eq!(generate_timestamp(noon()), "20240101_120000");
}

#[test]
fn invalid_texts_are_named_by_the_clock() {
    // 352-366
    for (text, name) in [
        ("", "empty_content_20240101_120000"),
        (" \n", "empty_content_20240101_120000"),
        ("ab", "short_content_20240101_120000"),
        // Short is asked before symbols.
        ("!!", "short_content_20240101_120000"),
        ("A\u{308}b", "short_content_20240101_120000"),
        ("!?!", "special_chars_only_20240101_120000"),
        ("🦄 € …", "special_chars_only_20240101_120000"),
        // Digits are no symbols, whatever a pipeline makes of them.
        ("2024", "2024"),
        ("99999999999999999999", "99999999999999999999"),
        ("--5", "--5"),
        ("Ähm", "Ähm"),
        ("ÄÖÜ", "ÄÖÜ"),
        ("北京市", "北京市"),
        ("A normal text.", "A normal text."),
    ] {
        assert_eq!(handle_invalid_input(text, noon()), name);
    }
}

#[test]
fn a_long_identifier_loses_its_vowels_or_its_end() {
    // 335-337
    let long = "portfolio_management_risk_assessment_strategies";
    for (identifier, max_length, short) in [
        (long, 30, "portfolio_management_risk_asse"),
        (long, 31, "prtfl_mngmnt_rsk_ssssmnt_strtgs"),
        (long, 5, "portf"),
        (long, 0, ""),
        ("risk_management", 30, "risk_management"),
        ("ab", 30, "ab"),
        ("", 30, ""),
        ("AUE_Risk", 30, "AUE_Risk"),
        ("AUE_Risiko", 8, "AUE_Rsk"),
        ("risk_ae_io_management", 14, "rsk_mngmnt"),
        ("risk_management_ae", 12, "rsk_mngmnt"),
        ("größe_und_wert", 11, "größ_nd_wrt"),
        ("ääääää", 3, "äää"),
    ] {
        assert_eq!(optimize_key_length(identifier, max_length), short, "{identifier}");
    }
}

#[test]
fn duplicates_are_listed_as_often_as_they_are_too_many() {
    assert_eq!(check_key_uniqueness(["a", "b", "a", "a"]), ["a", "a"]);
    assert!(check_key_uniqueness([]).is_empty());
}

#[test]
fn only_names_of_different_kinds_are_notes() {
    let keys = ["ch:risk:001", "ch:risk:002", "para:beta:001", "doc:beta:001", "chunk:alpha:001"];
    let conflicts = check_cross_type_conflicts(keys);
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts["beta"], [Kind::Document, Kind::Paragraph]);
}

#[test]
fn quality_is_measured_and_nothing_has_no_average() {
    let none = analyze_key_quality(&[], LONGEST_KEY);
    assert_eq!((none.total_keys, none.average_length), (0, None));
    let long = format!("subpara:{}:001", "a".repeat(40));
    let keys = ["ch:ab:001", "ch:ab:001", "Ch:ab:001", &long];
    let quality = analyze_key_quality(&keys, LONGEST_KEY);
    assert_eq!(quality.average_length, Some((9.0 + 9.0 + 9.0 + 52.0) / 4.0));
    assert_eq!(quality.format_violations, ["Ch:ab:001"]);
    assert_eq!(quality.length_violations, [long.as_str()]);
    assert_eq!(quality.duplicates, ["ch:ab:001"]);
    assert!(analyze_key_quality(&keys, 60).length_violations.is_empty());
}

#[test]
fn names_that_say_nothing_fallbacks_and_gaps_are_found() {
    let keys = [
        "chunk:text1:001",
        "chunk:content2:001",
        "chunk:text_eins:001",
        "chunk:content_zwei:001",
        "ch:chapter_eins:001",
        "ch:kapitel_einundzwanzig:001",
        "ch:section_null_fuenf_12:001",
        "chunk:text:001",
        "chunk:texture:001",
        "chunk:text_und_bild:001",
        "ch:eins:001",
        "ch:chapter_eins_risiko:001",
        "chunk:special_chars_20240101_120000:001",
        "ch:risk:002",
        "ch:risk:004",
    ];
    let report = measure(&keys, LONGEST_KEY);
    assert_eq!(report.meaningless, keys[..8]);
    assert_eq!(report.fallbacks, ["chunk:special_chars_20240101_120000:001"]);
    assert_eq!(report.gaps, ["ch:risk: 001, 003"]);
}
