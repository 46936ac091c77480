//! Definitions → one compiled keyspace, with what is wrong pointed at where it was written.

use crate::Diagnostic;
use crate::model::{Definition, Event, Keyspace, Migration, ParamDeclaration};
use crate::span::Span;
use keyward_pattern::{DefineError, DefineErrorKind, DefinitionId, Param, Template, Type, nearest};
use std::collections::HashSet;

/// Compiles all definitions; `None` if they cannot be.
///
/// `broken` are the ids of definitions that could not be read: what refers to them is not reported
/// again.
pub(crate) fn compile(
    keyspace: &Keyspace,
    params: &[ParamDeclaration],
    keys: &[Definition],
    events: &[Event],
    migrations: &[Migration],
    broken: &[String],
    errors: &mut Vec<Diagnostic>,
) -> Option<keyward_pattern::Keyspace> {
    let mut builder = match keyward_pattern::Keyspace::builder(keyspace.separator.value) {
        Ok(builder) => builder,
        Err(error) => {
            let span = keyspace.separator.span.clone();
            errors.push(Diagnostic::schema(error.to_string(), span, "not usable as a separator"));
            return None;
        }
    };
    let mut extra = builder.clone();
    if let Some(prefix) = &keyspace.prefix {
        builder.prefix(prefix, |name| declared(params, name));
    }
    for key in keys {
        builder.define(&key.name, &key.pattern, |name| declared(&key.params, name));
    }
    if let Some(bytes) = &keyspace.max_key_len {
        builder.max_len(usize::try_from(bytes.value).unwrap_or(usize::MAX));
    }
    let compiled = match builder.finish() {
        Ok(compiled) => Some(compiled),
        Err(found) => {
            for error in found {
                if matches!(&error.kind, DefineErrorKind::UnknownTarget(name) if broken.contains(name))
                {
                    continue;
                }
                let site = site(keyspace, params, keys, &error);
                let help = error.help().or_else(|| nearest_target(&error, keys));
                report(error.to_string(), help, site, errors);
            }
            None
        }
    };
    check_the_rest(&mut extra, params, keys, events, migrations, errors);
    compiled
}

/// What no definition uses must be usable all the same: parameters, events' parameters, old names.
fn check_the_rest(
    builder: &mut keyward_pattern::Builder,
    params: &[ParamDeclaration],
    keys: &[Definition],
    events: &[Event],
    migrations: &[Migration],
    errors: &mut Vec<Diagnostic>,
) {
    let used: HashSet<&str> =
        keys.iter().flat_map(|key| &key.params).map(|param| param.name.as_str()).collect();
    let mut places: Vec<(&[ParamDeclaration], Span)> = Vec::new();
    let unused = params.iter().filter(|param| !used.contains(param.name.as_str()));
    for param in unused.chain(events.iter().flat_map(|event| &event.params)) {
        if matches!(param.param.ty, Type::Key(_)) {
            continue;
        }
        let Ok(template) = Template::parse(&format!("{{{}}}", *param.name)) else { continue };
        builder
            .define(&format!("#{}", places.len()), &template, |_| Some(param.param.value.clone()));
        places.push((std::slice::from_ref(param), param.param.span.clone()));
    }
    for rename in migrations.iter().flat_map(|migration| &migration.renames) {
        let name = format!("#{}", places.len());
        builder.define_absolute(&name, &rename.from, |name| declared(&rename.params, name));
        places.push((&rename.params, rename.from.span.clone()));
    }
    let Err(found) = builder.clone().finish() else { return };
    for error in found {
        let unknown = matches!(error.kind, DefineErrorKind::UnknownTarget(_));
        let Some(DefinitionId(id)) = error.definition.filter(|_| !unknown) else { continue };
        let Some((params, span)) = places.get(id as usize) else { continue };
        let declared = error.hole.as_deref().and_then(|hole| declaration(params, hole));
        let span = declared.map_or_else(|| span.clone(), |param| param.param.span.clone());
        report(error.to_string(), error.help(), Site { span, definition: None }, errors);
    }
}

fn nearest_target(error: &DefineError, keys: &[Definition]) -> Option<String> {
    let DefineErrorKind::UnknownTarget(target) = &error.kind else { return None };
    let near = nearest(target, keys.iter().map(|key| key.name.as_str()))?;
    Some(format!("did you mean `{near}`?"))
}

struct Site {
    span: Span,
    /// The definition it is about, and where its pattern stands
    definition: Option<(String, Span)>,
}

/// Where an error of the compiler was written: at a parameter's type, or at the pattern.
fn site(
    keyspace: &Keyspace,
    params: &[ParamDeclaration],
    keys: &[Definition],
    error: &DefineError,
) -> Site {
    let key = error.definition.and_then(|DefinitionId(id)| keys.get(id as usize));
    let Some(key) = key else {
        let declared = error.hole.as_deref().and_then(|hole| declaration(params, hole));
        let prefix = keyspace.prefix.as_ref().map(|prefix| &prefix.span);
        let span =
            declared.map(|param| &param.param.span).or(prefix).unwrap_or(&keyspace.name.span);
        return Site { span: span.clone(), definition: None };
    };
    let about_type = !matches!(error.kind, DefineErrorKind::HoleTwice | DefineErrorKind::NameTwice);
    let declared = error.hole.as_deref().and_then(|hole| declaration(&key.params, hole));
    let span = match declared {
        Some(param) if about_type => param.param.span.clone(),
        _ => key.pattern.span.clone(),
    };
    Site { span, definition: Some((key.name.value.clone(), key.pattern.span.clone())) }
}

fn report(message: String, help: Option<String>, site: Site, errors: &mut Vec<Diagnostic>) {
    let Site { span, definition } = site;
    let known = |error: &Diagnostic| {
        error.message == message && error.labels.first().is_some_and(|label| label.span == span)
    };
    if errors.iter().rev().take(1_000).any(known) {
        return;
    }
    let mut diagnostic = Diagnostic::schema(message, span.clone(), "");
    if let Some((name, pattern)) = definition {
        let inside =
            pattern.file == span.file && (pattern.start..=pattern.end).contains(&span.start);
        if !inside {
            diagnostic = diagnostic.at(pattern, "used here");
        }
        diagnostic = diagnostic.about(name);
    }
    diagnostic.help.extend(help);
    errors.push(diagnostic);
}

fn declaration<'p>(params: &'p [ParamDeclaration], name: &str) -> Option<&'p ParamDeclaration> {
    params.iter().find(|param| param.name.value == name)
}

fn declared(params: &[ParamDeclaration], name: &str) -> Option<Param> {
    declaration(params, name).map(|param| param.param.value.clone())
}
