//! Starts a rule: its file and its lines in the registry.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;

const RULES: &str = "crates/keyward-rules/src/rules";

const SCAFFOLD: &str = r##"use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition that …
    ///
    /// ## Why is this bad
    /// …
    ///
    /// ## Example
    /// ```toml
    /// [keys.example]
    /// pattern = "example:{id}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.example]
    /// pattern = "example:{id}"
    /// ttl = "1h"
    /// ```
    Care, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        out.add(
            Finding::new(format!("`{}` …", definition.name.value))
                .about(definition)
                .at(&definition.name.span, "")
                .help("…"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::findings;

    #[test]
    fn it_is_reported() {
        insta::assert_snapshot!(findings(&RULE, r#"
[keys.example]
pattern = "example:{id}"
"#), @"");
    }
}
"##;

/// Starts the rule of that name.
pub(crate) fn run(root: &Path, name: &str) -> Result<()> {
    ensure!(
        is_kebab_case(name),
        "`{name}` is no rule's name: write it in kebab case, `missing-ttl`"
    );
    let module = name.replace('-', "_");
    let rules = root.join(RULES);
    let file = rules.join(&module).with_extension("rs");
    ensure!(!file.exists(), "there is a rule `{name}` already: {}", file.display());

    let registry = rules.join("mod.rs");
    let text = fs::read_to_string(&registry).with_context(|| registry.display().to_string())?;
    fs::write(&registry, registered(&text, &module)?)?;
    fs::write(&file, SCAFFOLD)?;
    println!("wrote {}", file.display());
    println!("next: `cargo insta test -p keyward-rules --review`, then `cargo xtask docs`");
    Ok(())
}

fn is_kebab_case(name: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    name.split('-').all(word)
}

/// The registry with the module's two lines, each where the order of names puts it.
fn registered(registry: &str, module: &str) -> Result<String> {
    let mut lines: Vec<String> = registry.lines().map(str::to_owned).collect();
    for (line, ends) in
        [(format!("mod {module};"), ";"), (format!("    {module}::RULE,"), "::RULE,")]
    {
        let start = line.len() - line.trim_start().len();
        let like = |other: &String| {
            let same_indent = other.len() - other.trim_start().len() == start;
            same_indent && other.ends_with(ends) && (ends == "::RULE," || other.starts_with("mod "))
        };
        let Some(last) = lines.iter().rposition(like) else { bail!("the registry has no rules") };
        let after = lines.iter().position(|other| like(other) && *other > line);
        lines.insert(after.unwrap_or(last + 1), line);
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_registered_in_the_order_of_names() {
        let registry =
            "mod a;\nmod c;\n\nstatic ALL: &[Rule] = &[\n    a::RULE,\n    c::RULE,\n];\n";
        assert_eq!(
            registered(registry, "b").unwrap(),
            "mod a;\nmod b;\nmod c;\n\nstatic ALL: &[Rule] = &[\n    a::RULE,\n    b::RULE,\n    c::RULE,\n];\n"
        );
        assert_eq!(
            registered(registry, "d").unwrap(),
            "mod a;\nmod c;\nmod d;\n\nstatic ALL: &[Rule] = &[\n    a::RULE,\n    c::RULE,\n    d::RULE,\n];\n"
        );
    }

    #[test]
    fn the_registry_of_today_takes_a_rule() {
        let root = crate::root().unwrap();
        let registry = fs::read_to_string(root.join(RULES).join("mod.rs")).unwrap();
        let registered = registered(&registry, "zzz").unwrap();
        assert!(registered.contains("\nmod zzz;\n") && registered.contains("\n    zzz::RULE,\n];"));
    }

    #[test]
    fn a_name_is_in_kebab_case() {
        assert!(is_kebab_case("missing-ttl"));
        for name in ["", "Missing", "missing_ttl", "-ttl", "missing--ttl", "../ttl"] {
            assert!(!is_kebab_case(name), "{name}");
        }
    }
}
