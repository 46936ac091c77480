//! The schemas of a server, read when it begins and before each audit.

use crate::config::Config;
use crate::run::Error;
use crate::state::Schemas;
use keyward_audit::fingerprint;
use keyward_schema::{Diagnostic, Loaded, Sources, Style, load_after, render};
use std::path::PathBuf;
use std::sync::Arc;

/// The schemas of all servers; an instance does not begin with one that cannot be read.
pub(crate) fn open_all(config: &Config) -> Result<Vec<Arc<Schemas>>, Error> {
    let open = |(sources, errors)| Error::Schema { sources, errors };
    config.servers.iter().map(|it| read(&it.schemas).map(Arc::new).map_err(open)).collect()
}

/// The same for one server later on: what is wrong is given back as text.
pub(crate) fn reopen(paths: &[PathBuf]) -> Result<Schemas, String> {
    read(paths).map_err(|(sources, errors)| render(&sources, &errors, &Style::default()))
}

fn read(paths: &[PathBuf]) -> Result<Schemas, (Sources, Vec<Diagnostic>)> {
    let (mut each, mut errors, mut sources) = (Vec::new(), Vec::new(), Sources::default());
    for path in paths {
        let loaded: Loaded = load_after(sources, path);
        sources = loaded.sources;
        match loaded.schema {
            Ok(schema) => each.push(schema),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err((sources, errors));
    }
    Ok(Schemas {
        each,
        paths: paths.iter().map(|path| path.display().to_string()).collect(),
        fingerprint: fingerprint(sources.iter().map(|(_, source)| source.text.as_str())),
        ..Schemas::default()
    })
}
