use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::KeyType;
use keyward_schema::model::{Definition, Lifecycle, Ttl};

rule! {
    /// ## What it does
    /// Reports a list, set, sorted set, geo set or stream that nothing bounds: it has no `max_len`,
    /// and it is not a cache or temporary value that expires as a whole.
    ///
    /// ## Why is this bad
    /// It grows until one command on it blocks the server for seconds and one key holds a gigabyte
    /// that no cluster can spread.
    ///
    /// ## Example
    /// ```toml
    /// [keys.activity]
    /// pattern = "activity:{user_id}"
    /// type = "stream"
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.activity]
    /// pattern = "activity:{user_id}"
    /// type = "stream"
    /// ttl = "none"
    /// max_len = 10_000
    /// ```
    /// `[defaults] max_len` bounds all of them. Where the oldest entries must not be trimmed away,
    /// as in a queue, say `on_full = "refuse"`.
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(key_type) = &definition.key_type else { continue };
        if !grows(key_type) || definition.max_len.is_some() || ends_as_a_whole(definition) {
            continue;
        }
        out.add(
            Finding::new(format!("nothing bounds the {} `{}`", **key_type, definition.name.value))
                .about(definition)
                .at(&key_type.span, "may grow without end")
                .help("set `max_len`, here or in `[defaults]`"),
        );
    }
}

fn grows(key_type: &KeyType) -> bool {
    key_type.is_collection() && *key_type != KeyType::Hash
}

fn ends_as_a_whole(definition: &Definition) -> bool {
    let fleeting = matches!(definition.lifecycle, Lifecycle::Cache | Lifecycle::Temporary);
    fleeting && definition.ttl.as_deref().is_some_and(Ttl::expires)
}
