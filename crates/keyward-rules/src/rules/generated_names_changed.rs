use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{JavaTarget, RustTarget, Schema};

rule! {
    /// ## What it does
    /// Reports another package of generated Java classes, another module for the types of values in Rust, and another
    /// name of a definition's cache in Spring.
    ///
    /// ## Why is this bad
    /// Code that imports the package or module does not compile. Annotations that name a cache in Spring find none.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [generate.java]
    /// out = "java"
    /// package = "com.example.keys"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [generate.java]
    /// out = "java"
    /// package = "com.example.cache"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [generate.java]
    /// out = "java"
    /// package = "com.example.keys"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let (old, new) = (&cx.old.generate, &cx.new.generate);
    if let (Some(old), Some(new)) = (&old.java, &new.java) {
        java(cx, old, new, out);
    }
    if let (Some(old), Some(new)) = (&old.rust, &new.rust) {
        let values =
            |target: &RustTarget| target.values.clone().unwrap_or_else(|| "none".to_owned());
        if values(old) != values(new) {
            let (was, is) = (values(old), values(new));
            out.add(
                Finding::new(format!(
                    "the module of values in Rust is `{is}` now, and was `{was}`"
                ))
                .changes_other("generate.rust")
                .at(&new.out.span, "")
                .at(&old.out.span, "")
                .help("move the types in the same commit"),
            );
        }
    }
}

fn java<'a>(cx: &Change<'a>, old: &'a JavaTarget, new: &'a JavaTarget, out: &mut Findings<'a>) {
    let package = |target: &JavaTarget| target.package.clone().unwrap_or_else(|| "none".to_owned());
    if package(old) != package(new) {
        let (was, is) = (package(old), package(new));
        out.add(
            Finding::new(format!("the package of Java classes is `{is}` now, and was `{was}`"))
                .changes_other("generate.java")
                .at(&new.out.span, "")
                .at(&old.out.span, "")
                .help("change the imports in the same commit"),
        );
    }
    if !(old.spring && new.spring) {
        return;
    }
    for pair in
        cx.pairs.iter().filter(|pair| pair.old.is_spring_cache() && pair.new.is_spring_cache())
    {
        let cache = |target: &JavaTarget, schema: &Schema, definition| {
            target.cache_name(definition, &schema.keyspace)
        };
        let (was, is) = (cache(old, cx.old, pair.old), cache(new, cx.new, pair.new));
        if let (Some(was), Some(is)) = (was, is)
            && was != is
        {
            out.add(
                Finding::new(format!(
                    "Spring's cache of `{}` is called `{is}` now, and was `{was}`",
                    pair.new.name.value
                ))
                .changes(cx, pair, None)
                .was(pair, (None, String::new()), (None, String::new()))
                .help("change the annotations in the same commit"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["the package of Java classes is `com.example.cache` now, and was `com.example.keys`"]
        );
    }

    #[test]
    fn a_cache_of_spring_follows_the_pattern() {
        let with = |word: &str| {
            format!(
                "[generate.java]\nout = \"java\"\nspring = true\ncache_segments = 1\n\
                 [keys.a]\npattern = \"{word}:{{id:uint}}\"\nvalue = \"text\"\nttl = \"1h\"\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with("x"), &with("y")),
            ["Spring's cache of `a` is called `y` now, and was `x`"]
        );
    }
}
