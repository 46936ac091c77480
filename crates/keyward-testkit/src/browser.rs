//! Pages in Chromium, without a window.
//!
//! A page that is looked at tells what it saw as JSON between `SEEN` and `NEES`, anywhere in its text:
//!
//! ```
//! use keyward_testkit::browser::Browser;
//!
//! let page = "<p><script>
//!     const seen = { dark: matchMedia('(prefers-color-scheme: dark)').matches };
//!     document.querySelector('p').textContent = 'SEEN' + JSON.stringify(seen) + 'NEES';
//! </script>";
//! let browser = Browser::new().file("page.html", page);
//! assert_eq!(browser.look("page.html", true)["dark"], true);
//! assert_eq!(browser.look("page.html", false)["dark"], false);
//! ```
//!
//! A [`Tab`] visits pages over HTTP, with keys, screens of any size, and what the browser complains about.

mod devtools;
mod tab;

pub use tab::Tab;

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A script that gathers in `errors` what goes wrong in a page; what looks at the page comes after it.
pub const WATCH: &str = include_str!("browser/watch.js");

/// A browser and the files that it can open.
#[derive(Debug)]
pub struct Browser {
    folder: TempDir,
    looks_into_frames: bool,
}

impl Default for Browser {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        Self { folder, looks_into_frames: false }
    }
}

impl Browser {
    /// A browser that has nothing to open yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn file(self, name: &str, content: &str) -> Self {
        fs::write(self.folder.path().join(name), content).expect("the folder is writable");
        self
    }

    /// Lets a page look into its frames, for those in which no script runs.
    #[must_use]
    pub fn look_into_frames(mut self) -> Self {
        self.looks_into_frames = true;
        self
    }

    /// Opens a tab in a browser of its own, which runs until the tab is dropped.
    pub fn tab(&self) -> Tab {
        Tab::open(&self.folder.path().join("visits"))
    }

    /// Opens a tab and visits a page over HTTP.
    #[track_caller]
    pub fn visit(&self, url: &str) -> Tab {
        let tab = self.tab();
        tab.visit(url);
        tab
    }

    /// What a page saw, on a machine whose colours are dark or light.
    ///
    /// # Panics
    ///
    /// When the page tells nothing, or no JSON.
    #[track_caller]
    pub fn look(&self, page: &str, dark: bool) -> Value {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let mut command = Command::new("timeout");
        command.args(["120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
        command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
        command.args(["--disable-component-update", "--virtual-time-budget=20000", "--dump-dom"]);
        command.args(self.looks_into_frames.then_some("--allow-file-access-from-files"));
        command.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)));
        command.arg(format!("--user-data-dir={}", path("profile")));
        command.arg(format!("file://{}", path(page)));
        let output = command.output().expect("Chromium is installed");
        let dom = String::from_utf8_lossy(&output.stdout);
        let seen = dom.split_once("SEEN").and_then(|(_, rest)| rest.split_once("NEES"));
        let (seen, _) = seen.unwrap_or_else(|| {
            panic!("the page told nothing:\n{dom}\n{}", String::from_utf8_lossy(&output.stderr))
        });
        let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&seen).unwrap_or_else(|error| panic!("{error}: {seen}"))
    }
}
