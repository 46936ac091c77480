//! Commands that pages and the API propose: they work as they are copied, except for a password that is in no file.

use crate::config::Source;
use crate::state::Current;
use keyward_audit::report::Finding;
use keyward_fact::address::{Address, Endpoint, Socket};
use std::path::Path;

/// How commands reach a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    /// Its URL without a password, and options: `redis://host --password-file FILE`
    keyward: String,
    /// Options of `redis-cli`: `-h host -p 6379`
    redis_cli: String,
}

impl Reach {
    pub(crate) fn new(source: &Source) -> Self {
        let address = Address::parse(&source.url).ok();
        let endpoint = address.as_ref().and_then(|it| match it {
            Address::Single(endpoint) => Some(endpoint),
            Address::Cluster(seeds) => seeds.first(),
            // Where the server is, only the sentinels know.
            Address::Sentinel { .. } => None,
        });
        let server = match &address {
            Some(Address::Sentinel { server, .. }) => Some(server),
            _ => endpoint,
        };
        let options = &source.options;
        let user = options.user.clone().or_else(|| server.and_then(|it| it.user.clone()));
        let has_password =
            options.password.is_some() || server.is_some_and(|it| it.password.is_some());
        let mut keyward = vec![quoted(&keyward_audit::live::shown(&source.url))];
        let mut option = |name: &str, value: &str| keyward.extend([name.to_owned(), quoted(value)]);
        let path = |path: &Path| path.display().to_string();
        if let Some(user) = &user {
            option("--user", user);
        }
        if has_password {
            let file = source.password_file.as_deref().map(path);
            option("--password-file", file.as_deref().unwrap_or("PASSWORD_FILE"));
        }
        if let Some(authority) = &options.tls.authority {
            option("--tls-ca", &path(authority));
        }
        if let Some((certificate, key)) = &options.tls.client {
            option("--tls-cert", &path(certificate));
            option("--tls-key", &path(key));
        }
        let redis_cli = endpoint.map(|it| redis_cli(it, user.as_deref(), has_password));
        Reach { keyward: keyward.join(" "), redis_cli: redis_cli.unwrap_or_default() }
    }

    /// The command that plans the repair of a finding, if there is one.
    pub(crate) fn fix(&self, current: &Current, finding: &Finding) -> Option<String> {
        let (rule, schema) = current.repairs.rule(finding)?;
        let schemas = &current.schemas;
        let is_it = |it: &keyward_schema::Schema| it.keyspace.name.value == schema;
        let path = schemas.each.iter().position(is_it).and_then(|it| schemas.paths.get(it));
        let schema = path.map(|it| format!(" --schema {}", quoted(it))).unwrap_or_default();
        Some(format!("keyward plan fix {}{schema} --rule {rule} --out plan.json", self.keyward))
    }

    /// HTML in which each command that scans for keys names the server.
    pub(crate) fn scanning(&self, html: &str) -> String {
        if self.redis_cli.is_empty() {
            return html.to_owned();
        }
        let options = keyward_fact::escape_html(&self.redis_cli);
        let mut parts = html.split("redis-cli ");
        let mut all = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_scan = part.starts_with("--scan ") || part.starts_with("-n ");
            all.push_str("redis-cli ");
            if is_scan {
                all.push_str(&options);
                all.push(' ');
            }
            all.push_str(part);
        }
        all
    }
}

fn redis_cli(endpoint: &Endpoint, user: Option<&str>, has_password: bool) -> String {
    let mut words = match &endpoint.socket {
        Socket::Tcp { host, port } => vec![format!("-h {} -p {port}", quoted(host))],
        Socket::Unix(path) => vec![format!("-s {}", quoted(&path.display().to_string()))],
    };
    words.extend(endpoint.tls.then(|| "--tls".to_owned()));
    words.extend(user.map(|user| format!("--user {}", quoted(user))));
    words.extend(has_password.then(|| "--askpass".to_owned()));
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:@,+=%".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyward_audit::live::{Options, Secret};

    #[test]
    fn a_server_is_reached_without_showing_its_password() {
        let reach = |url: &str, file: Option<&str>| {
            let mut options = Options::default();
            options.password = file.map(|_| Secret::new("pw"));
            let mut source = Source::new("a".into(), url.into(), Vec::new(), options);
            source.password_file = file.map(Into::into);
            let reach = Reach::new(&source);
            (reach.keyward, reach.redis_cli)
        };
        let of = |keyward: &str, cli: &str| (keyward.to_owned(), cli.to_owned());
        assert_eq!(reach("redis://h:1", None), of("redis://h:1", "-h h -p 1"));
        assert_eq!(
            reach("rediss://u:pw@h", Some("/a b")),
            of(
                "rediss://h --user u --password-file '/a b'",
                "-h h -p 6379 --tls --user u --askpass"
            )
        );
        assert_eq!(
            reach("redis://:pw@h", None),
            of("redis://h --password-file PASSWORD_FILE", "-h h -p 6379 --askpass")
        );
        assert_eq!(reach("redis+unix:///s", None), of("redis+unix:///s", "-s /s"));
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
