use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Policy, Server};
use keyward_schema::span::Span;

rule! {
    /// ## What it does
    /// Reports a `[server]` without `maxmemory`, or with `maxmemory = 0`, which means no limit. A
    /// schema without any server setting is not checked.
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
    let help = "set `maxmemory` to what the machine can spare, and leave room for a fork";
    if let Some(maxmemory) = &server.maxmemory {
        if maxmemory.bytes() == 0 {
            let finding = Finding::new("the server has no memory limit");
            out.add(finding.at(&maxmemory.span, "0 means no limit").help(help));
        }
        return;
    }
    let Some((span, label)) = said(server) else { return };
    out.add(Finding::new("the server has no memory limit").at(span, label).help(help));
}

/// Something that `[server]` says, the policy first.
fn said(server: &Server) -> Option<(&Span, &'static str)> {
    let policy = server.maxmemory_policy.as_ref().map(|policy| match policy.value {
        Policy::Noeviction => (&policy.span, "`maxmemory` is missing"),
        _ => (&policy.span, "evicts nothing without `maxmemory`"),
    });
    let others = [
        server.save.as_ref().map(|save| &save.span),
        server.appendonly.as_ref().map(|appendonly| &appendonly.span),
        server.other.first().map(|(name, _)| &name.span),
    ];
    let other = others.into_iter().flatten().next();
    policy.or(other.map(|span| (span, "`maxmemory` is missing")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unbounded-memory]: the server has no memory limit
          ╭▸ keyward.toml:3:20
          │
        3 │ maxmemory-policy = "volatile-lru"
          │                    ━━━━━━━━━━━━━━ evicts nothing without `maxmemory`
          │
          ├ help: set `maxmemory` to what the machine can spare, and leave room for a fork
          ╰ note: `keyward explain unbounded-memory`
        "#);
    }

    #[test]
    fn zero_is_no_limit() {
        let schema = r#"
[server]
maxmemory = "0"
"#;
        assert_eq!(messages(&RULE, schema), ["the server has no memory limit",]);
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
