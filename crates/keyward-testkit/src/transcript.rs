//! Runs the commands that a page of documentation shows, and compares what they print.
//!
//! A fenced block marked `console` is a transcript: `$ ` begins a command, the lines below it are
//! its output, standard error included, and a line `...` stands for any lines, or none. A block
//! after the comment `<!-- file: keyward.toml -->` is written to that file first. All commands of
//! one page run in order, in a fresh folder that holds a copy of `examples/`.
//!
//! `cargo run --release --` is read as `keyward`, so that a page can show what works from a clone.
//!
//! A block after the comment `<!-- in: place -->` needs more than the program, such as a server, and is
//! left out; the tests of that place run it with [`check_in`].

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{Cli, filtered_times, run_to_end};
use crate::markdown::{Block, blocks};
use crate::repository;

/// Set to `1`, it makes a check write into the page what it should show instead of failing.
pub(crate) const UPDATE: &str = "KEYWARD_UPDATE_DOCS";

/// Runs all commands of a page of this repository, given by its path from the root.
///
/// `binary` is `env!("CARGO_BIN_EXE_keyward")`. Gives the number of commands that ran.
///
/// # Errors
///
/// Every command whose output differs, with both outputs.
pub fn check(binary: &str, page: &Path) -> Result<usize, String> {
    compare(page, |text| run(binary, text))
}

/// Runs the commands of a page that belong to a place, each by a call of `run`, which gives back what
/// it prints. Gives the number of commands that ran.
///
/// # Errors
///
/// Every command whose output differs, with both outputs.
pub fn check_in(
    place: &str,
    page: &Path,
    mut run: impl FnMut(&str) -> String,
) -> Result<usize, String> {
    compare(page, |text| {
        run_steps(steps(text, Some(place)), |step| match step {
            Step::File { path, .. } => panic!("`{}` cannot be written in a place", path.display()),
            Step::Command { command, .. } => Some(filtered_times(&run(command)).into_owned()),
        })
    })
}

fn compare(
    page: &Path,
    run: impl FnOnce(&str) -> (usize, Vec<Difference>),
) -> Result<usize, String> {
    let path = repository().join(page);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("`{}` cannot be read: {error}", page.display()))?;
    let (ran, differences) = run(&text);
    if differences.is_empty() {
        return Ok(ran);
    }
    if env::var_os(UPDATE).is_some() {
        return fs::write(&path, updated(&text, &differences))
            .map_err(|error| format!("`{}` cannot be written: {error}", page.display()))
            .map(|()| ran);
    }
    let mut report = String::new();
    for Difference { line, command, expected, printed } in differences {
        let expected = expected.join("\n");
        let page = page.display();
        let _ = writeln!(report, "{page}:{line}: `{command}` prints\n{printed}");
        let _ = writeln!(report, "but the page shows\n{expected}\n");
    }
    Err(format!("{report}{UPDATE}=1 writes what is printed into the page"))
}

/// A command that does not print what the page shows.
struct Difference {
    line: usize,
    command: String,
    expected: Vec<String>,
    printed: String,
}

fn run(binary: &str, text: &str) -> (usize, Vec<Difference>) {
    let shell = Shell::new(binary);
    run_steps(steps(text, None), |step| match step {
        Step::File { path, content } => {
            shell.cli.write(path, content);
            None
        }
        Step::Command { command, .. } => Some(shell.run(command)),
    })
}

/// `run` gives what a command prints, and nothing for what is none.
fn run_steps(
    steps: Vec<Step>,
    mut run: impl FnMut(&Step) -> Option<String>,
) -> (usize, Vec<Difference>) {
    let mut ran = 0;
    let mut differences = Vec::new();
    for step in steps {
        let printed = run(&step);
        if let (Some(printed), Step::Command { line, command, expected }) = (printed, step) {
            ran += 1;
            if !matches(&expected, &printed) {
                differences.push(Difference { line, command, expected, printed });
            }
        }
    }
    (ran, differences)
}

fn updated(text: &str, differences: &[Difference]) -> String {
    let printed =
        |it: &Difference| it.printed.lines().map(|line| line.trim_end().to_owned()).collect();
    splice(text, differences.iter().map(|it| (it.line, it.expected.len(), printed(it))).collect())
}

/// Replaces lines of a text: for each place, in order, its first line counted from zero, how many there
/// are, and what stands there instead.
pub(crate) fn splice(text: &str, places: Vec<(usize, usize, Vec<String>)>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // From the last to the first, so that the line numbers stay true.
    for (first, count, instead) in places.into_iter().rev() {
        lines.splice(first..first + count, instead);
    }
    lines.join("\n") + "\n"
}

enum Step {
    File {
        path: PathBuf,
        content: String,
    },
    /// `line` is the number of the command's last line, counted from one, and so also the index of
    /// the first line of its output.
    Command {
        line: usize,
        command: String,
        expected: Vec<String>,
    },
}

/// The steps of one place, or those that belong to none.
fn steps(text: &str, place: Option<&str>) -> Vec<Step> {
    let ours = |block: &Block<'_>| {
        let marked =
            block.before.strip_prefix("<!-- in: ").map(|it| it.trim_end_matches("-->").trim());
        marked == place
    };
    blocks(text).iter().filter(|block| ours(block)).flat_map(steps_of_block).collect()
}

fn steps_of_block(block: &Block<'_>) -> Vec<Step> {
    if let Some(path) = block.before.strip_prefix("<!-- file: ") {
        let path = path.trim_end_matches("-->").trim().into();
        return vec![Step::File { path, content: block.lines.join("\n") + "\n" }];
    }
    if block.language != "console" {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let mut lines = block.lines.iter().zip(block.first_line..).peekable();
    while let Some((line, number)) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            panic!("line {number}: a `console` block begins with `$ `, not with `{line}`")
        };
        let (mut command, mut last) = (command.to_owned(), number);
        while command.ends_with('\\') {
            let Some((more, number)) = lines.next() else { break };
            command.truncate(command.len() - 1);
            command.push_str(more.trim_start());
            last = number;
        }
        let mut expected = Vec::new();
        while let Some((line, _)) = lines.next_if(|(line, _)| !line.starts_with("$ ")) {
            expected.push((*line).to_owned());
        }
        steps.push(Step::Command { line: last, command, expected });
    }
    steps
}

/// Where the commands of one page run.
struct Shell {
    cli: Cli,
    path: String,
}

impl Shell {
    fn new(binary: &str) -> Self {
        let cli = Cli::new(binary);
        if repository().join("examples").is_dir() {
            cli.copy("examples");
        }
        let programs = cli.folder().join(".bin");
        fs::create_dir(&programs).expect("the temporary folder is writable");
        symlink(binary, programs.join("keyward")).expect("the temporary folder is writable");
        let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default());
        Self { cli, path }
    }

    fn run(&self, command: &str) -> String {
        let command = command.replace("cargo run --release --", "keyward");
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(self.cli.folder())
            .env_clear()
            .env("PATH", &self.path)
            // What a page shows must not change with the day.
            .env("KEYWARD_TODAY", "2026-11-15")
            .env("HOME", self.cli.folder());
        run_to_end(shell, Vec::new(), &command, self.cli.folder()).stdout
    }
}

fn matches(expected: &[String], printed: &str) -> bool {
    let expected = filtered_times(&expected.join("\n")).into_owned();
    let expected: Vec<_> = expected.lines().map(str::trim_end).collect();
    let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
    matches_lines(&expected, &printed)
}

fn matches_lines(expected: &[&str], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => {
            (0..=printed.len()).any(|skipped| matches_lines(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed.first() == Some(line) && matches_lines(rest, &printed[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipsis_stands_for_any_lines_or_none() {
        let matches = |expected: &str, printed| {
            matches(&expected.lines().map(str::to_owned).collect::<Vec<_>>(), printed)
        };
        assert!(matches("a\n...\nd", "a\nb\nc\nd\n"));
        assert!(matches("a\n...\nb", "a\nb\n"));
        assert!(matches("...", ""));
        assert!(matches("", ""));
        assert!(!matches("a\n...\nc", "a\nb\n"));
        assert!(!matches("a", "a\nb\n"));
        assert!(!matches("a\nb", "a\n"));
    }

    /// `echo` stands in for the program.
    const PAGE: &str =
        "```console\n$ keyward a\na\n$ cat f\n$ keyward b | tr b c\n...\nx\n```\nend\n";

    #[test]
    fn a_page_that_shows_something_else_is_told_so_and_can_be_updated() {
        let (ran, differences) = run("/bin/echo", PAGE);
        let lines: Vec<_> = differences.iter().map(|difference| difference.line).collect();
        assert_eq!((ran, lines), (3, vec![4, 5]));
        let updated = updated(PAGE, &differences);
        assert_eq!(
            updated,
            "```console\n$ keyward a\na\n$ cat f\ncat: f: No such file or directory\n\
             $ keyward b | tr b c\nc\n```\nend\n"
        );
        assert!(run("/bin/echo", &updated).1.is_empty());
    }

    #[test]
    fn times_do_not_matter() {
        assert!(matches(&["done in 3 ms".to_owned()], "done in [TIME]\n"));
    }

    #[test]
    fn commands_files_and_continued_lines_are_found() {
        let page = "<!-- file: keyward.toml -->\n```toml\nversion = 1\n```\n\n\
                    ```console\n$ keyward check \\\n      --quiet\n$ echo a\na\nb\n```\n\
                    ```sh\n$ not run\n```\n\
                    <!-- in: elsewhere -->\n```console\n$ curl b\n```\n";
        let shown: Vec<_> = steps(page, None)
            .into_iter()
            .map(|step| match step {
                Step::File { path, content } => format!("{} = {content}", path.display()),
                Step::Command { line, command, expected } => {
                    format!("{line}: {command} -> {}", expected.join("|"))
                }
            })
            .collect();
        let expected =
            ["keyward.toml = version = 1\n", "8: keyward check --quiet -> ", "9: echo a -> a|b"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_block_in_a_place_is_run_there() {
        let page = "```console\n$ keyward a\n```\n<!-- in: app -->\n```console\n$ curl a\nb\n```\n";
        let (ran, differences) = run_steps(steps(page, Some("app")), |step| match step {
            Step::Command { command, .. } => Some(command.replace("curl a", "b")),
            Step::File { .. } => None,
        });
        assert_eq!((ran, differences.len()), (1, 0));
    }
}
