use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Policy, Server};
use keyward_schema::span::Span;

rule! {
    /// ## What it does
    /// Reports a `[server]` without a `maxmemory`, or with `maxmemory = 0`, which is none. A schema
    /// that says nothing at all about the server is left alone.
    ///
    /// ## Why is this bad
    /// Without a limit the server grows until the kernel kills it, and no eviction policy has any
    /// effect.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory-policy = "volatile-lru"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory = "2gb"
    /// maxmemory-policy = "volatile-lru"
    /// ```
    Lifetime, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let server = &cx.schema.server;
    let help = "set `maxmemory` to what the machine can spare, with room for a fork";
    if let Some(maxmemory) = &server.maxmemory {
        if maxmemory.bytes() == 0 {
            let finding = Finding::new("nothing bounds the memory of the server");
            out.add(finding.at(&maxmemory.span, "0 is no limit").help(help));
        }
        return;
    }
    let Some((span, label)) = said(server) else { return };
    out.add(Finding::new("nothing bounds the memory of the server").at(span, label).help(help));
}

/// Something that `[server]` says, the policy first.
fn said(server: &Server) -> Option<(&Span, &'static str)> {
    let policy = server.maxmemory_policy.as_ref().map(|policy| match policy.value {
        Policy::Noeviction => (&policy.span, "there is no `maxmemory` beside it"),
        _ => (&policy.span, "evicts nothing without a `maxmemory`"),
    });
    let others = [
        server.save.as_ref().map(|save| &save.span),
        server.appendonly.as_ref().map(|appendonly| &appendonly.span),
        server.other.first().map(|(name, _)| &name.span),
    ];
    let other = others.into_iter().flatten().next();
    policy.or(other.map(|span| (span, "there is no `maxmemory` beside it")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unbounded-memory]: nothing bounds the memory of the server
          ╭▸ keyward.toml:3:20
          │
        3 │ maxmemory-policy = "volatile-lru"
          │                    ━━━━━━━━━━━━━━ evicts nothing without a `maxmemory`
          │
          ├ help: set `maxmemory` to what the machine can spare, with room for a fork
          ╰ note: `keyward explain unbounded-memory`
        "#);
    }

    #[test]
    fn zero_is_no_limit() {
        let schema = r#"
[server]
maxmemory = "0"
"#;
        assert_eq!(messages(&RULE, schema), ["nothing bounds the memory of the server",]);
    }

    #[test]
    fn a_schema_that_is_silent_about_the_server_is_left_alone() {
        let schema = r#"
[keys.a]
pattern = "a"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
