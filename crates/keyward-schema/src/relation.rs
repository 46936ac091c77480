//! `inverse`, `closure_of` and `same_as`: which relations between keys must agree, and whether they can.

use crate::Diagnostic;
use crate::model::{Definition, Ends, Law, Relation};
use crate::span::Spanned;
use crate::tables::KeyTable;
use crate::value::DefinitionName;
use keyward_pattern::nearest;
use std::collections::HashMap;

/// Takes what a definition says about other relations.
pub(crate) fn take(table: &mut KeyTable) -> Relation {
    let name = |name: Option<Spanned<DefinitionName>>| {
        name.map(|name| Spanned::new(name.value.0, name.span))
    };
    Relation {
        inverse: name(table.inverse.take()),
        closure_of: name(table.closure_of.take()),
        same_as: name(table.same_as.take()),
    }
}

/// Whether all relations can agree as declared. What names a `broken` definition is not reported again.
pub(crate) fn check(keys: &[Definition], broken: &[String], errors: &mut Vec<Diagnostic>) {
    let by_name: HashMap<&str, &Definition> =
        keys.iter().map(|key| (key.name.as_str(), key)).collect();
    let mut taken = HashMap::new();
    for key in keys {
        for (law, name) in key.relation.laws() {
            let Some(other) = by_name.get(name.as_str()) else {
                if !broken.contains(name) {
                    errors.push(unknown(name, keys).about(&*key.name));
                }
                continue;
            };
            let pair = Pair { law, key, name, other };
            let fits = pair.ends().and_then(|(own, other)| pair.fit(own, other));
            let fits = fits.and_then(|()| pair.is_only_inverse(&mut taken));
            errors.extend(fits.err().map(|error| error.about(&*key.name)));
        }
    }
}

fn unknown(name: &Spanned<String>, keys: &[Definition]) -> Diagnostic {
    let message = format!("there is no definition `{}`", **name);
    let error = Diagnostic::schema(message, name.span.clone(), "not found");
    let relations = keys.iter().filter(|key| key.ends().is_some());
    match nearest(name, relations.map(|key| key.name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help("correct the name, or declare it"),
    }
}

const ONE: &str = "an inverse has one inverse: let both name each other";

/// A relation, and the other that it names.
struct Pair<'k> {
    law: Law,
    key: &'k Definition,
    name: &'k Spanned<String>,
    other: &'k Definition,
}

/// One of the two ends of a relation: how it is said, and the keys there.
type End<'k> = (&'static str, &'static str, &'k [String]);

impl<'k> Pair<'k> {
    /// Between which keys both are.
    fn ends(&self) -> Result<(Ends<'k>, Ends<'k>), Box<Diagnostic>> {
        let lacking = |definition: &Definition, message: String| {
            let error = Diagnostic::schema(message, self.name.span.clone(), "named here")
                .at(definition.pattern.span.clone(), "its pattern")
                .help("the pattern of a relation has one parameter, whose type is `key`")
                .help("what a relation holds is a `key`, too: the value of a string, the items of a list, the members of a set");
            Box::new(match definition.value.as_ref().or(definition.member.as_ref()) {
                Some(held) => error.at(held.span.clone(), "what it holds"),
                None => error,
            })
        };
        let own = self.key.ends().ok_or_else(|| {
            let (word, name) = (self.law.word(), &*self.key.name);
            let message =
                format!("`{word}` is for relations between keys, and `{name}` is not one");
            lacking(self.key, message)
        })?;
        let other = self.other.ends().ok_or_else(|| {
            lacking(self.other, format!("`{}` is not a relation between keys", **self.name))
        })?;
        Ok((own, other))
    }

    /// Whether both are between the keys that they must be between to agree.
    fn fit(&self, own: Ends<'k>, other: Ends<'k>) -> Result<(), Box<Diagnostic>> {
        let is_itself = self.key.name.value == self.name.value;
        if is_itself && self.law != Law::Inverse {
            return self.refuse("it is the same relation", |it| it.help("name another relation"));
        }
        if self.law == Law::Closure && !own.many {
            let help = "make it a set: `member` instead of `value`";
            return self.refuse("it holds only one key", |it| it.help(help));
        }
        let from = |ends: &Ends<'k>| ("goes from", "go from", ends.from);
        let to = |ends: &Ends<'k>| ("leads to", "lead to", ends.to);
        let sides: [(End<'_>, End<'_>); 2] = match self.law {
            Law::Inverse => [(from(&own), to(&other)), (to(&own), from(&other))],
            Law::Closure | Law::Same => [(from(&own), from(&other)), (to(&own), to(&other))],
        };
        for (at, (ours, theirs)) in sides.into_iter().enumerate() {
            // A closure need not start at every key that the steps start at.
            let both_ways = self.law != Law::Closure || at == 1;
            let (name, named) = (&*self.key.name, &**self.name);
            let why = stray((name, ours), (named, theirs))
                .or_else(|| stray((named, theirs), (name, ours)).filter(|_| both_ways));
            if let Some(why) = why {
                let help = "let both be between the same keys: change the `key` of a parameter, value or member";
                return self.refuse(&why, |error| {
                    let error = error.at(self.key.pattern.span.clone(), between(own)).help(help);
                    if is_itself {
                        return error;
                    }
                    error.at(self.other.pattern.span.clone(), between(other))
                });
            }
        }
        Ok(())
    }

    /// An inverse has one inverse: the relation that names it, which is the one that it names if it names any.
    fn is_only_inverse(
        &self,
        taken: &mut HashMap<&'k str, (&'k str, &'k Spanned<String>)>,
    ) -> Result<(), Box<Diagnostic>> {
        if self.law != Law::Inverse {
            return Ok(());
        }
        let name = self.key.name.as_str();
        match &self.other.relation.inverse {
            Some(back) if back.value == name => Ok(()),
            Some(back) => {
                let why = format!("the inverse of `{}` is `{}`", **self.name, **back);
                self.refuse(&why, |it| it.at(back.span.clone(), "declared here").help(ONE))
            }
            None => match taken.insert(self.name, (name, self.name)) {
                None => Ok(()),
                Some((first, named)) => {
                    let why = format!("it is the inverse of `{first}`");
                    self.refuse(&why, |it| it.at(named.span.clone(), "first here").help(ONE))
                }
            },
        }
    }

    fn refuse(
        &self,
        why: &str,
        add: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Result<(), Box<Diagnostic>> {
        let (name, named) = (&*self.key.name, &**self.name);
        let what = match self.law {
            Law::Inverse if name == named => format!("`{name}` cannot be symmetric"),
            Law::Inverse => format!("`{named}` cannot be the inverse of `{name}`"),
            Law::Closure => format!("`{name}` cannot be the closure of `{named}`"),
            Law::Same => format!("`{name}` cannot hold the same keys as `{named}`"),
        };
        let message = format!("{what}: {why}");
        Err(Box::new(add(Diagnostic::schema(message, self.name.span.clone(), "named here"))))
    }
}

/// That one relation has keys which the other does not have where it must.
fn stray(
    (name, (does, _, own)): (&str, End<'_>),
    (other, (_, would, theirs)): (&str, End<'_>),
) -> Option<String> {
    let stray = own.iter().find(|it| !theirs.contains(it))?;
    Some(if name == other {
        format!("it {does} `{stray}` and does not {would} it")
    } else {
        format!("`{name}` {does} `{stray}`, and `{other}` does not {would} it")
    })
}

fn between(ends: Ends<'_>) -> String {
    let listed = |names: &[String]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    format!("from {} to {}", listed(ends.from), listed(ends.to))
}
