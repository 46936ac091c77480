//! The command that resumes a scan.

use crate::output::printable;
use keyward_audit::live::shown;
use std::path::Path;

/// The command that resumes, and whether something in it is hidden.
pub(super) fn command(url: &str, path: &Path) -> (String, bool) {
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    again(&args.collect::<Vec<_>>(), url, &path.to_string_lossy())
}

fn again(args: &[String], url: &str, path: &str) -> (String, bool) {
    let mut words = vec!["keyward".to_owned()];
    let mut hidden = false;
    let mut rest = args.iter();
    let mut end = None;
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--resume" => drop(rest.next()),
            arg if arg.starts_with("--resume=") => {}
            "--salt" => {
                hidden |= rest.next().is_some();
                words.extend(["--salt".to_owned(), "…".to_owned()]);
            }
            arg if arg.starts_with("--salt=") => {
                hidden = true;
                words.push("--salt=…".to_owned());
            }
            arg if arg == url && shown(url) != url => {
                hidden = true;
                let bare = shown(url);
                let (scheme, place) = bare.split_once("://").unwrap_or(("", &bare));
                words.push(format!("{scheme}://…@{place}"));
            }
            arg => {
                if arg == "--" {
                    end = end.or(Some(words.len()));
                }
                words.push(quoted(arg));
            }
        }
    }
    let end = end.unwrap_or(words.len());
    words.splice(end..end, ["--resume".to_owned(), quoted(path)]);
    (words.join(" "), hidden)
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./:=,%@+".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", printable(word).replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_is_the_one_that_was_typed() {
        let said = |words: &[&str], url: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            again(&words, url, "a.resume")
        };
        let url = "redis://127.0.0.1:6379";
        assert_eq!(
            said(&["audit", url, "--group", "it's", "--resume", "b"], url).0,
            r"keyward audit redis://127.0.0.1:6379 --group 'it'\''s' --resume a.resume"
        );
        assert_eq!(
            said(&["-q", "audit", "--resume=b", "--", url], url).0,
            "keyward -q audit --resume a.resume -- redis://127.0.0.1:6379"
        );
        let secret = "rediss://ann:hunter2@10.0.0.7:6380/1";
        assert_eq!(
            said(&["audit", "--salt", "s3same", secret], secret),
            ("keyward audit --salt … rediss://…@10.0.0.7:6380/1 --resume a.resume".into(), true)
        );
        assert_eq!(said(&["audit", "--salt=s3same", url], url).0.matches("s3same").count(), 0);
    }
}
