//! What separates the parameters of one pattern, besides the keyspace's separator.

use crate::Diagnostic;
use crate::model::ParamDeclaration;
use crate::param::Separators;
use crate::span::Spanned;
use keyward_pattern::{Param, Part, Template, Type};

/// `separators` beside a pattern, as written.
pub(crate) struct Separated<'a> {
    pub(crate) separators: &'a Spanned<Separators>,
    pub(crate) pattern: &'a Spanned<Template>,
    /// The separator of the keyspace
    pub(crate) keyspace: char,
    /// Whether the pattern is an old name, whose parameters exclude already what the new ones do
    pub(crate) is_old: bool,
}

impl Separated<'_> {
    /// Excludes the separators from each text that does not say itself what it excludes.
    pub(crate) fn apply(&self, params: &mut [ParamDeclaration]) -> Option<Diagnostic> {
        let wrong = self.wrong(params);
        let marks = &self.separators.value.0;
        for param in params.iter_mut().map(|declared| &mut declared.param.value) {
            if self.applies_to(param) {
                let new = |mark: &char| *mark != self.keyspace && !param.without.contains(*mark);
                let new: String = marks.chars().filter(new).collect();
                param.without.push_str(&new);
            }
        }
        wrong
    }

    fn applies_to(&self, param: &Param) -> bool {
        param.ty == Type::Text && (self.is_old || param.without.is_empty())
    }

    /// What of it has no effect.
    fn wrong(&self, params: &[ParamDeclaration]) -> Option<Diagnostic> {
        let marks = &self.separators.value.0;
        let at = |message: String, label: &str| {
            Some(Diagnostic::schema(message, self.separators.span.clone(), label))
        };
        if marks.contains(self.keyspace) {
            let message = format!("`{}` is the separator of the keyspace already", self.keyspace);
            return Some(at(message, "no text contains it")?.help("leave it out"));
        }
        let literals = || {
            self.pattern.parts().iter().filter_map(|part| match part {
                Part::Literal(text) => Some(text),
                Part::Hole(_) => None,
            })
        };
        if let Some(mark) = marks.chars().find(|mark| !literals().any(|text| text.contains(*mark)))
        {
            let help = "leave it out, or exclude it from one parameter with `without`";
            let found = at(format!("the pattern has no `{mark}`"), "separates nothing")?;
            return Some(found.at(self.pattern.span.clone(), "the pattern").help(help));
        }
        if !params.iter().any(|declared| self.applies_to(&declared.param)) {
            let message = "no parameter of the pattern is text without a `without` of its own";
            let found = at(message.to_owned(), "has no effect")?;
            let help =
                "remove `separators`, or exclude the characters from a parameter with `without`";
            return Some(found.at(self.pattern.span.clone(), "the pattern").help(help));
        }
        None
    }
}
