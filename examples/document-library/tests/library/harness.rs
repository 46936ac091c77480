//! The program, started as a person would, and the server that it writes to.

use keyward_testkit::{Cli, Flavor, Output, Run, Server};
use std::collections::BTreeSet;
use std::path::Path;

/// A folder with documents, and a server.
pub(crate) struct Shelf {
    pub(crate) server: Server,
    pub(crate) cli: Cli,
}

impl Shelf {
    /// An empty one, with a server as the schema wants it.
    pub(crate) fn new(flavor: Flavor) -> Self {
        let server =
            flavor.server().memory("4gb", "noeviction").config("appendonly", "yes").start();
        Shelf { server, cli: Cli::new(env!("CARGO_BIN_EXE_library")) }
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        self.cli.write(path, text);
    }

    /// The program with these arguments, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Run<'_> {
        self.cli.command(args).env("LIBRARY_SERVER", self.server.url())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).run()
    }

    /// Runs it, and expects that all is well.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.code, Some(0), "{output}");
        output.stdout
    }

    /// The path of a document's file, as the library knows it.
    pub(crate) fn path(&self, file: &str) -> String {
        self.cli.folder().canonicalize().unwrap().join(file).to_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        let reply = self.server.command(&["GET", key]);
        if reply == keyward_testkit::Reply::Nil { None } else { Some(reply.text()) }
    }

    #[track_caller]
    pub(crate) fn field(&self, key: &str, field: &str) -> String {
        self.server.command(&["HGET", key, field]).text()
    }

    #[track_caller]
    pub(crate) fn members(&self, set: &str) -> BTreeSet<String> {
        self.list(&["SMEMBERS", set]).into_iter().collect()
    }

    #[track_caller]
    pub(crate) fn sequence(&self, key: &str) -> Vec<String> {
        self.list(&["ZRANGE", key, "0", "-1"])
    }

    #[track_caller]
    pub(crate) fn keys(&self, glob: &str) -> BTreeSet<String> {
        self.list(&["KEYS", glob]).into_iter().collect()
    }

    #[track_caller]
    fn list(&self, command: &[&str]) -> Vec<String> {
        self.server.command(command).array().into_iter().map(keyward_testkit::Reply::text).collect()
    }

    /// Checks everything that must hold whatever was done.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let output = self.run(&["verify"]);
        assert_eq!(output.code, Some(0), "{output}");
        let findings = super::audit::findings(&self.server);
        assert!(findings.is_empty(), "{findings:#?}");
    }

    /// Checks that `read` prints a file as it is.
    #[track_caller]
    pub(crate) fn reads_like(&self, document: &str, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap();
        let read = self.ok(&["read", document]);
        assert!(read == text, "{document} is not {}:\n{read}", file.display());
    }

    /// No link leads to something that is not there, whatever is happening: all are looked at in one step.
    #[track_caller]
    pub(crate) fn every_link_leads_somewhere(&self) {
        let broken = self.list(&["EVAL", BROKEN_LINKS, "0"]);
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

const BROKEN_LINKS: &str = "
local broken = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local word, targets = string.match(key, ':([a-z_]+)$'), {}
  if word == 'next' or word == 'previous' then targets = {redis.call('GET', key)}
  elseif word == 'sequence' then targets = redis.call('ZRANGE', key, 0, -1)
  elseif word == 'children' or word == 'all_descendants' or word == 'siblings' or word == 'docs' or word == 'chunks' then
    targets = redis.call('SMEMBERS', key)
  end
  for _, target in ipairs(targets) do
    if redis.call('EXISTS', target) == 0 then broken[#broken + 1] = key .. ' leads to ' .. target end
  end
end
return broken";

/// A set of texts.
pub(crate) fn set<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// A text with so many parts.
pub(crate) fn numbered(parts: usize, part: impl Fn(usize) -> String) -> String {
    (0..parts).map(part).collect::<Vec<_>>().concat()
}
