//! The files that come from code: a page of the book for each rule, their index, their lines in the
//! table of contents, and what the schema's declarations describe.

use anyhow::{Context, Result, ensure};
use keyward_rules::{Category, Rule, RuleOption, Tier};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: &str = "docs/src/reference/rules";
const CONTENTS: &str = "docs/src/SUMMARY.md";

/// Writes the pages, and removes those of rules that are no more.
pub(crate) fn write(root: &Path) -> Result<()> {
    let pages = pages(root)?;
    fs::create_dir_all(root.join(PAGES))?;
    for stale in stale(root, &pages)? {
        fs::remove_file(&stale)?;
        println!("removed {}", stale.display());
    }
    for (path, text) in &pages {
        if fs::read_to_string(path).ok().as_ref() != Some(text) {
            fs::write(path, text)?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

/// Fails if a page is not what would be written.
pub(crate) fn check(root: &Path) -> Result<()> {
    let pages = pages(root)?;
    let differs =
        |path: &PathBuf, text: &String| fs::read_to_string(path).ok().as_ref() != Some(text);
    let differing = pages.iter().filter(|(path, text)| differs(path, text)).map(|(path, _)| path);
    let all: Vec<PathBuf> = differing.cloned().chain(stale(root, &pages)?).collect();
    let shown: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
    ensure!(all.is_empty(), "run `cargo xtask docs`; these pages differ:\n{}", shown.join("\n"));
    Ok(())
}

/// Pages of rules that are no more.
fn stale(root: &Path, pages: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let Ok(folder) = fs::read_dir(root.join(PAGES)) else { return Ok(Vec::new()) };
    let there: Vec<PathBuf> =
        folder.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    Ok(there.into_iter().filter(|path| !pages.contains_key(path)).collect())
}

fn pages(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let folder = root.join(PAGES);
    let contents = root.join(CONTENTS);
    let text = fs::read_to_string(&contents).with_context(|| contents.display().to_string())?;
    let mut pages: BTreeMap<_, _> = Rule::ALL
        .iter()
        .map(|&rule| (folder.join(rule.name()).with_extension("md"), page(rule)))
        .collect();
    pages.insert(folder.join("index.md"), index());
    pages.insert(contents, contents_with_rules(&text)?);
    pages.extend(crate::schema::files(root)?);
    Ok(pages)
}

fn page(rule: Rule) -> String {
    let about = match rule {
        rule if rule.is_live() => LIVE,
        rule if rule.is_breaking() => CHANGES,
        _ => "",
    };
    let (column, place) = match rule.tier() {
        Some(tier) => ("tier", tier.name()),
        None => ("rule set", rule.set_name()),
    };
    let mut text = format!(
        "<!-- Written by `cargo xtask docs` from the rule's file. -->\n\n# {}\n\n\
         | category | severity | {column} |\n|---|---|---|\n| {} | {} | {place} |\n\n{about}{}",
        rule.name(),
        rule.category().name(),
        rule.severity().name(),
        rule.documentation()
    );
    if !rule.options().is_empty() {
        text.push_str("\n## Options\n");
        for option in rule.options() {
            let _ = writeln!(text, "- `{}`: {}", option.name(), meaning(*option));
        }
    }
    text
}

/// Which command applies a rule that judges keys.
const LIVE: &str =
    "This rule judges keys: `keyward audit` applies it, `keyward check` does not.\n\n";

/// Which command applies a rule that judges changes.
const CHANGES: &str = "This rule compares two versions of a schema: `keyward breaking` applies it, `keyward check` does not. A change is\n\
     accepted with [`[[accept]]`](../schema/rules.md#accept).\n\n";

fn index() -> String {
    let mut text = String::from(INTRODUCTION);
    for category in Category::ALL.into_iter().filter(|it| *it != Category::Breaking) {
        let title = capitalised(category.name());
        let of_category = |rule: &Rule| rule.category() == category && !rule.is_live();
        table(&mut text, &title, "", Rule::ALL.iter().copied().filter(of_category));
    }
    let live = Rule::ALL.iter().copied().filter(|rule| rule.is_live());
    table(
        &mut text,
        "On keys",
        "These rules judge keys: `keyward audit` applies them, `keyward check` does not.\n\n",
        live,
    );
    for tier in Tier::ALL {
        let (title, about) = match tier {
            Tier::Data => (
                "On changes: data",
                "keys on the server are no longer found, or are found as something else",
            ),
            Tier::Code => ("On changes: code", "generated names, types and commands are others"),
            Tier::Ops => ("On changes: ops", "TTLs, memory, slots and ACLs are others"),
        };
        let about = format!(
            "[`keyward breaking`](../../guide/breaking.md) applies these rules to two versions of a schema: {about}.\n\n"
        );
        table(
            &mut text,
            title,
            &about,
            Rule::ALL.iter().copied().filter(|rule| rule.tier() == Some(tier)),
        );
    }
    text
}

fn table(text: &mut String, title: &str, about: &str, rules: impl Iterator<Item = Rule>) {
    let mut rules = rules.peekable();
    let of_changes = rules.peek().is_some_and(|rule| rule.is_breaking());
    let (column, line) = if of_changes { ("", "") } else { (" rule set |", "---|") };
    let _ = write!(
        text,
        "\n## {title}\n\n{about}| rule | severity |{column} what it does |\n|---|---|{line}---|\n",
    );
    for rule in rules {
        let (name, severity, summary) = (rule.name(), rule.severity().name(), rule.summary());
        let set = if of_changes { String::new() } else { format!(" {} |", rule.set_name()) };
        let _ = writeln!(text, "| [`{name}`]({name}.md) | {severity} |{set} {summary} |");
    }
}

/// The table of contents with the rules below the line of their index.
fn contents_with_rules(contents: &str) -> Result<String> {
    let lines: Vec<&str> = contents.lines().collect();
    let is_index = |line: &&str| line.starts_with("- [Rules](");
    let at = lines.iter().position(is_index).context("SUMMARY.md has no line `- [Rules](…)`")?;
    let rest = lines[at + 1..].iter().skip_while(|line| line.starts_with("  "));
    let mut text: Vec<String> = lines[..at].iter().map(|&line| line.to_owned()).collect();
    text.push("- [Rules](reference/rules/index.md)".to_owned());
    for rule in Rule::ALL {
        text.push(format!("  - [{0}](reference/rules/{0}.md)", rule.name()));
    }
    text.extend(rest.map(|&line| line.to_owned()));
    Ok(text.join("\n") + "\n")
}

const INTRODUCTION: &str = r#"<!-- Written by `cargo xtask docs`. -->

# Rules

`keyward check` applies rules to a schema, `keyward audit` to the keys of a server or a snapshot, and
`keyward breaking` to two versions of a schema.
`keyward rules` lists the rules, and `keyward explain RULE` explains one.

Rule sets are nested. `minimal` has the rules that every keyspace must keep: each key belongs to one
definition, and each name refers to something. `recommended`, the default, adds what goes wrong in
production. `strict` has all rules except those that are `opt-in`, which apply only if `[rules]` names them.

```toml
[rules]
set = "strict"
missing-owner = "error"            # or "warn", or "off"
stale-cache = { max = "1h" }       # a table also turns the rule on

[rules.abbreviation]
accept = ["msg"]
```

To accept a finding, add an `allow` with a reason to the definition. An `allow` that accepts nothing is reported.

```toml
[keys.audit_log]
pattern = "audit:log"
type = "stream"
ttl = "none"
allow = [{ rule = "unbounded-collection", reason = "trimmed every night by the archiver" }]
```

Events and migrations take an `allow` too. At the top of the file it applies to the whole keyspace.
Errors and warnings both make `check` exit with 1; with `--fail-on error`, only errors do.

Rules on changes belong to no set: all apply, unless `[rules]` turns one off. What they find is accepted with
[`[[accept]]`](../schema/rules.md#accept), which has an end, not with `allow`.
"#;

fn meaning(option: RuleOption) -> &'static str {
    match option {
        RuleOption::Words => "additional words that the rule reports",
        RuleOption::Accept => "words that the rule accepts",
        RuleOption::Max => "the maximum duration, such as `\"1h\"`",
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_the_book_are_up_to_date() {
        check(&crate::root().unwrap()).unwrap();
    }

    #[test]
    fn the_contents_list_every_rule_below_the_index() {
        let contents = "# Summary\n\n- [Rules]()\n  - [gone](gone.md)\n- [Exit codes](exit.md)\n";
        let text = contents_with_rules(contents).unwrap();
        assert!(text.contains("- [Rules](reference/rules/index.md)\n  - [abbreviation](reference/rules/abbreviation.md)\n"));
        assert!(text.ends_with("\n- [Exit codes](exit.md)\n"));
        assert!(!text.contains("gone"));
        assert_eq!(contents_with_rules(&text).unwrap(), text);
    }
}
