use crate::breaking::{Change, Pair};
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{Param, prove};
use keyward_schema::model::ParamDeclaration;

rule! {
    /// ## What it does
    /// Reports a parameter whose type takes fewer values than before, with the shortest key that is no longer found.
    /// Types are compared as sets of values: `{ regex = "[0-9]{3}" }` and `digits(3)` are the same.
    ///
    /// ## Why is this bad
    /// Keys with the other values stay on the server and belong to no definition. The program refuses to build them,
    /// so that it cannot even delete them.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id:uuid}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// Give the keys with the new values a definition of their own, until the others have expired.
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    ///
    /// [keys.user_profile]
    /// pattern = "user:{user_id:uuid}:profile"
    /// ttl = "1h"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| cx.is_in_place() && pair.has_same_shape()) {
        let Some(lost) = &pair.keys.lost else { continue };
        let narrowed = narrowed(cx, pair);
        if narrowed.as_ref().is_some_and(Narrowed::is_reserved) {
            continue; // see `new-reservation`
        }
        let name = &pair.new.name.value;
        let found = match &lost.now {
            Some(now) if now != name => format!("belongs to `{now}` now"),
            _ => "is not found any more".to_owned(),
        };
        let Some(Narrowed { old, new, value }) = narrowed else {
            let message = format!("`{}` was a key of `{name}`, and {found}", lost.key);
            let is = (Some(&pair.new.pattern.span), String::new());
            let was = (Some(&pair.old.pattern.span), String::new());
            out.add(Finding::new(message).changes(cx, pair, None).was(pair, is, was));
            continue;
        };
        let param = &new.name.value;
        let message = format!(
            "`{param}` of `{name}` does not take `{value}` any more: `{}` {found}",
            lost.key
        );
        out.add(
            Finding::new(message)
                .changes(cx, pair, Some(param))
                .at(&new.param.span, format!("is {}", typed(&new.param)))
                .at(&old.param.span, format!("was {}", typed(&old.param)))
                .help("keep the type until no key has the other values, or declare the old keys in a migration")
                .touching(cx.touches_some(pair, "invalid-param", Some(param))),
        );
    }
}

/// A parameter that takes fewer values.
struct Narrowed<'p> {
    old: &'p ParamDeclaration,
    new: &'p ParamDeclaration,
    value: String,
}

impl Narrowed<'_> {
    /// Whether all that it lost is a word that is reserved now.
    fn is_reserved(&self) -> bool {
        let (old, new) = (&self.old.param.value, &self.new.param.value);
        let mut alike = new.clone();
        alike.except.clone_from(&old.except);
        alike == *old && new.except.contains(&self.value)
    }
}

/// The first parameter that has lost a value.
fn narrowed<'p>(cx: &Change<'_>, pair: &Pair<'p>) -> Option<Narrowed<'p>> {
    let separator = *cx.new.keyspace.separator;
    pair.old.params.iter().zip(&pair.new.params).find_map(|(old, new)| {
        let refused = prove::accepts_all(separator, &new.param, &old.param).ok().flatten();
        refused.map(|value| Narrowed { old, new, value })
    })
}

fn typed(param: &Param) -> String {
    format!("`{}`", param.ty.to_string().replace('`', ""))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::breaking::{Measured, MeasuredDefinition};
    use crate::harness::{broken, broken_example, broken_with};
    use keyward_schema::diagnostic::Told;

    #[test]
    fn the_example_is_reported() {
        let message =
            "`user_id` of `profile` does not take `a` any more: `profile:a` is not found any more";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn another_spelling_of_the_same_type_is_not_reported() {
        let old = "[keys.a]\npattern = \"a:{n:digits(3)}\"\n";
        let new = "[keys.a]\npattern = \"a:{n}\"\nparams = { n = { regex = \"[0-9]{3}\" } }\n";
        assert_eq!(broken(&RULE, old, new), [""; 0]);
        assert_eq!(broken(&RULE, new, old), [""; 0]);
    }

    #[test]
    fn words_that_are_added_are_not_reported() {
        let with = |words: &str| {
            format!("[params]\nkind = [{words}]\n[keys.a]\npattern = \"a:{{kind}}\"\n")
        };
        let (few, many) = (with("\"x\", \"y\""), with("\"x\", \"y\", \"z\""));
        assert_eq!(broken(&RULE, &few, &many), [""; 0]);
        let message = "`kind` of `a` does not take `z` any more: `a:z` is not found any more";
        assert_eq!(broken(&RULE, &many, &few), [message]);
    }

    #[test]
    fn keys_of_keys_follow_the_definitions_they_refer_to() {
        let old = "[keys.a]\npattern = \"a:{id}\"\n[keys.b]\npattern = \"b:{of}\"\nparams = { of = { key = \"a\" } }\n";
        let new = old.replace("a:{id}", "a:{id:uint}");
        let found = broken(&RULE, old, &new);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1], "`b:a:a` was a key of `b`, and is not found any more");
    }

    #[test]
    fn an_audit_with_the_new_version_has_counted_the_keys() {
        let old = "[keys.user]\npattern = \"user:{id}\"\n";
        let new = "[keys.user]\npattern = \"user:{id:uuid}\"\n";
        let measured = |pattern: &str, ty: &str, breaking: &[(u64, u64)]| {
            let broken = |&(keys, bytes): &(u64, u64)| {
                (("invalid-param".to_owned(), Some("id".to_owned())), (keys, Some(bytes)))
            };
            let definition = MeasuredDefinition {
                pattern: pattern.to_owned(),
                params: vec![("id".to_owned(), ty.to_owned())],
                keys: 10_000,
                bytes: Some(1 << 20),
                breaking: breaking.iter().map(broken).collect(),
                ..MeasuredDefinition::default()
            };
            let definitions = [("user".to_owned(), definition)].into();
            Measured { definitions, sampled: None, complete: true }
        };
        let say = |measured: &Measured| {
            let found = broken_with(&RULE, old, new, measured).remove(0);
            let touched = found.touched.unwrap();
            (touched.how, touched.keys, found.notes[0].clone())
        };
        let exact = say(&measured("user:{id:uuid}", "uuid", &[(2_040, 3_145_728)]));
        assert_eq!(exact, (Told::Counted, Some(2_040), "touches 2,040 keys (3.0 MiB)".to_owned()));
        let none = say(&measured("user:{id:uuid}", "uuid", &[]));
        let said = "the report has no key that it touches".to_owned();
        assert_eq!(none, (Told::Counted, Some(0), said));
        let before = say(&measured("user:{id}", "text", &[]));
        let said = "touches at most 10,000 keys (1.0 MiB)".to_owned();
        assert_eq!(before, (Told::AtMost, Some(10_000), said));
        let mut sample = measured("user:{id}", "text", &[]);
        sample.sampled = Some(10.0);
        let said = "touches at most about 100,000 keys (10.0 MiB), estimated from a sample of 10 %"
            .to_owned();
        assert_eq!(say(&sample), (Told::Estimated, Some(100_000), said));
    }
}
