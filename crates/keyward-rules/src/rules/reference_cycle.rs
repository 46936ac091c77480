use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that refer to themselves through others of their definition: a parent that is its own descendant. It
    /// follows a field or a string value that is declared as `ref` or `key`:
    ///
    /// - of its own definition: `folder:{folder_id}` with a field `parent`;
    /// - in a relation, whose pattern has one parameter, a `key`: `{page_key}:parent`, which holds a page. One that is its own
    ///   `inverse` leads back with every step, and is not followed;
    /// - of another definition, whose parameter is the only one of this: `parent:{child_id}`, which holds
    ///   `entity:{type}:{id}`. It is the same parameter if it is named after that definition (`page_id` for the `id` of `page`),
    ///   or if both are the only ones of the type `uuid` or `ulid`, which nothing else has.
    ///
    /// Members of sets are not followed: they may well refer to each other.
    ///
    /// Up to 65,536 references are followed; of more, it is not judged. On a live server, a cycle is read again before it
    /// is reported.
    ///
    /// ## Why is this bad
    /// Code that climbs from a key to its root never ends, and code that descends from the root never finds these keys.
    ///
    /// ## Example
    /// ```toml
    /// [keys.folder]
    /// pattern = "folder:{folder_id:uint}"
    /// ttl = "none"
    /// [keys.folder.fields]
    /// name = "text"
    /// parent = { ref = "folder.folder_id", optional = true }
    /// ```
    /// ```redis
    /// HSET folder:1 name a parent 2
    /// HSET folder:2 name b parent 1
    /// ```
    ///
    /// ## Use instead
    /// Before you move a key, check that its new parent is not below it.
    /// ```redis
    /// HSET folder:1 name a
    /// HSET folder:2 name b parent 1
    /// ```
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let name = case.name();
    let what = case.subject.map_or("the value".to_owned(), |field| format!("field `{field}`"));
    Wording::new(format!("keys of `{name}` refer to themselves by {what}"))
        .help("find out which reference is wrong, and remove it")
}
