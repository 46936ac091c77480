//! Random schemas: small, sound, and full of names and types that are hard on generated code.

use keyward_schema::model::Recase;
use keyward_schema::{Schema, Spanned, read};

/// So many random schemas that are sound, the same ones each time.
pub(crate) fn schemas(count: usize) -> Vec<Schema> {
    let mut schemas = Vec::new();
    let mut seed = 1;
    while schemas.len() < count {
        let text = schema(&format!("random-{}", schemas.len()), &mut Dice(seed));
        seed += 1;
        assert!(seed < 100 * count as u64, "hardly any random schema is sound");
        let Ok(mut schema) = read(&text).schema else { continue };
        if keyward_rules::unsound(&[&schema]).is_empty() {
            vary(&mut schema, &mut Dice(seed));
            schemas.push(schema);
        }
    }
    schemas
}

/// Old names in another case, and in another database.
fn vary(schema: &mut Schema, dice: &mut Dice) {
    let renames = schema.migrations.iter_mut().flat_map(|migration| &mut migration.renames);
    for rename in renames {
        let span = rename.definition.span.clone();
        if dice.one_in(12) {
            rename.db = Some(Spanned::new(3, span));
        }
        for param in &rename.params {
            if dice.one_in(6) {
                let recase = dice.pick(&[Recase::Lower, Recase::Upper]);
                rename.recase.push((param.name.clone(), recase));
            }
        }
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
}

/// Names that are keywords somewhere, or that look alike once they are written in another case.
const NAMES: &[&str] = &[
    "user_id",
    "userId",
    "USER",
    "type",
    "class",
    "self",
    "Self",
    "def",
    "func",
    "package",
    "match",
    "default",
    "None",
    "string",
    "String",
    "key",
    "keys",
    "parse",
    "glob",
    "build",
    "prefix",
    "tables",
    "len",
    "int",
    "record",
    "value",
    "text",
    "async",
    "lambda",
    "interface",
    "range",
    "map",
    "object",
    "constructor",
    "toString",
    "hashCode",
    "error",
    "event",
    "symbol",
    "x",
    "_y",
    "a1",
    "A_1",
    "slot",
    "name",
    "hash",
    "bind",
    "read",
    "new",
    "from",
    "import",
    "static",
    "void",
    "init",
    "main",
    "fn",
];

/// What stands between two parameters of one segment.
const MARKS: &[&str] = &["/", ".", "|", "-"];

const TYPES: &[&str] = &[
    r#""text""#,
    r#""uuid""#,
    r#""int""#,
    r#""uint""#,
    r#""digits(3)""#,
    r#""hex""#,
    r#""hex(8)""#,
    r#""word""#,
    r#""slug""#,
    r#""locale""#,
    r#""date""#,
    r#""unix""#,
    r#""unix_ms""#,
    r#""ip""#,
    r#""raw_ip""#,
    r#""ulid""#,
    r#""email""#,
    r#""base64url""#,
    r#""base64url(11)""#,
    r#""alnum""#,
    r#""alnum(6)""#,
    r#""encoded""#,
    r#"["a", "b", "active"]"#,
    r#"["1m", "5m", "1h"]"#,
    r#"["class", "class_", "Class", "数据", "a b", "ü\"\\"]"#,
    r#"{ regex = "[A-Z]{2,4}-[0-9]+" }"#,
    r#"{ regex = "(ab|cd)*e" }"#,
    r#"{ any = ["uuid", "ip"] }"#,
    r#"{ any = ["ulid", "uuid", ["ABC"]] }"#,
    r#"{ any = ["uint", ["all", "none"]] }"#,
    r#"{ type = "text", normalize = "lower" }"#,
    r#"{ type = "word", normalize = "lower" }"#,
    r#"{ type = "text", without = "/.|-" }"#,
    r#"{ type = "base64url", without = "-" }"#,
    r#"{ type = "uuid", normalize = "lower" }"#,
    r#"{ type = "text", encode = { "/" = "%2F", "%" = "%25" } }"#,
    r#"{ type = "word", encode = { "_" = "--" } }"#,
    r#"{ type = ["a/b", "c"], encode = { "/" = "." } }"#,
];

fn schema(name: &str, dice: &mut Dice) -> String {
    let separator = dice.pick(&[":", ":", ":", ":", "/", ".", "|", "-"]);
    let mut text = format!(
        "version = 1\n[keyspace]\nname = \"{name}\"\ncase = \"any\"\nseparator = \"{separator}\"\n"
    );
    text += &match dice.roll(6) {
        0 | 1 => String::new(),
        2 => format!("prefix = \"{{tenant:slug}}{separator}\"\n"),
        3 => format!("prefix = \"app{separator}{{env}}{separator}v1{separator}\"\n"),
        _ => format!("prefix = \"x*y[1]{separator}\"\n"),
    };
    if !text.contains("slug") && dice.one_in(3) {
        text += &format!("max_key_len = {}\n", 40 + dice.roll(60));
    }
    if dice.one_in(3) {
        text += "[layout]\nshape = \"<rest...>\"\nreserved = [\"active\", \"all\", \"0\"]\n";
    }
    text += "[params]\nenv = [\"prod\", \"test\"]\n";
    let mut params: Vec<&str> = Vec::new();
    for _ in 0..2 + dice.roll(5) {
        let param = dice.pick(NAMES);
        if !params.contains(&param) && param != "env" {
            params.push(param);
            text += &format!("{param} = {}\n", dice.pick(TYPES));
        }
    }
    let count = 2 + dice.roll(5);
    let mut definitions: Vec<(String, Vec<&str>)> = Vec::new();
    for number in 0..count {
        let id = match dice.pick(NAMES) {
            taken if definitions.iter().any(|(known, _)| known == taken) => format!("d{number}"),
            free => free.to_owned(),
        };
        let (pattern, used) = pattern(number, separator, &params, &definitions, dice);
        text += &format!("[keys.{id}]\npattern = {pattern:?}\n");
        if let Some(mark) = MARKS.iter().find(|mark| pattern.contains(&format!("}}{mark}{{")))
            && *mark != separator
        {
            text += &format!("separators = {mark:?}\n");
        }
        if !used.is_empty() && used.iter().all(|param| params.contains(param)) || used.is_empty() {
            text += &kind(dice);
        }
        text += "invalidate = \"scan\"\n";
        for (at, (target, _)) in definitions.iter().enumerate() {
            if used.contains(&"owner") && at == 0 {
                text += &format!("params = {{ owner = {{ key = [\"{target}\"] }} }}\n");
            }
        }
        definitions.push((id, used));
    }
    text += &migrations(separator, &text, &definitions, dice);
    for (number, (id, used)) in definitions.iter().enumerate() {
        let used: Vec<&str> = used.iter().copied().filter(|param| *param != "owner").collect();
        if used.is_empty() || definitions[number].1.contains(&"owner") || dice.one_in(3) {
            continue;
        }
        let declared: Vec<String> = used
            .iter()
            .map(|param| {
                let line = text.lines().find(|line| line.starts_with(&format!("{param} = ")));
                line.map(str::to_owned).unwrap_or_default()
            })
            .collect();
        if declared.iter().any(String::is_empty) {
            continue;
        }
        text += &if dice.one_in(3) {
            format!(
                "[events.e{number}]\nparams = {{ {} }}\ninvalidates = [\"{id}(*)\"]\n",
                declared[0]
            )
        } else {
            format!(
                "[events.e{number}]\nparams = {{ {} }}\ninvalidates = [\"{id}\"]\n",
                declared.join(", ")
            )
        };
    }
    text
}

/// A pattern and its parameters.
fn pattern<'p>(
    number: usize,
    separator: &str,
    params: &[&'p str],
    earlier: &[(String, Vec<&str>)],
    dice: &mut Dice,
) -> (String, Vec<&'p str>) {
    if !earlier.is_empty() && dice.one_in(6) {
        return (format!("{{owner}}{separator}of{number}"), vec!["owner"]);
    }
    let first = dice.pick(&["a", "b", "cache", "v[2]", "ü", "x y"]);
    let mut segments =
        vec![if dice.one_in(3) { first.to_owned() } else { format!("{first}{number}") }];
    let mut used: Vec<&str> = Vec::new();
    for _ in 0..dice.roll(4) {
        let free: Vec<&&str> = params.iter().filter(|param| !used.contains(*param)).collect();
        let mut segment = dice.pick(&["", "", "", "v2_", "is*"]).to_owned();
        if !free.is_empty() && !dice.one_in(4) {
            let param = free[dice.roll(free.len())];
            used.push(param);
            segment += &match dice.roll(8) {
                0 => format!("{{#{param}}}"),
                _ => format!("{{{param}}}"),
            };
            segment += dice.pick(&["", "", "", "_end"]);
        } else {
            segment += dice.pick(&["active", "all", "meta", "list"]);
        }
        let other = params.iter().find(|param| !used.contains(*param));
        if let Some(other) = other.filter(|_| segment.ends_with('}') && dice.one_in(5)) {
            used.push(other);
            segment += &format!("{}{{{other}:text}}", dice.pick(MARKS));
        }
        segments.push(segment);
    }
    let mut pattern = segments.join(separator);
    if dice.one_in(8) && !used.contains(&"tail") {
        // At the end, or between the first segment and the second.
        let tail = dice.pick(&["{tail...}", "{tail...}", "{#tail...}"]);
        if let Some((first, others)) = pattern.split_once(separator).filter(|_| dice.one_in(2)) {
            pattern = format!("{first}{separator}{tail}{separator}{others}");
            used.insert(0, "tail");
        } else {
            pattern += &format!("{separator}{tail}");
            used.push("tail");
        }
    }
    (pattern, used)
}

/// Renames in every phase.
fn migrations(
    separator: &str,
    before: &str,
    definitions: &[(String, Vec<&str>)],
    dice: &mut Dice,
) -> String {
    let prefix = if before.contains("{tenant:slug}") {
        Some("tenant")
    } else {
        before.contains("{env}").then_some("env")
    };
    let mut text = String::new();
    for phase in ["dual-write", "read-fallback", "cleanup"] {
        let mut renames = String::new();
        for (number, (id, used)) in definitions.iter().enumerate() {
            if !dice.one_in(4) {
                continue;
            }
            let several = if dice.one_in(3) { 2 } else { 1 };
            let old: Vec<String> = (0..several)
                .map(|at| {
                    let start = format!(
                        "{}{number}{at}",
                        dice.pick(&["OLD", "old ü", "V[1]", "k{0x0616}"])
                    );
                    format!("{:?}", old_pattern(&start, separator, phase, prefix, used, dice))
                })
                .collect();
            renames += &format!("{id} = [{}]\n", old.join(", "));
        }
        if !renames.is_empty() {
            let id = phase.replace('-', "_");
            text += &format!("[migrations.{id}]\nphase = {phase:?}\n");
            text += &format!("[migrations.{id}.renames]\n{renames}");
        }
    }
    text
}

fn old_pattern(
    start: &str,
    separator: &str,
    phase: &str,
    prefix: Option<&str>,
    used: &[&str],
    dice: &mut Dice,
) -> String {
    let mut holes: Vec<String> = Vec::new();
    let tail = used.contains(&"tail");
    let prefix = prefix.filter(|_| !dice.one_in(3));
    for param in prefix.into_iter().chain(used.iter().copied()) {
        if param != "tail" {
            // Old names that are only removed may have had other types.
            let hole = match dice.roll(if phase == "cleanup" { 6 } else { 12 }) {
                0 => format!("{{{param}:{}}}", dice.pick(&["encoded", "raw"])),
                1 => format!("{{{param}:uint}}"),
                2 => format!("{{#{param}}}"),
                _ => format!("{{{param}}}"),
            };
            holes.insert(dice.roll(holes.len() + 1), hole);
        }
    }
    if phase == "cleanup" && dice.one_in(4) {
        holes.push("{gone}".to_owned());
    }
    if phase == "cleanup" && dice.one_in(4) {
        holes.pop();
    }
    let mut segments = vec![start.to_owned()];
    segments.extend(holes);
    segments.extend(tail.then(|| "{tail...}".to_owned()));
    segments.join(separator)
}

/// What stands under a key, and for how long.
fn kind(dice: &mut Dice) -> String {
    let kind = dice.pick(&[
        "",
        "value = \"uint\"\n",
        "value = { json = \"Thing\" }\n",
        "value = [\"on\", \"off\"]\n",
        "type = \"set\"\nmember = \"text\"\n",
        "type = \"zset\"\nmember = \"uuid\"\nscore = \"unix\"\n",
        "fields = { name = \"text\", size = \"uint?\", class = \"bool\" }\n",
        "counter = {}\n",
    ]);
    let ttl = dice.pick(&[
        "ttl = \"7d\"\n",
        "ttl = \"1m..5m\"\n",
        "ttl = { caller = true, max = \"1d\" }\n",
        "ttl = \"none\"\n",
    ]);
    format!("{kind}{ttl}")
}
