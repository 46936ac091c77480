//! What must not change a draft: the order of keys, how they are sharded, how many there are, what words they use, and
//! what separates them.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]

mod pretend;

use keyward_infer::draft::{Definition, ParamType, PatternPiece};
use keyward_infer::{Draft, Observed, Options, Sketch, infer, write};
use pretend::{KEYSPACES, Keyspace, Random};

fn draft(sketch: &Sketch) -> Draft {
    infer(sketch, &Options::default().without_foreign())
}

/// Patterns without the names of parameters, which follow from the words around them.
fn patterns(draft: &Draft) -> Vec<String> {
    let ty = |ty: &ParamType| match ty {
        ParamType::Named(name) => name.clone(),
        other => format!("{other:?}"),
    };
    let piece = |definition: &Definition, piece: &PatternPiece| match piece {
        PatternPiece::Text(text) => text.clone(),
        PatternPiece::Param(number) => format!("<{}>", ty(&definition.params[*number].ty)),
    };
    let pattern = |definition: &Definition| {
        let pieces: String = definition.pieces.iter().map(|it| piece(definition, it)).collect();
        format!("{}{pieces}\t{:?}", draft.prefix, definition.key_type)
    };
    let mut patterns: Vec<String> = draft.definitions.iter().map(pattern).collect();
    patterns.sort();
    patterns
}

fn shuffled(observed: &[Observed], seed: u64) -> Vec<Observed> {
    let mut random = Random::new(seed);
    let mut all: Vec<(u64, Observed)> =
        observed.iter().map(|one| (random.below(u64::MAX), one.clone())).collect();
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, one)| one).collect()
}

fn sketch(observed: &[Observed]) -> Sketch {
    let mut sketch = Sketch::default();
    for one in observed {
        sketch.observe(one.clone());
    }
    sketch
}

#[test]
fn the_order_of_keys_changes_nothing() {
    for (name, text) in KEYSPACES {
        let keyspace = Keyspace::parse(text, 1);
        let expected = write(&draft(&keyspace.sketch()), name);
        for seed in 0..3 {
            let other = sketch(&shuffled(&keyspace.observed, seed));
            assert_eq!(write(&draft(&other), name), expected);
        }
    }
}

#[test]
fn shards_change_nothing_in_any_order_of_merging() {
    for (name, text) in KEYSPACES {
        let keyspace = Keyspace::parse(text, 1);
        let expected = write(&draft(&keyspace.sketch()), name);
        let mixed = shuffled(&keyspace.observed, 7);
        let shards: Vec<Sketch> = mixed.chunks(mixed.len().div_ceil(3)).map(sketch).collect();
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut whole = Sketch::default();
            order.iter().filter_map(|at| shards.get(*at)).for_each(|it| whole.merge(it.clone()));
            assert_eq!(write(&draft(&whole), name), expected);
        }
    }
}

#[test]
fn three_times_as_many_ids_have_the_same_patterns() {
    for (name, text) in KEYSPACES {
        // Where words are few, there are no more of them.
        if text.contains("{word") || text.contains("{slug9") || text.contains("{locale") {
            continue;
        }
        let triple = text.lines().map(|line| match line.trim().split_once(' ') {
            Some((count, rest)) if count != "1" => {
                format!("{} {rest}", 3 * count.parse::<usize>().expect("a number"))
            }
            _ => line.to_owned(),
        });
        let triple: String = triple.map(|line| line + "\n").collect();
        let one = patterns(&draft(&Keyspace::parse(text, 1).sketch()));
        assert_eq!(patterns(&draft(&Keyspace::parse(&triple, 2).sketch())), one, "{name}");
    }
}

#[test]
fn other_words_have_the_same_patterns() {
    /// Every other letter, so that no word is one that anybody knows.
    fn rot(char: char) -> char {
        match char {
            'a'..='z' => char::from((char as u8 - b'a' + 13) % 26 + b'a'),
            'A'..='Z' => char::from((char as u8 - b'A' + 13) % 26 + b'A'),
            other => other,
        }
    }
    /// Changes what is not in the marks of a value.
    fn renamed(text: &str, open: char, close: char) -> String {
        let mut inside = 0;
        text.chars()
            .map(|char| {
                inside += i32::from(char == open) - i32::from(char == close);
                if inside > 0 { char } else { rot(char) }
            })
            .collect()
    }
    // Words that few keys vary are words there, and would be renamed.
    for (name, text) in KEYSPACES.iter().filter(|(name, _)| *name != "limits") {
        let lines = text.lines().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match &words[..] {
                [count, key_type, ttl, pattern, fields @ ..] => {
                    // Braces of the key are not those of a value.
                    let pattern = pattern.replace("{{", "\u{1}").replace("}}", "\u{2}");
                    let pattern = renamed(&pattern, '{', '}');
                    let pattern = pattern.replace('\u{1}', "{{").replace('\u{2}', "}}");
                    format!("{count} {key_type} {ttl} {pattern} {}\n", fields.join(" "))
                }
                _ => String::new(),
            }
        });
        let other: String = lines.collect();
        let one = patterns(&draft(&Keyspace::parse(text, 1).sketch()));
        let mut expected: Vec<String> = one
            .iter()
            .map(|pattern| {
                let (pattern, rest) = pattern.split_once('\t').unwrap_or((pattern, ""));
                format!("{}\t{rest}", renamed(pattern, '<', '>'))
            })
            .collect();
        expected.sort();
        assert_eq!(patterns(&draft(&Keyspace::parse(&other, 1).sketch())), expected, "{name}");
    }
}

#[test]
fn other_separators_have_the_same_patterns() {
    for (name, text) in KEYSPACES {
        if ["slashes", "dashes", "glued", "limits", "pipes", "paths", "tagged", "camel", "trees"]
            .contains(name)
        {
            continue;
        }
        for separator in ["|", "/", "."] {
            // Addresses have dots.
            if separator == "." && text.contains("{ip}") {
                continue;
            }
            let other = text.replace(':', separator);
            let one = patterns(&draft(&Keyspace::parse(text, 1).sketch()));
            let mut expected: Vec<String> =
                one.iter().map(|pattern| pattern.replace(':', separator)).collect();
            expected.sort();
            let found = patterns(&draft(&Keyspace::parse(&other, 1).sketch()));
            assert_eq!(found, expected, "{name} {separator}");
        }
    }
}
