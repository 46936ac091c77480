//! Where a server is, from a URL.
//!
//! `redis://user:password@host:6379/0`, `rediss://…` with TLS, `redis+unix:///path?db=0`,
//! `redis+cluster://host:7000,host:7001`, `redis+sentinel://host:26379,host:26380/service/0`; the
//! last two with a second `s` behind `redis` for TLS.

use super::error::Error;
use redis::io::tcp::TcpSettings;
use redis::{ConnectionInfo, IntoConnectionInfo as _, ProtocolVersion};

/// One server, one of its clusters, or what a sentinel names.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    Single(ConnectionInfo),
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "its nodes are not asked"))]
    Cluster(Vec<ConnectionInfo>),
    Sentinel {
        sentinels: Vec<ConnectionInfo>,
        service: String,
        server: ConnectionInfo,
    },
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("it has no `://`"))?;
        let secure = matches!(plain(scheme), "rediss" | "valkeys");
        if secure && cfg!(not(feature = "tls")) {
            return Err(missing("tls", &format!("{scheme}://")));
        }
        match scheme {
            "redis+cluster" | "rediss+cluster" | "valkey+cluster" | "valkeys+cluster" => {
                let (credentials, hosts, path) = split(rest);
                let scheme = plain(scheme);
                let nodes =
                    hosts.map(|host| single(&format!("{scheme}://{credentials}{host}{path}")));
                Ok(Address::Cluster(nodes.collect::<Result<_, _>>()?))
            }
            "redis+sentinel" | "rediss+sentinel" | "valkey+sentinel" | "valkeys+sentinel" => {
                let (credentials, hosts, path) = split(rest);
                let mut path = path.trim_start_matches('/').splitn(2, '/');
                let service = path.next().filter(|service| !service.is_empty());
                let service =
                    service.ok_or_else(|| unusable("it names no service: `…/service`"))?;
                let db = path.next().unwrap_or("0");
                let sentinels = hosts.map(|host| single(&format!("redis://{host}")));
                let server = single(&format!("{}://{credentials}localhost/{db}", plain(scheme)))?;
                let sentinels = sentinels.collect::<Result<_, _>>()?;
                Ok(Address::Sentinel { sentinels, service: service.to_owned(), server })
            }
            _ => Ok(Address::Single(single(url)?)),
        }
    }
}

/// Credentials with their `@`, the hosts, and the path with its `/`.
fn split(rest: &str) -> (&str, impl Iterator<Item = &str>, &str) {
    let (credentials, rest) = match rest.rfind('@') {
        Some(at) => rest.split_at(at + 1),
        None => ("", rest),
    };
    let (hosts, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (credentials, hosts.split(',').filter(|host| !host.is_empty()), path)
}

fn plain(scheme: &str) -> &str {
    scheme.split('+').next().unwrap_or(scheme)
}

fn single(url: &str) -> Result<ConnectionInfo, Error> {
    // What the library says may repeat the URL, and a URL may hold a password.
    let info = url.into_connection_info().map_err(|error| unusable(error.category()))?;
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    // Off by default in the library; a command then waits for the last one's acknowledgement,
    // which took 39 to 68 % of the throughput.
    let tcp = TcpSettings::default().set_nodelay(true);
    Ok(info.set_redis_settings(settings).set_tcp_settings(tcp))
}

/// A URL that takes a feature which the application has not switched on.
pub(super) fn missing(feature: &str, url: &str) -> Error {
    Error::Settings(format!("`{url}` takes the feature `{feature}` of keyward: enable it"))
}

fn unusable(why: &str) -> Error {
    Error::Settings(format!(
        "the URL of the server cannot be used: {why}; write `redis://host:6379`, `rediss://…`, \
         `redis+unix:///path`, `redis+cluster://host:port,host:port` or \
         `redis+sentinel://host:port/service`"
    ))
}
