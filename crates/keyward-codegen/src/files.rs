//! What is generated, compared with what is there.
//!
//! A folder's `.keyward-files` lists what Keyward wrote there. So a file that is no longer generated
//! can be removed, and one that somebody else wrote is neither removed nor overwritten.

use crate::folder::Folder;
use crate::list::{LIST, List};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What a generator writes: paths below the output folder, and their contents.
#[derive(Debug, Clone)]
pub struct Files {
    pub(crate) generator: String,
    files: BTreeMap<String, String>,
}

impl Files {
    /// Nothing yet; `generator` says what writes them and from which keyspace: `rust/shop`.
    pub fn new(generator: &str) -> Self {
        Files { generator: generator.to_owned(), files: BTreeMap::new() }
    }

    /// Adds a file; `/` separates folders.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into());
    }

    /// Path and text of each file, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The same files one folder further down.
    #[must_use]
    pub fn below(self, folder: &str) -> Self {
        let files = self.files.into_iter().map(|(path, text)| (format!("{folder}/{path}"), text));
        Files { generator: self.generator, files: files.collect() }
    }

    /// The text of one file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
}

/// What has to be done to a folder so that it holds what was generated.
#[derive(Debug)]
pub struct Plan {
    folder: Folder,
    changes: Vec<(Change, String, String)>,
    left: Vec<String>,
    unchanged: usize,
    before: List,
    list: List,
    listed_before: Option<String>,
}

/// What happens to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It does not exist yet
    Create,
    /// It differs
    Update,
    /// It was generated once, and is no longer
    Remove,
}

impl Plan {
    /// Compares what was generated with a folder. With `force`, files that Keyward did not write are
    /// overwritten too.
    pub fn new(folder: &Path, generated: &[Files], force: bool) -> Result<Plan, PlanError> {
        let within = Folder::new(folder);
        let listed_before = within.read(LIST)?.map(|it| String::from_utf8_lossy(&it).into_owned());
        let before = List::read(listed_before.as_deref().unwrap_or_default());
        let mut list = before.without(generated);
        let mut changes = Vec::new();
        let mut foreign = Vec::new();
        let mut unchanged = 0;
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for files in generated {
            for (path, text) in files.iter() {
                match seen.insert(path, text) {
                    Some(same) if same == text => continue,
                    Some(_) => return Err(PlanError::Twice(path.to_owned())),
                    None => {}
                }
                let there = within.read(path)?;
                if there.as_deref() == Some(text.as_bytes()) {
                    unchanged += 1;
                } else {
                    if there.is_some() && !before.names(path) && !force {
                        foreign.push(folder.join(path));
                    }
                    let change = if there.is_some() { Change::Update } else { Change::Create };
                    changes.push((change, path.to_owned(), text.to_owned()));
                }
                list.add(&files.generator, path, text);
            }
        }
        if !foreign.is_empty() {
            return Err(PlanError::Foreign(foreign));
        }
        let mut left = Vec::new();
        for path in before.paths().filter(|path| !list.names(path)) {
            // The list proves nothing about what is elsewhere, or behind a link.
            match within.read(path) {
                Ok(Some(bytes)) if before.proves(path, &bytes) => {
                    changes.push((Change::Remove, path.to_owned(), String::new()));
                }
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => left.push(path.to_owned()),
            }
        }
        Ok(Plan { folder: within, changes, left, unchanged, before, list, listed_before })
    }

    /// Each file that changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = (Change, &str)> {
        self.changes.iter().map(|(change, path, _)| (*change, path.as_str()))
    }

    /// Files that the list names and that are no longer generated, but that Keyward cannot prove to have
    /// written as they are now. They stay.
    pub fn left(&self) -> impl Iterator<Item = &str> {
        self.left.iter().map(String::as_str)
    }

    /// How many files are as they should be.
    pub fn unchanged(&self) -> usize {
        self.unchanged
    }

    /// Whether the folder holds what was generated.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Makes the changes. Each file appears whole or not at all; killed in between, it can be run again.
    pub fn apply(&self) -> io::Result<()> {
        // First what will be there besides what is: whatever is written from here on is known to be
        // ours, also to a run after one that was killed, and after a change of the schema.
        let during = self.before.and(&self.list).to_string();
        if !self.is_empty() && self.listed_before.as_deref() != Some(&during) {
            self.folder.write(LIST, &during)?;
        }
        for (change, path, text) in &self.changes {
            match change {
                Change::Create | Change::Update => self.folder.write(path, text)?,
                Change::Remove => self.folder.remove(path)?,
            }
        }
        let text = self.list.to_string();
        let listed = if self.is_empty() { self.listed_before.as_deref() } else { Some(&*during) };
        if listed != Some(&text) {
            self.folder.write(LIST, &text)?;
        }
        Ok(())
    }
}

/// Why a folder cannot take what was generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// These files exist, and Keyward did not write them
    #[error("{} would be overwritten, and Keyward did not write it", list(.0))]
    Foreign(Vec<PathBuf>),
    /// Two schemas would write different texts to this file
    #[error("two schemas would both be written to `{0}`")]
    Twice(String),
    /// This is a symbolic link, and may lead out of the folder
    #[error("`{}` is a symbolic link, and Keyward follows none below the output folder", .0.display())]
    Link(PathBuf),
    /// This path leads out of the folder
    #[error("`{}` is outside the output folder", .0.display())]
    Outside(PathBuf),
    /// A file cannot be read
    #[error("cannot read `{0}`: {1}")]
    Read(PathBuf, #[source] io::Error),
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    paths.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(generator: &str, entries: &[(&str, &str)]) -> Files {
        let mut files = Files::new(generator);
        for (path, text) in entries {
            files.add(*path, *text);
        }
        files
    }

    fn changes(plan: &Plan) -> Vec<(Change, String)> {
        plan.changes().map(|(change, path)| (change, path.to_owned())).collect()
    }

    #[test]
    fn what_is_there_already_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let generated = [files("go", &[("a/keys.go", "one"), ("b.go", "two")])];
        let plan = Plan::new(folder.path(), &generated, false).unwrap();
        assert_eq!(plan.changes().count(), 2);
        plan.apply().unwrap();
        let modified =
            |path: &str| folder.path().join(path).metadata().unwrap().modified().unwrap();
        let before = (modified("a/keys.go"), modified(LIST));

        let plan = Plan::new(folder.path(), &generated, false).unwrap();
        assert!(plan.is_empty());
        plan.apply().unwrap();
        assert_eq!((modified("a/keys.go"), modified(LIST)), before);

        let changed = [files("go", &[("a/keys.go", "one"), ("b.go", "three")])];
        let plan = Plan::new(folder.path(), &changed, false).unwrap();
        assert_eq!(changes(&plan), [(Change::Update, "b.go".to_owned())]);
    }

    #[test]
    fn only_what_the_same_generator_wrote_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let go = files("go", &[("old/keys.go", "one")]);
        let java = files("java", &[("Keys.java", "one")]);
        Plan::new(folder.path(), &[go, java], false).unwrap().apply().unwrap();
        std::fs::write(folder.path().join("old/mine.go"), "mine").unwrap();

        let go = files("go", &[("keys.go", "one")]);
        let plan = Plan::new(folder.path(), std::slice::from_ref(&go), false).unwrap();
        assert_eq!(
            changes(&plan),
            [(Change::Create, "keys.go".to_owned()), (Change::Remove, "old/keys.go".to_owned())]
        );
        plan.apply().unwrap();
        assert!(folder.path().join("old/mine.go").exists());
        assert!(folder.path().join("Keys.java").exists());
        assert!(Plan::new(folder.path(), &[go], false).unwrap().is_empty());
    }

    #[test]
    fn what_somebody_else_wrote_is_not_overwritten_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("keys.go"), "mine").unwrap();
        let generated = [files("go", &[("keys.go", "one")])];
        let error = Plan::new(folder.path(), &generated, false).unwrap_err();
        assert!(error.to_string().contains("Keyward did not write it"), "{error}");
        Plan::new(folder.path(), &generated, true).unwrap().apply().unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("keys.go")).unwrap(), "one");
    }

    #[test]
    fn a_run_that_was_killed_can_be_run_again_after_the_schema_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let first = [files("go", &[("a.go", "one"), ("b/c.go", "one")])];
        // The second file cannot be written: a run ends there, with the first one written.
        std::fs::write(folder.path().join("b"), "in the way").unwrap();
        let plan = Plan::new(folder.path(), &first, false).unwrap();
        assert!(plan.apply().is_err());
        assert_eq!(std::fs::read_to_string(folder.path().join("a.go")).unwrap(), "one");

        std::fs::remove_file(folder.path().join("b")).unwrap();
        let second = [files("go", &[("a.go", "two")])];
        Plan::new(folder.path(), &second, false).unwrap().apply().unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a.go")).unwrap(), "two");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "the file and the list");
    }

    #[test]
    fn a_forged_list_removes_nothing_outside_of_the_folder() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("out");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(above.path().join("precious"), "mine").unwrap();
        let absolute = above.path().join("precious");
        let hash = hash_of("mine");
        let list = format!("go\t{hash}\t../precious\ngo\t{hash}\t{}\n", absolute.display());
        std::fs::write(folder.join(LIST), list).unwrap();
        let plan = Plan::new(&folder, &[files("go", &[])], false).unwrap();
        assert!(plan.is_empty());
    }

    /// As the list records it.
    fn hash_of(text: &str) -> String {
        let mut list = List::default();
        list.add("", "", text);
        list.to_string().lines().nth(1).unwrap().trim().to_owned()
    }

    #[test]
    fn a_listed_file_that_keyward_did_not_write_as_it_is_stays() {
        let folder = tempfile::tempdir().unwrap();
        let first = files("go", &[("a.go", "one"), ("b.go", "one")]);
        Plan::new(folder.path(), &[first], false).unwrap().apply().unwrap();
        std::fs::write(folder.path().join("b.go"), "changed by hand").unwrap();
        let list = std::fs::read_to_string(folder.path().join(LIST)).unwrap();
        std::fs::write(folder.path().join("mine.txt"), "mine").unwrap();
        let forged = format!("{list}go mine.txt\ngo\t{}\tmine.txt\n", hash_of("other"));
        std::fs::write(folder.path().join(LIST), forged).unwrap();

        let plan = Plan::new(folder.path(), &[files("go", &[])], false).unwrap();
        assert_eq!(changes(&plan), [(Change::Remove, "a.go".to_owned())]);
        assert_eq!(plan.left().collect::<Vec<_>>(), ["b.go", "mine.txt"]);
        plan.apply().unwrap();
        assert!(folder.path().join("b.go").exists());
        assert!(folder.path().join("mine.txt").exists());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_removed_or_written_through_a_link() {
        use std::os::unix::fs::symlink;
        let above = tempfile::tempdir().unwrap();
        let (home, folder) = (above.path().join("home"), above.path().join("out"));
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(home.join("precious"), "mine").unwrap();
        symlink(&home, folder.join("lnk")).unwrap();
        symlink(home.join("precious"), folder.join("file")).unwrap();
        let hash = hash_of("mine");
        let list = format!("go\t{hash}\tlnk/precious\ngo\t{hash}\tfile\n");
        std::fs::write(folder.join(LIST), list).unwrap();
        assert!(Plan::new(&folder, &[files("go", &[])], false).unwrap().is_empty());

        for path in ["lnk/precious", "lnk/new", "file"] {
            let error = Plan::new(&folder, &[files("go", &[(path, "one")])], true).unwrap_err();
            assert!(matches!(error, PlanError::Link(_)), "{error}");
        }
        // A link under the name of the half-written file.
        symlink(home.join("precious"), folder.join(".new.keyward-half")).unwrap();
        let plan = Plan::new(&folder, &[files("go", &[("new", "one")])], false).unwrap();
        plan.apply().unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("new")).unwrap(), "one");
        // A link that appears between the plan and its execution.
        let plan = Plan::new(&folder, &[files("go", &[("later/keys", "one")])], false).unwrap();
        symlink(&home, folder.join("later")).unwrap();
        assert!(plan.apply().is_err());
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(home.join("precious")).unwrap(), "mine");
    }
}
