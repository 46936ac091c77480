use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a lock that never expires.
    ///
    /// ## Why is this bad
    /// If its holder dies, nobody gets the lock again until a person deletes the key.
    ///
    /// ## Example
    /// ```toml
    /// [keys.settlement_lock]
    /// pattern = "settlement:lock"
    /// lock = {}
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.settlement_lock]
    /// pattern = "settlement:lock"
    /// lock = {}
    /// ttl = "30s"
    /// ```
    /// A holder that needs longer renews it.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(role) = definition.role.as_ref().filter(|it| matches!(it.value, Role::Lock(_)))
        else {
            continue;
        };
        if definition.ttl.as_deref().is_some_and(Ttl::expires) {
            continue;
        }
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.span);
        out.add(
            Finding::new(format!("the lock `{}` never expires", definition.name.value))
                .about(definition)
                .at(ttl.unwrap_or(&role.span), "a holder that dies would keep it for ever")
                .help("give it a `ttl` of what the work takes, such as `ttl = \"30s\"`"),
        );
    }
}
