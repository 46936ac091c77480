// @generated
// {{ header }}
{#- Types come first, as a reader needs them; how they work stands below them. Inside the modules that
    hold names of the schema only full paths are used: a key may be called `Option`. -#}
{% set fixed = prefix.constant is not none %}
{% macro pascal(thing) %}{{ thing.name.pascal | ident("rust") }}{% endmacro %}
{% macro snake(thing) %}{{ thing.name.snake | ident("rust") }}{% endmacro %}
{% macro code(text) %}`{{ text | comment("code") | replace("`", "'") }}`{% endmacro %}
{% macro docs(text) %}{% if text %}{{ text | trim | comment("rust") }}{% endif %}{% endmacro %}
{% macro param_type(type, up) %}
{% if type.kind == "uuid" %}::keyward::Uuid{% elif type.kind == "int" %}i64{% elif type.kind == "uint" %}u64
{%- elif type.kind == "ip" %}::std::net::IpAddr{% elif type.kind == "date" %}::keyward::Date
{%- elif type.kind == "unix" %}::keyward::Unix{% elif type.kind == "unix_ms" %}::keyward::UnixMs
{%- elif type.kind == "key" and type.keys | length == 1 %}{{ up }}keys::{{ pascal(keys[type.keys[0]]) }}
{%- else %}{{ up }}values::{{ pascal(type) }}{% endif %}
{% endmacro %}
{% macro param_doc(param) %}
{% if param.doc %}{{ docs(param.doc) }}{% elif param.type.doc %}{{ docs(param.type.doc) }}{% else %}The parameter {{ code(param.name.id) }}: {{ code(param.type.description) }}{% endif %}
{% endmacro %}
{% macro param_static(param) %}
Param::new({{ param.name.id | literal("rust") }}, {{ param.type.description | literal("rust") }}, {{ language(param.type) }})
{%- endmacro %}
{% macro language(type) %}{% if type.kind == "key" %}Language::Keys(&[{% for at in type.keys %}{{ at }}, {% endfor %}]){% else %}Language::Of({{ type.language }}){% endif %}{% endmacro %}
{% macro visit(of) %}
    #[inline]
    fn visit(&self, to: &mut impl Visitor) {
    {% for part in of.parts %}
        {% if part.literal is none %}to.param(&self.{{ snake(of.params[part.param]) }});{% else %}to.literal({{ part.literal | literal("rust") }});{% endif %}

    {% endfor %}
    }
{% endmacro %}
{% macro make(path, params) %}
    #[inline]
    fn make(from: &mut Source<'_>) -> Option<Self> {
        {% if params %}
        let ({% for param in params %}Some({{ snake(param) }}), {% endfor %}) = ({% for param in params %}from.param({{ loop.index0 }}), {% endfor %}) else { return None };
        Some({{ path }} { {% for param in params %}{{ snake(param) }}, {% endfor %}})
        {% else %}
        Some({{ path }})
        {% endif %}
    }
{% endmacro %}
{% macro duration(ms) %}Duration::from_millis({{ ms }}){% endmacro %}
{% macro ttl_of(ttl) %}
{% if ttl is none %}Ttl::Undeclared{% elif ttl.kind == "none" %}Ttl::None
{%- elif ttl.kind == "fixed" %}Ttl::Fixed({{ duration(ttl.max_ms) }})
{%- elif ttl.kind == "range" %}Ttl::Range { min: {{ duration(ttl.min_ms) }}, max: {{ duration(ttl.max_ms) }} }
{%- elif ttl.kind == "by" %}Ttl::By { param: {{ ttl.by.id | literal("rust") }}, words: &[
{%- for word in ttl.words %}({{ word[0] | literal("rust") }}, {{ duration(word[1]) }}), {% endfor %}] }
{%- else %}Ttl::Caller { max: {% if ttl.max_ms is none %}None{% else %}Some({{ duration(ttl.max_ms) }}){% endif %} }{% endif %}
{% endmacro %}
{% macro json_type(value) %}
{% if value.kind == "int" %}i64{% elif value.kind in ["uint", "unix", "unix_ms"] %}u64
{%- elif value.kind == "float" %}f64{% elif value.kind == "bool" %}bool
{%- elif value.kind == "json" and value.items %}::std::vec::Vec<{{ json_type(value.items) }}>
{%- elif value.kind == "json" and value.json_type and rust_values %}{{ rust_values }}::{{ value.json_type | ident("rust") }}
{%- elif value.kind == "json" %}::keyward::generated::JsonValue
{%- else %}::std::string::String{% endif %}
{% endmacro %}
{% macro field_type(key, field, up) %}
{% set value = field.value %}
{% if value.kind == "int" %}i64{% elif value.kind == "uint" %}u64{% elif value.kind == "float" %}f64
{%- elif value.kind == "bool" %}bool{% elif value.kind == "uuid" %}::keyward::Uuid
{%- elif value.kind == "timestamp" %}::keyward::Timestamp{% elif value.kind == "date" %}::keyward::Date
{%- elif value.kind == "unix" %}::keyward::Unix{% elif value.kind == "unix_ms" %}::keyward::UnixMs
{%- elif value.kind == "bytes" or value.zstd %}::std::vec::Vec<u8>
{%- elif value.kind == "json" %}{{ json_type(value) }}
{%- elif value.kind == "enum" or (value.kind == "key" and value.keys | length > 1) %}{{ key.name.snake | ident("rust") }}::{{ pascal(field) }}
{%- elif value.kind == "key" and value.keys | length == 1 %}super::keys::{{ pascal(keys[value.keys[0]]) }}
{%- elif value.kind == "ref" and value.of %}{{ param_type(value.of, "super::") }}
{%- else %}::std::string::String{% endif %}
{% endmacro %}
{% macro as_json(value) %}{% if value.kind == "json" and not value.zstd %}_json{% endif %}{% endmacro %}
{% macro app_types(key) %}{% for field in key.fields %}{% if field.value.kind == "json" and not field.value.zstd and field.value.json_type and rust_values %}x{% endif %}{% endfor %}{% endmacro %}
{% macro binding(event, key, at, from) %}
{% set type = keys[key].params[at].type %}
{% if from.word %}{% if type.kind == "enum" %}values::{{ pascal(type) }}::{{ from.word.name.pascal | ident("rust") }}{% else %}generated::word::<keys::{{ pascal(keys[key]) }}, {{ param_type(type, "") }}>({{ from.word.text | literal("rust") }}, {{ at }})?{% endif %}
{%- elif from.same_type %}self.{{ snake(event.params[from.param]) }}.clone()
{%- else %}generated::converted::<keys::{{ pascal(keys[key]) }}, {{ param_type(type, "") }}>(&self.{{ snake(event.params[from.param]) }}, {{ at }})?{% endif %}
{% endmacro %}
{% macro bound_key(event, it) %}
keys::{{ pascal(keys[it.key]) }}{% if keys[it.key].params %} { {% for param in keys[it.key].params %}{{ snake(param) }}: {{ binding(event, it.key, loop.index0, it.bindings[loop.index0]) | trim }}, {% endfor %}}{% endif %}
{% endmacro %}
{% macro bound_glob(event, it) %}
keys::{{ pascal(keys[it.key]) }}::glob({{ "" if fixed else "prefix, " }}{% for from in it.bindings %}{% if from.free %}None{% else %}Some({{ binding(event, it.key, loop.index0, from) | trim }}){% endif %}, {% endfor %})
{% endmacro %}
{# Not empty if one of the keys may turn out not to exist. #}
{% macro all_simple(event, invalidates) %}
{% for it in invalidates %}{% if it.exact and keys[it.key].shadowed %}x{% endif %}
{%- for from in it.bindings %}{% if not from.free and not from.same_type and not (from.word and keys[it.key].params[loop.index0].type.kind == "enum") %}x{% endif %}{% endfor %}{% endfor %}
{% endmacro %}
{% macro call(event, it) %}
{{ keys[it.key].name.id }}{% if it.bindings %}({% for param in keys[it.key].params %}{% set from = it.bindings[loop.index0] %}{% if not loop.first %}, {% endif %}{{ param.name.id }} = {% if from.free %}*{% elif from.word %}{{ from.word.text }}{% else %}{{ event.params[from.param].name.id }}{% endif %}{% endfor %}){% endif %}
{% endmacro %}
{% set hold = "" if fixed else "prefix: &Prefix" %}
{% set hold_first = "" if fixed else "prefix: &Prefix, " %}
{% set hold_next = "" if fixed else ", prefix: &Prefix" %}
{% set the_prefix = "&Prefix" if fixed else "prefix" %}
{% set members = ["key", "glob", "new"] %}

{% if doc %}
//! {{ docs(doc) }}
{% else %}
//! The keyspace {{ code(name.id) }}.
{% endif %}
//!
//! - [`keys`]: a type for each definition; [`Key`] is any of them
//! - [`values`]: the types of parameters that are the schema's own
//! - [`fields`]: what hashes hold
//! - [`events`]: what happens, and which keys it makes invalid
//! - [`ttl`], [`globs`]: constants
#![allow(
    unknown_lints,
    dead_code,
    nonstandard_style,
    rustdoc::bare_urls,
    unreachable_pub,
    unused_imports,
    unused_variables,
    clippy::clone_on_copy,
    clippy::doc_markdown,
    clippy::duration_suboptimal_units,
    clippy::enum_variant_names,
    clippy::large_enum_variant,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::module_name_repetitions,
    clippy::must_use_candidate,
    clippy::needless_pass_by_value,
    clippy::result_large_err,
    clippy::similar_names,
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    clippy::too_long_first_doc_paragraph,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::trivially_copy_pass_by_ref,
    clippy::unreadable_literal,
    clippy::upper_case_acronyms,
    clippy::vec_init_then_push,
    clippy::wildcard_imports
)]

use ::keyward::generated::{self, Entry, Hash, Language, Pairs, Param, Part, Source, Tables, Visitor};
use ::keyward::{BuildError, Definition, Lifecycle, Reserved, Ttl};
use ::std::fmt;
use ::std::sync::LazyLock;
use ::std::time::Duration;

/// Keys, one type for each definition.
pub mod keys {
{% for key in keys %}
    {% if key.doc %}
    /// {{ docs(key.doc) }}
    ///
    {% endif %}
    /// - pattern: {{ code(key.pattern) }}
    /// - TTL: {{ code(key.ttl.text) if key.ttl else "not declared" }}, lifecycle: {{ key.lifecycle }}
    {%- if key.type %}, type: {{ key.type | comment("rust") }}{% endif %}
    {%- if key.role %}, role: {{ key.role }}{% endif %}

    {% if key.owner or key.group %}
    /// - {% if key.owner %}owner: {{ docs(key.owner) }}{% endif %}{% if key.owner and key.group %}, {% endif %}{% if key.group %}group: {{ docs(key.group) }}{% endif %}

    {% endif %}
    {% for example in key.examples %}
    /// - example: {{ code(example) }}
    {% endfor %}
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub struct {{ pascal(key) }}{% if key.params %} {
        {% for param in key.params %}
        /// {{ param_doc(param) | trim }}
        pub{% if key.shadowed %}(super){% endif %} {{ snake(param) }}: {{ param_type(param.type, "super::") | trim }},
        {% endfor %}
    }{% else %};{% endif %}


{% endfor %}
}

/// The types of parameters that are the schema's own.
pub mod values {
{% for type in types if not (type.kind == "key" and type.keys | length == 1) %}
    /// {% if type.doc %}{{ docs(type.doc) }}{% elif type.kind == "text" %}A text for the parameter {{ code(type.name.id) }}{% elif type.kind == "enum" %}A word for the parameter {{ code(type.name.id) }}{% else %}A key for the parameter {{ code(type.name.id) }}{% endif %}

    {% if type.kind != "key" %}
    ///
    /// {{ code(type.description) }}
    {%- if type.lower %}; put into lower case{% endif %}

    {% endif %}
    {% if type.kind == "text" %}
    #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct {{ pascal(type) }}(pub(super) ::std::string::String);
    {% elif type.kind == "enum" %}
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum {{ pascal(type) }} {
        {% for word in type.words %}
        /// {{ code(word.text) }}
        {{ pascal(word) }},
        {% endfor %}
    }
    {% else %}
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub enum {{ pascal(type) }} {
        {% for at in type.keys %}
        /// A key of {{ code(keys[at].name.id) }}
        {{ pascal(keys[at]) }}(super::keys::{{ pascal(keys[at]) }}),
        {% endfor %}
    }
    {% endif %}

{% endfor %}
}

/// What hashes hold, one type for each definition with fields.
pub mod fields {
{% for key in keys if key.fields %}
    /// The fields of [`keys::{{ pascal(key) }}`](super::keys::{{ pascal(key) }})
    #[derive(Debug, Clone{% if not app_types(key) %}, PartialEq{% endif %})]
    pub struct {{ pascal(key) }} {
        {% for field in key.fields %}
        /// {% if field.doc %}{{ docs(field.doc) }}{% else %}The field {{ code(field.name.id) }}{% endif %}

        pub {{ snake(field) }}: {% if field.optional %}::std::option::Option<{{ field_type(key, field) | trim }}>{% else %}{{ field_type(key, field) | trim }}{% endif %},
        {% endfor %}
        {% if key.open %}
        /// Fields that the schema does not name
        pub {{ "others_" if "others" in key.fields | map(attribute="name.snake") else "others" }}: ::std::vec::Vec<(::std::vec::Vec<u8>, ::std::vec::Vec<u8>)>,
        {% endif %}
    }

    {% set own = key.fields | selectattr("value.kind", "in", ["enum", "key"]) | list %}
    {% if own %}
    /// What single fields of [`{{ pascal(key) }}`] hold
    pub mod {{ key.name.snake | ident("rust") }} {
    {% for field in own %}
    {% if field.value.kind == "enum" %}
        /// A word of the field {{ code(field.name.id) }}
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum {{ pascal(field) }} {
            {% for word in field.value.words %}
            /// {{ code(word.text) }}
            {{ pascal(word) }},
            {% endfor %}
        }
    {% elif field.value.keys | length > 1 %}
        /// A key of the field {{ code(field.name.id) }}
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum {{ pascal(field) }} {
            {% for at in field.value.keys %}
            /// A key of {{ code(keys[at].name.id) }}
            {{ pascal(keys[at]) }}(super::super::keys::{{ pascal(keys[at]) }}),
            {% endfor %}
        }
    {% endif %}
    {% endfor %}
    }
    {% endif %}

{% endfor %}
}

/// What happens in the application, and which keys it makes invalid.
pub mod events {
{% for event in events %}
    {% if event.doc %}
    /// {{ docs(event.doc) }}
    ///
    {% endif %}
    /// Invalidates {% for it in event.invalidates %}{{ code(call(event, it) | trim) }}{% if not loop.last %}, {% endif %}{% else %}nothing{% endfor %}

    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub struct {{ pascal(event) }}{% if event.params %} {
        {% for param in event.params %}
        /// {{ param_doc(param) | trim }}
        pub {{ snake(param) }}: {{ param_type(param.type, "super::") | trim }},
        {% endfor %}
    }{% else %};{% endif %}


{% endfor %}
}

/// How long keys live, by the names of their definitions.
pub mod ttl {
    use ::keyward::Ttl;
    use ::std::time::Duration;

{% for key in keys %}
    /// {{ code(key.name.id) }}: {{ code(key.ttl.text) if key.ttl else "not declared" }}
    pub const {{ key.name.screaming }}: Ttl = {{ ttl_of(key.ttl) | trim }};
{% endfor %}
}

/// Globs for `SCAN MATCH` that find the keys of a group, a lifecycle or an owner.
pub mod globs {
{% for (title, selections) in [("groups", groups), ("lifecycles", lifecycles), ("owners", owners)] if selections %}

    /// What finds the keys of all {{ title }}
    pub mod {{ title }} {
    {% for selection in selections %}
        /// {% if selection.doc %}{{ docs(selection.doc) }}{% else %}{{ code(selection.name.id) }}{% endif %}

        pub const {{ selection.name.screaming }}: &[&str] = &[{% for glob in selection.globs %}{{ glob | literal("rust") }}, {% endfor %}];
    {% endfor %}
    }
{% endfor %}
}

/// Any key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
{% for key in keys %}
    /// {{ code(key.pattern) }}
    {{ pascal(key) }}(keys::{{ pascal(key) }}),
{% endfor %}
}
{% if events %}

/// Any event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
{% for event in events %}
    /// {% if event.doc %}{{ docs(event.doc) }}{% else %}{{ code(event.name.id) }}{% endif %}

    {{ pascal(event) }}(events::{{ pascal(event) }}),
{% endfor %}
}
{% endif %}

/// What every key begins with: {{ code(prefix.pattern) if prefix.pattern else "nothing" }}
#[derive(Debug, Clone{{ ", Copy, Default" if fixed else "" }}, PartialEq, Eq, Hash)]
pub struct Prefix{% if fixed %};{% else %} {
{% for param in prefix.params %}
    /// {{ param_doc(param) | trim }}
    pub {{ snake(param) }}: {{ param_type(param.type, "") | trim }},
{% endfor %}
}{% endif %}


/// A key of the definition of this name, from the texts of its parameters: for tools. Applications
/// have [`keys`].
#[inline]
pub fn build(definition: &str, values: &[(&str, &str)]) -> Result<Key, BuildError> {
    generated::build(definition, values)
}

/// The glob of the definition of this name, with the given parameters bound: for tools. Applications
/// have `glob()` of each key.
#[inline]
pub fn glob({{ hold_first }}definition: &str, values: &[(&str, &str)]) -> Result<String, BuildError> {
    generated::glob_named::<Key>({{ the_prefix }}, definition, values)
}
{% if events %}

/// The event of this name, from the texts of its parameters: for tools. Applications have [`events`].
#[inline]
pub fn event(event: &str, values: &[(&str, &str)]) -> Result<Event, BuildError> {
    Ok(match event {
    {% for event in events %}
        {{ event.name.id | literal("rust") }} => generated::event::<events::{{ pascal(event) }}>(values)?.into(),
    {% endfor %}
        _ => return Err(BuildError::NoDefinition(event.to_owned())),
    })
}
{% endif %}

{% if not fixed %}
/// The prefix from the texts of its parameters: for tools.
#[inline]
pub fn prefix(values: &[(&str, &str)]) -> Result<Prefix, BuildError> {
    generated::prefix::<Key>(values)
}
{% endif %}

impl ::keyward::Prefix for Prefix {
    const PARAMS: &'static [Param] = &[{% for param in prefix.params %}{{ param_static(param) }}, {% endfor %}];

{{ visit(prefix) }}
{{ make("Prefix", prefix.params) }}
}

{% if fixed %}
impl ::keyward::Fixed for Prefix {}

{% endif %}
impl fmt::Display for Prefix {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        ::keyward::Prefix::write(self, &mut text);
        f.pad(&text)
    }
}

{% for key in keys %}
{% set path = "keys::" ~ pascal(key) %}
impl {{ path }} {
    {% if key.shadowed %}
    /// The key, unless it belongs to a more specific definition.
    pub fn new({% for param in key.params %}{{ snake(param) }}: {{ param_type(param.type, "") | trim }}, {% endfor %}) -> Result<Self, Reserved> {
        generated::unreserved({{ path }} { {% for param in key.params %}{{ snake(param) }}, {% endfor %}})
    }

    {% for param in key.params %}
    /// {{ param_doc(param) | trim }}
    pub fn {{ snake(param) }}{% if param.name.snake in members %}_{% endif %}(&self) -> &{{ param_type(param.type, "") | trim }} {
        &self.{{ snake(param) }}
    }

    {% endfor %}
    {% endif %}
    /// The key. One allocation.
    #[inline]
    pub fn key(&self{{ hold_next }}) -> String {
        ::keyward::Key::key_behind(self, {{ the_prefix }})
    }

    /// A glob that finds the keys with these values; `None` is any value.
    #[inline]
    {% set held = "prefix_" if "prefix" in key.params | map(attribute="name.snake") else "prefix" %}
    pub fn glob({% if not fixed %}{{ held }}: &Prefix, {% endif %}{% for param in key.params %}{{ snake(param) }}: Option<{{ param_type(param.type, "") | trim }}>, {% endfor %}) -> String {
        generated::glob::<Self>({{ "&Prefix" if fixed else held }}, &[{% for param in key.params %}generated::bound({{ snake(param) }}), {% endfor %}])
    }
}

impl ::keyward::Key for {{ path }} {
    type Keyspace = Key;

    const DEFINITION: &'static Definition = &Definition::new(
        {{ key.number }},
        [{{ key.name.id | literal("rust") }}, {{ key.pattern | literal("rust") }}, {{ key.glob | literal("rust") }}],
        &[{% for param in key.params %}{{ param_static(param) }}, {% endfor %}],
        &[{% for part in key.parts %}{% if part.literal is none %}Part::Param({{ part.param }}){% else %}Part::Literal({{ part.glob | literal("rust") }}){% endif %}, {% endfor %}],
        {{ "true" if key.shadowed else "false" }},
    )
    .with({% if key.type %}Some({{ key.type | literal("rust") }}){% else %}None{% endif %}, Lifecycle::{{ key.lifecycle | capitalize }}, ttl::{{ key.name.screaming }});

{{ visit(key) }}
{{ make(path, key.params) }}
}

{% if fixed %}
impl fmt::Display for {{ path }} {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        generated::show(self, f)
    }
}

{% endif %}
impl From<{{ path }}> for Key {
    #[inline]
    fn from(key: {{ path }}) -> Self {
        Key::{{ pascal(key) }}(key)
    }
}

{% endfor %}
impl Key {
    #[inline]
    fn any(&self) -> &dyn generated::AnyKey {
        match self {
        {% for key in keys %}
            Key::{{ pascal(key) }}(key) => key,
        {% endfor %}
        }
    }

    /// Reads a key; `None` if it is nobody's.
    #[inline]
    pub fn parse(key: impl AsRef<[u8]>) -> Option<{{ "Self" if fixed else "(Prefix, Self)" }}> {
        generated::parse(key.as_ref()){{ ".map(|(_, key)| key)" if fixed else "" }}
    }

    /// What the schema says about it.
    #[inline]
    pub fn definition(&self) -> &'static Definition {
        self.any().definition()
    }

    /// The values of its parameters as text, in the order of [`Definition::params`].
    #[inline]
    pub fn values(&self) -> Vec<String> {
        self.any().values()
    }

    /// The key. One allocation.
    #[inline]
    pub fn key(&self{{ hold_next }}) -> String {
        let mut key = String::new();
        ::keyward::Keyspace::write_behind(self, {{ the_prefix }}, &mut key);
        key
    }

    /// Appends the key.
    #[inline]
    pub fn write_key(&self{{ hold_next }}, out: &mut String) {
        ::keyward::Keyspace::write_behind(self, {{ the_prefix }}, out);
    }

    /// The key's Redis Cluster slot.
    #[inline]
    pub fn slot(&self{{ hold_next }}) -> u16 {
        ::keyward::slot(self.key({{ "" if fixed else "prefix" }}).as_bytes())
    }
}

impl ::keyward::Keyspace for Key {
    type Prefix = Prefix;

    const KEYS: &'static [Entry<Self>] = &[
    {% for key in keys %}
        Entry::of::<keys::{{ pascal(key) }}>(),
    {% endfor %}
    ];

    #[inline]
    fn definition(&self) -> &'static Definition {
        self.any().definition()
    }

    #[inline]
    fn write_behind(&self, prefix: &Prefix, out: &mut String) {
        let key = self.any();
        out.reserve(::keyward::Prefix::len(prefix) + key.bare_len());
        ::keyward::Prefix::write(prefix, out);
        key.write_bare(out);
    }

    fn tables() -> &'static Tables {
        static TABLES: LazyLock<Tables> = LazyLock::new(|| generated::tables(BLOCK));
        &TABLES
    }
}

{% if fixed %}
impl fmt::Display for Key {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.key())
    }
}

{% endif %}
{% for type in types %}
{% if type.kind == "text" %}
::keyward::__text_value!(values::{{ pascal(type) }}, Key, const { &Param::new({{ type.name.id | literal("rust") }}, {{ type.description | literal("rust") }}, {{ language(type) }}) }, {{ type.language }}, {{ "true" if type.encoded else "false" }});
{% elif type.kind == "enum" %}
::keyward::__word_value!(values::{{ pascal(type) }}, Key, const { &Param::new({{ type.name.id | literal("rust") }}, {{ type.description | literal("rust") }}, {{ language(type) }}) }, {
    {% for word in type.words %}
    {{ pascal(word) }} = {{ word.text | literal("rust") }} as {{ word.spelling | literal("rust") }},
    {% endfor %}
});
{% elif type.keys | length > 1 %}
::keyward::__key_value!(values::{{ pascal(type) }}, Key, { {% for at in type.keys %}{{ pascal(keys[at]) }}(keys::{{ pascal(keys[at]) }}), {% endfor %}});
{% endif %}
{% endfor %}
{% for key in keys if key.fields %}
{% set path = "fields::" ~ pascal(key) %}
{% set others = "others_" if "others" in key.fields | map(attribute="name.snake") else "others" %}

impl ::keyward::Fields for {{ path }} {
    const DEFINITION: &'static str = {{ key.name.id | literal("rust") }};

    const FIELDS: &'static [&'static str] = &[{% for field in key.fields %}{{ field.name.id | literal("rust") }}, {% endfor %}];

    const OPEN: bool = {{ "true" if key.open else "false" }};

    #[inline]
    fn read(hash: &mut Hash) -> Option<Self> {
        {% if key.open %}
        let {{ others }} = hash.others();
        {% endif %}
        let ({% for field in key.fields %}Some({{ snake(field) }}), {% endfor %}) = (
            {% for field in key.fields %}
            hash.{{ "optional" if field.optional else "required" }}{{ as_json(field.value) }}({{ loop.index0 }}),
            {% endfor %}
        ) else { return None };
        Some({{ path }} { {% for field in key.fields %}{{ snake(field) }}, {% endfor %}{{ others if key.open else "" }} })
    }

    #[inline]
    fn write(&self, hash: &mut Pairs) {
        {% for field in key.fields %}
        hash.{{ "optional" if field.optional else "required" }}{{ as_json(field.value) }}({{ field.name.id | literal("rust") }}, &self.{{ snake(field) }});
        {% endfor %}
        {% if key.open %}
        hash.others(&self.{{ others }});
        {% endif %}
    }
}

{% for field in key.fields %}
{% set path = "fields::" ~ (key.name.snake | ident("rust")) ~ "::" ~ pascal(field) %}
{% if field.value.kind == "enum" %}
::keyward::__word_value!({{ path }}, Key, const { &Param::new({{ field.name.id | literal("rust") }}, "enum", Language::Own) }, {
    {% for word in field.value.words %}
    {{ pascal(word) }} = {{ word.text | literal("rust") }} as {{ word.text | literal("rust") }},
    {% endfor %}
});
{% elif field.value.kind == "key" and field.value.keys | length > 1 %}
::keyward::__key_value!({{ path }}, Key, { {% for at in field.value.keys %}{{ pascal(keys[at]) }}(keys::{{ pascal(keys[at]) }}), {% endfor %}});
{% endif %}
{% endfor %}
{% endfor %}
{% for event in events %}
{% set path = "events::" ~ pascal(event) %}
{% set exact = event.invalidates | selectattr("exact") | list %}
{% set free = event.invalidates | rejectattr("exact") | list %}

impl {{ path }} {
    /// Its name in the schema
    pub const NAME: &'static str = {{ event.name.id | literal("rust") }};

    /// The keys that are known in full.
    #[inline]
    pub fn keys(&self) -> Vec<Key> {
        {% if all_simple(event, exact) | trim == "" %}
        Vec::from([{% for it in exact %}Key::{{ pascal(keys[it.key]) }}({{ bound_key(event, it) | trim }}), {% endfor %}])
        {% else %}
        let keys = [
            {% for it in exact %}
            {% set key = keys[it.key] %}
            generated::attempt(|| {% if key.shadowed %}generated::unreserved({{ bound_key(event, it) | trim }}).ok().map(Key::{{ pascal(key) }}){% else %}Some(Key::{{ pascal(key) }}({{ bound_key(event, it) | trim }})){% endif %}),
            {% endfor %}
        ];
        keys.into_iter().flatten().collect()
        {% endif %}
    }

    /// Globs that find the others.
    #[inline]
    pub fn globs(&self{{ hold_next }}) -> Vec<String> {
        {% if all_simple(event, free) | trim == "" %}
        Vec::from([{% for it in free %}{{ bound_glob(event, it) | trim }}, {% endfor %}])
        {% else %}
        let globs = [{% for it in free %}generated::attempt(|| Some({{ bound_glob(event, it) | trim }})), {% endfor %}];
        globs.into_iter().flatten().collect()
        {% endif %}
    }
}

impl ::keyward::Event for {{ path }} {
    type Keyspace = Key;

    const NAME: &'static str = Self::NAME;

    const PARAMS: &'static [Param] = &[{% for param in event.params %}{{ param_static(param) }}, {% endfor %}];

    #[inline]
    fn keys(&self) -> Vec<Key> {
        self.keys()
    }

    #[inline]
    fn globs_behind(&self, prefix: &Prefix) -> Vec<String> {
        self.globs({{ "" if fixed else "prefix" }})
    }

{{ make(path, event.params) }}
}

impl From<{{ path }}> for Event {
    #[inline]
    fn from(event: {{ path }}) -> Self {
        Event::{{ pascal(event) }}(event)
    }
}
{% endfor %}
{% if events %}

impl Event {
    #[inline]
    fn any(&self) -> &dyn generated::AnyEvent<Key> {
        match self {
        {% for event in events %}
            Event::{{ pascal(event) }}(event) => event,
        {% endfor %}
        }
    }

    /// Its name in the schema.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.any().name()
    }

    /// The keys that are known in full.
    #[inline]
    pub fn keys(&self) -> Vec<Key> {
        self.any().keys()
    }

    /// Globs that find the others.
    #[inline]
    pub fn globs(&self{{ hold_next }}) -> Vec<String> {
        self.any().globs_behind({{ the_prefix }})
    }
}
{% endif %}

/// What keys are read by.
const BLOCK: &[&str] = &[
{% for line in block | chunks(96) %}
    "{{ line }}",
{% endfor %}
];
