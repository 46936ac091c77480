//! One attempt to send a message. What is said about a failure never has the URL, which may hold a secret.

use super::Message;
use crate::config::Webhook;
use crate::folder::why;
use keyward_audit::live::Secret;
use rustls::crypto::ring;
use std::io;
use std::path::Path;
use std::sync::Arc;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Agent, Error};

/// The largest file with certificates.
const MAX_CERTIFICATES: u64 = 4 * 1024 * 1024;

/// Sends to one address.
pub(super) struct Sender {
    agent: Agent,
    url: Secret,
    token: Option<Secret>,
}

/// Why a message was not taken, in a sentence without a full stop.
pub(super) enum Failed {
    /// It may be taken later
    Away(String),
    /// It will never be taken
    Refused(String),
}

impl Failed {
    pub(super) fn why(&self) -> &str {
        match self {
            Failed::Away(why) | Failed::Refused(why) => why,
        }
    }
}

impl Sender {
    /// # Errors
    /// If the certificates to trust cannot be read.
    pub(super) fn new(webhook: &Webhook) -> io::Result<Self> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the message, and perhaps the token, to somebody else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(webhook.timeout))
            .user_agent(concat!("keyward/", env!("CARGO_PKG_VERSION")));
        if webhook.url.expose().starts_with("https://") {
            config = config.tls_config(
                TlsConfig::builder()
                    .provider(TlsProvider::Rustls)
                    .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
                    .root_certs(roots(webhook.authority.as_deref())?)
                    .build(),
            );
        }
        let (url, token) = (webhook.url.clone(), webhook.token.clone());
        Ok(Sender { agent: config.build().into(), url, token })
    }

    pub(super) fn send(&self, message: &Message) -> Result<(), Failed> {
        let body = serde_json::to_vec(message);
        let body = body.map_err(|error| Failed::Refused(error.to_string()))?;
        let mut request =
            self.agent.post(self.url.expose()).header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {}", token.expose()));
        }
        match request.send(&body[..]) {
            Ok(answer) => match answer.status().as_u16() {
                200..=299 => Ok(()),
                // Too slow, too early, too often, or its own fault.
                status @ (408 | 425 | 429 | 500..=599) => Err(Failed::Away(answered(status))),
                status => Err(Failed::Refused(answered(status))),
            },
            Err(error) => Err(Failed::Away(explain(&error))),
        }
    }
}

fn answered(status: u16) -> String {
    format!("it answers with status {status}")
}

fn explain(error: &Error) -> String {
    match error {
        Error::Timeout(_) => "it does not answer in time".to_owned(),
        Error::HostNotFound => "its host has no address".to_owned(),
        Error::ConnectionFailed => "it cannot be reached".to_owned(),
        Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "nothing listens there".to_owned()
        }
        // What TLS refuses while it reads arrives as an error of the stream.
        Error::Io(error) => match error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>())
        {
            Some(error) => format!("TLS: {error}"),
            None => why(error),
        },
        Error::Rustls(error) => format!("TLS: {error}"),
        Error::Tls(error) => format!("TLS: {error}"),
        Error::Protocol(_) => "it does not answer like a web server".to_owned(),
        _ => "the request cannot be sent".to_owned(),
    }
}

/// The certificates of the system, and of a file.
fn roots(file: Option<&Path>) -> io::Result<RootCerts> {
    let system = rustls_native_certs::load_native_certs().certs;
    let mut roots: Vec<Certificate<'static>> =
        system.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    if let Some(file) = file {
        let pem = keyward_fact::read_file(file, MAX_CERTIFICATES)?;
        let certificate = |item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        };
        roots.extend(parse_pem(&pem).filter_map(certificate));
    }
    Ok(RootCerts::new_with_certs(&roots))
}
