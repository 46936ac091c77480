//! The JSON Schema, held against a real validator.

mod support;

use keyward_schema::{json_schema, read};
use serde_json::{Value, json};
use std::fs;

fn as_json(value: toml_1_0::Value) -> Value {
    match value {
        toml_1_0::Value::String(text) => json!(text),
        toml_1_0::Value::Integer(number) => json!(number),
        toml_1_0::Value::Float(number) => json!(number),
        toml_1_0::Value::Boolean(value) => json!(value),
        toml_1_0::Value::Datetime(when) => json!(when.to_string()),
        toml_1_0::Value::Array(items) => items.into_iter().map(as_json).collect(),
        toml_1_0::Value::Table(table) => {
            table.into_iter().map(|(key, value)| (key, as_json(value))).collect()
        }
    }
}

fn document(text: &str) -> Value {
    as_json(toml_1_0::Value::Table(toml_1_0::from_str(text).unwrap()))
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft7::meta::validate(&json_schema()).unwrap();
    jsonschema::validator_for(&json_schema()).unwrap()
}

#[test]
fn the_schemas_of_this_repository_are_accepted() {
    let validator = validator();
    for (name, text) in support::schemas() {
        let errors: Vec<String> = validator
            .iter_errors(&document(&text))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
}

/// Schemas that use every table and most forms.
const GOOD: &[&str] = &[
    "include = ['a.toml']\n[keys.a]\npattern = 'a'\n",
    "[params]\na = 'digits(3)'\nb = ['x']\nc = { regex = 'x' }\nd = { any = ['uuid', { regex = 'x' }, ['y']] }\ne = { key = 'k' }\nf = { key = ['k', 'l'] }\ng = { type = 'text', normalize = 'lower', encode = { '/' = '_' }, pii = false, doc = 'd' }\nuserId = 'uuid'\n",
    "[keys.a]\npattern = 'a'\ntype = { module = 'ReJSON-RL' }\nttl = { caller = true, max = '1h' }\n",
    "[keys.a]\npattern = 'a:{w}'\nparams = { w = ['a'] }\nttl = { by = 'w', values = { a = '1h' } }\nvalue = { json = ['text'], compress = 'zstd' }\n",
    "[keys.a]\npattern = 'a'\nfields = { a = 'text?', b = ['x'], c = { type = 'int', ttl = '1h' }, d = { ref = 'a.b' }, e = { key = 'a' } }\nopen = true\n",
    "[keys.a]\npattern = 'a'\nmember = 'text'\nscore = 'float'\nmax_bytes = 100\njitter = '10%'\nranking = {}\n",
    "[keys.a]\npattern = 'a'\nopen = 'int'\nttl = '1h'\nstale_if_error = '1h'\nstale_if_slow = '200ms'\n[events.a]\nrefreshes = ['a']\n",
    "[keys.a]\npattern = 'a'\nranking = { ties = 'last' }\nscore = 'int'\n[keys.b]\npattern = 'b'\nflag = { override = 'c', default = true }\n[keys.c]\npattern = 'c'\nflag = {}\n",
    "[keys.a]\npattern = 'a'\nrate_limit = { limit = 'caller', window = '1m', algorithm = 'gcra', on_outage = 'closed' }\n",
    "[events.a]\nparams = { id = 'uuid' }\ninvalidates = ['b', 'c(*)', \"d(x = 'y')\"]\n[groups.g]\n[owners.team-a]\ncontact = 'x'\n[foreign.bull]\nglob = 'bull:*'\n",
    "[migrations.v2]\nphase = 'cleanup'\nstarted = 2026-01-02\n[migrations.v2.renames]\na = 'old:{id}'\nb = ['x', 'y']\n",
    "[text.heading]\ndoc = 'd'\nabbreviations = { VaR = 'value at risk' }\nnumbers = 'de'\nmax_len = 30\nshorten = 'vowels'\nidempotent = true\nexamples = [['Größe', 'groesse']]\n[text.content]\nextends = 'heading'\nsymbols = { '&' = 'and' }\nstop_words = ['für']\nwords = 4\n[params]\na = { regex = '[a-z][a-z0-9_]{1,29}', from = 'content' }\n",
    "version = 1\n[keyspace]\nname = 'a'\n[layout]\nshape = '<a>:<b>'\na = ['x']\nreserved = ['all']\n[layout.b]\nby = 'a'\nx = ['y']\n[server]\nmaxmemory = '2gb'\nsave = ['900 1']\nappendonly = 'yes'\ntcp-keepalive = 300\n[alerts]\nmemory = '80%'\n[rules]\nset = 'strict'\nmissing-owner = 'error'\nstale-cache = { max = '1h' }\n",
];

/// Schemas that the reader refuses and an editor must mark too.
const BAD: &[&str] = &[
    "version = 2\n[keyspace]\nname = 'a'\n",
    "[keyspace]\nname = 'a'\n",
    "version = 1\n[keyspace]\n",
    "version = 1\n[keyspace]\nname = 'a'\nseparator = 'ab'\n",
    "version = 1\n[keyspace]\nname = 'a'\ncase = 'upper'\n",
    "version = 1\nnaem = 1\n[keyspace]\nname = 'a'\n",
    "version = 1\n[keyspace]\nname = 'a'\n[server]\nmaxmemory-polcy = 'noeviction'\n",
    "version = 1\n[keyspace]\nname = 'a'\n[server]\nmaxmemory-policy = 'lru'\n",
    "version = 1\n[keyspace]\nname = 'a'\n[alerts]\nmemory = 80\n",
    "version = 1\n[keyspace]\nname = 'a'\n[rules]\nmissing-owner = 'loud'\n",
    "[params]\na = 'uid'\n",
    "[params]\na = { type = 'uuid', regex = 'x' }\n",
    "[params]\na = []\n",
    "[params]\na = { encode = { ab = 'c' } }\n",
    "[params]\na-b = 'uuid'\n",
    "[keys.a]\n",
    "[keys.A]\npattern = 'a'\n",
    "[keys.a]\npatern = 'a'\n",
    "[keys.a]\npattern = 'a'\nttl = 60\n",
    "[keys.a]\npattern = 'a'\nttl = '60'\n",
    "[keys.a]\npattern = 'a'\nttl = { max = '1h' }\n",
    "[keys.a]\npattern = 'a'\ntype = 'table'\n",
    "[keys.a]\npattern = 'a'\nvalue = 'string'\n",
    "[keys.a]\npattern = 'a'\nvalue = { json = 'T', ref = 'a.b' }\n",
    "[keys.a]\npattern = 'a'\nvalue = { compress = 'zstd' }\n",
    "[keys.a]\npattern = 'a'\nfields = { a = 'txt' }\n",
    "[keys.a]\npattern = 'a'\nfields = { a = { ref = 'b' } }\n",
    "[keys.a]\npattern = 'a'\nmax_len = 0\n",
    "[keys.a]\npattern = 'a'\nlifecycle = 'forever'\n",
    "[keys.a]\npattern = 'a'\nrate_limit = { limit = 10 }\n",
    "[keys.a]\npattern = 'a'\nlock = { ttl = '1s' }\n",
    "[keys.a]\npattern = 'a'\nallow = [{ rule = 'x', reason = '' }]\n",
    "[events.a]\ninvalidates = ['Bad Name']\n",
    "[foreign.a]\n",
    "[text.header]\nsteps = []\n",
    "[services.mailer]\nuses = []\n",
    "[channels.changed]\npattern = 'changed'\n",
    "[params]\na = { type = 'text', from = 5 }\n",
    "[text.header]\nnumbers = 'fr'\n",
    "[text.header]\nmax_len = 16\n",
    "[text.header]\nexamples = [['a']]\n",
    "[keys.a]\npattern = 'a'\nprefix = false\n",
    "[layout]\nshape = '<type>'\ntype = ['list']\nmeans = { list = 'array' }\n",
    "[migrations.a]\nphase = 'done'\n[migrations.a.renames]\n",
    "[migrations.a]\nphase = 'cleanup'\nstarted = 2026\n[migrations.a.renames]\n",
];

#[test]
fn every_form_is_accepted() {
    let validator = validator();
    for text in GOOD {
        let document = document(text);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_the_reader_refuses_is_marked() {
    let validator = validator();
    for text in BAD {
        let whole = if text.contains("[keyspace]") {
            (*text).to_owned()
        } else {
            format!("version = 1\n[keyspace]\nname = 'a'\n{text}")
        };
        assert!(read(&whole).schema.is_err(), "the reader accepts\n{whole}");
        assert!(!validator.is_valid(&document(text)), "the validator accepts\n{text}");
    }
}

#[test]
fn every_field_says_what_it_is_for() {
    fn walk(value: &Value, path: &str) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                // Settings of the server have their documentation in redis.conf.
                let server = path.ends_with("/properties/server");
                assert!(server || property.get("description").is_some(), "{path}/{name}");
            }
        }
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| walk(value, &format!("{path}/{key}")));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, path)),
            _ => {}
        }
    }
    walk(&json_schema(), "");
}

#[test]
fn the_checked_in_schema_is_up_to_date() {
    let path = support::root().join("schema/keyward.schema.json");
    let expected = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    assert!(
        fs::read_to_string(&path).is_ok_and(|text| text == expected),
        "run `cargo xtask docs`: schema/keyward.schema.json differs"
    );
}
