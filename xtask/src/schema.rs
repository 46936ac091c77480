//! What comes from the declarations of the schema's tables: the JSON Schema for editors, and the
//! tables in the reference.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

const JSON_SCHEMA: &str = "schema/keyward.schema.json";
const REFERENCE: &str = "docs/src/reference/schema";

/// The files as they must be.
pub(crate) fn files(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let json = serde_json::to_string_pretty(&keyward_schema::json_schema())? + "\n";
    let mut files = vec![(root.join(JSON_SCHEMA), json)];
    for entry in fs::read_dir(root.join(REFERENCE))? {
        let path = entry?.path();
        let page = fs::read_to_string(&path)?;
        let filled = keyward_schema::reference::fill(&page)
            .with_context(|| format!("{}: a mark names no table, or has no end", path.display()))?;
        files.push((path, filled));
    }
    Ok(files)
}
