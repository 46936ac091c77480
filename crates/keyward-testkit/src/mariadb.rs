use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fmt, thread};

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::wait::wait_until;

/// A real MariaDB in a temporary folder, with one empty database. Ready when it is made, gone when
/// it is dropped.
///
/// It listens on a Unix socket in its folder and nowhere else.
pub struct MariaDb {
    child: Child,
    folder: TempDir,
}

impl MariaDb {
    /// The empty database.
    pub const DATABASE: &'static str = "keyward";

    /// Starts it and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it does not start; the message holds its log.
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("keyward-").tempdir();
        let folder = folder.expect("the temporary folder is writable");
        install(folder.path());
        let log = File::create(folder.path().join(LOG)).expect("the temporary folder is writable");
        let errors = log.try_clone().expect("a file handle can be duplicated");
        let sql = format!("CREATE DATABASE {};\n", Self::DATABASE);
        fs::write(folder.path().join(BEGINNING), sql).expect("the temporary folder is writable");
        let binary = server_binary();
        let child = Command::new(&binary)
            .arg("--no-defaults")
            .arg("--skip-networking")
            .arg(option("datadir", folder.path(), DATA))
            .arg(option("socket", folder.path(), SOCKET))
            .arg(option("init-file", folder.path(), BEGINNING))
            .arg(option("pid-file", folder.path(), "pid"))
            .args(as_whom())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("`{}` cannot be run: {error}", binary.display()));
        let mut server = Self { child, folder };
        wait_until("MariaDB answers", || {
            if let Ok(Some(status)) = server.child.try_wait() {
                panic!("MariaDB did not start ({status}); its log:\n{}", server.log());
            }
            server.greets()
        });
        server
    }

    /// `mysql://…`, with the socket.
    pub fn url(&self) -> String {
        let socket = self.socket();
        format!("mysql://root@localhost/{}?socket={}", Self::DATABASE, socket.display())
    }

    /// The Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// Everything that it has printed.
    pub fn log(&self) -> String {
        let log = fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Whether it sends what a server sends first. It listens before it is ready to.
    fn greets(&self) -> bool {
        let Ok(mut stream) = UnixStream::connect(self.socket()) else { return false };
        let patient = stream.set_read_timeout(Some(Duration::from_secs(5)));
        patient.and_then(|()| stream.read_exact(&mut [0; 5])).is_ok()
    }
}

const DATA: &str = "data";
const SOCKET: &str = "socket";
const BEGINNING: &str = "beginning.sql";
const LOG: &str = "server.log";

/// Makes the tables that every server has.
fn install(folder: &Path) {
    let made = Command::new("mariadb-install-db")
        .arg("--no-defaults")
        .arg("--auth-root-authentication-method=normal")
        .arg("--skip-test-db")
        .arg(option("datadir", folder, DATA))
        .args(as_whom())
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("`mariadb-install-db` cannot be run: {error}"));
    let said = || String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "`mariadb-install-db` failed: {}", said());
}

fn option(name: &str, folder: &Path, file: &str) -> String {
    format!("--{name}={}", folder.join(file).display())
}

/// It refuses to run as root unless it is told to.
fn as_whom() -> Option<&'static str> {
    geteuid().is_root().then_some("--user=root")
}

/// Debian puts it where only root looks.
fn server_binary() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join("mariadbd")).find(|binary| binary.is_file());
    found.expect("`mariadbd` is on the PATH: `./test tools` installs it")
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the log of MariaDB:\n{}\n", self.log());
        }
        // It fails only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Debug for MariaDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MariaDb").field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}
