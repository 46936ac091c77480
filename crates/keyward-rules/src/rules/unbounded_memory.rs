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
