use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::{indexes, longest_life};
use crate::rule::rule;
use keyward_schema::model::{Definition, OnWrite, Ttl};

rule! {
    /// ## What it does
    /// Reports an index that may expire while the keys it refers to still exist: its TTL is shorter
    /// than theirs, or `on_write = "keep"` lets it expire although members were added later.
    ///
    /// ## Why is this bad
    /// "Log out everywhere" finds no sessions and reports success, while the sessions stay valid.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id}"
    /// type = "hash"
    /// session = { index = "sessions_of_user" }
    /// ttl = "7d"
    ///
    /// [keys.sessions_of_user]
    /// pattern = "sessions:{user_id}"
    /// type = "set"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id}"
    /// type = "hash"
    /// session = { index = "sessions_of_user" }
    /// ttl = "7d"
    ///
    /// [keys.sessions_of_user]
    /// pattern = "sessions:{user_id}"
    /// type = "set"
    /// ttl = "7d"
    /// ```
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for (index, of) in indexes(cx) {
        out.extend(out_of_step(index, of));
    }
}

fn out_of_step<'a>(index: &'a Definition, of: &'a Definition) -> Option<Finding<'a>> {
    let (index_ttl, of_ttl) = (index.ttl.as_ref()?, of.ttl.as_ref()?);
    if !Ttl::expires(index_ttl) || index.name.value == of.name.value {
        return None;
    }
    let (name, of_name) = (&index.name.value, &of.name.value);
    let finding = Finding::new(format!(
        "the index `{name}` may expire before the keys of `{of_name}` it refers to"
    ))
    .about(index)
    .about(of);
    if is_shorter(index, of) {
        return Some(
            finding
                .at(&index_ttl.span, "may be shorter")
                .at(&of_ttl.span, format!("how long a key of `{of_name}` may live"))
                .help(format!("give `{name}` at least the TTL of `{of_name}`")),
        );
    }
    (index.on_write == OnWrite::Keep).then(|| {
        finding
            .at(&index_ttl.span, "starts with the first member, because of `on_write = \"keep\"`")
            .at(&of_ttl.span, "a member added later lives longer")
            .help(format!("restart the TTL of `{name}` with each write: `on_write = \"set\"`"))
    })
}

/// Whether the index may expire before a key it refers to. A caller's TTL without a maximum is not
/// reported.
fn is_shorter(index: &Definition, of: &Definition) -> bool {
    let Some(of_ttl) = &of.ttl else { return false };
    match (index.shortest_ttl(), longest_life(of)) {
        (Some(index), Some(of)) => index < of,
        (Some(_), None) => !of_ttl.expires(),
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[index-outlived]: the index `sessions_of_user` may expire before the keys of `session` it refers to
           ╭▸ keyward.toml:11:7
           │
         6 │ ttl = "7d"
           │       ──── how long a key of `session` may live
           ┆
        11 │ ttl = "1d"
           │       ━━━━ may be shorter
           │
           ├ help: give `sessions_of_user` at least the TTL of `session`
           ╰ note: `keyward explain index-outlived`
        "#);
    }

    #[test]
    fn a_session_lives_as_long_as_its_max_age() {
        let with = |ttl: &str| {
            format!(
                "[keys.session]\npattern = \"s:{{id}}\"\ntype = \"hash\"\nttl = \"1h\"\n\
                 session = {{ index = \"of_user\", max_age = \"7d\" }}\n\
                 [keys.of_user]\npattern = \"u:{{user_id}}\"\ntype = \"set\"\nttl = \"{ttl}\"\n"
            )
        };
        assert_eq!(messages(&RULE, &with("6d")).len(), 1);
        assert_eq!(messages(&RULE, &with("7d")), [""; 0]);
    }

    #[test]
    fn a_longer_index_is_fine() {
        let schema = r#"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = { index = "index" }
ttl = "7d"
[keys.index]
pattern = "sessions:{user_id}"
type = "set"
ttl = "30d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn an_index_of_what_stays_must_stay() {
        let schema = r#"
[keys.entity]
pattern = "entity:{id}"
type = "hash"
ttl = "none"
[keys.by_word]
pattern = "word:{word}"
index = { of = "entity" }
ttl = "1d"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the index `by_word` may expire before the keys of `entity` it refers to",]
        );
    }

    #[test]
    fn an_index_whose_ttl_runs_on_ends_before_what_came_late() {
        let schema = r#"
[keys.entity]
pattern = "entity:{id}"
type = "hash"
ttl = "1d"
[keys.by_word]
pattern = "word:{word}"
index = { of = "entity" }
ttl = "7d"
on_write = "keep"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the index `by_word` may expire before the keys of `entity` it refers to",]
        );
    }

    #[test]
    fn the_shortest_ttl_of_the_index_counts() {
        let with = |ttl: &str| {
            format!(
                "[keys.session]\npattern = \"s:{{id:uuid}}\"\nttl = \"7d\"\nsession = {{ index = \"of_user\" }}\n\
                 [keys.session.fields]\nuser_id = \"uuid\"\n\
                 [keys.of_user]\npattern = \"u:{{user_id:uuid}}\"\nmember = \"text\"\n{ttl}\n"
            )
        };
        assert_eq!(messages(&RULE, &with("ttl = \"1d..30d\"")).len(), 1);
        assert_eq!(messages(&RULE, &with("ttl = \"7d\"\njitter = \"90%\"")).len(), 1);
        assert_eq!(messages(&RULE, &with("ttl = \"7d\"")), [""; 0]);
    }
}
