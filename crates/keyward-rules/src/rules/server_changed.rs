use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::Span;
use keyward_schema::model::Schema;

rule! {
    /// ## What it does
    /// Reports a setting in `[server]` that is another one, and a keyspace that is on a cluster now, or not any more.
    ///
    /// ## Why is this bad
    /// The schema does not change the server: somebody must, and until then an audit reports the difference. Another
    /// eviction policy or less memory decides which keys are lost.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [server]
    /// maxmemory-policy = "volatile-lru"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// ```
    /// After:
    /// ```toml
    /// [server]
    /// maxmemory-policy = "allkeys-lru"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory-policy = "volatile-lru"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let (old, new) = (settings(cx.old), settings(cx.new));
    for (name, is, span) in &new {
        let before = old.iter().find(|(known, ..)| known == name);
        if before.is_some_and(|(_, was, _)| was == is) {
            continue;
        }
        let message = match before {
            Some((_, was, _)) => format!("the server must have `{name} {is}` now, and had `{was}`"),
            None => format!("the server must have `{name} {is}` now"),
        };
        let finding =
            Finding::new(message).changes_other(name.as_str()).at(span, "the setting now");
        let finding = match before {
            Some((_, _, span)) => finding.at(span, "the setting before"),
            None => finding,
        };
        out.add(finding.help("change the server before the release"));
    }
    let (was, is) = (&cx.old.keyspace.cluster, &cx.new.keyspace.cluster);
    if was.value != is.value {
        let message = if is.value {
            "the keyspace is on a cluster now: keys in several slots cannot be used together"
        } else {
            "the keyspace is not on a cluster any more"
        };
        out.add(
            Finding::new(message)
                .changes_other("cluster")
                .at(&is.span, "")
                .at(&was.span, "")
                .help("a store refuses to connect where server and schema differ"),
        );
    }
}

/// What `[server]` asks for, by name.
fn settings(schema: &Schema) -> Vec<(String, String, &Span)> {
    let server = &schema.server;
    let mut settings = Vec::new();
    let mut add = |name: &str, value: String, span| settings.push((name.to_owned(), value, span));
    if let Some(it) = &server.maxmemory {
        add("maxmemory", it.value.to_string(), &it.span);
    }
    if let Some(it) = &server.maxmemory_policy {
        add("maxmemory-policy", it.name().to_owned(), &it.span);
    }
    if let Some(it) = &server.save {
        add("save", format!("\"{}\"", it.value), &it.span);
    }
    if let Some(it) = &server.appendonly {
        add("appendonly", if it.value { "yes" } else { "no" }.to_owned(), &it.span);
    }
    for (name, value) in &server.other {
        add(name.as_str(), value.value.clone(), &value.span);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["the server must have `maxmemory-policy allkeys-lru` now, and had `volatile-lru`"]
        );
    }

    #[test]
    fn a_cluster_is_another_server() {
        let with = |cluster: bool| {
            format!("[keyspace]\nname = \"a\"\ncluster = {cluster}\n[keys.a]\npattern = \"a\"\n")
        };
        assert_eq!(
            broken(&RULE, &with(true), &with(false)),
            ["the keyspace is not on a cluster any more"]
        );
    }
}
