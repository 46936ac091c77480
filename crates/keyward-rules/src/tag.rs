//! Whether two keys are sure to share a slot of a Redis Cluster.

use keyward_pattern::{Part, Template, slot};

/// Whether keys of the two patterns, built with the same values for parameters of the same name,
/// always share a slot. Each pattern is given with the prefix in front of it, if it has one.
pub(crate) fn share_slot(left: &[&Template], right: &[&Template]) -> bool {
    match (tag(left), tag(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => match (constant(left), constant(right)) {
            (Some(left), Some(right)) => slot(left.as_bytes()) == slot(right.as_bytes()),
            _ => atoms(left).eq(atoms(right)),
        },
        _ => false,
    }
}

/// What decides the slot of a pattern's keys, as a label says it; the pattern is given with the
/// prefix in front of it, if it has one.
pub(crate) fn hashed_by(templates: &[&Template]) -> String {
    let Some(tag) = tag(templates) else { return "hashed by the whole key".to_owned() };
    let text: String = tag
        .iter()
        .map(|atom| match atom {
            Atom::Char(char) => char.to_string(),
            Atom::Hole(name) => format!("{{{name}}}"),
        })
        .collect();
    format!("hashed by `{text}`")
}

/// The parameter that is alone in a pattern's hash tag.
pub(crate) fn tagged<'t>(templates: &[&'t Template]) -> Option<&'t str> {
    match tag(templates)?.as_slice() {
        [Atom::Hole(name)] => Some(name),
        _ => None,
    }
}

/// The parameters that two patterns have in common.
pub(crate) fn shared<'t>(left: &'t Template, right: &Template) -> Vec<&'t str> {
    let names = left.holes().map(|hole| hole.name.as_str());
    names.filter(|name| right.holes().any(|hole| hole.name == *name)).collect()
}

/// A pattern's text with the hash tag put around one of its parameters.
pub(crate) fn with_tag(template: &Template, param: &str) -> String {
    let mut text = template.as_str().to_owned();
    if let Some(hole) = template.holes().find(|hole| hole.name == param && !hole.tag) {
        text.insert(hole.span.start + 1, '#');
    }
    text
}

#[derive(PartialEq)]
enum Atom<'t> {
    Char(char),
    Hole(&'t str),
}

/// What stands between the first `{` of a key and the `}` after it: what the slot is computed from.
fn tag<'t>(templates: &[&'t Template]) -> Option<Vec<Atom<'t>>> {
    let mut atoms = atoms(templates).skip_while(|atom| *atom != Atom::Char('{')).skip(1);
    let mut tag = Vec::new();
    loop {
        match atoms.next()? {
            Atom::Char('}') => return (!tag.is_empty()).then_some(tag),
            atom => tag.push(atom),
        }
    }
}

fn atoms<'t>(templates: &[&'t Template]) -> impl Iterator<Item = Atom<'t>> {
    let mut atoms = Vec::new();
    for part in templates.iter().flat_map(|template| template.parts()) {
        match part {
            Part::Literal(text) => atoms.extend(text.chars().map(Atom::Char)),
            Part::Hole(hole) if hole.tag => {
                atoms.extend([Atom::Char('{'), Atom::Hole(&hole.name), Atom::Char('}')]);
            }
            Part::Hole(hole) => atoms.push(Atom::Hole(&hole.name)),
        }
    }
    atoms.into_iter()
}

fn constant(templates: &[&Template]) -> Option<String> {
    let chars = atoms(templates).map(|atom| match atom {
        Atom::Char(char) => Some(char),
        Atom::Hole(_) => None,
    });
    chars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(left: &str, right: &str) -> bool {
        share_slot(&[&Template::parse(left).unwrap()], &[&Template::parse(right).unwrap()])
    }

    #[test]
    fn keys_share_a_slot_when_their_tags_hold_the_same() {
        assert!(together("queue:{#name}", "dead:{#name}"));
        assert!(together("queue:{{jobs}}:{name}", "dead:{{jobs}}:{name}"));
        assert!(together("a:{{x{id}}}", "b:{{x{id}}}"));
        assert!(!together("queue:{#name}", "dead:{#other}"));
        assert!(!together("queue:{#name}", "dead:{name}"));
    }

    #[test]
    fn without_a_tag_the_whole_key_counts() {
        assert!(together("queue:{name}", "queue:{name}"));
        assert!(!together("queue:{name}", "dead:{name}"));
        assert!(!together("queue", "dead"));
        assert!(!together("a:{{}}:{name}", "b:{{}}:{name}"));
    }

    #[test]
    fn what_decides_the_slot_has_words() {
        let words = |text| hashed_by(&[&Template::parse(text).unwrap()]);
        assert_eq!(words("queue:{name}"), "hashed by the whole key");
        assert_eq!(words("queue:{#name}:{id}"), "hashed by `{name}`");
        assert_eq!(words("a:{{x{id}}}"), "hashed by `x{id}`");
    }
}
