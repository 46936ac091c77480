use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::longest_life;
use crate::rule::rule;
use keyward_schema::model::{Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a revocation that may expire while the session it revokes could still be used. The
    /// shortest possible TTL is compared, with `jitter` applied.
    ///
    /// ## Why is this bad
    /// A stolen session that was revoked becomes valid again when the revocation expires.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:active:{session_id}"
    /// type = "hash"
    /// session = { revoked = "revoked_session" }
    /// ttl = "7d"
    ///
    /// [keys.revoked_session]
    /// pattern = "session:revoked:{session_id}"
    /// value = "timestamp"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.session]
    /// pattern = "session:active:{session_id}"
    /// type = "hash"
    /// session = { revoked = "revoked_session" }
    /// ttl = "7d"
    ///
    /// [keys.revoked_session]
    /// pattern = "session:revoked:{session_id}"
    /// value = "timestamp"
    /// ttl = "7d"
    /// ```
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for session in &cx.schema.keys {
        let Some(Role::Session(role)) = session.role.as_deref() else { continue };
        let Some(revoked) = role.revoked.as_ref().and_then(|name| cx.definition(name)) else {
            continue;
        };
        let (Some(ttl), Some(session_ttl)) = (&revoked.ttl, &session.ttl) else { continue };
        let Some(kept) = revoked.shortest_ttl() else { continue };
        let enough = match longest_life(session) {
            Some(lives) => kept >= lives,
            None => Ttl::expires(session_ttl),
        };
        if enough {
            continue;
        }
        let (name, session_name) = (&revoked.name.value, &session.name.value);
        out.add(
            Finding::new(format!("`{name}` may expire before the `{session_name}` it revokes"))
                .about(revoked)
                .about(session)
                .at(&ttl.span, format!("kept for at least {}", kept.human()))
                .at(&session_ttl.span, "a session may live longer")
                .help(format!("keep `{name}` at least as long as a `{session_name}` may live")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[revocation-shorter-than-session]: `revoked_session` may expire before the `session` it revokes
           ╭▸ keyward.toml:11:7
           │
         6 │ ttl = "7d"
           │       ──── a session may live longer
           ┆
        11 │ ttl = "1d"
           │       ━━━━ kept for at least 1 d
           │
           ├ help: keep `revoked_session` at least as long as a `session` may live
           ╰ note: `keyward explain revocation-shorter-than-session`
        "#);
    }

    #[test]
    fn a_session_lives_as_long_as_its_max_age() {
        let schema = r#"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = { revoked = "revoked", max_age = "30d" }
ttl = "7d"
[keys.revoked]
pattern = "revoked:{id}"
value = "timestamp"
ttl = "7d"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`revoked` may expire before the `session` it revokes",]
        );
    }

    #[test]
    fn jitter_shortens() {
        let schema = r#"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = { revoked = "revoked" }
ttl = "7d"
[keys.revoked]
pattern = "revoked:{id}"
value = "timestamp"
ttl = "7d"
jitter = "10%"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`revoked` may expire before the `session` it revokes",]
        );
    }

    #[test]
    fn a_revocation_for_ever_is_long_enough() {
        let schema = r#"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = { revoked = "revoked" }
ttl = "7d"
[keys.revoked]
pattern = "revoked:{id}"
value = "timestamp"
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
