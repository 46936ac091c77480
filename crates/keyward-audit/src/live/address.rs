//! Where servers are, from a URL.
//!
//! `redis://user:password@host:6379/0`, `rediss://…` with TLS, `redis+unix:///path?db=0`,
//! `redis+cluster://host:7000,host:7001`, `redis+sentinel://host:26379,host:26380/service/0`; the
//! last two with a second `s` behind `redis` for TLS; `valkey` wherever `redis` stands. The same forms
//! as the runtime library reads.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::error::Error;

/// One server, a cluster's nodes, or what a sentinel names.
#[derive(Debug, Clone)]
pub(super) enum Address {
    Single(Target),
    Cluster(Vec<Target>),
    /// `server` has what the sentinel does not tell: credentials, TLS, the database
    Sentinel {
        sentinels: Vec<Target>,
        service: String,
        server: Target,
    },
}

/// A server and how to come in.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) place: Place,
    pub(super) tls: bool,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    /// The database that the URL names
    pub(super) db: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Tcp { host: String, port: u16 },
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

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a scheme begins with, and whether that means TLS.
const BASES: [(&str, bool); 5] =
    [("redis", false), ("rediss", true), ("valkey", false), ("valkeys", true), ("unix", false)];

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("it has no `://`"))?;
        let scheme = scheme.to_ascii_lowercase();
        let (base, kind) = scheme.split_once('+').unwrap_or((&scheme, ""));
        let tls = BASES.iter().find_map(|(known, tls)| (*known == base).then_some(*tls));
        let tls = tls.ok_or_else(|| unusable("its scheme is not known"))?;
        let parts = Parts::split(rest)?;
        match if base == "unix" { "unix" } else { kind } {
            "" => {
                let [host] = parts.hosts[..] else {
                    return Err(unusable("it names several hosts, but no cluster and no sentinel"));
                };
                let db = database(parts.path.trim_matches('/'))?;
                parts.target(host, tls, 6379, db).map(Address::Single)
            }
            "cluster" => {
                let db = database(parts.path.trim_matches('/'))?;
                let nodes = parts.hosts.iter().map(|host| parts.target(host, tls, 6379, db));
                Ok(Address::Cluster(nodes.collect::<Result<_, _>>()?))
            }
            "sentinel" => {
                let path = parts.path.trim_matches('/');
                let (service, db) = path.split_once('/').unwrap_or((path, ""));
                if service.is_empty() {
                    return Err(unusable("it names no service: `…/service`"));
                }
                // A sentinel has a password of its own or none, so the URL's is not sent to it.
                let bare = Parts { user: None, password: None, ..parts.clone() };
                let sentinels = bare.hosts.iter().map(|host| bare.target(host, false, 26379, None));
                let sentinels = sentinels.collect::<Result<_, _>>()?;
                let server = parts.target("localhost", tls, 6379, database(db)?)?;
                let service = decode(service)?;
                Ok(Address::Sentinel { sentinels, service, server })
            }
            "unix" if !tls => {
                let (path, query) = parts.path.split_once('?').unwrap_or((parts.path, ""));
                let db = query.split('&').find_map(|pair| pair.strip_prefix("db="));
                let place = Place::Unix(decode(path)?.into());
                let db = db.map_or(Ok(None), database)?;
                let Parts { user, password, .. } = parts;
                Ok(Address::Single(Target { place, tls, user, password, db }))
            }
            _ => Err(unusable("its scheme is not known")),
        }
    }

    /// Whether a text is meant as a URL, though it may be a wrong one: `redis:/host`.
    pub(super) fn is_meant(text: &str) -> bool {
        let scheme = text.split([':', '+']).next().unwrap_or_default();
        let is_known = BASES.iter().any(|(base, _)| scheme.eq_ignore_ascii_case(base));
        text.contains("://") || (is_known && scheme.len() < text.len())
    }

    /// As it may be shown: without credentials.
    pub(super) fn shown(url: &str) -> String {
        let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        // A socket's URL may hold credentials behind its path.
        let rest = rest.split('?').next().unwrap_or(rest);
        format!("{scheme}://{rest}")
    }
}

/// A URL behind its scheme.
#[derive(Clone)]
struct Parts<'u> {
    user: Option<String>,
    password: Option<Secret>,
    hosts: Vec<&'u str>,
    /// With its `/`
    path: &'u str,
}

impl<'u> Parts<'u> {
    fn split(rest: &'u str) -> Result<Self, Error> {
        let (credentials, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let (hosts, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let some = |text: &str| -> Result<Option<String>, Error> {
            Ok(Some(decode(text)?).filter(|text| !text.is_empty()))
        };
        Ok(Parts {
            user: some(user)?,
            password: some(password)?.map(Secret),
            hosts: hosts.split(',').collect(),
            path,
        })
    }

    fn target(&self, host: &str, tls: bool, port: u16, db: Option<u64>) -> Result<Target, Error> {
        let (host, port) = host_and_port(host, port)?;
        let (user, password) = (self.user.clone(), self.password.clone());
        Ok(Target { place: Place::Tcp { host, port }, tls, user, password, db })
    }
}

/// `host`, `host:port`, `[::1]:port`.
fn host_and_port(text: &str, default: u16) -> Result<(String, u16), Error> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or_else(|| unusable("a `]` is missing"))?;
            (host, port.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map_or(Ok(default), str::parse);
    let port = port.map_err(|_| unusable("its port is not a number up to 65535"))?;
    let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host)? };
    Ok((host, port))
}

fn database(text: &str) -> Result<Option<u64>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| unusable("the database behind its host is not a number"))
}

/// Percent-decoded. The crate leaves a `%` alone that stands for nothing; in a password, that is a mistake.
fn decode(text: &str) -> Result<String, Error> {
    let is_hex = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    if text.match_indices('%').any(|(at, _)| !is_hex(at + 1) || !is_hex(at + 2)) {
        return Err(unusable("it has a `%` that does not stand before two hex digits"));
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| unusable("it is not UTF-8"))
}

/// What is wrong with it, and never the URL itself, which may hold a password.
fn unusable(why: &'static str) -> Error {
    Error::Url { why }
}

impl Target {
    /// The same, at another place.
    pub(super) fn at(&self, host: String, port: u16) -> Target {
        Target { place: Place::Tcp { host, port }, ..self.clone() }
    }
}

/// Without credentials.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Place::Tcp { host, port } => write!(f, "{host}:{port}"),
            Place::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(url: &str) -> String {
        let one = |target: &Target| {
            let password = target.password.as_ref().map(Secret::expose);
            let (tls, user, db) = (target.tls, &target.user, target.db);
            format!("{target} tls={tls} user={user:?} password={password:?} db={db:?}")
        };
        let all = |targets: &[Target]| targets.iter().map(one).collect::<Vec<_>>().join("\n  ");
        match Address::parse(url) {
            Ok(Address::Single(target)) => one(&target),
            Ok(Address::Cluster(nodes)) => format!("cluster\n  {}", all(&nodes)),
            Ok(Address::Sentinel { sentinels, service, server }) => {
                format!("sentinel {service}\n  {}\n  {}", all(&sentinels), one(&server))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_form_of_url_is_read() {
        let shown: Vec<_> = [
            "redis://localhost",
            "redis://audit:p%40ss@10.0.0.1:7000/3",
            "valkeys://:secret@[::1]:6380",
            "redis+unix:///run/redis.sock?db=2",
            "unix://:secret@/run/redis.sock",
            "redis+cluster://:secret@a:7000,b:7001",
            "rediss+sentinel://:secret@a,b:26380/mymaster/1",
            "REDIS://:secret@Host:6380/1",
        ]
        .iter()
        .map(|url| format!("{url}\n  {}\n  {}", Address::shown(url), show(url)))
        .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn what_is_no_url_is_said_without_repeating_it() {
        let shown: Vec<_> = [
            "secret",
            "http://secret@host",
            "redis://secret@host:port",
            "redis://a,b",
            "redis://secret%4@host",
            "redis://:secret@host/zero",
            "redis+sentinel://host",
            "redis://[::1",
            "redis:/:secret@host",
            "redis:secret@host",
        ]
        .iter()
        .map(|url| format!("{} {}", show(url), Address::shown(url)))
        .collect();
        assert!(!shown.concat().contains("secret"), "{shown:?}");
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn a_wrong_url_is_told_from_a_file() {
        for url in ["redis:/:secret@host", "REDISS:host", "redis+unix:/path", "http://host"] {
            assert!(Address::is_meant(url), "{url}");
        }
        for file in ["dump.rdb", "redis", "redis.rdb", "./redis:1", "c:dump.rdb"] {
            assert!(!Address::is_meant(file), "{file}");
        }
    }
}
