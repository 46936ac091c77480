//! A throw-away server for an application's tests, or for an example that should run without one.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = keyward::testing::Server::start()?;
//! let store = keyward::Store::connect(server.url()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! It needs `redis-server` or `valkey-server` on the `PATH`, or the path of one in `KEYWARD_TEST_SERVER`. What is timed
//! in the process (ages in its own cache, the breaker, early refresh) follows a
//! [manual clock](crate::Clock::manual); what expires on the server goes by the server's time.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fmt, fs, io, process, thread};

/// The programs that are looked for.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
/// What names another one.
const VARIABLE: &str = "KEYWARD_TEST_SERVER";
/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often another port is tried.
const ATTEMPTS: usize = 5;

/// A server of its own: on a loopback port and in a folder of its own, without persistence, gone when it is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    /// Starts one. It is ready when this returns.
    ///
    /// # Errors
    /// If no server is installed, or if it does not start.
    pub fn start() -> Result<Self, StartError> {
        Self::start_with(&[])
    }

    /// Starts one with settings, named as in `redis.conf`: `[("maxmemory", "100mb")]`.
    ///
    /// # Errors
    /// As [`start`](Server::start); a setting that the server does not know is in the log that the error shows.
    pub fn start_with(settings: &[(&str, &str)]) -> Result<Self, StartError> {
        let programs: Vec<String> = match env::var(VARIABLE) {
            Ok(program) => vec![program],
            Err(_) => PROGRAMS.map(str::to_owned).to_vec(),
        };
        let mut last = StartError::NotInstalled;
        for program in &programs {
            for _ in 0..ATTEMPTS {
                match Self::try_start(program, settings) {
                    Err(StartError::NotInstalled) => break,
                    // Somebody else may have taken the port.
                    Err(error) => last = error,
                    started => return started,
                }
            }
        }
        Err(last)
    }

    fn try_start(program: &str, settings: &[(&str, &str)]) -> Result<Self, StartError> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = new_folder()?;
        let log = fs::File::create(folder.join(LOG))?;
        let started = Command::new(program)
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
            .arg(port.to_string())
            .arg("--dir")
            .arg(&folder)
            // The last one counts.
            .args(
                settings
                    .iter()
                    .flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]),
            )
            .stdin(Stdio::null())
            .stderr(log.try_clone()?)
            .stdout(log)
            .spawn();
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                // An empty folder in the way is no reason to fail, and says nothing about the server.
                _ = fs::remove_dir_all(&folder);
                let missing = error.kind() == ErrorKind::NotFound;
                return Err(if missing { StartError::NotInstalled } else { error.into() });
            }
        };
        let mut server = Server { process, port, folder };
        server.wait_until_ready().map(|()| server)
    }

    fn wait_until_ready(&mut self) -> Result<(), StartError> {
        let end = Instant::now() + PATIENCE;
        while self.process.try_wait()?.is_none() && Instant::now() < end {
            if self.answers() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        let log = fs::read_to_string(self.folder.join(LOG))?;
        let last: Vec<&str> = log.lines().rev().take(5).collect();
        Err(StartError::Failed(last.into_iter().rev().collect::<Vec<_>>().join("\n")))
    }

    /// Whether it is this server that answers on its port, and not a stranger.
    fn answers(&self) -> bool {
        let ask = || -> io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(b"INFO server\r\nQUIT\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let ours = format!("process_id:{}", self.process.id());
        ask().is_ok_and(|answer| answer.lines().any(|line| line == ours))
    }

    /// Where it is: `redis://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its folder, which is removed with it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; nothing else can be done about it.
        _ = self.process.kill();
        _ = self.process.wait();
        _ = fs::remove_dir_all(&self.folder);
    }
}

const LOG: &str = "server.log";

fn new_folder() -> io::Result<PathBuf> {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("keyward-testing-{}-{number}", process::id()));
    // Of a process with the same number that was killed.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir(&folder)?;
    Ok(folder)
}

/// Why a server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// None is installed
    NotInstalled,
    /// It did not start; the end of its log
    Failed(String),
    /// Its port or its folder cannot be used
    Io(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        StartError::Io(error)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NotInstalled => write!(
                f,
                "no server to test with is installed: install Redis (`apt-get install redis-server`, `brew install \
                 redis`) or Valkey, or write the path of one into {VARIABLE}"
            ),
            StartError::Failed(log) => write!(f, "the server did not start:\n{log}"),
            StartError::Io(error) => write!(f, "the server cannot be started: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let StartError::Io(error) = self { Some(error) } else { None }
    }
}
