use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tempfile::TempDir;

use crate::clock;
use crate::flavor::Flavor;
use crate::options::{Mode, Ports, ServerOptions};
use crate::resp::{Connection, Reply};
use crate::tls::Certificates;
use crate::wait::{wait_for, wait_until};

/// A real server in a temporary folder, ready when it is made, gone when it is dropped.
///
/// It listens on a loopback port and on a Unix socket in its folder. The methods below talk to it
/// through the socket, so that they cannot meet a stranger on a port that was taken meanwhile.
pub struct Server {
    options: ServerOptions,
    ports: Ports,
    certificates: Option<Certificates>,
    process: Mutex<Process>,
    folder: TempDir,
}

/// What a server that was started says.
enum Answer {
    Ready,
    Loading,
    Dead,
}

struct Process {
    child: Child,
    paused: bool,
}

impl Server {
    /// Starts Redis.
    #[track_caller]
    pub fn redis() -> Self {
        Flavor::Redis.start()
    }

    /// Starts Valkey.
    #[track_caller]
    pub fn valkey() -> Self {
        Flavor::Valkey.start()
    }

    /// Starts each server in turn: `for server in Server::all() { … }`. A test that needs options
    /// goes over [`Flavor::ALL`] instead.
    pub fn all() -> impl Iterator<Item = Self> {
        Flavor::ALL.into_iter().map(Flavor::start)
    }

    pub(crate) fn launch(options: ServerOptions) -> Result<Self, LaunchError> {
        const ATTEMPTS: usize = 10;
        for _ in 1..ATTEMPTS {
            match Self::launch_once(options.clone()) {
                Err(failure) if failure.port_was_taken() => {}
                result => return result,
            }
        }
        Self::launch_once(options)
    }

    fn launch_once(options: ServerOptions) -> Result<Self, LaunchError> {
        let folder = tempfile::Builder::new()
            .prefix("keyward-")
            .tempdir()
            .expect("the temporary folder is writable");
        let ports = options.pick_ports();
        let certificates = options.certificates(folder.path());
        let config = options.render(
            folder.path(),
            &folder.path().join(SOCKET),
            ports,
            certificates.as_ref(),
        );
        fs::write(folder.path().join(CONFIG), config).expect("the temporary folder is writable");
        if options.own_clock {
            clock::make(folder.path());
        }
        let process = Mutex::new(Process::start(&options, folder.path()));
        let server = Self { options, ports, certificates, process, folder };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> Result<(), LaunchError> {
        loop {
            let answer = wait_for(|| {
                if !self.is_running() {
                    return Some(Answer::Dead);
                }
                match self.connect_unauthenticated().and_then(|mut c| c.command(&["PING"])) {
                    Ok(Reply::Error(message)) if message.starts_with("LOADING") => {
                        Some(Answer::Loading)
                    }
                    // It answers; that it wants a password is an answer too.
                    Ok(_) => Some(Answer::Ready),
                    Err(_) => None,
                }
            });
            match answer {
                Some(Answer::Ready) => return Ok(()),
                // However long that takes: twenty million keys take minutes.
                Some(Answer::Loading) => thread::sleep(Duration::from_millis(2)),
                Some(Answer::Dead) | None => break,
            }
        }
        Err(LaunchError { flavor: self.options.flavor, log: self.log() })
    }

    /// Sends one command on a connection of its own.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached or answers with an error.
    #[track_caller]
    pub fn command<A: AsRef<[u8]>>(&self, args: &[A]) -> Reply {
        let failure = match self.try_command(args) {
            Ok(Reply::Error(message)) => message,
            Ok(reply) => return reply,
            Err(error) => format!("no reply: {error}"),
        };
        let words: Vec<_> = args.iter().map(|arg| String::from_utf8_lossy(arg.as_ref())).collect();
        panic!("`{}` on {self}: {failure}", words.join(" "))
    }

    /// Sends one command on a connection of its own; an error reply is a reply.
    pub fn try_command<A: AsRef<[u8]>>(&self, args: &[A]) -> io::Result<Reply> {
        self.try_connect()?.command(args)
    }

    /// Connects as the default user.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached.
    #[track_caller]
    pub fn connect(&self) -> Connection {
        match self.try_connect() {
            Ok(connection) => connection,
            Err(error) => panic!("{self} cannot be reached: {error}"),
        }
    }

    fn try_connect(&self) -> io::Result<Connection> {
        let mut connection = self.connect_unauthenticated()?;
        if let Some(password) = &self.options.password {
            connection.command(&["AUTH", password])?;
        }
        Ok(connection)
    }

    fn connect_unauthenticated(&self) -> io::Result<Connection> {
        Connection::unix(&self.socket())
    }

    /// Which server it is.
    pub fn flavor(&self) -> Flavor {
        self.options.flavor
    }

    /// The port without TLS.
    pub fn port(&self) -> u16 {
        self.ports.plain
    }

    /// `127.0.0.1:` and the port without TLS.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.ports.plain)
    }

    /// `redis://…`, with the password if there is one.
    pub fn url(&self) -> String {
        format!("redis://{}{}", self.userinfo(), self.address())
    }

    /// `rediss://…`, with the password if there is one.
    ///
    /// # Panics
    ///
    /// When the server was started without TLS.
    #[track_caller]
    pub fn tls_url(&self) -> String {
        format!("rediss://{}127.0.0.1:{}", self.userinfo(), self.tls_port())
    }

    /// `redis+unix://…`, with the password if there is one.
    pub fn unix_url(&self) -> String {
        format!("redis+unix://{}{}", self.userinfo(), self.socket().display())
    }

    fn userinfo(&self) -> String {
        self.options.password.as_ref().map_or_else(String::new, |password| format!(":{password}@"))
    }

    /// The port with TLS.
    ///
    /// # Panics
    ///
    /// When the server was started without TLS.
    #[track_caller]
    pub fn tls_port(&self) -> u16 {
        self.ports.tls.expect("the server was started without `.tls()`")
    }

    /// The certificates that belong to the TLS port.
    ///
    /// # Panics
    ///
    /// When the server was started without TLS.
    #[track_caller]
    pub fn certificates(&self) -> &Certificates {
        self.certificates.as_ref().expect("the server was started without `.tls()`")
    }

    /// The Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// The folder where it runs, with its configuration, log and dumps.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything that it has printed.
    pub fn log(&self) -> String {
        let log = fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Writes a snapshot and gives its path, which lasts as long as the server's folder.
    ///
    /// # Panics
    ///
    /// When it cannot.
    #[track_caller]
    pub fn save(&self) -> PathBuf {
        /// Many millions of keys take minutes.
        const LONGEST: Duration = Duration::from_mins(10);
        let saved = self.try_connect().and_then(|mut connection| {
            connection.wait_up_to(LONGEST)?;
            connection.command(&["SAVE"])
        });
        match saved {
            Ok(Reply::Status(_)) => self.folder.path().join("dump.rdb"),
            other => panic!("SAVE on {self}: {other:?}"),
        }
    }

    /// Freezes the process, as a machine that hangs would: connections stay open, nothing answers.
    pub fn pause(&self) {
        self.process().pause();
    }

    /// Lets a frozen process go on.
    pub fn resume(&self) {
        self.process().resume();
    }

    /// Kills the process without warning. Its ports are left alone until [`Server::restart`].
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Starts it again, in the same folder and on the same ports; kills it first if it is running.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[track_caller]
    pub fn restart(&self) {
        self.kill();
        *self.process() = Process::start(&self.options, self.folder.path());
        self.wait_until_ready().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Sets the clock of a server with [`ServerOptions::own_clock`], by so many seconds from the machine's, and waits until
    /// the server, which looks at it from time to time, has seen it.
    #[track_caller]
    pub fn set_clock_ahead(&self, seconds: i64) {
        assert!(self.options.own_clock, "the server has a clock of its own");
        clock::set(self.folder.path(), seconds);
        wait_until("the server has seen the new time", || {
            let info = self.command(&["INFO", "server"]).text();
            let seen = info.lines().find_map(|line| line.strip_prefix("server_time_usec:"));
            let seen: i64 = seen.expect("INFO tells the time").parse().expect("it is a number");
            (seen / 1_000_000 - clock::now() - seconds).abs() <= 1
        });
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.process().child.id()
    }

    /// Whether the process is alive and not paused.
    pub fn is_running(&self) -> bool {
        let mut process = self.process();
        !process.paused && matches!(process.child.try_wait(), Ok(None))
    }

    /// Whether it calls itself a primary.
    #[track_caller]
    pub fn is_primary(&self) -> bool {
        self.role().next() == Some(Reply::Bytes(b"master".into()))
    }

    /// Whether it is a replica that has all of its primary's data.
    #[track_caller]
    pub fn is_in_sync(&self) -> bool {
        // slave, host, port, state, offset
        self.role().nth(3) == Some(Reply::Bytes(b"connected".into()))
    }

    /// Waits until a replica of this server has all that was written to it until now.
    ///
    /// # Panics
    ///
    /// When that takes more than a minute.
    #[track_caller]
    pub fn wait_until_replicated(&self, replica: &Server) {
        let written = self.replication("master_repl_offset");
        wait_until("the replica has all that was written", || {
            replica.is_in_sync() && replica.replication("slave_repl_offset") >= written
        });
    }

    /// A number of INFO's section on replication.
    #[track_caller]
    fn replication(&self, name: &str) -> Option<u64> {
        let info = self.command(&["INFO", "replication"]).text();
        let found = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.map(|number| number.parse().expect("an offset is a number"))
    }

    /// How often it has run a command, by its own statistics.
    #[track_caller]
    pub fn calls(&self, command: &str) -> u64 {
        let stats = self.command(&["INFO", "commandstats"]).text();
        let counted = stats.lines().find_map(|line| {
            let (name, counts) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            (name == command).then(|| counts.split(',').next())?
        });
        counted.map_or(0, |count| count.parse().expect("a count is a number"))
    }

    #[track_caller]
    fn role(&self) -> impl Iterator<Item = Reply> + use<> {
        self.command(&["ROLE"]).array().into_iter()
    }

    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    pub(crate) fn bus_port(&self) -> u16 {
        self.ports.bus.expect("the server is a cluster node")
    }

    /// A panic in another thread says nothing about the process.
    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SOCKET: &str = "socket";
const CONFIG: &str = "server.conf";
const LOG: &str = "server.log";

impl Process {
    fn start(options: &ServerOptions, folder: &Path) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(folder.join(LOG))
            .expect("the server's folder is writable");
        let errors = log.try_clone().expect("a file handle can be duplicated");
        let binary = options.flavor.binary();
        let mut server = Command::new(binary);
        if options.own_clock {
            clock::preload(folder, &mut server);
        }
        let child = server
            .arg(CONFIG)
            .args((options.mode == Mode::Sentinel).then_some("--sentinel"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("`{}` cannot be run: {error}", binary.display()));
        Self { child, paused: false }
    }

    fn pause(&mut self) {
        let id = self.signal(Signal::STOP);
        wait_until("the server is frozen", || {
            let stopped = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
            matches!(waitid(WaitId::Pid(id), stopped), Ok(Some(_)))
        });
        self.paused = true;
    }

    fn resume(&mut self) {
        self.signal(Signal::CONT);
        self.paused = false;
    }

    fn signal(&self, signal: Signal) -> Pid {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let id = id.expect("a process id is a positive i32");
        kill_process(id, signal).expect("a server that was not dropped can be signalled");
        id
    }

    fn kill(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.child.kill();
        self.child.wait().expect("a child can be waited for");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        const LINES: usize = 20;
        if thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
            eprintln!("the end of the log of {self}:\n{end}\n");
        }
        self.kill();
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.options.flavor, self.address())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("flavor", &self.options.flavor)
            .field("port", &self.ports.plain)
            .field("folder", &self.folder.path())
            .finish_non_exhaustive()
    }
}

/// A server ended, or said nothing for a minute, before it was ready.
#[derive(Debug)]
pub(crate) struct LaunchError {
    flavor: Flavor,
    pub(crate) log: String,
}

impl LaunchError {
    fn port_was_taken(&self) -> bool {
        self.log.contains("Address already in use")
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} did not start; its log:\n{}", self.flavor, self.log)
    }
}
