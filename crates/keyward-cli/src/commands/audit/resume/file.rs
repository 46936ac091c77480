//! The file in which a scan that was stopped is kept.

use keyward_audit::live::shown;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// `keyward-10.0.0.7-6379.resume`
pub(super) fn default_name(url: &str) -> String {
    const LONGEST: usize = 80;
    let shown = shown(url);
    let place = shown.split_once("://").map_or(shown.as_str(), |(_, place)| place);
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '.' { char } else { '-' };
    let name: String = place.trim_matches('/').chars().map(plain).take(LONGEST).collect();
    format!("keyward-{name}.resume")
}

/// Writes the file so that at any instant there is the old one or the new one. It holds a secret, so only
/// its owner can read it. What is there already is replaced only if the scan went on from it.
pub(super) fn write(path: &Path, replace: bool, text: &str) -> io::Result<PathBuf> {
    const MOST: u32 = 100;
    // A link stays one.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = folder(&target);
    let mut file = tempfile::Builder::new().prefix(".keyward-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let mut written = path.to_owned();
    if replace {
        file.persist(&target)?;
    } else {
        let mut number = 1;
        while let Err(failed) = file.persist_noclobber(&written) {
            number += 1;
            if failed.error.kind() != ErrorKind::AlreadyExists || number > MOST {
                return Err(failed.error);
            }
            file = failed.file;
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            written = name.into();
        }
    }
    // The name survives a crash, too, where the system can promise that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(written)
}

pub(super) fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_named_after_the_server_and_holds_no_secret_in_its_name() {
        for (url, name) in [
            ("redis://ann:hunter2@10.0.0.7:6379/3", "keyward-10.0.0.7-6379-3.resume"),
            ("redis+unix:///run/redis.sock?password=x", "keyward-run-redis.sock.resume"),
            ("redis+cluster://a:1,b:2", "keyward-a-1-b-2.resume"),
        ] {
            assert_eq!(default_name(url), name);
        }
    }

    #[test]
    fn what_is_there_already_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.resume");
        assert_eq!(write(&path, false, "1").unwrap(), path);
        let second = write(&path, false, "2").unwrap();
        assert_eq!(second, folder.path().join("a.resume.2"));
        assert_eq!(write(&path, true, "3").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "3");
        assert_eq!(fs::read_to_string(&second).unwrap(), "2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
