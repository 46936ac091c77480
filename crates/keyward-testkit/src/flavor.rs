use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::options::ServerOptions;
use crate::repository;
use crate::server::Server;

/// Which server a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavor {
    /// Redis 7.0, the oldest that Keyward supports.
    Redis,
    /// Valkey 9.1.
    Valkey,
}

impl Flavor {
    /// Both servers, for a test that must hold on each.
    pub const ALL: [Self; 2] = [Self::Redis, Self::Valkey];

    /// A server of this flavor, to be configured and started.
    pub fn server(self) -> ServerOptions {
        ServerOptions::new(self)
    }

    /// A server of this flavor with nothing special about it.
    pub fn start(self) -> Server {
        self.server().start()
    }

    /// The flavors that have TLS. Redis must; the Valkey that `./test` fetches was built without.
    pub fn with_tls() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|flavor| *flavor == Self::Redis || flavor.has_tls())
    }

    /// Whether this server was built with TLS, found out by starting it once.
    pub fn has_tls(self) -> bool {
        static REDIS: OnceLock<bool> = OnceLock::new();
        static VALKEY: OnceLock<bool> = OnceLock::new();
        let known = match self {
            Self::Redis => &REDIS,
            Self::Valkey => &VALKEY,
        };
        *known.get_or_init(|| match self.server().tls().launch() {
            Ok(_) => true,
            Err(failure) if failure.log.contains("connection type tls") => false,
            Err(failure) => panic!("{failure}"),
        })
    }

    /// The program of this server.
    ///
    /// # Panics
    ///
    /// Where it is missing.
    pub fn binary(self) -> &'static Path {
        static REDIS: OnceLock<PathBuf> = OnceLock::new();
        static VALKEY: OnceLock<PathBuf> = OnceLock::new();
        match self {
            Self::Redis => REDIS.get_or_init(|| {
                named_by("KEYWARD_REDIS_SERVER").or_else(|| on_path("redis-server")).expect(
                    "`redis-server` is not on the PATH: run `./test tools`, \
                     or name it in KEYWARD_REDIS_SERVER",
                )
            }),
            Self::Valkey => VALKEY.get_or_init(|| {
                let fetched = repository().join("target/tools/valkey-server");
                named_by("KEYWARD_VALKEY_SERVER")
                    .or_else(|| fetched.is_file().then_some(fetched))
                    .expect(
                        "`target/tools/valkey-server` is missing: run `./test tools`, \
                         or name it in KEYWARD_VALKEY_SERVER",
                    )
            }),
        }
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redis => "redis",
            Self::Valkey => "valkey",
        })
    }
}

fn named_by(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable)?);
    assert!(path.is_file(), "{variable} names `{}`, which is not a file", path.display());
    Some(path)
}

fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
