use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::tag::{share_slot, shared, with_tag};
use keyward_pattern::{Template, Type};
use keyward_schema::model::{Definition, Role};
use keyward_schema::span::Spanned;

rule! {
    /// ## What it does
    /// With `cluster = true`, reports a role that changes two keys in one step if they may be in
    /// different slots: a queue with its dead letters or its status. Sessions and indexes are not reported:
    /// the store changes their keys one after the other, in an order that a crash cannot harm.
    ///
    /// ## Why is this bad
    /// Redis Cluster refuses a script or transaction over two slots (`CROSSSLOT`). With two steps
    /// instead, a crash in between loses a job.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = { dead_letter = "dead_jobs" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "dead:{job_type}"
    /// type = "list"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.jobs]
    /// pattern = "queue:{#job_type}"
    /// queue = { dead_letter = "dead_jobs" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "dead:{#job_type}"
    /// type = "list"
    /// ttl = "7d"
    /// ```
    /// `{#job_type}` writes the braces of a hash tag into the key: only the text inside them
    /// decides the slot.
    Change, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    if !*cx.schema.keyspace.cluster {
        return;
    }
    for definition in &cx.schema.keys {
        let Some(role) = &definition.role else { continue };
        for (name, what) in partners(role) {
            let Some(partner) = cx.definition(name) else { continue };
            if !share_slot_always(cx, definition, partner) {
                out.add(crossing(definition, partner, what, name));
            }
        }
    }
}

/// Whether the two share a slot whatever keys their `key` parameters hold: a hash tag may come with
/// such a key.
fn share_slot_always(cx: &Context<'_>, left: &Definition, right: &Definition) -> bool {
    let prefix = cx.schema.keyspace.prefix.as_deref();
    let mut pairs = vec![(left.pattern.value.clone(), right.pattern.value.clone())];
    // Each round writes out one `key` parameter of both; keys of keys take as many rounds as they nest.
    for _ in 0..MAX_ROUNDS {
        let Some((pair, hole, targets)) = pairs.iter().enumerate().find_map(|(number, pair)| {
            let names = holes(&pair.0).chain(holes(&pair.1));
            let mut targets = names.filter_map(|name| Some((name, held(cx, left, right, name)?)));
            targets.next().map(|(name, targets)| (number, name.to_owned(), targets))
        }) else {
            let with = |template| prefix.into_iter().chain([template]).collect::<Vec<_>>();
            return pairs.iter().all(|(left, right)| share_slot(&with(left), &with(right)));
        };
        let (first, second) = pairs.swap_remove(pair);
        for target in targets {
            let written = |template| with_key(template, &hole, &target.pattern.value);
            let (Some(first), Some(second)) = (written(&first), written(&second)) else {
                return false;
            };
            pairs.push((first, second));
        }
    }
    false
}

/// More than any sensible keyspace nests keys.
const MAX_ROUNDS: usize = 64;

fn holes(template: &Template) -> impl Iterator<Item = &str> {
    template.holes().map(|hole| hole.name.as_str())
}

/// The definitions whose keys a parameter of one of the two holds.
fn held<'a>(
    cx: &Context<'a>,
    left: &Definition,
    right: &Definition,
    name: &str,
) -> Option<Vec<&'a Definition>> {
    let mut params = left.params.iter().chain(&right.params);
    let param = params.find(|param| *param.name == name)?;
    let Type::Key(names) = &param.param.ty else { return None };
    Some(names.iter().filter_map(|name| cx.definition(name)).collect())
}

/// A pattern with a key in place of a parameter.
fn with_key(template: &Template, name: &str, key: &Template) -> Option<Template> {
    let Some(hole) = template.holes().find(|hole| hole.name == name) else {
        return Some(template.clone());
    };
    let text = template.as_str();
    let (open, close) = if hole.tag { ("{{", "}}") } else { ("", "") };
    let (before, after) = (&text[..hole.span.start], &text[hole.span.end..]);
    Template::parse(&format!("{before}{open}{}{close}{after}", key.as_str())).ok()
}

/// The definitions that a role changes in one step with its own.
fn partners(role: &Role) -> Vec<(&Spanned<String>, &'static str)> {
    let partners = match role {
        Role::Queue(queue) => {
            vec![(&queue.dead_letter, "its dead letters"), (&queue.status, "its status")]
        }
        _ => Vec::new(),
    };
    partners.into_iter().filter_map(|(name, what)| Some((name.as_ref()?, what))).collect()
}

fn crossing<'a>(
    definition: &'a Definition,
    partner: &'a Definition,
    what: &str,
    named: &'a Spanned<String>,
) -> Finding<'a> {
    let (name, other) = (&definition.name.value, &partner.name.value);
    let (pattern, other_pattern) = (&definition.pattern.value, &partner.pattern.value);
    let finding = Finding::new(format!("`{name}` and {what} `{other}` may be in different slots"))
        .about(definition)
        .about(partner)
        .at(&named.span, "changed in one step")
        .at(&definition.pattern.span, "one slot")
        .at(&partner.pattern.span, "another slot");
    match shared(pattern, other_pattern).first() {
        Some(param) => finding.help(format!(
            "tag the parameter they share: `{}` and `{}`",
            with_tag(pattern, param),
            with_tag(other_pattern, param)
        )),
        None => finding.help(format!(
            "give both patterns a common parameter and tag it, as in `{{#user_id}}`: `{name}` and \
             `{other}` share none"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn a_hash_tag_may_come_with_a_key_inside_the_key() {
        let with = |entity: &str| {
            format!(
                "[keyspace]\nname = \"x\"\ncluster = true\n\
                 [keys.entity]\npattern = \"{entity}\"\ntype = \"hash\"\nttl = \"none\"\n\
                 [keys.words]\npattern = \"words:{{of}}\"\nparams = {{ of = {{ key = \"entity\" }} }}\n\
                 queue = {{ dead_letter = \"back\" }}\nttl = \"none\"\n\
                 [keys.back]\npattern = \"back:{{of}}\"\nparams = {{ of = {{ key = \"entity\" }} }}\n\
                 type = \"list\"\nttl = \"none\"\n"
            )
        };
        assert_eq!(messages(&RULE, &with("e:{#id}")), [""; 0]);
        assert_eq!(messages(&RULE, &with("e:{id}")).len(), 1);
    }

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[role-crosses-slots]: `jobs` and its dead letters `dead_jobs` may be in different slots
           ╭▸ keyward.toml:8:25
           │
         7 │ pattern = "queue:{job_type}"
           │           ────────────────── one slot
         8 │ queue = { dead_letter = "dead_jobs" }
           │                         ━━━━━━━━━━━ changed in one step
           ┆
        11 │ pattern = "dead:{job_type}"
           │           ───────────────── another slot
           │
           ├ help: tag the parameter they share: `queue:{#job_type}` and `dead:{#job_type}`
           ╰ note: `keyward explain role-crosses-slots`
        "#);
    }

    #[test]
    fn without_a_cluster_there_are_no_slots() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{job_type}"
queue = { dead_letter = "dead" }
[keys.dead]
pattern = "dead:{job_type}"
type = "list"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_tag_in_the_prefix_keeps_everything_together() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{#tenant}:"
cluster = true
[keys.jobs]
pattern = "queue:{job_type}"
queue = { dead_letter = "dead" }
[keys.dead]
pattern = "dead:{job_type}"
type = "list"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_session_and_its_index_need_no_common_slot() {
        let schema = r#"
[keyspace]
name = "shop"
cluster = true
[keys.session]
pattern = "session:{session_id}"
type = "hash"
session = { index = "sessions" }
ttl = "7d"
[keys.sessions]
pattern = "sessions:{user_id}"
type = "set"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
