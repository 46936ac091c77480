//! `keyward explain`: a rule's own documentation, on a terminal.

use crate::args::Explain;
use crate::failure::{Failure, Result};
use crate::output::{BOLD, CODE, DIM, Output};
use crate::verdict::Verdict;
use keyward_rules::{Rule, RuleOption, SCHEMA};

pub(crate) fn run(args: &Explain, output: &Output) -> Result<Verdict> {
    if args.rule == SCHEMA {
        output.print(format!(
            "{}  {}\n\n{}",
            BOLD.on(SCHEMA),
            DIM.on("no rule"),
            terminal(READER)
        ))?;
        return Ok(Verdict::Clean);
    }
    let Some(rule) = Rule::parse(&args.rule) else {
        let nearest = Rule::nearest(&args.rule.to_lowercase()).map(Rule::name);
        return Err(Failure::new(format!("there is no rule `{}`", args.rule))
            .did_you_mean(nearest, "`keyward rules` lists them"));
    };
    output.print(page(rule))?;
    Ok(Verdict::Clean)
}

/// What is reported in place of a rule.
const READER: &str = concat!(
    "\
## What it is
Not a rule, but an error in the schema: a missing file, a file that is not TOML, an unknown field, an
invalid value or pattern, or a schema without keys. It cannot be turned off or allowed, and `keyward
check` exits with 2: nothing was proved.

## What to do
Each message says what was expected. `keyward init` writes `keyward.schema.json`, which editors use to
complete and check the file as you write. The reference describes every field: ",
    env!("CARGO_PKG_REPOSITORY"),
    "/tree/main/docs/src/reference/schema\n"
);

fn page(rule: Rule) -> String {
    let place = match rule.tier() {
        Some(tier) => format!("the tier `{}`", tier.name()),
        None => format!("the set `{}`", rule.set_name()),
    };
    let about = format!("{}, {} in {place}", rule.category().name(), rule.severity().name());
    let mut text = format!("{}  {}\n\n", BOLD.on(rule), DIM.on(about));
    text.push_str(&terminal(&rule.documentation()));
    if !rule.options().is_empty() {
        text.push_str(&format!("\n{}\n", BOLD.on("Options")));
        for option in rule.options() {
            text.push_str(&format!(
                "{}\n",
                line(&format!("`{}`: {}", option.name(), meaning(*option)))
            ));
        }
    }
    text
}

fn meaning(option: RuleOption) -> &'static str {
    match option {
        RuleOption::Words => "additional words that the rule reports",
        RuleOption::Accept => "words that the rule accepts",
        RuleOption::Max => "a maximum duration, such as `\"1h\"`",
    }
}

/// Markdown as the rules write it, which is headings, paragraphs, lists and code.
fn terminal(markdown: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    let mut lines = markdown.lines().peekable();
    while let Some(source) = lines.next() {
        if source.starts_with("```") {
            in_code = !in_code;
            if !in_code && lines.peek().is_some_and(|next| !next.is_empty()) {
                text.push('\n');
            }
        } else if in_code && source.is_empty() {
            text.push('\n');
        } else if in_code {
            text.push_str(&format!("    {source}\n"));
        } else if let Some(title) = source.strip_prefix("## ") {
            text.push_str(&format!("{}\n", BOLD.on(title)));
        } else {
            text.push_str(&format!("{}\n", line(source)));
        }
    }
    text
}

/// A line of prose; the backticks stay, for those who see no colours.
fn line(source: &str) -> String {
    source
        .split('`')
        .enumerate()
        .map(|(number, part)| match number % 2 {
            0 => part.to_owned(),
            _ => CODE.on(format_args!("`{part}`")),
        })
        .collect()
}
