use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::{indexes, longest_life};
use crate::rule::rule;
use keyward_fact::KeyType;
use keyward_schema::model::{Definition, Role};

rule! {
    /// ## What it does
    /// Reports an index that outlives the keys it refers to: it always lives longer than they do. A
    /// sorted set is not checked, because its members can be removed by score.
    ///
    /// ## Why is this bad
    /// A member of a set has no TTL. A session that expires stays in its user's set until the whole
    /// set expires, so the set fills with sessions that no longer exist.
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
    /// ttl = "30d"
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
    ///
    /// `keyward plan fix --rule stale-index` plans to remove members that name a key which does not exist any more.
    Lifetime, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for (index, of) in indexes(cx) {
        let (Some(index_ttl), Some(of_ttl)) = (&index.ttl, &of.ttl) else { continue };
        if index.key_type.as_deref() == Some(&KeyType::Zset) || !outlives(index, of) {
            continue;
        }
        let (name, of_name) = (&index.name.value, &of.name.value);
        // The reverse of an index names its sets, and only sets can have one.
        let sorted = match index.role.as_deref() {
            Some(Role::Index(role)) if role.reverse.is_some() => "",
            _ => ", or make it a sorted set whose expired members you remove by score",
        };
        out.add(
            Finding::new(format!(
                "the index `{name}` outlives the keys of `{of_name}` it refers to"
            ))
            .about(index)
            .about(of)
            .at(&index_ttl.span, "keeps members that have expired")
            .at(&of_ttl.span, format!("how long keys of `{of_name}` live"))
            .help(format!("give `{name}` the TTL of `{of_name}`{sorted}")),
        );
    }
}

/// Whether the index certainly still exists when a key it refers to has expired.
fn outlives(index: &Definition, of: &Definition) -> bool {
    let Some(longest) = longest_life(of) else { return false };
    let stays = index.ttl.as_ref().is_some_and(|ttl| !ttl.expires());
    stays || index.shortest_ttl().is_some_and(|shortest| shortest > longest)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[stale-index]: the index `sessions_of_user` outlives the keys of `session` it refers to
           ╭▸ keyward.toml:11:7
           │
         6 │ ttl = "7d"
           │       ──── how long keys of `session` live
           ┆
        11 │ ttl = "30d"
           │       ━━━━━ keeps members that have expired
           │
           ├ help: give `sessions_of_user` the TTL of `session`, or make it a sorted set whose expired members you remove by score
           ╰ note: `keyward explain stale-index`
        "#);
    }

    #[test]
    fn an_index_that_stays_outlives_what_expires() {
        let with = |index: &str| {
            format!(
                "[keys.doc]\npattern = \"doc:{{id}}\"\ntype = \"hash\"\nttl = \"1d\"\n\
                 [keys.docs]\npattern = \"docs:{{word}}\"\nindex = {{ of = \"doc\" }}\n{index}\n"
            )
        };
        let found = ["the index `docs` outlives the keys of `doc` it refers to"];
        assert_eq!(messages(&RULE, &with("ttl = \"none\"")), found);
        assert_eq!(messages(&RULE, &with("ttl = \"none\"\ntype = \"zset\"")), [""; 0]);
        assert_eq!(messages(&RULE, &with("ttl = \"1d\"")), [""; 0]);
    }

    #[test]
    fn a_sorted_set_is_not_proposed_for_an_index_with_a_reverse() {
        let shown = findings(
            &RULE,
            "[keys.doc]\npattern = \"doc:{id}\"\ntype = \"hash\"\nttl = \"1d\"\n\
             [keys.docs]\npattern = \"docs:{word}\"\nttl = \"none\"\n\
             index = { of = \"doc\", reverse = \"words\" }\n\
             [keys.words]\npattern = \"words:{id}\"\ntype = \"set\"\nttl = \"none\"\n",
        );
        assert!(shown.contains("help: give `docs` the TTL of `doc`\n"), "{shown}");
    }
}
