//! `[migrations.*]` as written → the model: renames with what changes besides the name.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::definition::Surroundings;
use crate::form::{Form, Id, Map, OneOrMany, ParamName, table, words};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::lower::{allow_list, template_params};
use crate::model::{
    Convert, Date, Definition, Keyspace, Migration, Phase, Recase, Rename, Score, Value,
};
use crate::param::Separators;
use crate::scalar::{Integer, OldPattern};
use crate::separators::Separated;
use crate::span::{Span, Spanned};
use crate::syntax::{Item, Kind};
use crate::tables::AllowTable;
use keyward_fact::{Duration, KeyType};
use keyward_pattern::{Template, Type, prove};
use std::collections::HashMap;

table! {
    /// `[migrations.<id>]`: a rename of keys in progress.
    MigrationTable {
        /// The reason for the rename.
        optional doc: String,
        /// The current phase.
        required phase: Phase,
        /// The date when it started.
        optional started: Date,
        /// The date by which the old names must be gone.
        optional remove_after: Date,
        /// The longest TTL that keys left under old names may have in `cleanup`. `keyward plan migrate` sets it before it removes them.
        optional old_ttl: Duration,
        /// How long no key under an old name may have been read or written before `keyward plan apply` takes a step in `read-fallback` or `cleanup`, as the server says while the plan is made. Keys that are the same under both names do not count. Default: `"1d"`.
        optional quiet: Duration,
        /// The old pattern of each definition, or several. Old patterns are whole keys, without the prefix added, and may declare their own types.
        required renames: Map<Id, OneOrMany<RenameForm>>,
        /// Findings that are accepted for this migration.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

table! {
    /// An old name, with what changes besides the name.
    RenameTable {
        /// The old pattern.
        required pattern: OldPattern,
        /// Further characters that separate the parameters of the old pattern: no text parameter contains one of them.
        optional separators: Separators,
        /// How the old value becomes the new one.
        optional convert: ConvertName,
        /// The score of each member, for `"set-to-sorted-set"`: a number, or `"now"` for the time of the move.
        optional score: Score,
        /// The case of a parameter under the new name. The old name spells it in the other case.
        optional recase: Map<ParamName, Recase>,
        /// The number of the database that holds the old keys, if it is another one.
        optional db: Integer<0, 1_000_000>,
    }
}

/// An old name: its pattern, or a table.
#[derive(Debug)]
pub(crate) struct RenameForm(RenameTable);

impl Form for RenameForm {
    fn what() -> String {
        format!("{}, or a table", Template::what())
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Table(_) => RenameTable::read(item, decoder).map(RenameForm),
            Kind::String(_) => {
                let pattern = OldPattern::spanned(item, decoder)?;
                let (separators, convert, score, recase, db) = (None, None, None, None, None);
                let table = RenameTable { pattern, separators, convert, score, recase, db };
                Some(RenameForm(table))
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        schemas.shared(
            "rename",
            |schemas| json!({ "anyOf": [Template::schema(schemas), RenameTable::schema(schemas)] }),
        )
    }
}

/// `convert`, without its score.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConvertName {
    JsonToHash,
    HashToJson,
    SetToSortedSet,
    LowerCase,
}

words!(ConvertName: "`\"json-to-hash\"`, `\"hash-to-json\"`, `\"set-to-sorted-set\"` or `\"lower-case\"`", [
    ("json-to-hash", ConvertName::JsonToHash),
    ("hash-to-json", ConvertName::HashToJson),
    ("set-to-sorted-set", ConvertName::SetToSortedSet),
    ("lower-case", ConvertName::LowerCase),
]);

impl Form for Score {
    fn what() -> String {
        "a number or `\"now\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        /// The numbers that a score holds exactly.
        const EXACT: i64 = 1 << 53;
        match &item.kind {
            Kind::Integer(Some(number)) if (-EXACT..=EXACT).contains(number) => {
                #[allow(clippy::cast_precision_loss, reason = "exact up to 2^53")]
                let score = *number as f64;
                Some(Score::Fixed(score))
            }
            Kind::Float(Some(number)) => Some(Score::Fixed(*number)),
            Kind::Integer(_) | Kind::Float(_) => {
                let message = format!("{} must be a number that a score can hold", decoder.here());
                decoder.error(&item.span, message, "too large")
            }
            Kind::String(word) if word == "now" => Some(Score::Now),
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "anyOf": [{ "type": "number" }, { "const": "now" }] })
    }
}

/// A migration without what its renames refer to being checked, see [`check`].
pub(crate) fn lower(
    name: Spanned<String>,
    table: MigrationTable,
    keys: &[Definition],
    around: &Surroundings<'_>,
    errors: &mut Vec<Diagnostic>,
) -> Migration {
    refuse_end_before_start(&name, &table, errors);
    let by_name: HashMap<&str, &Definition> =
        keys.iter().map(|key| (key.name.as_str(), key)).collect();
    let mut renames = Vec::new();
    for (definition, forms) in table.renames.value.entries {
        let of_definition = by_name.get(definition.as_str());
        let declared = |name: &str| {
            let own = of_definition
                .and_then(|key| key.params.iter().find(|param| param.name.value == name));
            own.or_else(|| around.params.get(name).copied())
        };
        for Spanned { value: RenameForm(table), .. } in forms.value.0 {
            let pattern = Spanned::new(table.pattern.value.0, table.pattern.span);
            let mut params = template_params(&pattern, around.sources, declared);
            if let Some(separators) = &table.separators {
                let pattern = &pattern;
                let written =
                    Separated { separators, pattern, keyspace: around.separator, is_old: true };
                errors.extend(written.apply(&mut params));
            }
            let recase = table.recase.into_iter().flat_map(|map| map.value.entries);
            renames.push(Rename {
                definition: definition.clone(),
                from: pattern,
                params,
                convert: lower_convert(table.convert, table.score, errors),
                recase: recase.map(|(param, recase)| (param, recase.value)).collect(),
                db: table.db.map(|db| Spanned::new(db.value.0, db.span)),
            });
        }
    }
    Migration {
        name,
        doc: table.doc,
        phase: table.phase,
        started: table.started,
        remove_after: table.remove_after,
        old_ttl: table.old_ttl,
        quiet: table.quiet,
        renames,
        allow: allow_list(table.allow),
    }
}

fn refuse_end_before_start(name: &str, table: &MigrationTable, errors: &mut Vec<Diagnostic>) {
    if let (Some(started), Some(end)) = (&table.started, &table.remove_after)
        && end.value < started.value
    {
        let message = format!("the migration `{name}` ends before it starts");
        errors.push(
            Diagnostic::schema(message, end.span.clone(), "the old names must be gone by then")
                .at(started.span.clone(), "it begins later"),
        );
    }
}

fn lower_convert(
    name: Option<Spanned<ConvertName>>,
    score: Option<Spanned<Score>>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Spanned<Convert>> {
    let takes_score = matches!(name.as_deref(), Some(ConvertName::SetToSortedSet));
    if let Some(score) = score.as_ref().filter(|_| !takes_score) {
        errors.push(
            Diagnostic::schema(
                "`score` is for `convert = \"set-to-sorted-set\"`",
                score.span.clone(),
                "no member gets it",
            )
            .help("remove `score`"),
        );
    }
    let Spanned { value: name, span } = name?;
    let convert = match name {
        ConvertName::JsonToHash => Convert::JsonToHash,
        ConvertName::HashToJson => Convert::HashToJson,
        ConvertName::LowerCase => Convert::LowerCase,
        ConvertName::SetToSortedSet => {
            let Some(score) = score else {
                let message = "`set-to-sorted-set` needs the score of the members";
                errors.push(
                    Diagnostic::schema(message, span, "has no `score`")
                        .help("add `score = 0`, or `score = \"now\"` for the time of the move"),
                );
                return None;
            };
            Convert::SetToSortedSet { score: score.value }
        }
    };
    Some(Spanned::new(convert, span))
}

/// Reports what renames declare and cannot do.
pub(crate) fn check(
    migrations: &[Migration],
    keyspace: &Keyspace,
    keys: &[Definition],
    errors: &mut Vec<Diagnostic>,
) {
    for migration in migrations {
        for rename in &migration.renames {
            errors.extend(wrong_db(rename, keyspace));
            // A definition that does not exist is reported by a rule.
            let name = &rename.definition.value;
            let Some(definition) = keys.iter().find(|key| key.name.value == *name) else {
                continue;
            };
            if migration.phase.value != Phase::Cleanup {
                errors.extend(renamed_role(rename, definition));
            }
            errors.extend(misfit(rename, definition));
            let separator = keyspace.separator.value;
            let each = rename.recase.iter();
            errors.extend(each.filter_map(|(param, recase)| {
                wrong_recase(param, *recase, rename, definition, separator)
            }));
        }
    }
}

/// The store does not move what stands beside sessions, tokens and indexes yet.
fn renamed_role(rename: &Rename, definition: &Definition) -> Option<Diagnostic> {
    let role = definition.role.as_ref()?;
    if !role.is_fixed() {
        return None;
    }
    let message = format!("renaming a `{}` is not supported yet", role.name());
    Some(
        Diagnostic::schema(message, rename.definition.span.clone(), "is renamed")
            .at(role.span.clone(), "its role")
            .help("let the old ones expire under a definition of their own, and add another for new ones"),
    )
}

fn wrong_db(rename: &Rename, keyspace: &Keyspace) -> Option<Diagnostic> {
    let db = rename.db.as_ref()?;
    if keyspace.cluster.value {
        return Some(
            Diagnostic::schema(
                "a cluster has only database 0",
                db.span.clone(),
                "not on a cluster",
            )
            .at(keyspace.cluster.span.clone(), "a cluster")
            .help("remove `db`"),
        );
    }
    let message = || format!("`{}` does not come from another database", rename.definition.value);
    match &keyspace.db {
        Some(own) if u64::from(own.value) == db.value => Some(
            Diagnostic::schema(message(), db.span.clone(), "the same database")
                .at(own.span.clone(), "the database of the new keys")
                .help("remove `db` from the rename"),
        ),
        None if db.value == 0 => Some(
            Diagnostic::schema(message(), db.span.clone(), "the default database")
                .help("write the database of the new keys in `[keyspace]`: `db = 1`"),
        ),
        _ => None,
    }
}

/// A conversion whose result is not what the definition holds.
fn misfit(rename: &Rename, definition: &Definition) -> Option<Diagnostic> {
    let convert = rename.convert.as_ref()?;
    let key_type = definition.key_type.as_deref();
    let value = definition.value.as_deref();
    let (fits, makes) = match convert.value {
        Convert::JsonToHash => (key_type == Some(&KeyType::Hash), "a hash"),
        Convert::SetToSortedSet { .. } => (key_type == Some(&KeyType::Zset), "a sorted set"),
        Convert::HashToJson => {
            let json = matches!(value, Some(Value::Json { zstd: false, .. }));
            (key_type == Some(&KeyType::String) && json, "a string of uncompressed JSON")
        }
        Convert::LowerCase => {
            let text = match value {
                None | Some(Value::Text | Value::Uuid | Value::Ref { .. } | Value::Key(_)) => true,
                Some(Value::Enum(words)) => {
                    words.iter().all(|word| *word == Recase::Lower.new_value(word))
                }
                Some(_) => false,
            };
            let plain = key_type == Some(&KeyType::String) && definition.role.is_none();
            (plain && text, "a string in lower case")
        }
    };
    if fits {
        return None;
    }
    let (name, convert_name) = (&definition.name.value, convert.value.name());
    let held = definition.value.as_ref().map(|value| &value.span);
    let held = held.or(definition.key_type.as_ref().map(|key_type| &key_type.span));
    let held: &Span = held.unwrap_or(&definition.pattern.span);
    Some(
        Diagnostic::schema(
            format!("`{convert_name}` makes {makes}, and `{name}` is not one"),
            convert.span.clone(),
            format!("makes {makes}"),
        )
        .at(held.clone(), format!("what `{name}` holds")),
    )
}

/// A change of case that no value needs, or that the definition refuses.
fn wrong_recase(
    param: &Spanned<String>,
    recase: Recase,
    rename: &Rename,
    definition: &Definition,
    separator: char,
) -> Option<Diagnostic> {
    let name = &param.value;
    let Some(old) = rename.params.iter().find(|it| it.name.value == *name) else {
        let known = rename.params.iter().map(|it| it.name.as_str());
        let message = format!("the old name has no parameter `{name}`");
        let diagnostic = Diagnostic::schema(message, param.span.clone(), "nothing to recase")
            .at(rename.from.span.clone(), "the old name");
        return Some(match keyward_pattern::nearest(name, known) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        });
    };
    // One that the definition lacks is reported by a rule.
    let new = definition.params.iter().find(|it| it.name.value == *name)?;
    let (new_case, old_case) = match recase {
        Recase::Lower => ("lower", "upper"),
        Recase::Upper => ("upper", "lower"),
    };
    if let Type::Key(_) = old.param.ty {
        let message = format!("`{name}` holds a key, which keeps its case");
        return Some(
            Diagnostic::schema(message, param.span.clone(), "cannot be recased")
                .help("remove it from `recase`"),
        );
    }
    // A type that does not compile is reported where it is declared.
    if !prove::changes_case(separator, &old.param, recase).ok()? {
        let message = format!("`{name}` of the old name has no letters in {old_case} case");
        let in_new_case = match recase {
            Recase::Lower => Recase::Upper,
            Recase::Upper => Recase::Lower,
        };
        let has_letters = prove::changes_case(separator, &old.param, in_new_case).ok()?;
        return Some(
            Diagnostic::schema(message, param.span.clone(), "has no effect")
                .at(rename.from.span.clone(), format!("`{name}` is `{}`", old.param.ty))
                .help(if has_letters {
                    format!("write its old type in the pattern, such as `{{{name}:word}}`")
                } else {
                    "remove it from `recase`".to_owned()
                }),
        );
    }
    let accepted = prove::recased(separator, &new.param, &old.param, recase).ok()?.accepted;
    if accepted.is_some() {
        return None;
    }
    let message = format!(
        "`{name}` of `{}` refuses every value of the old name in {new_case} case",
        definition.name.value
    );
    Some(
        Diagnostic::schema(message, param.span.clone(), format!("{new_case} case"))
            .at(new.param.span.clone(), format!("`{}`", new.param.ty)),
    )
}
