use std::fmt::Write;
use std::path::Path;

use crate::flavor::Flavor;
use crate::port;
use crate::server::{LaunchError, Server};
use crate::tls::Certificates;

/// How a server is set up before it starts.
#[derive(Clone, Debug)]
#[must_use = "nothing runs until `start` is called"]
pub struct ServerOptions {
    pub(crate) flavor: Flavor,
    pub(crate) mode: Mode,
    pub(crate) password: Option<String>,
    tls: bool,
    pub(crate) own_clock: bool,
    lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Standalone,
    ClusterNode,
    Sentinel,
}

/// Where one server listens, next to the Unix socket in its folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) plain: u16,
    pub(crate) tls: Option<u16>,
    pub(crate) bus: Option<u16>,
}

impl ServerOptions {
    pub(crate) fn new(flavor: Flavor) -> Self {
        Self {
            flavor,
            mode: Mode::Standalone,
            password: None,
            tls: false,
            own_clock: false,
            lines: Vec::new(),
        }
    }

    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Listens for TLS too, on a port of its own, with certificates made on the fly. The server
    /// asks clients for no certificate; `.config("tls-auth-clients", "yes")` makes it.
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Gives it a clock of its own, which [`Server::set_clock_ahead`] moves.
    pub fn own_clock(mut self) -> Self {
        self.own_clock = true;
        self
    }

    /// Sets the password of the default user.
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self.config("requirepass", password)
    }

    /// Adds an ACL user: `.user("audit", "on >secret ~* +@read")`.
    pub fn user(self, name: &str, rules: &str) -> Self {
        self.config("user", &format!("{name} {rules}"))
    }

    /// Renames a command, or takes it away with `""`, as managed services do.
    pub fn rename_command(self, command: &str, name: &str) -> Self {
        self.config("rename-command", &format!("{command} \"{name}\""))
    }

    /// Bounds the memory: `.memory("2mb", "allkeys-lru")`.
    pub fn memory(self, maxmemory: &str, policy: &str) -> Self {
        self.config("maxmemory", maxmemory).config("maxmemory-policy", policy)
    }

    /// Makes it a replica of another server, with that one's password.
    pub fn replica_of(mut self, primary: &Server) -> Self {
        if let Some(password) = &primary.options().password {
            self = self.config("masterauth", password);
        }
        self.config("replicaof", &format!("127.0.0.1 {}", primary.port()))
    }

    /// Adds a line to the configuration, which wins over the testkit's own.
    pub fn config(mut self, directive: &str, value: &str) -> Self {
        self.lines.push(format!("{directive} {value}"));
        self
    }

    /// Starts it and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it does not start; the message holds its log.
    #[track_caller]
    pub fn start(self) -> Server {
        self.launch().unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub(crate) fn launch(self) -> Result<Server, LaunchError> {
        Server::launch(self)
    }

    pub(crate) fn pick_ports(&self) -> Ports {
        Ports {
            plain: port::free(),
            tls: self.tls.then(port::free),
            bus: (self.mode == Mode::ClusterNode).then(port::free),
        }
    }

    pub(crate) fn certificates(&self, folder: &Path) -> Option<Certificates> {
        self.tls.then(|| Certificates::make(folder))
    }

    pub(crate) fn render(
        &self,
        folder: &Path,
        socket: &Path,
        ports: Ports,
        certificates: Option<&Certificates>,
    ) -> String {
        let mut text = format!(
            "bind 127.0.0.1\nport {}\nunixsocket {}\ndir {}\n",
            ports.plain,
            socket.display(),
            folder.display()
        );
        if self.mode != Mode::Sentinel {
            text.push_str(SERVER);
        }
        if let Some(bus) = ports.bus {
            let _ = writeln!(text, "{CLUSTER_NODE}cluster-port {bus}");
        }
        if let (Some(port), Some(certificates)) = (ports.tls, certificates) {
            let (certificate, key) = certificates.server();
            let _ = write!(
                text,
                "tls-port {port}\ntls-cert-file {}\ntls-key-file {}\ntls-ca-cert-file {}\n\
                 tls-auth-clients no\n",
                certificate.display(),
                key.display(),
                certificates.authority().display()
            );
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// No persistence, since the folder is thrown away; DEBUG for tests that must hold a server still;
/// replicas that are in sync at once rather than after five seconds, and that CLUSTER SLOTS lists
/// at once, which it does only after the first ping of their primary.
const SERVER: &str = "\
save \"\"
appendonly no
enable-debug-command local
repl-diskless-sync yes
repl-diskless-sync-delay 0
repl-ping-replica-period 1
";

/// A dead primary is noticed after two seconds: short enough for a test of failover, long enough
/// for a busy machine. Its replica may always take over, and replicas stay with their primaries.
const CLUSTER_NODE: &str = "\
cluster-enabled yes
cluster-config-file nodes.conf
cluster-node-timeout 2000
cluster-replica-validity-factor 0
cluster-allow-replica-migration no
";
