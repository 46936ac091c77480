//! The file of `--config`.

use super::read::{Errors, Table};
use super::{Config, LISTEN, Refused, Retention, Source, Webhook, is_name};
use crate::folder::why;
use keyward_audit::live::{Bound, Options, Secret, is_url};
use keyward_fact::{Duration, Size};
use keyward_schema::{Diagnostic, FileId, Sources, Span};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// The largest file, and the largest file with a secret.
const MAX_BYTES: u64 = 1024 * 1024;
const MAX_SECRET: u64 = 64 * 1024;

/// The shortest times that may be asked for: an audit a second helps nobody.
const LEAST_EVERY: Duration = Duration::from_secs(10);

/// Reads a configuration. `state` is the folder where it names none. Paths in the file are meant from its folder.
pub fn load(path: &Path, state: PathBuf) -> Result<Config, Refused> {
    let mut sources = Sources::default();
    let text = match read(path, MAX_BYTES) {
        Ok(text) => text,
        Err(why) => {
            let message = format!("cannot read `{}`: {why}", path.display());
            return Err(Refused { sources, errors: vec![Diagnostic::unplaced(message)] });
        }
    };
    // Mistakes are shown with their lines, and a line may hold a password.
    let file = sources.add(path.to_owned(), without_credentials(&text));
    let table = match DeTable::parse(&text) {
        Ok(table) => table,
        Err(error) => {
            let range = error.span().unwrap_or(0..0);
            let message = format!("not TOML: {}", error.message());
            let errors = vec![Diagnostic::config(message, Span::new(file, range), "")];
            return Err(Refused { sources, errors });
        }
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut reading = Reading { folder, errors: Vec::new() };
    let config =
        reading.config(Table::new("the configuration", file, table.get_ref()), file, state);
    let mut errors = reading.errors;
    match config {
        Some(config) if errors.is_empty() => Ok(config),
        _ => {
            errors.sort_by_key(|it| it.labels.first().map(|label| label.span.start));
            Err(Refused { sources, errors })
        }
    }
}

/// A configuration that is being read.
pub(super) struct Reading {
    folder: PathBuf,
    pub(super) errors: Errors,
}

impl Reading {
    fn config(&mut self, mut table: Table<'_>, file: FileId, state: PathBuf) -> Option<Config> {
        let listen = table.parsed::<SocketAddr>("listen", &mut self.errors).map(|(it, _)| it);
        let token_file = table.text("token_file", &mut self.errors);
        let token = token_file.and_then(|(path, span)| self.secret_file("token_file", path, span));
        let folder = table.text("state", &mut self.errors).map(|(path, _)| self.folder.join(path));
        let retention = self.retention(&mut table);
        let tables = table.tables("servers", &mut self.errors);
        let hooks = table.tables("webhooks", &mut self.errors);
        table.finish(&mut self.errors);
        if tables.is_empty() && self.errors.is_empty() {
            let span = Span::new(file, 0..0);
            let help = "add `[servers.NAME]` with `url = \"redis://…\"`";
            let error = Diagnostic::config("no server is configured", span, "").help(help);
            self.errors.push(error);
        }
        let names: Vec<&str> = tables.iter().map(|(name, ..)| *name).collect();
        let servers: Vec<Option<Source>> =
            tables.into_iter().map(|(name, span, table)| self.server(name, &span, table)).collect();
        let webhooks: Vec<Option<Webhook>> = hooks
            .into_iter()
            .map(|(name, span, table)| self.webhook(name, &span, table, &names))
            .collect();
        Some(Config {
            listen: listen.or_else(|| LISTEN.parse().ok())?,
            token,
            state: folder.unwrap_or(state),
            retention,
            servers: servers.into_iter().collect::<Option<_>>()?,
            webhooks: webhooks.into_iter().collect::<Option<_>>()?,
        })
    }

    fn retention(&mut self, table: &mut Table<'_>) -> Retention {
        let mut retention = Retention::default();
        let Some(mut table) = table.table("history", &mut self.errors) else { return retention };
        if let Some((age, _)) = table.parsed::<Duration>("keep", &mut self.errors) {
            retention.age = std::time::Duration::from_millis(age.as_millis());
        }
        if let Some((size, span)) = table.parsed::<Size>("max_size", &mut self.errors) {
            retention.bytes = size.bytes();
            if size.bytes() < 1024 * 1024 {
                let error = Diagnostic::config("`max_size` is less than 1 MiB", span, "too small");
                self.errors.push(error);
            }
        }
        table.finish(&mut self.errors);
        retention
    }

    fn server(&mut self, name: &str, span: &Span, mut table: Table<'_>) -> Option<Source> {
        if !is_name(name) {
            let message = "the name of a server has letters, digits, `-`, `_` and `.`, at most 64";
            self.errors.push(Diagnostic::config(message, span.clone(), "cannot stand in a URL"));
        }
        let url = self.url(&mut table, span);
        let mut options = self.options(&mut table);
        let has_password = options.password.is_some();
        let file = table.text("password_file", &mut Vec::new()).filter(|_| has_password);
        let password_file = file.map(|(path, _)| self.folder.join(path));
        self.bound(&mut table, &mut options);
        let schemas = table.texts("schemas", &mut self.errors);
        let schemas = schemas.into_iter().map(|(path, _)| self.folder.join(path)).collect();
        let every = table.parsed::<Duration>("every", &mut self.errors);
        let watch = table.switch("watch", &mut self.errors);
        table.finish(&mut self.errors);
        let mut source = Source::new(name.to_owned(), url?, schemas, options);
        if let Some((every, span)) = every {
            source.every = std::time::Duration::from_millis(every.as_millis());
            if every < LEAST_EVERY {
                let message = format!("`every` is less than {}", LEAST_EVERY.human());
                self.errors.push(Diagnostic::config(message, span, "too often"));
            }
        }
        source.watch = watch.unwrap_or(false);
        source.password_file = password_file;
        Some(source)
    }

    /// The URL; what is wrong with it is said without repeating it.
    fn url(&mut self, table: &mut Table<'_>, server: &Span) -> Option<String> {
        let (url, span) = self.one_of_three(table, server, "a server")?;
        if !is_url(&url) {
            let help = keyward_fact::address::AddressError::HELP;
            let error = Diagnostic::config("this is not the URL of a server", span, "").help(help);
            self.errors.push(error);
            return None;
        }
        if let Err(error) = keyward_fact::address::Address::parse(&url) {
            let message = format!("the URL of the server cannot be used: {}", error.why());
            let help = keyward_fact::address::AddressError::HELP;
            self.errors.push(Diagnostic::config(message, span, "").help(help));
            return None;
        }
        Some(url)
    }

    fn options(&mut self, table: &mut Table<'_>) -> Options {
        let mut options = Options::default();
        let errors = &mut self.errors;
        options.user = table.text("user", errors).map(|(user, _)| user.to_owned());
        options.password = self.secret(table, ["password_file", "password_env"]);
        let authority = table.text("tls_ca", &mut self.errors);
        let certificate = table.text("tls_cert", &mut self.errors);
        let key = table.text("tls_key", &mut self.errors);
        let span = certificate.as_ref().or(key.as_ref()).map(|(_, span)| span.clone());
        options.tls.authority = self.existing(authority);
        let pair = (self.existing(certificate), self.existing(key));
        options.tls.client = match pair {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                let message = "`tls_cert` and `tls_key` belong together";
                let error =
                    span.map(|span| Diagnostic::config(message, span, "the other is missing"));
                self.errors.extend(error);
                None
            }
        };
        options
    }

    fn bound(&mut self, table: &mut Table<'_>, options: &mut Options) {
        let mut bound = Bound::default();
        if let Some((latency, _)) = table.parsed::<Duration>("max_latency", &mut self.errors) {
            bound.max_latency = std::time::Duration::from_millis(latency.as_millis());
        }
        bound.max_ops = table.number("max_ops", &mut self.errors).map(|(ops, _)| ops.max(1));
        options.bound = Some(bound);
        options.primary = table.switch("primary", &mut self.errors).unwrap_or(false);
        options.db = table.number("db", &mut self.errors).map(|(db, _)| db);
    }

    /// A URL from one of three places: as it stands, in a file, or in a variable.
    pub(super) fn one_of_three(
        &mut self,
        table: &mut Table<'_>,
        place: &Span,
        whose: &str,
    ) -> Option<(String, Span)> {
        let written = table.text("url", &mut self.errors);
        let file = table.text("url_file", &mut self.errors);
        let variable = table.text("url_env", &mut self.errors);
        let secret = |(secret, span): (Option<Secret>, Span)| {
            secret.map(|secret| (secret.expose().to_owned(), span))
        };
        match (written, file, variable) {
            (Some((url, span)), None, None) => Some((url.to_owned(), span)),
            (None, Some((path, span)), None) => {
                secret((self.secret_file("url_file", path, span.clone()), span))
            }
            (None, None, Some((name, span))) => {
                secret((self.variable("url_env", name, span.clone()), span))
            }
            (written, file, variable) => {
                let message = format!("{whose} has one of `url`, `url_file` and `url_env`");
                let has_none = [written, file, variable].iter().all(Option::is_none);
                let label = if has_none { "has none" } else { "has several" };
                self.errors.push(Diagnostic::config(message, place.clone(), label));
                None
            }
        }
    }

    /// A secret from a file or a variable, if one is named.
    pub(super) fn secret(
        &mut self,
        table: &mut Table<'_>,
        [file, variable]: [&'static str; 2],
    ) -> Option<Secret> {
        let named = (table.text(file, &mut self.errors), table.text(variable, &mut self.errors));
        match named {
            (Some(_), Some((_, span))) => {
                let message = format!("one of `{file}` and `{variable}` is enough");
                self.errors.push(Diagnostic::config(message, span, "both are given"));
                None
            }
            (Some((path, span)), None) => self.secret_file(file, path, span),
            (None, Some((name, span))) => self.variable(variable, name, span),
            (None, None) => None,
        }
    }

    /// A file that must be there.
    pub(super) fn existing(&mut self, path: Option<(&str, Span)>) -> Option<PathBuf> {
        let (path, span) = path?;
        let path = self.folder.join(path);
        if let Err(error) = std::fs::metadata(&path) {
            let message = format!("cannot read `{}`: {}", path.display(), why(&error));
            self.errors.push(Diagnostic::config(message, span, ""));
        }
        Some(path)
    }

    /// The first line of a file.
    fn secret_file(&mut self, field: &str, path: &str, span: Span) -> Option<Secret> {
        let path = self.folder.join(path);
        let text = match read(&path, MAX_SECRET) {
            Ok(text) => text,
            Err(why) => {
                let message = format!("cannot read `{}`: {why}", path.display());
                self.errors.push(Diagnostic::config(message, span, ""));
                return None;
            }
        };
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            let message = format!("the first line of `{}` is empty", path.display());
            self.errors.push(Diagnostic::config(message, span, format!("`{field}` needs a line")));
            return None;
        }
        Some(Secret::new(line))
    }

    fn variable(&mut self, field: &str, name: &str, span: Span) -> Option<Secret> {
        match std::env::var(name) {
            Ok(value) if !value.is_empty() => Some(Secret::new(value)),
            _ => {
                let message = format!("`{field}` names the variable `{name}`, which is not set");
                self.errors.push(Diagnostic::config(message, span, ""));
                None
            }
        }
    }
}

fn read(path: &Path, most: u64) -> Result<String, String> {
    let bytes = keyward_fact::read_stream(path, most).map_err(|error| why(&error))?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// The same text with stars in the place of credentials, so that every byte keeps its place.
fn without_credentials(text: &str) -> String {
    let hide = |line: &str| {
        let Some(start) = line.find("://").map(|at| at + 3) else { return without_value(line) };
        let end = line[start..].find(['"', '\'']).map_or(line.trim_end().len(), |at| start + at);
        let url = &line[start..end.max(start)];
        let user = url.rfind('@').unwrap_or(0);
        // The path of a webhook is often its secret, also where its scheme is misspelt.
        let scheme = line[..start - 3].rsplit(['"', '\'', ' ', '=', '\t']).next().unwrap_or("");
        let first = if is_scheme(scheme) { url.find('?') } else { url.find(['/', '?']) };
        let query = first.map_or(url.len(), |at| at + 1);
        let hidden = url.char_indices().map(|(at, char)| {
            let is_shown = at >= user && at < query;
            if is_shown { char.to_string() } else { "*".repeat(char.len_utf8()) }
        });
        format!("{}{}{}", &line[..start], hidden.collect::<String>(), &line[end.max(start)..])
    };
    text.split_inclusive('\n').map(hide).collect()
}

/// Whether a scheme is that of a server, whose path is a database, a service or a socket.
fn is_scheme(scheme: &str) -> bool {
    let (family, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
    let family = family.to_lowercase();
    (["redis", "rediss", "valkey", "valkeys"].contains(&family.as_str())
        && ["", "unix", "cluster", "sentinel"].contains(&kind))
        || scheme.eq_ignore_ascii_case("unix")
}

/// The same for a line without a URL: where its field could mean a secret, misspelt or not, what it says in quotes.
fn without_value(line: &str) -> String {
    const SECRET: [&str; 6] = ["pas", "pw", "token", "secret", "cred", "url"];
    let (name, _) = line.split_once('=').unwrap_or((line, ""));
    let name = name.to_lowercase();
    if !SECRET.iter().any(|word| name.contains(word)) {
        return line.to_owned();
    }
    let mut quote = None;
    let hide = |char: char| match (quote, char) {
        (None, '"' | '\'') => {
            quote = Some(char);
            char.to_string()
        }
        (Some(open), _) if open == char => {
            quote = None;
            char.to_string()
        }
        (Some(_), char) if char != '\n' => "*".repeat(char.len_utf8()),
        _ => char.to_string(),
    };
    line.chars().map(hide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_and_every_byte_keeps_its_place() {
        for (line, hidden) in [
            ("url = \"redis://user:pw@h:1/0\" # x\n", "url = \"redis://*******@h:1/0\" # x\n"),
            ("url = \"redis://:pä@w@h\"", "url = \"redis://******@h\""),
            ("url = 'unix:///s?password=pw'\n", "url = 'unix:///s?***********'\n"),
            ("url = \"redis://:pw@h\n", "url = \"redis://***@h\n"),
            ("url = \"https://h/a/secret\"\n", "url = \"https://h/********\"\n"),
            ("url = \"htp://u:PASS@h/SECRET\"\n", "url = \"htp://******@h/******\"\n"),
            ("url='HTTPS://h/SECRET'\n", "url='HTTPS://h/******'\n"),
            ("url = \"redis://h/0\"\n", "url = \"redis://h/0\"\n"),
            ("pasword = \"pä\" # x\n", "pasword = \"***\" # x\n"),
            ("token = 'pw\n", "token = '**\n"),
            ("url = \"u:pw@h\"\n", "url = \"******\"\n"),
            ("every = \"1h\"\nurl = \"redis://h\"\n", "every = \"1h\"\nurl = \"redis://h\"\n"),
        ] {
            assert_eq!(without_credentials(line), hidden);
            assert_eq!(hidden.len(), line.len());
        }
    }
}
