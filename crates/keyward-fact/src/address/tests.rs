use super::*;
use proptest::prelude::*;

/// Everything that a URL says, the password included.
fn read(url: &str) -> String {
    let one = |endpoint: &Endpoint| {
        let user = endpoint.user.as_deref().unwrap_or("-");
        let password = endpoint.password.as_ref().map_or("-", Secret::expose);
        let db = endpoint.db.map_or("-".to_owned(), |db| db.to_string());
        let tls = if endpoint.tls { " tls" } else { "" };
        format!("{endpoint} {user} {password} {db}{tls}")
    };
    let all = |endpoints: &[Endpoint]| endpoints.iter().map(one).collect::<Vec<_>>().join(", ");
    match Address::parse(url) {
        Ok(Address::Single(endpoint)) => one(&endpoint),
        Ok(Address::Cluster(nodes)) => format!("cluster {}", all(&nodes)),
        Ok(Address::Sentinel { sentinels, service, server }) => {
            format!("sentinel {} → {service}, {}", all(&sentinels), one(&server))
        }
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn every_form_of_url_is_read() {
    for (url, meaning, shown) in [
        ("redis://localhost", "localhost:6379 - - -", "redis://localhost"),
        (
            "redis://audit:p%40ss@10.0.0.1:7000/3",
            "10.0.0.1:7000 audit p@ss 3",
            "redis://10.0.0.1:7000/3",
        ),
        ("redis://:a/b@c@host", "host:6379 - a/b@c -", "redis://host"),
        ("valkeys://:secret@[::1]:6380", "[::1]:6380 - secret - tls", "valkeys://[::1]:6380"),
        ("REDIS://:secret@Host:6380/1", "Host:6380 - secret 1", "REDIS://Host:6380/1"),
        (
            "redis+unix:///run/redis@1.sock?db=2",
            "/run/redis@1.sock - - 2",
            "redis+unix:///run/redis@1.sock",
        ),
        ("unix://:secret@/run/redis.sock", "/run/redis.sock - secret -", "unix:///run/redis.sock"),
        ("valkey+unix:///s?user=app&pass=a%26b@c", "/s app a&b@c -", "valkey+unix:///s"),
        (
            "redis+cluster://:secret@a:7000,b:7001",
            "cluster a:7000 - secret -, b:7001 - secret -",
            "redis+cluster://a:7000,b:7001",
        ),
        (
            "rediss+sentinel://:secret@a,b:26380/my%20service/1",
            "sentinel a:26379 - - -, b:26380 - - - → my service, localhost:6379 - secret 1 tls",
            "rediss+sentinel://a,b:26380/my%20service/1",
        ),
    ] {
        assert_eq!(read(url), meaning, "{url}");
        assert_eq!(Address::shown(url), shown, "{url}");
        assert!(Address::is_meant(url), "{url}");
        assert!(!format!("{:?}", Address::parse(url)).contains("secret"), "{url}");
    }
}

#[test]
fn a_wrong_url_is_refused_with_what_to_write() {
    for (url, why) in [
        ("secret", "it has no `://`"),
        ("redis:/:secret@host", "it has no `://`"),
        ("http://secret@host", "its scheme is unknown"),
        ("rediss+unix:///secret", "its scheme is unknown"),
        ("unix+cluster://secret", "its scheme is unknown"),
        ("redis://secret@host:port", "its port is not a number up to 65535"),
        ("redis://", "a host is missing"),
        ("redis://:secret@:6379", "a host is missing"),
        ("redis+cluster://a,,b", "a host is missing"),
        ("redis://[::1", "a `]` is missing"),
        ("redis://[::1]6379", "a `:` is missing between its `]` and its port"),
        ("redis://a,b", "it names several hosts: write `redis+cluster://` or `redis+sentinel://`"),
        ("redis://:secret@host/zero", "its database is not a number"),
        ("redis://host?protocol=resp2", "only the URL of a Unix socket can have a `?`"),
        ("rediss://host/#insecure", "it has a `#`, which the URL of a server cannot have"),
        (
            "redis://host/?pass=secret@secret",
            "write `%3F` for a `?`, `%23` for a `#` and `%40` for an `@`",
        ),
        ("redis+sentinel://host", "it does not name a service: write `…/service`"),
        (
            "redis+unix://run/secret.sock",
            "a Unix socket has an absolute path: write `redis+unix:///path`",
        ),
        ("unix:///s?password=secret", "its parameters can only be `db`, `user` and `pass`"),
        (
            "redis://:secret%4@host",
            "two hex digits must follow its `%`: write `%25` for the character itself",
        ),
        ("redis://:%ff@host", "it is not UTF-8"),
    ] {
        assert_eq!(read(url), format!("error: {why}"), "{url}");
    }
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

proptest! {
    #[test]
    fn whatever_a_url_is_no_panic_and_no_secret_is_printed(
        scheme in "(redis|rediss|valkey|unix|http)(\\+(cluster|sentinel|unix))?",
        before in "[a-z%/:@?#&=]{0,4}",
        after in "[a-z%/:@?#&=]{0,4}",
        hosts in "[a-z0-9.,:\\[\\]%]{0,12}",
        rest in "[a-z0-9/?#&=%]{0,12}",
    ) {
        let userinfo = format!("{scheme}://:{before}S3CRET{after}@{hosts}{rest}");
        let parameter = format!("{scheme}://{hosts}{rest}?pass={before}S3CRET{after}");
        for url in [userinfo, parameter] {
            let parsed = Address::parse(&url);
            let mut printed = vec![Address::shown(&url), format!("{parsed:?}")];
            match &parsed {
                Ok(Address::Single(one)) => printed.push(one.to_string()),
                Ok(Address::Cluster(nodes)) => printed.extend(nodes.iter().map(ToString::to_string)),
                Ok(Address::Sentinel { sentinels, .. }) => {
                    printed.extend(sentinels.iter().map(ToString::to_string));
                }
                Err(error) => printed.push(error.to_string()),
            }
            prop_assert!(!printed.concat().contains("S3CRET"), "{url}: {printed:?}");
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}", scheme in "(redis|unix|rediss\\+sentinel)://") {
        let _ = (Address::parse(&text), Address::shown(&text), Address::is_meant(&text));
        let url = format!("{scheme}{text}");
        let _ = (Address::parse(&url), Address::shown(&url));
    }
}
