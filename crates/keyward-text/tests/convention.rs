//! The examples of a German convention for a document library, word for word.

#![allow(missing_docs, reason = "a test")]

use keyward_text::{Numbers, Options, Pipeline, Shorten};
use std::time::{Duration, SystemTime};

const ABBREVIATIONS: &[(&str, &str)] = &[("VaR", "value at risk"), ("ROI", "return on investment")];
const SYMBOLS: &[(char, &str)] = &[
    ('&', "and"),
    ('%', "prozent"),
    ('€', "euro"),
    ('$', "dollar"),
    ('@', "at"),
    ('#', "hash"),
    ('+', "plus"),
    ('=', "equals"),
    ('<', "less_than"),
    ('>', "greater_than"),
];
/// The lists of both languages, and the inflected articles that the example drops.
const STOP_WORDS: &[&str] = &[
    "der", "die", "das", "und", "oder", "ist", "sind", "ein", "eine", "zu", "zum", "zur", "von",
    "mit", "für", "auf", "in", "an", "bei", "über", "unter", "the", "and", "or", "is", "are", "a",
    "an", "to", "of", "with", "for", "on", "in", "at", "by", "over", "under", "den", "dem", "des",
    "einen", "einem", "einer", "eines",
];

const HEADING: Options<'_> = Options {
    abbreviations: ABBREVIATIONS,
    numbers: Some(Numbers::German),
    symbols: &[],
    stop_words: &[],
    words: None,
    max_len: Some(30),
    shorten: Shorten::Cut,
    idempotent: true,
};
const CONTENT: Options<'_> =
    Options { symbols: SYMBOLS, stop_words: STOP_WORDS, words: Some(4), ..HEADING };

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_110_400)
}

fn name(options: &Options<'_>, text: &str) -> String {
    Pipeline::new(options).unwrap().name(text, noon())
}

#[test]
fn headings_before_the_limit() {
    let heading = Options { max_len: None, ..HEADING };
    for (text, identifier) in [
        ("# Portfolio Management & Risk Assessment", "portfolio_management_risk_assessment"),
        (
            "## Diversifikation: Der Schlüssel zum Erfolg",
            "diversifikation_der_schluessel_zum_erfolg",
        ),
        ("### Value at Risk (VaR) Berechnungen", "value_at_risk_var_berechnungen"),
    ] {
        assert_eq!(name(&heading, text), identifier);
    }
}

#[test]
fn headings_within_the_limit() {
    for (text, identifier) in [
        ("# Portfolio Management & Risk Assessment", "portfolio_management_risk_asse"),
        ("## Diversifikation: Der Schlüssel zum Erfolg", "diversifikation_der_schluessel"),
        ("### Value at Risk (VaR) Berechnungen", "value_at_risk_var_berechnungen"),
    ] {
        assert_eq!(name(&HEADING, text), identifier);
    }
}

#[test]
fn contents_before_the_limit_with_stop_words_kept() {
    let content = Options { max_len: None, stop_words: &[], ..CONTENT };
    for (text, identifier) in [
        (
            "Diversifikation ist der Grundstein erfolgreicher Investments.",
            "diversifikation_ist_der_grundstein",
        ),
        ("Standard Deviation misst die Volatilität von Renditen.", "standard_deviation_misst_die"),
        (
            "Korrelationskoeffizienten zwischen Assets bestimmen Diversifikationseffekte.",
            "korrelationskoeffizienten_zwischen_assets_bestimmen",
        ),
    ] {
        assert_eq!(name(&content, text), identifier);
    }
}

#[test]
fn contents_before_the_limit() {
    let content = Options { max_len: None, ..CONTENT };
    for (text, identifier) in [
        (
            "Standard Deviation misst die Volatilität von Renditen.",
            "standard_deviation_misst_volatilitaet",
        ),
        ("Die Korrelation zwischen den Assets ist wichtig", "korrelation_zwischen_assets_wichtig"),
        ("2024 Analysis", "zweitausendvierundzwanzig_analysis"),
    ] {
        assert_eq!(name(&content, text), identifier);
    }
}

/// The steps after the first two, which the document does not have: each name with its text, if it changed.
fn changes(text: &str) -> Vec<(&'static str, String)> {
    let steps = Pipeline::new(&HEADING).unwrap().steps(text, noon());
    let mut last = text.to_owned();
    let mut changes = Vec::new();
    for step in steps {
        if step.text != last {
            last.clone_from(&step.text);
            changes.push((step.name, step.text));
        }
    }
    changes
}

#[test]
fn cleaning_step_by_step() {
    let expected = [
        ("lower_case", "portfolio management & risk assessment strategies"),
        ("symbols", "portfolio management  risk assessment strategies"),
        ("spaces", "portfolio_management__risk_assessment_strategies"),
        ("underscores", "portfolio_management_risk_assessment_strategies"),
        ("limit", "portfolio_management_risk_asse"),
    ];
    let expected = expected.map(|(name, text)| (name, text.to_owned()));
    assert_eq!(changes("Portfolio Management & Risk Assessment Strategies"), expected);

    // The document writes umlauts and symbols in one line, and the limit with its trimming.
    let expected = [
        ("lower_case", "diversifikation: der schlüssel zum erfolg"),
        ("letters", "diversifikation: der schluessel zum erfolg"),
        ("symbols", "diversifikation der schluessel zum erfolg"),
        ("spaces", "diversifikation_der_schluessel_zum_erfolg"),
        ("limit", "diversifikation_der_schluessel"),
    ];
    let expected = expected.map(|(name, text)| (name, text.to_owned()));
    assert_eq!(changes("Diversifikation: Der Schlüssel zum Erfolg"), expected);
}

#[test]
fn numbers_and_abbreviations() {
    for (text, identifier) in [
        ("5 Strategien", "fuenf_strategien"),
        ("VaR Berechnung", "value_at_risk_berechnung"),
        ("ROI Analysis", "return_on_investment_analysis"),
        ("API Documentation", "api_documentation"),
        ("3M Aktie", "drei_m_aktie"),
    ] {
        assert_eq!(name(&HEADING, text), identifier);
    }
}

#[test]
fn the_ten_symbols_are_spoken_in_contents_and_dropped_in_headings() {
    for (symbol, words) in SYMBOLS {
        let text = format!("Wert {symbol} Preis");
        assert_eq!(name(&CONTENT, &text), format!("wert_{words}_preis"));
        assert_eq!(name(&HEADING, &text), "wert_preis");
    }
    assert_eq!(name(&CONTENT, "# Wert"), "wert");
    assert_eq!(name(&CONTENT, "C# Wert"), "c_hash_wert");
}

#[test]
fn a_long_key_loses_its_vowels_or_its_end() {
    let vowels = Options { shorten: Shorten::Vowels, ..HEADING };
    let text = "Portfolio Management Risk Assessment Strategies";
    assert_eq!(name(&HEADING, text), "portfolio_management_risk_asse");
    // The document's own way: without vowels it is one character too long, so it is cut.
    assert_eq!(name(&vowels, text), "portfolio_management_risk_asse");
    assert_eq!(
        name(&Options { max_len: Some(31), ..vowels }, text),
        "prtfl_mngmnt_rsk_ssssmnt_strtgs"
    );
    assert_eq!(name(&vowels, "Standard Deviation misst Renditen"), "stndrd_dvtn_msst_rndtn");
}

#[test]
fn a_text_without_a_name_is_named_by_the_clock() {
    for (text, identifier) in [
        ("", "empty_content_20240101_120000"),
        (" \t\n\u{a0}", "empty_content_20240101_120000"),
        ("ab", "short_content_20240101_120000"),
        // Whether it is short is asked before whether it has only symbols.
        ("!!", "short_content_20240101_120000"),
        (" Ä ", "short_content_20240101_120000"),
        ("A\u{308}b", "short_content_20240101_120000"),
        ("!!!", "special_chars_20240101_120000"),
        ("🦄🦄🦄 €€€", "special_chars_20240101_120000"),
        ("\0\0\0", "special_chars_20240101_120000"),
        // Letters in any script are letters.
        ("ÄÖÜ", "aeoeue"),
        ("שלום", "shlvm"),
        // Nothing is left of it.
        ("a !!!", "short_content_20240101_120000"),
        ("99999999999999999999", "short_content_20240101_120000"),
    ] {
        assert_eq!(name(&HEADING, text), identifier, "{text:?}");
        assert_eq!(name(&HEADING, identifier), identifier);
    }
    assert_eq!(name(&CONTENT, "der die das"), "short_content_20240101_120000");
    let unlimited = Options { max_len: None, ..HEADING };
    assert_eq!(name(&unlimited, "!!!"), "special_chars_only_20240101_120000");
}

#[test]
fn two_characters_are_a_result_where_a_result_need_not_be_a_text() {
    let once = Options { idempotent: false, ..HEADING };
    assert_eq!(name(&once, "Ä!!"), "ae");
    assert_eq!(name(&HEADING, "Ä!!"), "short_content_20240101_120000");
}

#[test]
fn stop_words_are_found_in_any_spelling() {
    for text in ["Zinsen für Anleger", "Zinsen fuer Anleger", "ZINSEN FU\u{308}R ANLEGER"] {
        assert_eq!(name(&CONTENT, text), "zinsen_anleger");
    }
}

#[test]
fn stop_words_leave_what_nobody_wrote() {
    let options = Options {
        abbreviations: &[
            ("VaR", "value at risk"),
            ("YoY", "year-on-year"),
            ("RnD", "research & development, at 5"),
            ("G5", "group of 5"),
            ("k", "at 1.000 and"),
        ],
        symbols: &[('&', "and"), ('@', "at")],
        stop_words: &["at", "and", "of", "die", "5"],
        numbers: Some(Numbers::German),
        ..Options::default()
    };
    let pipeline = Pipeline::new(&options).unwrap();
    for (text, name) in [
        ("Die VaR Berechnung", "value_at_risk_berechnung"),
        ("VaR-Limit", "value_at_risk_limit"),
        ("YoY at 5", "yearonyear"),
        ("RnD at home", "research_and_development_at_fuenf_home"),
        ("G5 of Europe", "group_of_fuenf_europe"),
        ("5 k at 5", "at_eintausend_and"),
        ("Wind & Wellen and Meer", "wind_and_wellen_meer"),
        ("mail@home", "mail_at_home"),
        // What is written out loses its stop words, like all that is written.
        ("Value at Risk (VaR)", "value_risk_var"),
        ("\u{2}at \u{2}die\u{3} and\u{3} \u{2} at Küste", "kueste"),
    ] {
        assert_eq!(pipeline.name(text, noon()), name, "{text}");
        for step in pipeline.steps(text, noon()).iter().skip(1) {
            assert!(!step.text.contains(char::is_control), "{step:?}");
        }
    }
    let steps = pipeline.steps("Die VaR & G5", noon());
    let text = |name| steps.iter().find(|step| step.name == name).map(|step| step.text.as_str());
    assert_eq!(text("abbreviations"), Some("die value at risk & group of 5"));
    assert_eq!(text("symbols"), Some("die value at risk  and  group of fuenf"));
    assert_eq!(text("underscores"), Some("die_value_at_risk_and_group_of_fuenf"));
}
