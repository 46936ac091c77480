//! A server's address as the client library takes it. The grammar is `keyward_fact::address`; a URL that needs
//! a feature which the application has not enabled is refused here.

use super::error::Error;
use keyward_fact::address::{Address, AddressError, Endpoint, Socket};
use redis::io::tcp::TcpSettings;
use redis::{
    ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, ProtocolVersion, RedisConnectionInfo,
};

pub(super) fn parse(url: &str) -> Result<Address, Error> {
    Address::parse(url).map_err(|error| {
        let help = AddressError::HELP;
        Error::Settings(format!("the URL of the server cannot be used: {error}; {help}"))
    })
}

/// What the client library needs to know of a server.
pub(super) fn info(endpoint: Endpoint) -> Result<ConnectionInfo, Error> {
    let address = match endpoint.socket {
        Socket::Unix(path) => ConnectionAddr::Unix(path),
        #[cfg(feature = "tls")]
        Socket::Tcp { host, port } if endpoint.tls => {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        }
        #[cfg(not(feature = "tls"))]
        Socket::Tcp { .. } if endpoint.tls => return Err(missing("tls", "rediss://")),
        Socket::Tcp { host, port } => ConnectionAddr::Tcp(host, port),
    };
    let mut settings = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_db(endpoint.db.unwrap_or_default().into());
    if let Some(user) = endpoint.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = endpoint.password {
        settings = settings.set_password(password.expose());
    }
    // Off by default in the library; a command then waits for the last one's acknowledgement,
    // which took 39 to 68 % of the throughput.
    let tcp = TcpSettings::default().set_nodelay(true);
    let info = address.into_connection_info().map_err(|error| Error::from_redis(&error))?;
    Ok(info.set_redis_settings(settings).set_tcp_settings(tcp))
}

#[cfg(not(all(feature = "cluster", feature = "tls")))]
pub(super) fn missing(feature: &str, scheme: &str) -> Error {
    Error::Settings(format!("`{scheme}` needs the feature `{feature}` of keyward: enable it"))
}
