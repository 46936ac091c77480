//! The filters of the templates. Each writes HTML in a template whose name ends in `.html`, and
//! Markdown in any other.

use super::escape;
use super::prose::{Prose, Span, Target};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, State};

/// Adds the filters `prose`, `doc`, `code`, `text` and `fence`, for templates of one's own.
pub fn add(environment: &mut Environment<'static>) {
    environment.add_filter("prose", prose);
    environment.add_filter("doc", doc);
    environment.add_filter("code", code);
    environment.add_filter("text", text);
    environment.add_filter("fence", fence);
}

/// A line of text with code and links.
fn prose(state: &State, line: &Value) -> Result<Value, Error> {
    Ok(safe(state, write_prose(is_html(state), line, true)?))
}

/// A text of the schema with its paragraphs and lists.
fn doc(state: &State, doc: &Value) -> Result<Value, Error> {
    let html = is_html(state);
    let mut blocks = Vec::new();
    for block in doc.get_attr("blocks")?.try_iter()? {
        let items = block.get_attr("items")?;
        let items: Vec<String> = items
            .try_iter()?
            .map(|item| write_prose(html, &item, true))
            .collect::<Result<_, _>>()?;
        let list = block.get_attr("list")?.is_true();
        blocks.push(match (html, list) {
            (true, true) => format!("<ul><li>{}</li></ul>", items.join("</li><li>")),
            (true, false) => format!("<p>{}</p>", items.join(" ")),
            (false, true) => format!("- {}", items.join("\n- ")),
            (false, false) => items.join(" "),
        });
    }
    Ok(safe(state, blocks.join(if html { "" } else { "\n\n" })))
}

/// Code: a key, a pattern, a name.
fn code(state: &State, code: &str) -> Value {
    let written = if is_html(state) {
        format!("<code>{}</code>", escape::html_text(code))
    } else {
        escape::markdown_code(code)
    };
    safe(state, written)
}

/// Plain text.
fn text(state: &State, text: &str) -> Value {
    let written =
        if is_html(state) { escape::html_text(text) } else { escape::markdown_text(text, true) };
    safe(state, written)
}

/// Lines of code as a block of their own.
fn fence(state: &State, code: &str, language: Option<&str>) -> Value {
    let written = if is_html(state) {
        format!("<pre><code>{}</code></pre>", escape::html_text(code))
    } else {
        escape::markdown_fence(code, language.unwrap_or_default())
    };
    safe(state, written)
}

fn write_prose(html: bool, line: &Value, first: bool) -> Result<String, Error> {
    let mut out = String::new();
    // A phrase of `words`, in which backticks mark code
    if let Some(phrase) = line.as_str() {
        return write_prose(html, &Value::from_serialize(Prose::fill(phrase, &[])), first);
    }
    for span in line.try_iter()? {
        let span = read_span(&span)?;
        if html {
            escape::html_span(&span, &mut out);
        } else {
            let first = first && out.is_empty();
            escape::markdown_span(&span, &mut out, first);
        }
    }
    Ok(out)
}

fn read_span(value: &Value) -> Result<Span, Error> {
    let string = |value: &Value, name: &str| -> Result<String, Error> {
        Ok(value.get_attr(name)?.as_str().unwrap_or_default().to_owned())
    };
    let target = value.get_attr("target")?;
    let target = if target.is_none() || target.is_undefined() {
        None
    } else {
        let (name, anchor) = (string(&target, "name")?, string(&target, "anchor")?);
        Some(Target { name, anchor, id: string(&target, "id")? })
    };
    let url = value.get_attr("url")?;
    Ok(Span {
        text: string(value, "text")?,
        code: value.get_attr("code")?.is_true(),
        target,
        url: url.as_str().map(str::to_owned),
    })
}

fn is_html(state: &State) -> bool {
    state.auto_escape() == AutoEscape::Html
}

fn safe(state: &State, text: String) -> Value {
    if is_html(state) { Value::from_safe_string(text) } else { Value::from(text) }
}
