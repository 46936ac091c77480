use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::thread;

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::repository;
use crate::wait::{PATIENCE, wait_for};

/// Runs the program in a temporary folder of its own.
///
/// ```ignore
/// let cli = Cli::new(env!("CARGO_BIN_EXE_keyward"));
/// cli.write("keyward.toml", "version = 1\n…");
/// insta::assert_snapshot!(cli.run(["check"]));
/// insta::assert_snapshot!(cli.command(["key", "parse", "-"]).stdin("xc:a\n").run());
/// ```
#[derive(Debug)]
pub struct Cli {
    binary: PathBuf,
    folder: TempDir,
}

impl Cli {
    /// Takes `env!("CARGO_BIN_EXE_keyward")`, which only the tests of the program's crate know.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let candidates = [std::env::temp_dir(), repository().join("target/tmp")];
        let above = without_schema_above(&candidates);
        let folder = above.and_then(|above| {
            fs::create_dir_all(above)?;
            tempfile::Builder::new().prefix("keyward-").tempdir_in(above)
        });
        Self { binary: binary.into(), folder: folder.expect("a folder for the program") }
    }

    /// The program that was built beside this test, for tests of other crates. `cargo test --workspace` builds it; for
    /// one crate alone it is built now.
    ///
    /// # Panics
    ///
    /// When it cannot be built.
    #[track_caller]
    pub fn beside() -> Self {
        let test = std::env::current_exe().expect("this test is a file");
        let folder = test.parent().and_then(Path::parent).expect("it is in `deps`");
        let binary = folder.join("keyward");
        if !binary.exists() {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--package", "keyward-cli"]).current_dir(repository());
            let built = build.status().expect("cargo runs");
            assert!(built.success() && binary.exists(), "`{}` is not built", binary.display());
        }
        Self::new(binary)
    }

    /// The folder where the program runs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder, with the folders above it.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.folder().join(path);
        let parent = path.parent().expect("a path inside the folder has a parent");
        fs::create_dir_all(parent).expect("the temporary folder is writable");
        fs::write(path, content).expect("the temporary folder is writable");
    }

    /// Reads a file of the folder, after a command that writes one.
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = path.as_ref();
        fs::read_to_string(self.folder().join(path))
            .unwrap_or_else(|error| panic!("`{}` cannot be read: {error}", path.display()))
    }

    /// Copies a file or folder of this repository to the same path in the folder.
    #[track_caller]
    pub fn copy(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let from = repository().join(path);
        if !from.is_dir() {
            let content = fs::read(&from)
                .unwrap_or_else(|error| panic!("`{}` cannot be copied: {error}", from.display()));
            return self.write(path, content);
        }
        for entry in fs::read_dir(&from).expect("a folder of the repository is readable") {
            let entry = entry.expect("a folder of the repository is readable");
            self.copy(path.join(entry.file_name()));
        }
    }

    /// Runs the program with these arguments and nothing on its standard input.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.command(args).run()
    }

    /// The same, to be given input or environment first.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run<'_> {
        Run {
            cli: self,
            args: args.into_iter().map(|arg| arg.as_ref().to_owned()).collect(),
            stdin: Vec::new(),
            open: false,
            env: Vec::new(),
            at: self.folder().to_owned(),
        }
    }
}

/// The first folder where the program finds no schema on its way up: a test that gives it none would
/// otherwise be judged by whatever lies there.
fn without_schema_above(candidates: &[PathBuf]) -> io::Result<&PathBuf> {
    let is_free =
        |folder: &&PathBuf| !folder.ancestors().any(|it| it.join("keyward.toml").exists());
    candidates.iter().find(is_free).ok_or_else(|| {
        io::Error::other(format!("a `keyward.toml` lies above each of {candidates:?}: set TMPDIR"))
    })
}

/// One run of the program that has not begun.
#[derive(Debug)]
#[must_use = "nothing runs until `run` is called"]
pub struct Run<'a> {
    cli: &'a Cli,
    args: Vec<OsString>,
    stdin: Vec<u8>,
    open: bool,
    env: Vec<(OsString, OsString)>,
    at: PathBuf,
}

impl Run<'_> {
    /// What the program reads from its standard input.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// Leaves its standard input open, as a pipe that somebody else still writes to.
    pub fn stdin_open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Sets a variable. The program sees none of the test's own but `PATH`.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs in this folder below the temporary one.
    pub fn at(mut self, folder: impl AsRef<Path>) -> Self {
        self.at = self.cli.folder().join(folder);
        self
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    ///
    /// When it cannot be started or runs for more than a minute.
    #[track_caller]
    pub fn run(self) -> Output {
        self.start().finish()
    }

    /// Starts the program, to be signalled before it has come to its end.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub fn start(self) -> Running {
        let mut command = Command::new(&self.cli.binary);
        command
            .args(&self.args)
            .current_dir(&self.at)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.cli.folder())
            .envs(self.env);
        let args: Vec<_> = self.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let program = self.cli.binary.file_name().unwrap_or_default().to_string_lossy();
        let title = format!("{program} {}", args.join(" "));
        let stdin = (self.stdin, self.open);
        Running::start(command, stdin, &title, self.cli.folder())
    }
}

/// A program that runs; it is killed when this is dropped before it has come to its end.
#[derive(Debug)]
pub struct Running {
    child: Child,
    title: String,
    folder: PathBuf,
    /// Gives the input back if it is to stay open
    writer: Option<thread::JoinHandle<Option<ChildStdin>>>,
    readers: Option<[thread::JoinHandle<Vec<u8>>; 2]>,
}

impl Running {
    #[track_caller]
    fn start(
        mut command: Command,
        (stdin, open): (Vec<u8>, bool),
        title: &str,
        folder: &Path,
    ) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("`{title}` cannot be run: {error}"));
        let mut input = child.stdin.take().expect("stdin is piped");
        // A program that does not read its input closes the pipe; that is its right.
        let writer = thread::spawn(move || {
            let _ = input.write_all(&stdin);
            open.then_some(input)
        });
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        let stderr = collect(child.stderr.take().expect("stderr is piped"));
        Running {
            child,
            title: title.to_owned(),
            folder: folder.to_owned(),
            writer: Some(writer),
            readers: Some([stdout, stderr]),
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has come to its end.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_some()
    }

    /// What Ctrl-C sends.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// What a service manager sends.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let id = id.expect("a process id is a positive i32");
        kill_process(id, signal).expect("a child that was not waited for can be signalled");
    }

    /// Waits for its end.
    ///
    /// # Panics
    ///
    /// When it runs for more than a minute.
    #[track_caller]
    pub fn finish(mut self) -> Output {
        let code = wait(&mut self.child, &self.title);
        let text = |reader: thread::JoinHandle<Vec<u8>>| {
            let bytes = reader.join().expect("the reading thread does not panic");
            filtered(&String::from_utf8_lossy(&bytes), &self.folder)
        };
        let readers = self.readers.take().expect("it is finished once");
        let [stdout, stderr] = readers.map(text);
        let output = Output { title: self.title.clone(), code, stdout, stderr };
        let writer = self.writer.take().expect("it is finished once");
        writer.join().expect("the writing thread does not panic");
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run_to_end(command: Command, stdin: Vec<u8>, title: &str, folder: &Path) -> Output {
    Running::start(command, (stdin, false), title, folder).finish()
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("the pipe can be read");
        bytes
    })
}

#[track_caller]
fn wait(child: &mut Child, title: &str) -> Option<i32> {
    let ended = wait_for(|| child.try_wait().expect("a child can be waited for"));
    let Some(status) = ended else {
        let _ = child.kill();
        panic!("`{title}` ran for more than {PATIENCE:?}");
    };
    status.code()
}

/// What differs from run to run is replaced by `[DIR]`, `[ROOT]` and `[TIME]`.
fn filtered(text: &str, folder: &Path) -> String {
    let mut text = filtered_times(text);
    let canonical = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for (path, name) in [(&*canonical, "[DIR]"), (folder, "[DIR]"), (repository(), "[ROOT]")] {
        text = text.replace(&*path.to_string_lossy(), name).into();
    }
    text.into_owned()
}

pub(crate) fn filtered_times(text: &str) -> Cow<'_, str> {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bin \d[\d.,]*\s?(?:ns|µs|ms|s|min)\b").expect("the expression is valid")
    });
    TIME.replace_all(text, "in [TIME]")
}

/// All that a run of the program left behind. `Display` shows it whole, for a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    title: String,
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Standard output, filtered.
    pub stdout: String,
    /// Standard error, filtered.
    pub stderr: String,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.title)?;
        match self.code {
            Some(code) => writeln!(f, "exit code: {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                f.write_str(text)?;
                if !text.ends_with('\n') {
                    writeln!(f, "\n(no newline at the end)")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_above_the_temporary_folder_is_kept_out() {
        let [taken, free] = [(); 2].map(|()| Cli::new("/bin/true"));
        taken.write("keyward.toml", "version = 1\n");
        let candidates = [taken.folder().join("a/b"), free.folder().join("a")];
        assert_eq!(without_schema_above(&candidates).unwrap(), &candidates[1]);
        assert!(without_schema_above(&candidates[..1]).is_err());
    }
}
