//! `keyward serve`: audit in the background, and serve what is found.

use super::connect;
use crate::args::Serve as Args;
use crate::failure::{Failure, Result};
use crate::files;
use crate::interrupt;
use crate::output::{Output, complain};
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::live::{Secret, is_url};
use keyward_fact::address::{Address, AddressError, Socket};
use keyward_schema::render;
use keyward_serve::config::{self, LISTEN, is_name};
use keyward_serve::{Config, Error, Refused, Retention, Source, serve};
use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where a token is looked for that is in no file.
const TOKEN: &str = "KEYWARD_TOKEN";
/// The largest file that is read for a token, and the shortest token.
const MAX_TOKEN: u64 = 64 * 1024;
const LEAST_TOKEN: usize = 16;

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Verdict> {
    let mut config = match &args.config {
        Some(path) => from_file(path, args, settings, output)?,
        None => from_arguments(args, settings)?,
    };
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    if let Some(token) = token(args)? {
        config.token = Some(token);
    }
    if config.token.as_ref().is_some_and(|token| token.expose().len() < LEAST_TOKEN) {
        return Err(Failure::new(format!("the token has fewer than {LEAST_TOKEN} characters"))
            .help("create one with `openssl rand -hex 32`"));
    }
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::stop_at(&stop)?;
    // If standard error is gone, it still serves.
    let say = |line: &str| drop(complain(format_args!("{line}\n")));
    serve(&config, &stop, say).map_err(|error| failure(error, output))?;
    Ok(Verdict::Clean)
}

fn from_file(path: &Path, args: &Args, settings: &Settings, output: &Output) -> Result<Config> {
    if !settings.named().is_empty() {
        return Err(Failure::new("`--schema` does not work with `--config`")
            .help("name the schemas of each server in the file: `schemas = [\"keyward.toml\"]`"));
    }
    let state = args.state.clone().or_else(state_folder);
    let loaded = config::load(path, state.unwrap_or_default());
    let mut config = loaded.map_err(|Refused { sources, errors }| {
        Failure::rendered(render(&sources, &errors, output.style()))
    })?;
    if let Some(state) = &args.state {
        config.state.clone_from(state);
    }
    if config.state.as_os_str().is_empty() {
        return Err(no_state());
    }
    Ok(config)
}

fn from_arguments(args: &Args, settings: &Settings) -> Result<Config> {
    let schemas = match settings.schemas(&[]) {
        Ok(schemas) => schemas,
        Err(_) if settings.named().is_empty() => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let mut servers: Vec<Source> = Vec::new();
    for url in &args.sources {
        if !is_url(url) {
            return Err(Failure::new("`serve` reads servers, and this is not the URL of one").help(
                "write it as `redis://user:password@host:6379`; `keyward audit` reads snapshots too",
            ));
        }
        let address = Address::parse(url).map_err(|error| {
            Failure::new(format!("the URL of the server cannot be used: {}", error.why()))
                .help(AddressError::HELP)
        })?;
        let options = connect::options(&args.connect)?;
        let name = name_of(&address, &servers);
        let mut source = Source::new(name, url.clone(), schemas.clone(), options);
        if let Some(every) = args.every {
            if every.as_secs() < 10 {
                return Err(Failure::new(format!("`--every {every}` is less than 10 s")));
            }
            source.every = std::time::Duration::from_millis(every.as_millis());
        }
        source.watch = args.watch;
        source.password_file.clone_from(&args.connect.password_file);
        servers.push(source);
    }
    Ok(Config {
        listen: LISTEN.parse::<SocketAddr>().map_err(|error| Failure::new(error.to_string()))?,
        token: None,
        state: args.state.clone().or_else(state_folder).ok_or_else(no_state)?,
        retention: Retention::default(),
        servers,
        webhooks: Vec::new(),
    })
}

/// A name for a server that nobody named: its host and port, as far as they can stand in a URL.
fn name_of(address: &Address, others: &[Source]) -> String {
    let socket = |socket: &Socket| match socket {
        Socket::Tcp { host, port } => format!("{host}-{port}"),
        Socket::Unix(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let whole = match address {
        Address::Single(endpoint) => socket(&endpoint.socket),
        Address::Cluster(seeds) => seeds.first().map(|it| socket(&it.socket)).unwrap_or_default(),
        Address::Sentinel { service, .. } => service.clone(),
    };
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name: String = whole.chars().map(|it| if fits(it) { it } else { '-' }).take(50).collect();
    let name = name.trim_start_matches('.').to_owned();
    let name = if is_name(&name) { name } else { "server".to_owned() };
    let is_free = |name: &String| others.iter().all(|other| other.name != *name);
    if is_free(&name) {
        return name;
    }
    let numbered = (2..).map(|number: usize| format!("{name}-{number}"));
    numbered.into_iter().find(is_free).unwrap_or(name)
}

fn token(args: &Args) -> Result<Option<Secret>> {
    let Some(path) = &args.token_file else {
        return Ok(env::var(TOKEN).ok().filter(|it| !it.is_empty()).map(Secret::new));
    };
    let text = files::read_stream(path, MAX_TOKEN)?;
    let text = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    Ok(Some(Secret::new(text)))
}

/// Where programs keep what they may lose without harm to anybody's data.
fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let base = absolute("XDG_STATE_HOME");
    let base = base.or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("keyward"))
}

fn no_state() -> Failure {
    Failure::new("there is no folder for the history: neither XDG_STATE_HOME nor HOME is set")
        .help("name one with `--state DIR`")
}

fn failure(error: Error, output: &Output) -> Failure {
    match error {
        Error::Schema { sources, errors } => {
            Failure::rendered(render(&sources, &errors, output.style()))
        }
        Error::NoToken(_) => Failure::new(error.to_string()).help(
            "name a file with `--token-file`, or set KEYWARD_TOKEN; `openssl rand -hex 32` creates a token",
        ),
        Error::Listen { .. } => {
            Failure::new(error.to_string()).help("choose another address with `--listen`")
        }
        Error::State { .. } => {
            Failure::new(error.to_string()).help("choose another folder with `--state DIR`")
        }
        other => Failure::new(other.to_string()),
    }
}
