//! `keyward init`: a schema to start from, and what an editor needs to help with it.

use crate::args::Init;
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{CODE, Output};
use crate::settings::SCHEMA_FILE;
use crate::verdict::Verdict;
use keyward_schema::{json_schema, starter};
use std::fs;

/// The name that the starter gives to it.
const JSON_SCHEMA_FILE: &str = "keyward.schema.json";

pub(crate) fn run(args: &Init, output: &Output) -> Result<Verdict> {
    let folder = args.folder.strip_prefix(".").unwrap_or(&args.folder);
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    }
    let contents = [
        (folder.join(SCHEMA_FILE), starter()),
        (folder.join(JSON_SCHEMA_FILE), format!("{:#}\n", json_schema())),
    ];
    if let Some((there, _)) = contents.iter().find(|(path, _)| path.exists() && !args.force) {
        return Err(Failure::new(format!("`{}` already exists", there.display()))
            .help("`--force` overwrites it, `keyward init DIR` writes elsewhere"));
    }
    for (path, content) in &contents {
        files::create(path, content, args.force)?;
        output.summary(format_args!("wrote {}", path.display()))?;
    }
    let check = if folder.as_os_str().is_empty() {
        "keyward check".to_owned()
    } else {
        format!("keyward check {}", contents[0].0.display())
    };
    output.summary(format_args!(
        "\nNext: replace the sample keys by your own, one `[keys.*]` table each, and prove them \
         sound:\n\n  {}",
        CODE.on(check),
    ))?;
    Ok(Verdict::Clean)
}
