//! What of a server's words may be shown: an error can repeat the arguments of a command, and with them a key.
//! So nothing of it is kept but what is written here.

/// Beginnings that are known, each shown as it stands here.
const PHRASES: [&str; 20] = [
    "CLUSTERDOWN Hash slot not served",
    "CLUSTERDOWN The cluster is down",
    "DENIED Redis is running in protected mode",
    "DENIED Running in protected mode",
    "ERR AUTH <password> called without any password configured for the default user",
    "ERR An LFU maxmemory policy",
    "ERR Client sent AUTH, but no password is set",
    "ERR DB index is out of range",
    "ERR SELECT is not allowed in cluster mode",
    "ERR This instance has cluster support disabled",
    "ERR Unrecognized REPLCONF option: rdb-only",
    "ERR invalid DB index",
    "ERR invalid password",
    "ERR max number of clients reached",
    "ERR max number of clients",
    "ERR no such key",
    "LOADING Redis is loading the dataset in memory",
    "NOAUTH Authentication required",
    "WRONGPASS invalid username-password pair or user is disabled",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
];

/// First words, where the rest is not known.
const CODES: [&str; 21] = [
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "DENIED",
    "ERR",
    "EXECABORT",
    "IOERR",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "NOMASTERLINK",
    "NOPERM",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "UNKILLABLE",
    "WRONGPASS",
    "WRONGTYPE",
];

/// Commands that are sent here, as an error may name them.
const COMMANDS: [&str; 44] = [
    "auth",
    "client",
    "client|no-touch",
    "client|setname",
    "cluster",
    "cluster|nodes",
    "config",
    "config|get",
    "dbsize",
    "getrange",
    "hlen",
    "hpttl",
    "hscan",
    "info",
    "llen",
    "lrange",
    "memory",
    "memory|usage",
    "object",
    "object|encoding",
    "object|freq",
    "object|idletime",
    "ping",
    "psync",
    "pttl",
    "readonly",
    "replconf",
    "scan",
    "scard",
    "select",
    "sentinel",
    "sentinel|get-master-addr-by-name",
    "sentinel|replicas",
    "sscan",
    "strlen",
    "sync",
    "time",
    "type",
    "xlen",
    "xrange",
    "xrevrange",
    "zcard",
    "zrange",
    "zscan",
];

/// What may be shown of an error.
pub(super) fn of_error(text: &str) -> String {
    if let Some(phrase) = PHRASES.iter().find(|phrase| text.starts_with(**phrase)) {
        return (*phrase).to_owned();
    }
    let code = text.split(' ').next().unwrap_or_default();
    match code {
        // Which key it is, and whose name the user has, is nobody else's business.
        "NOPERM" if text.contains("permissions to access") => {
            "NOPERM no permissions to access a key".to_owned()
        }
        "NOPERM" if text.contains("permissions to run") => {
            with_command("NOPERM this user has no permissions to run the", "", text)
        }
        "ERR" if text.starts_with("ERR unknown command") => {
            with_command("ERR unknown", "command", text)
        }
        "ERR" if text.to_ascii_lowercase().starts_with("err unknown subcommand") => {
            with_command("ERR unknown", "subcommand", text)
        }
        code if CODES.contains(&code) => code.to_owned(),
        _ => "an error of its own".to_owned(),
    }
}

/// An error about a command, with the command's name if it is one that is sent here.
fn with_command(before: &str, kind: &str, text: &str) -> String {
    let named = text.split(['\'', '`']).nth(1).map(str::to_ascii_lowercase);
    let named = named.filter(|named| COMMANDS.contains(&named.as_str()));
    match (kind, named) {
        ("", Some(named)) => format!("{before} '{named}' command"),
        ("", None) => format!("{before} command"),
        (kind, Some(named)) => format!("{before} {kind} '{named}'"),
        (kind, None) => format!("{before} {kind}"),
    }
}

/// What may be shown of a status.
pub(super) fn of_status(text: &str) -> String {
    const KNOWN: [&str; 12] = [
        "OK",
        "PONG",
        "FULLRESYNC",
        "CONTINUE",
        "BUSY",
        "none",
        "string",
        "hash",
        "list",
        "set",
        "zset",
        "stream",
    ];
    let known = KNOWN.iter().find(|known| text.split(' ').next() == Some(**known));
    known.map_or("another status", |known| known).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_shows_an_argument() {
        let texts = [
            (
                "ERR unknown command 'STRLEN', with args beginning with: 'key' ",
                "ERR unknown command 'strlen'",
            ),
            ("ERR unknown command `key`, with args beginning with: ", "ERR unknown command"),
            (
                "ERR Unknown subcommand or wrong number of arguments for 'key'",
                "ERR unknown subcommand",
            ),
            (
                "NOPERM User key has no permissions to run the 'memory|usage' command",
                "NOPERM this user has no permissions to run the 'memory|usage' command",
            ),
            ("NOPERM No permissions to access key", "NOPERM no permissions to access a key"),
            ("NOAUTH Authentication required.", "NOAUTH Authentication required"),
            ("MOVED 1234 key", "MOVED"),
            ("ERR Error running script at key", "ERR"),
            ("KEY key", "an error of its own"),
            ("", "an error of its own"),
        ];
        for (text, shown) in texts {
            assert_eq!(of_error(text), shown, "{text}");
        }
        assert_eq!(of_status("FULLRESYNC 1 0"), "FULLRESYNC");
        assert_eq!(of_status("key"), "another status");
    }
}
