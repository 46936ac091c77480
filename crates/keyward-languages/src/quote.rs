//! Texts and names as each language writes them. Everything that comes out of a schema passes here:
//! its texts are hostile, and its names may be a language's keywords.

use keyward_codegen::model::one_line;
use minijinja::Environment;

/// Adds the filters `literal`, `comment` and `ident`, each with the language as its argument, and
/// `chunks(n)`, which cuts a text, and `pad(n)`, which fills one up with spaces.
pub(super) fn add_filters(environment: &mut Environment<'static>) {
    environment.add_filter("literal", |text: &str, language: &str| literal(text, language));
    environment.add_filter("comment", |text: &str, language: &str| comment(text, language));
    environment.add_filter("ident", |name: &str, language: &str| ident(name, language));
    environment.add_filter("pad", |text: &str, width: usize| format!("{text:<width$}"));
    environment.add_filter("chunks", |text: &str, len: usize| chunks(text, len));
}

/// A string literal, quotes included. ASCII, so that no tool's idea of an encoding matters.
pub(super) fn literal(text: &str, language: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        let scalar = char as u32;
        match (char, language) {
            ('"' | '\\', _) => {
                quoted.push('\\');
                quoted.push(char);
            }
            ('\n', _) => quoted.push_str("\\n"),
            (' '..='~', _) => quoted.push(char),
            // Java turns `\u000d` into a line's end before it looks for strings.
            ('\0'..='\x1f', "java") => quoted.push_str(&format!("\\{scalar:03o}")),
            (_, "python" | "go") if scalar > 0xffff => quoted.push_str(&format!("\\U{scalar:08x}")),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    quoted.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Text for the inside of a comment, one line: it cannot end the comment, nor begin another line.
pub(super) fn comment(text: &str, language: &str) -> String {
    let mut line = one_line(text);
    if matches!(language, "java" | "typescript") {
        line = line.replace("*/", "*\u{2215}");
    }
    match language {
        // Java reads `\u002a` in comments too, and HTML and tags in those for documentation.
        "java" => {
            let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            line.replace('\\', "&#92;")
                .replace('@', "&#64;")
                .replace('{', "&#123;")
                .replace('}', "&#125;")
        }
        "typescript" => line.replace('@', "\\@"),
        // gofmt does this to the comments that document something.
        "go" => line.replace("``", "\u{201c}").replace("''", "\u{201d}"),
        _ => line,
    }
}

/// A name that is not a keyword.
pub(super) fn ident(name: &str, language: &str) -> String {
    if keywords(language).contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn chunks(text: &str, len: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(len.max(1)).map(|chunk| chunk.iter().collect()).collect()
}

/// Words that cannot name a thing, and names that every file of the language has already.
fn keywords(language: &str) -> &'static [&'static str] {
    match language {
        "typescript" => &[
            "abstract",
            "any",
            "arguments",
            "as",
            "async",
            "await",
            "boolean",
            "break",
            "case",
            "catch",
            "class",
            "const",
            "constructor",
            "continue",
            "debugger",
            "declare",
            "default",
            "delete",
            "do",
            "else",
            "enum",
            "eval",
            "export",
            "extends",
            "false",
            "finally",
            "for",
            "from",
            "function",
            "get",
            "if",
            "implements",
            "import",
            "in",
            "instanceof",
            "interface",
            "is",
            "keyof",
            "let",
            "module",
            "namespace",
            "never",
            "new",
            "null",
            "number",
            "object",
            "of",
            "package",
            "private",
            "protected",
            "prototype",
            "public",
            "readonly",
            "require",
            "return",
            "set",
            "static",
            "string",
            "super",
            "switch",
            "symbol",
            "this",
            "throw",
            "true",
            "try",
            "type",
            "typeof",
            "undefined",
            "unique",
            "unknown",
            "var",
            "void",
            "while",
            "with",
            "yield",
        ],
        "python" => &[
            "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case",
            "class", "cls", "continue", "def", "del", "elif", "else", "except", "finally", "for",
            "from", "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not",
            "or", "pass", "raise", "return", "self", "try", "type", "while", "with", "yield",
        ],
        "java" => &[
            "abstract",
            "assert",
            "boolean",
            "break",
            "byte",
            "case",
            "catch",
            "char",
            "class",
            "clone",
            "const",
            "continue",
            "default",
            "do",
            "double",
            "else",
            "enum",
            "equals",
            "exports",
            "extends",
            "false",
            "final",
            "finalize",
            "finally",
            "float",
            "for",
            "getClass",
            "goto",
            "hashCode",
            "if",
            "implements",
            "import",
            "instanceof",
            "int",
            "interface",
            "long",
            "module",
            "native",
            "new",
            "notify",
            "notifyAll",
            "null",
            "opens",
            "package",
            "permits",
            "private",
            "protected",
            "public",
            "record",
            "requires",
            "return",
            "sealed",
            "short",
            "static",
            "strictfp",
            "super",
            "switch",
            "synchronized",
            "this",
            "throw",
            "throws",
            "toString",
            "transient",
            "true",
            "try",
            "var",
            "void",
            "volatile",
            "wait",
            "while",
            "yield",
        ],
        "go" => &[
            "any",
            "append",
            "bool",
            "break",
            "byte",
            "cap",
            "case",
            "chan",
            "close",
            "comparable",
            "complex",
            "const",
            "continue",
            "copy",
            "default",
            "defer",
            "delete",
            "else",
            "error",
            "fallthrough",
            "false",
            "float32",
            "float64",
            "for",
            "func",
            "go",
            "goto",
            "if",
            "imag",
            "import",
            "init",
            "int",
            "int64",
            "interface",
            "iota",
            "len",
            "main",
            "make",
            "map",
            "new",
            "nil",
            "package",
            "panic",
            "print",
            "println",
            "range",
            "real",
            "recover",
            "return",
            "rune",
            "select",
            "string",
            "struct",
            "switch",
            "true",
            "type",
            "uint",
            "uint64",
            "var",
        ],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        assert_eq!(literal("a\"b\\\n", "java"), r#""a\"b\\\n""#);
        assert_eq!(literal("é𝄞\u{7}", "java"), r#""\u00e9\ud834\udd1e\007""#);
        assert_eq!(literal("\r1", "java"), r#""\0151""#);
        assert_eq!(literal("é𝄞", "go"), r#""\u00e9\U0001d11e""#);
    }

    #[test]
    fn a_text_cannot_leave_its_comment() {
        assert_eq!(comment("a */ b\nc", "typescript"), "a *\u{2215} b c");
        assert_eq!(
            comment(r"\u002a/ <b> {@link}", "java"),
            "&#92;u002a/ &lt;b&gt; &#123;&#64;link&#125;"
        );
        assert_eq!(comment("a\u{2028}b\u{202e}", "go"), "a b");
    }
}
