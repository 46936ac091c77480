//! A pattern cut at its separators, to be compared with a key that does not quite follow it.

use keyward_pattern::{BuildErrorKind, Content, Hole, Keyspace, Param, Template, Type};
use std::collections::HashMap;
use std::fmt::Write as _;

/// What stands between two separators of a pattern.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment<'a> {
    chunks: Vec<Chunk<'a>>,
}

#[derive(Debug, Clone)]
enum Chunk<'a> {
    Text(String),
    Hole(&'a Hole, &'a Param),
}

/// The segments of patterns that follow each other, with the parameters as they are declared.
pub(crate) fn segments<'a>(
    templates: impl Iterator<Item = &'a Template>,
    separator: u8,
    params: &'a [(String, Param)],
) -> Vec<Segment<'a>> {
    let mut segments = Vec::new();
    let mut last = Segment::default();
    for template in templates {
        for (at, cut) in template.segments(separator.into()).into_iter().enumerate() {
            if at > 0 {
                segments.push(std::mem::take(&mut last));
            }
            cut.content.into_iter().for_each(|content| last.push(content, params));
        }
    }
    segments.push(last);
    join_rest(segments, separator)
}

/// From the first segment on that may contain the separator, everything is one segment.
fn join_rest(mut segments: Vec<Segment<'_>>, separator: u8) -> Vec<Segment<'_>> {
    let Some(first) = segments.iter().position(|segment| segment.spans(separator)) else {
        return segments;
    };
    for segment in segments.split_off(first + 1) {
        let joined = &mut segments[first].chunks;
        let mut between = char::from(separator).to_string();
        let mut chunks = segment.chunks.into_iter().peekable();
        while let Some(Chunk::Text(text)) = chunks.next_if(|it| matches!(it, Chunk::Text(_))) {
            between.push_str(&text);
        }
        match joined.last_mut() {
            Some(Chunk::Text(before)) if before != "}" => before.push_str(&between),
            _ => joined.push(Chunk::Text(between)),
        }
        joined.extend(chunks);
    }
    segments
}

impl<'a> Segment<'a> {
    fn push(&mut self, content: Content<'a>, params: &'a [(String, Param)]) {
        let hole = match content {
            Content::Text(text) => return self.chunks.push(Chunk::Text(text)),
            Content::Hole(hole) => hole,
        };
        if let Some((_, param)) = params.iter().find(|(name, _)| *name == hole.name) {
            let tag = |text: &str| hole.tag.then(|| Chunk::Text(text.to_owned()));
            self.chunks.extend(tag("{"));
            self.chunks.push(Chunk::Hole(hole, param));
            self.chunks.extend(tag("}"));
        }
    }
}

impl Segment<'_> {
    /// Its text, if it has no parameter.
    pub(crate) fn literal(&self) -> Option<String> {
        self.chunks
            .iter()
            .map(|chunk| match chunk {
                Chunk::Text(text) => Some(text.as_str()),
                Chunk::Hole(..) => None,
            })
            .collect()
    }

    /// Whether a value in it may contain the separator.
    fn spans(&self, separator: u8) -> bool {
        self.chunks.iter().any(|chunk| match chunk {
            Chunk::Text(_) => false,
            Chunk::Hole(hole, param) => hole.rest || param.spans(separator.into()),
        })
    }

    /// Whether it takes the rest of the key: whatever follows is its own.
    pub(crate) fn takes_rest(&self) -> bool {
        let takes_rest = |chunk: &Chunk<'_>| match chunk {
            Chunk::Text(_) => false,
            Chunk::Hole(hole, param) => {
                hole.rest || matches!(param.ty, Type::Key(_)) || param.ty.spans()
            }
        };
        self.chunks.iter().any(takes_rest)
    }

    /// As it is written in a pattern.
    pub(crate) fn pattern(&self) -> String {
        let chunks = self.chunks.iter().map(|chunk| match chunk {
            Chunk::Text(text) => text.clone(),
            Chunk::Hole(hole, _) => format!("{{{}}}", hole.name),
        });
        chunks.collect()
    }

    /// Its text with the parameters numbered, and their declarations: all that matters to a key.
    fn shape(&self) -> (String, Vec<Param>) {
        let mut text = String::new();
        let mut params = Vec::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Text(word) => text.push_str(&word.replace('{', "{{").replace('}', "}}")),
                Chunk::Hole(hole, param) => {
                    let rest = if hole.rest { "..." } else { "" };
                    let _ = write!(text, "{{p{}{rest}}}", params.len());
                    params.push((*param).clone());
                }
            }
        }
        (text, params)
    }

    /// What is wrong with the value of its only parameter, if that can be said.
    pub(crate) fn why_not(&self, separator: u8, bytes: &[u8]) -> Option<String> {
        let (before, hole, param, after) = self.single()?;
        if !param.encode.is_empty() || param.ty == Type::Encoded {
            return None;
        }
        let value = str::from_utf8(bytes).ok()?.strip_prefix(before)?.strip_suffix(after)?;
        let text = format!("{{{}{}}}", hole.name, if hole.rest { "..." } else { "" });
        let alone = compile(&text, std::slice::from_ref(param), separator)?;
        let definition = alone.definitions().next()?;
        let error = definition.build_named(&[(hole.name.as_str(), value)]).err()?;
        matches!(error.kind, BuildErrorKind::Invalid { .. }).then(|| error.to_string())
    }

    /// The bytes with the braces of the hash tag, where it has one and they lack them.
    pub(crate) fn with_tag(&self, bytes: &[u8]) -> Option<String> {
        let is_tag = |chunk: &Chunk<'_>| matches!(chunk, Chunk::Hole(hole, _) if hole.tag);
        let at = self.chunks.iter().position(is_tag)?;
        let text = |chunks: &[Chunk<'_>]| Segment { chunks: chunks.to_vec() }.literal();
        // Beside the parameter stand the braces.
        let before = text(self.chunks.get(..at.checked_sub(1)?)?)?;
        let after = text(self.chunks.get(at + 2..)?)?;
        let value = str::from_utf8(bytes).ok()?.strip_prefix(&*before)?.strip_suffix(&*after)?;
        Some(format!("{before}{{{value}}}{after}"))
    }

    /// Whether its only parameter is an address.
    pub(crate) fn wants_ip(&self) -> bool {
        self.single().is_some_and(|(_, _, param, _)| match &param.ty {
            Type::Any(types) => types.contains(&Type::Ip),
            ty => *ty == Type::Ip,
        })
    }

    /// The type of its only parameter.
    pub(crate) fn param_type(&self) -> Option<String> {
        self.single().map(|(_, _, param, _)| param.to_string())
    }

    /// The only parameter, and what stands before and after it.
    fn single(&self) -> Option<(&str, &Hole, &Param, &str)> {
        match self.chunks.as_slice() {
            [Chunk::Hole(hole, param)] => Some(("", hole, param, "")),
            [Chunk::Text(before), Chunk::Hole(hole, param)] => Some((before, hole, param, "")),
            [Chunk::Hole(hole, param), Chunk::Text(after)] => Some(("", hole, param, after)),
            [Chunk::Text(before), Chunk::Hole(hole, param), Chunk::Text(after)] => {
                Some((before, hole, param, after))
            }
            _ => None,
        }
    }
}

/// Decides whether parts of keys fit segments; what it has compiled it keeps.
#[derive(Debug, Default)]
pub(crate) struct Fitting {
    compiled: HashMap<(String, Vec<Param>), Option<Keyspace>>,
}

impl Fitting {
    /// Whether these bytes can stand there. Where another definition's key is expected, that is
    /// taken on trust.
    pub(crate) fn fits(&mut self, segment: &Segment<'_>, separator: u8, bytes: &[u8]) -> bool {
        if let Some(text) = segment.literal() {
            return text.as_bytes() == bytes;
        }
        let key = segment.shape();
        let alone = self
            .compiled
            .entry(key)
            .or_insert_with_key(|(text, params)| compile(text, params, separator));
        alone.as_ref().is_none_or(|alone| alone.classify(bytes).is_some())
    }
}

/// A segment as a keyspace of its own; `None` if it needs others.
fn compile(text: &str, params: &[Param], separator: u8) -> Option<Keyspace> {
    let template = Template::parse(text).ok()?;
    let mut builder = Keyspace::builder(separator.into()).ok()?;
    let declared = |name: &str| {
        let at = template.holes().position(|hole| hole.name == name)?;
        params.get(at).cloned()
    };
    builder.define("segment", &template, declared);
    builder.finish().ok()
}
