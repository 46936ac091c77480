//! What is generated, compared with what is there.
//!
//! A folder's `.keyward-files` lists what Keyward wrote there. So a file that is no longer generated
//! can be removed, and one that somebody else wrote is neither removed nor overwritten.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The list's name.
const LIST: &str = ".keyward-files";

/// What a generator writes: paths below the output folder, and their contents.
#[derive(Debug, Clone)]
pub struct Files {
    generator: String,
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
    folder: PathBuf,
    changes: Vec<(Change, String, String)>,
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
        let listed_before = read(&folder.join(LIST))?;
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
                let there = read(&folder.join(path))?;
                if there.as_deref() == Some(text) {
                    unchanged += 1;
                } else {
                    if there.is_some() && !before.files.contains_key(path) && !force {
                        foreign.push(folder.join(path));
                    }
                    let change = if there.is_some() { Change::Update } else { Change::Create };
                    changes.push((change, path.to_owned(), text.to_owned()));
                }
                list.add(&files.generator, path);
            }
        }
        if !foreign.is_empty() {
            return Err(PlanError::Foreign(foreign));
        }
        for path in before.files.keys().filter(|path| !list.files.contains_key(*path)) {
            // The list is a file like any other: what it names may lie outside of the folder.
            if is_below(path) && read(&folder.join(path))?.is_some() {
                changes.push((Change::Remove, path.clone(), String::new()));
            }
        }
        Ok(Plan { folder: folder.to_owned(), changes, unchanged, before, list, listed_before })
    }

    /// Each file that changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = (Change, &str)> {
        self.changes.iter().map(|(change, path, _)| (*change, path.as_str()))
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
            write(&self.folder.join(LIST), &during)?;
        }
        for (change, path, text) in &self.changes {
            let target = self.folder.join(path);
            match change {
                Change::Create | Change::Update => write(&target, text)?,
                Change::Remove => {
                    std::fs::remove_file(&target)?;
                    remove_empty_folders(&self.folder, &target);
                }
            }
        }
        let text = self.list.to_string();
        let listed = if self.is_empty() { self.listed_before.as_deref() } else { Some(&*during) };
        if listed != Some(&text) {
            write(&self.folder.join(LIST), &text)?;
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
    /// A file cannot be read
    #[error("cannot read `{0}`: {1}")]
    Read(PathBuf, #[source] io::Error),
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    paths.join(", ")
}

/// The list of generated files: which generator wrote each.
#[derive(Debug, Default)]
struct List {
    files: BTreeMap<String, String>,
}

impl List {
    fn read(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let files = lines
            .filter_map(|line| line.split_once(' '))
            .map(|(generator, path)| (path.to_owned(), generator.to_owned()))
            .collect();
        List { files }
    }

    /// What other generators wrote.
    fn without(&self, generated: &[Files]) -> Self {
        let again = |by: &str| generated.iter().any(|files| files.generator == by);
        let files = self.files.iter().filter(|(_, by)| !again(by));
        List { files: files.map(|(path, by)| (path.clone(), by.clone())).collect() }
    }

    /// These files and those.
    fn and(&self, more: &List) -> Self {
        let files = self.files.iter().chain(&more.files);
        List { files: files.map(|(path, by)| (path.clone(), by.clone())).collect() }
    }

    fn add(&mut self, generator: &str, path: &str) {
        self.files.insert(path.to_owned(), generator.to_owned());
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("# What Keyward wrote here; it removes or overwrites nothing else.\n")?;
        self.files.iter().try_for_each(|(path, by)| writeln!(f, "{by} {path}"))
    }
}

/// The text of a file, if there is one. Bytes that are not text differ from everything generated.
fn read(path: &Path) -> Result<Option<String>, PlanError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8(bytes).unwrap_or_else(|_| "\0".to_owned()))),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(PlanError::Read(path.to_owned(), error)),
    }
}

fn is_below(path: &str) -> bool {
    let normal = |part| matches!(part, std::path::Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(normal)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Always the same name, so that one that a killed run has left is used up by the next.
    let half = folder.join(format!(".{name}.keyward-half"));
    let written = std::fs::write(&half, text).and_then(|()| std::fs::rename(&half, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&half);
    }
    written
}

/// Removes the folders that a removed file leaves empty, up to the output folder.
fn remove_empty_folders(top: &Path, removed: &Path) {
    for folder in removed.ancestors().skip(1).take_while(|folder| *folder != top) {
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
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
        let list = format!("go ../precious\ngo {}\n", absolute.display());
        std::fs::write(folder.join(LIST), list).unwrap();
        let plan = Plan::new(&folder, &[files("go", &[])], false).unwrap();
        assert!(plan.is_empty());
    }
}
