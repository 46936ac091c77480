//! Files of an earlier revision, read from a git repository.

use crate::failure::{Failure, Result, why};
use keyward_schema::{Files, MAX_BYTES};
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// A commit of a repository.
#[derive(Debug)]
pub(crate) struct Revision {
    /// As it was asked for
    name: String,
    commit: String,
    /// The top of the working tree
    top: PathBuf,
}

impl Revision {
    /// The commit that a name means in the repository of a folder.
    pub(crate) fn find(name: &str, folder: &Path) -> Result<Self> {
        let top = git(folder, ["rev-parse", "--show-toplevel"])?.map_err(|said| {
            let failure = Failure::new(format!(
                "`{}` is not in a git repository, so it has no revision `{name}`",
                folder.display()
            ));
            if said.contains("not a git repository") {
                failure.help("name a file: `--against FILE`")
            } else {
                failure.help(format!("git says: {said}"))
            }
        })?;
        // A name that begins with a hyphen would be an option.
        let commit = if name.starts_with('-') || name.is_empty() {
            Err(String::new())
        } else {
            let commit = format!("{name}^{{commit}}");
            git(folder, ["rev-parse", "--verify", "--quiet", &commit])?
        };
        let commit = commit.map_err(|_| unknown(name, folder))?;
        Ok(Revision { name: name.to_owned(), commit, top: PathBuf::from(top) })
    }

    /// The path of a file of the working tree from its top; `None` if it is outside.
    pub(crate) fn path_of(&self, file: &Path) -> Option<PathBuf> {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().ok()?;
        let top = self.top.canonicalize().ok()?;
        Some(folder.strip_prefix(top).ok()?.join(file.file_name()?))
    }

    /// Whether it has a schema at a path that the working tree no longer has: that may be an earlier version of another.
    pub(crate) fn has_lost_schema(&self) -> Result<bool> {
        let answer = Command::new("git")
            .args([
                "grep",
                "-l",
                "-z",
                "-e",
                r"^[[:space:]]*\[keyspace\]",
                &self.commit,
                "--",
                "*.toml",
            ])
            .current_dir(&self.top)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::new(format!("cannot run `git`: {}", why(&error))))?;
        let before = self.commit.len() + 1;
        let paths = answer.stdout.split(|byte| *byte == 0).filter_map(|entry| entry.get(before..));
        // A path that is not UTF-8 is not looked for, and counts as lost.
        let is_there =
            |path: &[u8]| str::from_utf8(path).is_ok_and(|it| self.top.join(it).exists());
        // git answers 1 where it finds nothing.
        let failed = !matches!(answer.status.code(), Some(0 | 1));
        Ok(failed || paths.filter(|path| !path.is_empty()).any(|path| !is_there(path)))
    }

    /// Whether it has a file.
    pub(crate) fn has(&mut self, path: &Path) -> bool {
        !matches!(self.read(path, MAX_BYTES), Err(error) if error.kind() == ErrorKind::NotFound)
    }

    /// Fails if there is no such file in it.
    pub(crate) fn check(&mut self, path: &Path) -> Result<()> {
        let shown = path.display();
        let Err(error) = self.read(path, MAX_BYTES) else { return Ok(()) };
        Err(match error.kind() {
            // Whoever reads it says so, with what to do.
            ErrorKind::FileTooLarge => return Ok(()),
            ErrorKind::NotFound => Failure::new(format!(
                "there is no `{shown}` in `{}`",
                self.name
            ))
            .help(format!("if it had another path, name that: `--against {}:OLD/PATH`", self.name)),
            _ => Failure::new(format!("cannot read `{shown}` of `{}`: {}", self.name, why(&error))),
        })
    }
}

impl Files for Revision {
    /// Follows links inside the revision, and applies no filter.
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let text = path.to_str().filter(|text| !text.contains('\n'));
        let text = text.ok_or_else(|| io::Error::other("git cannot be asked for such a path"))?;
        let mut git = Command::new("git")
            .args(["cat-file", "--batch", "--follow-symlinks"])
            .current_dir(&self.top)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = git.stdin.take() {
            writeln!(stdin, "{}:{text}", self.commit)?;
        }
        let mut answer = Vec::new();
        // The first line says what comes, the rest is the file and a line's end.
        let limit = most.saturating_add(1024);
        if let Some(stdout) = git.stdout.take() {
            stdout.take(limit).read_to_end(&mut answer)?;
        }
        // What is longer is not read to its end, and git is not waited for in vain.
        let _ = git.kill();
        git.wait()?;
        content(&answer, most)
    }

    fn canonical(&mut self, path: &Path) -> io::Result<PathBuf> {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir if !plain.pop() => {
                    return Err(io::Error::other("it is outside the repository"));
                }
                Component::CurDir | Component::ParentDir => {}
                part => plain.push(part),
            }
        }
        Ok(plain)
    }

    fn shown(&self, path: &Path) -> PathBuf {
        PathBuf::from(format!("{}:{}", self.name, path.display()))
    }
}

/// The file in an answer of `git cat-file --batch`: `<commit> blob <size>`, and its bytes.
fn content(answer: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let end = answer.iter().position(|byte| *byte == b'\n').unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]);
    let words: Vec<&str> = head.split(' ').collect();
    let size = match words.as_slice() {
        [_, "blob", size] => size.parse::<u64>().map_err(io::Error::other)?,
        [_, "tree", _] => return Err(io::Error::from(ErrorKind::IsADirectory)),
        ["loop" | "symlink", _] => {
            return Err(io::Error::other("it is a link that leads nowhere in git"));
        }
        _ => return Err(io::Error::from(ErrorKind::NotFound)),
    };
    if size > most {
        return Err(io::Error::from(ErrorKind::FileTooLarge));
    }
    let from = end + 1;
    let to = usize::try_from(size).ok().and_then(|size| from.checked_add(size));
    let bytes = to.and_then(|to| answer.get(from..to));
    bytes.map(<[u8]>::to_vec).ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))
}

fn unknown(name: &str, folder: &Path) -> Failure {
    let failure =
        Failure::new(format!("`{name}` is neither a file nor a revision of this repository"));
    let is_shallow = git(folder, ["rev-parse", "--is-shallow-repository"]);
    match is_shallow {
        Ok(Ok(answer)) if answer == "true" => failure.help(
            "this is a shallow clone: fetch the revision first, as with `fetch-depth: 0` of actions/checkout",
        ),
        _ => failure.help("`git branch --all` and `git tag` list revisions; `git fetch` brings those of a server"),
    }
}

/// What git answers in one line, or what it says is wrong.
fn git<const N: usize>(
    folder: &Path,
    args: [&str; N],
) -> Result<std::result::Result<String, String>> {
    let answer = Command::new("git")
        .args(args.map(OsStr::new))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::new("`git` is not installed")
                .help("name a file to compare with: `--against FILE`"),
            _ => Failure::new(format!("cannot run `git`: {}", why(&error))),
        })?;
    let line = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().next().unwrap_or_default().trim().to_owned()
    };
    Ok(if answer.status.success() { Ok(line(&answer.stdout)) } else { Err(line(&answer.stderr)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_git_holds_a_file_or_says_why_not() {
        assert_eq!(content(b"abc blob 3\nx\ny\n", 10).unwrap(), b"x\ny");
        let kind = |answer: &[u8]| content(answer, 10).unwrap_err().kind();
        assert_eq!(kind(b"abc:keyward.toml missing\n"), ErrorKind::NotFound);
        assert_eq!(kind(b"abc tree 12\n"), ErrorKind::IsADirectory);
        assert_eq!(kind(b"abc blob 11\nxxxxxxxxxxx\n"), ErrorKind::FileTooLarge);
        assert_eq!(kind(b"abc blob 9\nx\n"), ErrorKind::UnexpectedEof);
        assert_eq!(kind(b""), ErrorKind::NotFound);
    }
}
