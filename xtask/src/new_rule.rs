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

/// The registry with the rule's two lines, each where the order of names puts it.
fn registered(registry: &str, module: &str) -> Result<String> {
    let mut lines: Vec<String> = registry.lines().map(str::to_owned).collect();
    let declared = |line: &str| line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned);
    insert(&mut lines, module, format!("mod {module};"), declared)?;
    let variant: String = module.split('_').map(capitalised).collect();
    let listed = |line: &str| {
        let (_, file) = line.strip_prefix("    ")?.strip_suffix(',')?.split_once(": ")?;
        is_kebab_case(&file.replace('_', "-")).then(|| file.to_owned())
    };
    insert(&mut lines, module, format!("    {variant}: {module},"), listed)?;
    Ok(lines.join("\n") + "\n")
}

/// Inserts a line before the first line of a later module; `module_of` reads the module of a line.
fn insert(
    lines: &mut Vec<String>,
    module: &str,
    line: String,
    module_of: impl Fn(&str) -> Option<String>,
) -> Result<()> {
    let modules: Vec<_> = lines.iter().map(|line| module_of(line)).collect();
    let Some(last) = modules.iter().rposition(Option::is_some) else {
        bail!("the registry has no rules")
    };
    let later = modules.iter().position(|it| it.as_deref().is_some_and(|it| it > module));
    lines.insert(later.unwrap_or(last + 1), line);
    Ok(())
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_registered_in_the_order_of_names() {
        let registry = "mod a;\nmod c_d;\n\nregistry! {\n    A: a,\n    CD: c_d,\n}\n";
        assert_eq!(
            registered(registry, "b").unwrap(),
            "mod a;\nmod b;\nmod c_d;\n\nregistry! {\n    A: a,\n    B: b,\n    CD: c_d,\n}\n"
        );
        assert_eq!(
            registered(registry, "e_f").unwrap(),
            "mod a;\nmod c_d;\nmod e_f;\n\nregistry! {\n    A: a,\n    CD: c_d,\n    EF: e_f,\n}\n"
        );
    }

    #[test]
    fn the_registry_of_today_takes_a_rule() {
        let root = crate::root().unwrap();
        let registry = fs::read_to_string(root.join(RULES).join("mod.rs")).unwrap();
        let registered = registered(&registry, "zzz_yyy").unwrap();
        assert!(registered.contains("\nmod zzz_yyy;\n"));
        assert!(registered.contains("\n    ZzzYyy: zzz_yyy,\n}"));
    }

    #[test]
    fn a_name_is_in_kebab_case() {
        assert!(is_kebab_case("missing-ttl"));
        for name in ["", "Missing", "missing_ttl", "-ttl", "missing--ttl", "../ttl"] {
            assert!(!is_kebab_case(name), "{name}");
        }
    }
}
