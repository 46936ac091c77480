//! `[generate]`

use super::{Definition, Keyspace, Lifecycle, Role, Ttl};
use crate::span::Spanned;
use keyward_pattern::Part;

/// What `keyward generate` writes, and where: folders relative to the schema's.
#[derive(Debug, Clone, Default)]
pub struct Generate {
    /// Rust
    pub rust: Option<RustTarget>,
    /// The folder for TypeScript
    pub typescript: Option<Spanned<String>>,
    /// The folder for Python
    pub python: Option<Spanned<String>>,
    /// Java
    pub java: Option<JavaTarget>,
    /// The folder for Go
    pub go: Option<Spanned<String>>,
    /// The folder for golden vectors
    pub vectors: Option<Spanned<String>>,
}

/// `[generate.rust]`
#[derive(Debug, Clone)]
pub struct RustTarget {
    /// The folder
    pub out: Spanned<String>,
    /// The module that holds the types of `json` values
    pub values: Option<String>,
}

/// `[generate.java]`
#[derive(Debug, Clone)]
pub struct JavaTarget {
    /// The folder
    pub out: Spanned<String>,
    /// The package of the classes
    pub package: Option<String>,
    /// Whether there is a class for Spring's cache abstraction
    pub spring: bool,
    /// How many segments of a pattern are the name of its cache
    pub cache_segments: Option<Spanned<u64>>,
}

impl JavaTarget {
    /// What Spring calls the cache of a definition: its id, or the first segments of its pattern. `None`
    /// where these have parameters.
    pub fn cache_name(&self, definition: &Definition, keyspace: &Keyspace) -> Option<String> {
        let Some(wanted) = &self.cache_segments else { return Some(definition.name.value.clone()) };
        let prefix = keyspace.prefix.iter().flat_map(|prefix| prefix.value.parts());
        let mut parts = prefix.chain(definition.pattern.parts());
        let mut leading = String::new();
        let is_whole = parts.all(|part| match part {
            Part::Literal(text) => {
                leading.push_str(text);
                true
            }
            Part::Hole(_) => false,
        });
        let segments: Vec<&str> = leading.split(*keyspace.separator).collect();
        // What stands before a parameter may be a part of its segment.
        let whole = if is_whole { segments.len() } else { segments.len() - 1 };
        let wanted = usize::try_from(wanted.value).ok()?;
        (wanted <= whole).then(|| segments[..wanted].join(&keyspace.separator.to_string()))
    }
}

impl Definition {
    /// Whether Spring's cache abstraction can hold it: a string that expires, which no role manages, and
    /// whose TTL does not depend on a parameter.
    pub fn is_spring_cache(&self) -> bool {
        let string = self.key_type.as_ref().is_none_or(|it| it.name() == "string");
        let ttl = self.ttl.as_ref().map(|ttl| &ttl.value);
        let expires =
            ttl.is_some_and(|ttl| ttl.longest().is_some() && !matches!(ttl, Ttl::By { .. }));
        let role = self.role.as_ref().map(|role| &role.value);
        let lifecycle = matches!(self.lifecycle, Lifecycle::Cache | Lifecycle::Session);
        string && expires && lifecycle && role.is_none_or(|role| matches!(role, Role::Session(_)))
    }
}
