//! `keyward key text`: what a text pipeline makes of a text; and values of parameters from text.

use crate::args::{Binding, KeyText, TextFormat};
use crate::failure::{Failure, Result};
use crate::output::{DIM, Output, printable};
use crate::verdict::Verdict;
use keyward_schema::Schema;
use keyward_schema::model::TextPipeline;
use keyward_text::{Pipeline, Step};
use serde_json::json;
use std::fmt::Write as _;
use std::time::SystemTime;

pub(super) fn run(args: &KeyText, schemas: &[Schema], output: &Output) -> Result<Verdict> {
    let pipeline = made(named(&args.pipeline, schemas)?)?;
    let now = args.at.unwrap_or_else(SystemTime::now);
    match args.format {
        TextFormat::Result => {
            output.print(format_args!("{}\n", pipeline.name(&args.text, now)))?;
        }
        TextFormat::Steps => {
            output
                .print(format_args!("{}", drawn(&args.text, &pipeline.steps(&args.text, now))))?;
        }
        TextFormat::Json => {
            let steps = pipeline.steps(&args.text, now);
            let steps: Vec<_> =
                steps.iter().map(|step| json!({ "step": step.name, "text": step.text })).collect();
            let result = pipeline.name(&args.text, now);
            let answer = json!({
                "pipeline": args.pipeline,
                "text": args.text,
                "steps": steps,
                "result": result,
            });
            let answer = keyward_fact::visible_json(answer.to_string());
            output.print(format_args!("{answer}\n"))?;
        }
    }
    Ok(Verdict::Clean)
}

/// A line for each step, with `=` where it changed nothing; the last one has the result.
fn drawn(text: &str, steps: &[Step]) -> String {
    let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    let mut last = text;
    for (number, step) in steps.iter().enumerate() {
        let is_told = step.text == last && number + 1 < steps.len();
        let shown = if is_told { DIM.on("=") } else { printable(&step.text) };
        let _ = writeln!(lines, "{:width$}  {shown}", step.name);
        last = &step.text;
    }
    lines
}

/// The value of a definition's parameter from a text. What does not exist is reported when the key is built.
pub(super) fn value(
    definition: &str,
    text: &Binding,
    schemas: &[Schema],
    now: SystemTime,
) -> Result<String> {
    for schema in schemas {
        let params =
            schema.keys.iter().filter(|it| *it.name == definition).flat_map(|it| &it.params);
        let Some(param) = params.into_iter().find(|param| *param.name == text.param) else {
            continue;
        };
        let Some(from) = &param.from else {
            let message = format!("`{}` of `{definition}` is not made from text", text.param);
            return Err(Failure::new(message).help(format!(
                "write `{}=VALUE` without `--text`, or declare `from` for it in `[params]`",
                text.param
            )));
        };
        return Ok(made(named(from, std::slice::from_ref(schema))?)?.name(&text.value, now));
    }
    Ok(text.value.clone())
}

/// The pipeline of that name in any of the schemas.
fn named<'s>(name: &str, schemas: &'s [Schema]) -> Result<&'s TextPipeline> {
    let all = || schemas.iter().flat_map(|schema| &schema.texts);
    let found: Vec<&TextPipeline> = all().filter(|it| *it.name == name).collect();
    match found.as_slice() {
        [pipeline] => Ok(pipeline),
        [] => {
            let names = all().map(|it| it.name.as_str());
            Err(Failure::new(format!("there is no text pipeline `{name}`")).one_of(
                name,
                names,
                "the schema has no `[text]`",
            ))
        }
        _ => Err(Failure::new(format!("{} schemas have a text pipeline `{name}`", found.len()))
            .help("choose one of them with `--schema`")),
    }
}

fn made(declared: &TextPipeline) -> Result<Pipeline> {
    declared.pipeline().map_err(|error| Failure::new(error.to_string()))
}
