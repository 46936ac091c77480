//! Where servers are, from a URL: the one grammar that the audit and the runtime library share.
//!
//! | URL | meaning |
//! |---|---|
//! | `redis://user:password@host:6379/0` | one server; `rediss://` with TLS |
//! | `redis+unix:///path?db=0&user=app&pass=secret` | a Unix socket, also `unix://`; credentials may also be in front of the path, as above |
//! | `redis+cluster://host:7000,host:7001` | a cluster by some of its nodes |
//! | `redis+sentinel://host:26379,host:26380/service/0` | the primary of a service that sentinels name |
//!
//! `valkey` may replace `redis` everywhere, and a second `s` (`rediss+cluster://`) asks for TLS. Credentials,
//! hosts, paths and services are percent-decoded. A part of a URL that nothing reads is an error.
//!
//! No error repeats any of the URL, and a [`Secret`] is never printed.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

/// One server, a cluster's nodes, or the service that sentinels watch.
#[derive(Debug, Clone)]
pub enum Address {
    /// One server
    Single(Endpoint),
    /// Some nodes of a cluster, at least one
    Cluster(Vec<Endpoint>),
    /// A service that sentinels watch
    Sentinel {
        /// Where the sentinels are, at least one, without the service's credentials
        sentinels: Vec<Endpoint>,
        /// The service's name
        service: String,
        /// What the sentinels do not know: credentials, TLS and the database. Its socket is not used
        server: Endpoint,
    },
}

/// A server's socket, and what it takes to log in.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Where it listens
    pub socket: Socket,
    /// Whether it speaks TLS
    pub tls: bool,
    /// The user, if the URL names one
    pub user: Option<String>,
    /// The password, if the URL has one
    pub password: Option<Secret>,
    /// The database, if the URL names one
    pub db: Option<u32>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Socket {
    /// A port of a host
    Tcp {
        /// A name or an IP address, without brackets
        host: String,
        /// The port
        port: u16,
    },
    /// A Unix socket
    Unix(PathBuf),
}

/// A password, which is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a password.
    pub fn new(password: impl Into<String>) -> Self {
        Secret(password.into())
    }

    /// The password itself, to be sent and not to be shown.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is wrong with a URL, without repeating any of it: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressError {
    why: &'static str,
}

impl AddressError {
    /// What to do next.
    pub const HELP: &str = "write `redis://host:6379`, `rediss://…`, `redis+unix:///path`, \
        `redis+cluster://host:port,host:port` or `redis+sentinel://host:port/service`";

    /// What is wrong, as `Display` says it.
    pub fn why(self) -> &'static str {
        self.why
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why)
    }
}

impl std::error::Error for AddressError {}

fn unusable<T>(why: &'static str) -> Result<T, AddressError> {
    Err(AddressError { why })
}

/// What a scheme begins with, and whether that means TLS.
const BASES: [(&str, bool); 5] =
    [("redis", false), ("rediss", true), ("valkey", false), ("valkeys", true), ("unix", false)];

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// If it has none of the forms above.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let Some(split) = Split::new(url)? else { return unusable("it has no `://`") };
        let (tls, path) = (split.tls, split.path.trim_matches('/'));
        match split.kind {
            Kind::Unix => split.unix().map(Address::Single),
            Kind::Single => {
                let mut hosts = split.endpoints(tls, 6379, database(path)?)?;
                match hosts.pop() {
                    Some(host) if hosts.is_empty() => Ok(Address::Single(host)),
                    _ => unusable(
                        "it names several hosts: write `redis+cluster://` or `redis+sentinel://`",
                    ),
                }
            }
            Kind::Cluster => split.endpoints(tls, 6379, database(path)?).map(Address::Cluster),
            Kind::Sentinel => {
                let (service, db) = path.split_once('/').unwrap_or((path, ""));
                let Some(service) = given(service)? else {
                    return unusable("it does not name a service: write `…/service`");
                };
                let socket = Socket::Tcp { host: "localhost".to_owned(), port: 6379 };
                let server = split.endpoint(socket, tls, database(db)?)?;
                // A sentinel has another password or none, so the URL's is not sent to it.
                let bare = Split { credentials: "", ..split };
                let sentinels = bare.endpoints(false, 26379, None)?;
                Ok(Address::Sentinel { sentinels, service, server })
            }
        }
    }

    /// Whether a text is meant as a URL, though it may be a wrong one: `redis:/host`.
    pub fn is_meant(text: &str) -> bool {
        let scheme = text.split([':', '+']).next().unwrap_or_default();
        let is_known = BASES.iter().any(|(base, _)| scheme.eq_ignore_ascii_case(base));
        text.contains("://") || (is_known && scheme.len() < text.len())
    }

    /// A URL as it may be shown: without credentials and parameters. `…` replaces what may hold them.
    pub fn shown(url: &str) -> String {
        match Split::new(url) {
            Ok(Some(Split { scheme, hosts, path, .. })) => format!("{scheme}://{hosts}{path}"),
            Ok(None) | Err(_) => "…".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Cluster,
    Sentinel,
    Unix,
}

/// A URL, cut into what it is made of.
#[derive(Clone, Copy)]
struct Split<'u> {
    scheme: &'u str,
    tls: bool,
    kind: Kind,
    credentials: &'u str,
    hosts: &'u str,
    /// With its slashes
    path: &'u str,
    query: &'u str,
}

impl<'u> Split<'u> {
    fn new(url: &'u str) -> Result<Option<Self>, AddressError> {
        let Some((scheme, rest)) = url.split_once("://") else { return Ok(None) };
        let lower = scheme.to_ascii_lowercase();
        let (base, kind) = lower.split_once('+').unwrap_or((&lower, ""));
        let tls = BASES.iter().find_map(|(known, tls)| (*known == base).then_some(*tls));
        let (tls, kind) = match (tls, kind) {
            (Some(tls), "") if base != "unix" => (tls, Kind::Single),
            (Some(tls), "cluster") if base != "unix" => (tls, Kind::Cluster),
            (Some(tls), "sentinel") if base != "unix" => (tls, Kind::Sentinel),
            (Some(false), "" | "unix") => (false, Kind::Unix),
            _ => return unusable("its scheme is unknown"),
        };
        let (credentials, rest) = match kind {
            // A path may have an `@`.
            Kind::Unix if rest.starts_with('/') => ("", rest),
            Kind::Unix => match rest.rfind("@/") {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None => {
                    return unusable(
                        "a Unix socket has an absolute path: write `redis+unix:///path`",
                    );
                }
            },
            _ => rest.rsplit_once('@').unwrap_or(("", rest)),
        };
        if credentials.contains(['?', '#']) || (!credentials.is_empty() && rest.contains('@')) {
            return unusable("write `%3F` for a `?`, `%23` for a `#` and `%40` for an `@`");
        }
        if rest.contains('#') {
            return unusable("it has a `#`, which the URL of a server cannot have");
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Ok(Some(Split { scheme, tls, kind, credentials, hosts, path, query }))
    }

    fn endpoints(
        &self,
        tls: bool,
        port: u16,
        db: Option<u32>,
    ) -> Result<Vec<Endpoint>, AddressError> {
        if !self.query.is_empty() {
            return unusable("only the URL of a Unix socket can have a `?`");
        }
        let hosts = self.hosts.split(',');
        hosts.map(|host| self.endpoint(host_and_port(host, port)?, tls, db)).collect()
    }

    fn endpoint(
        &self,
        socket: Socket,
        tls: bool,
        db: Option<u32>,
    ) -> Result<Endpoint, AddressError> {
        let (user, password) = self.credentials.split_once(':').unwrap_or((self.credentials, ""));
        let (user, password) = (given(user)?, given(password)?.map(Secret));
        Ok(Endpoint { socket, tls, user, password, db })
    }

    /// A Unix socket, with the parameters after its path.
    fn unix(&self) -> Result<Endpoint, AddressError> {
        let mut socket = self.endpoint(Socket::Unix(decode(self.path)?.into()), false, None)?;
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("db", db)) => socket.db = database(db)?,
                Some(("user", user)) => socket.user = given(user)?,
                Some(("pass", password)) => socket.password = given(password)?.map(Secret),
                _ => return unusable("its parameters can only be `db`, `user` and `pass`"),
            }
        }
        Ok(socket)
    }
}

/// `host`, `host:port`, `[::1]:port`.
fn host_and_port(text: &str, default: u16) -> Result<Socket, AddressError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) if port.starts_with(':') => (host, Some(&port[1..])),
            Some(_) => return unusable("a `:` is missing between its `]` and its port"),
            None => return unusable("a `]` is missing"),
        },
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let Ok(port) = port.map_or(Ok(default), str::parse) else {
        return unusable("its port is not a number up to 65535");
    };
    match given(host)? {
        Some(host) => Ok(Socket::Tcp { host, port }),
        None => unusable("a host is missing"),
    }
}

fn database(text: &str) -> Result<Option<u32>, AddressError> {
    match text.parse() {
        _ if text.is_empty() => Ok(None),
        Ok(db) => Ok(Some(db)),
        Err(_) => unusable("its database is not a number"),
    }
}

fn given(text: &str) -> Result<Option<String>, AddressError> {
    Ok(Some(decode(text)?).filter(|text| !text.is_empty()))
}

/// Percent-decoded. The crate leaves a `%` alone that encodes nothing; in a password, that is a mistake.
fn decode(text: &str) -> Result<String, AddressError> {
    let is_hex = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    if text.match_indices('%').any(|(at, _)| !is_hex(at + 1) || !is_hex(at + 2)) {
        return unusable(
            "two hex digits must follow its `%`: write `%25` for the character itself",
        );
    }
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) => Ok(Cow::into_owned(decoded)),
        Err(_) => unusable("it is not UTF-8"),
    }
}

impl Endpoint {
    /// The same credentials at another socket.
    #[must_use]
    pub fn at(&self, host: String, port: u16) -> Self {
        Endpoint { socket: Socket::Tcp { host, port }, ..self.clone() }
    }
}

/// Without credentials.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Socket::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Socket::Tcp { host, port } => write!(f, "{host}:{port}"),
            Socket::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests;
