//! Schemas whose texts try to get out of their comments and quotes, and whose names are keywords.

use keyward_codegen::model::Module;
use keyward_schema::read;

/// How many definitions it has: enough that Java's limits on methods and strings matter.
const DEFINITIONS: usize = 300;

const DOCS: &[&str] = &[
    "*/ } class Escaped { /*",
    "\\u002a/ } class Escaped { /\\u002a",
    "\\",
    "\"\"\" ''' ` ${x} {{ x }} {% x %} {# x",
    "# Heading",
    "  indented\n\n\tcode\n",
    " - a list\n - of things\n\n1. and\n2. numbers",
    "[link]: https://example.org",
    "Deprecated: not at all.",
    "go:build ignore\n//go:build ignore\n+build ignore",
    "``quoted'' and 'quoted'",
    "{@link Missing} @param x @deprecated <script>&amp;</script>",
    "\r\u{85}\u{2028}\u{2029}\u{7}\u{202e}txet",
    "中文、日本語 🗝",
    "see https://example.org/a?b=c&d=e.",
    "",
];

/// The schema's model.
pub(crate) fn module() -> Module {
    let mut text = "version = 1\n[keyspace]\nname = \"large\"\nprefix = \"l:\"\n".to_owned();
    text += "doc = \"*/ \\\\u002a/ # large\"\n";
    for number in 0..DEFINITIONS {
        let doc = toml_string(DOCS[number % DOCS.len()]);
        text += &format!(
            "[keys.definition_{number}]\ndoc = {doc}\ngroup = \"group_{number}\"\n\
             pattern = \"d{number}:{{user_id}}:{{word}}\"\nttl = \"{}s\"\n\
             params = {{ user_id = {{ type = \"uint\", doc = {doc} }}, \
             word = {{ type = \"encoded\", doc = {doc} }} }}\n\
             fields = {{ name = {{ type = \"text\", doc = {doc} }}, size = \"uint?\" }}\n\
             [groups.group_{number}]\ndoc = {doc}\n[events.event_{number}]\ndoc = {doc}\nparams = {{ user_id = {{ type = \"uint\", doc = {doc} }} }}\n\
             invalidates = [\"definition_{number}(word = *)\"]\n",
            number + 1,
        );
    }
    let schema = read(&text).schema;
    Module::new(&schema.unwrap_or_else(|errors| panic!("{errors:?}"))).unwrap()
}

fn toml_string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Keywords of the five languages, and names that generated code or the languages use themselves.
const NAMES: &str = "
    abstract and append any arguments as assert async await become bool boolean box break byte bytes
    cap case catch chan char class class_ clone cls const constructor continue crate date debug
    debugger def default defer definition definitions del delete dict display do double dyn elif else
    engine enum equals err error eval event events except export extends extern fallthrough false
    final finalize finally float fn for from func function gen get get_class glob globs global
    go goto hash hash_code if impl implements import in init instanceof int interface iota is key keys
    lambda language len let list long loop macro main make map match mod move mut name native never
    new nil none nonlocal not notify null number object of ok option or override package params
    parse pass permits prefix prefixes priv private protected prototype pub public raise range read
    record ref reserved result return sealed select self self_ set short slot some static store
    str strictfp string struct super switch symbol synchronized tables then this throw throws to_string
    trait transient true try ttl type typeof undefined union unknown unsafe unsized use uuid
    value value_of values var vec virtual void volatile wait where while with yield build build_key
    announce announcement former formers former_key key_names names parse_former phase recase
";

/// Schemas whose definitions, parameters, fields, groups, owners and events have these names; the
/// prefix of the second is to be bound.
pub(crate) fn named() -> [Module; 2] {
    [("names", "n:"), ("bound-names", "{type:slug}:{class:slug}:")].map(|(name, prefix)| {
        let mut text = format!(
            "version = 1\n[keyspace]\nname = \"{name}\"\nprefix = \"{prefix}\"\ncase = \"any\"\n"
        );
        let mut renames = String::new();
        for (number, id) in NAMES.split_ascii_whitespace().enumerate() {
            let param = if prefix.contains(&format!("{{{id}:")) { "x" } else { id };
            let ty = ["[\"class\", \"none\", \"self\"]", "\"uint\"", "{ regex = \"[a-z]+\" }"];
            let ty = ty[number % ty.len()];
            let kind = match number % 4 {
                0 => "value = \"text\"".to_owned(),
                1 => format!("fields = {{ {id} = \"text\", None = \"uint?\", Self = \"bool\" }}"),
                2 => "value = [\"class\", \"none\"]".to_owned(),
                _ => "counter = {}".to_owned(),
            };
            text += &format!(
                "[keys.{id}]\npattern = \"d{number}:{{{param}}}\"\nparams = {{ {param} = {ty} }}\n\
                 {kind}\nttl = \"1h\"\ngroup = \"{id}\"\nowner = \"{id}\"\n[groups.{id}]\n[owners.{id}]\n\
                 [events.{id}]\nparams = {{ {param} = {ty} }}\ninvalidates = [\"{id}\"]\n",
            );
            let old = format!("O'$*/ \\u002a \" `{number}:{prefix}{{{param}}}");
            renames += &format!("{id} = {}\n", toml_string(&old.replace(":slug", "")));
        }
        text += &format!("[migrations.class]\nphase = \"dual-write\"\n[migrations.class.renames]\n{renames}");
        let schema = read(&text).schema;
        Module::new(&schema.unwrap_or_else(|errors| panic!("{errors:?}"))).unwrap()
    })
}
