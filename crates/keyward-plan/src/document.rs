//! The plan as a file: versioned JSON that people review, and that apply trusts in nothing but what was asked.

use crate::error::{Error, MAKE};
use crate::order::Order;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// The version of the document.
pub const VERSION: u32 = 1;

/// The largest file that is read as a plan.
const LARGEST: u64 = 16 * 1024 * 1024;

/// A reviewable file of changes to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the document
    pub keyward_plan: u32,
    /// What tells it from all other plans
    pub id: String,
    /// In one line
    pub summary: String,
    /// What was asked for
    pub order: Order,
    /// When it was made: RFC 3339, UTC
    pub made: String,
    /// Until when it can be started: RFC 3339, UTC
    pub expires: String,
    /// The servers that it was made for
    pub servers: Vec<ServerId>,
    /// The database of the keys whose definitions name none
    pub db: u64,
    /// The keyspace, and a hash of the definitions that it touches, without the phases of migrations
    pub schema: SchemaId,
    /// What would be changed, a row for each kind of change of each definition
    pub rows: Vec<Row>,
    /// What must hold before a key is changed; checked for each key in the step that changes it
    pub preconditions: Vec<String>,
    /// Why the copies do not fit into the memory that the servers had left, if they do not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_large: Option<String>,
    /// How long it will take, from the speed that was measured while it was made
    pub estimate: Estimate,
    /// Who must approve it, as `[plans] require_owner` asks
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Who has approved it
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// A hash of everything else but the approvals: an edited or torn file is noticed
    pub seal: String,
}

/// A server as it was when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerId {
    /// Its address, without credentials
    pub address: String,
    /// The process
    pub run_id: String,
    /// The history of its data
    pub replication_id: String,
    /// In a cluster: its name there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// Which definitions a plan was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaId {
    /// The keyspace
    pub keyspace: String,
    /// The definitions that the plan touches
    pub definitions: Vec<String>,
    /// A hash of what these say
    pub hash: String,
}

/// One kind of change of one definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What is done: `copy`, `rename`, `remove`, `shorten`, …
    pub action: String,
    /// The rule that the keys break, in a plan that repairs
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The definition; empty for keys that no definition has
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition: String,
    /// Which keys: a pattern or a glob
    pub keys: String,
    /// The pattern of their new names
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many keys there are of each kind: `change`, `same`, `conflict: …`
    pub counts: BTreeMap<String, u64>,
    /// Some keys that would be changed, masked
    pub samples: Vec<String>,
    /// Some keys that a person must decide about, masked, each with the reason
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// For how many seconds none of the keys was used that have no equal under their new name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
    /// Of how many of these keys the server does not say when they were used
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unseen_use: u64,
    /// How many bytes of memory the copies take, estimated from some of the keys
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_bytes: Option<u64>,
    /// Whether data is lost for good
    #[serde(default, skip_serializing_if = "is_false")]
    pub destructive: bool,
    /// Whether `plan undo` cannot take it back
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_undoable: bool,
    /// Whether a value says less afterwards
    #[serde(default, skip_serializing_if = "is_false")]
    pub lossy: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How long a plan will take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Keys that would be changed
    pub changes: u64,
    /// Keys of the servers, all of which are looked at
    pub keys: u64,
    /// Keys a second that were looked at while the plan was made
    pub keys_per_second: u64,
    /// Seconds
    pub seconds: u64,
}

/// Somebody who agrees with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The owner
    pub owner: String,
    /// Who says so
    pub by: String,
    /// When: RFC 3339, UTC
    pub at: String,
}

impl Row {
    pub(crate) fn new(action: &str, definition: &str, keys: &str) -> Self {
        Row {
            action: action.to_owned(),
            rule: None,
            definition: definition.to_owned(),
            keys: keys.to_owned(),
            to: None,
            counts: BTreeMap::new(),
            samples: Vec::new(),
            conflicts: Vec::new(),
            idle_seconds: None,
            unseen_use: 0,
            copy_bytes: None,
            destructive: false,
            not_undoable: false,
            lossy: false,
        }
    }

    /// How many keys would be changed.
    pub fn changes(&self) -> u64 {
        self.counts.get(CHANGE).copied().unwrap_or(0)
    }

    /// How many keys a person must decide about.
    pub fn conflict_count(&self) -> u64 {
        let is_conflict = |(name, _): &(&String, &u64)| name.starts_with(CONFLICT);
        self.counts.iter().filter(is_conflict).map(|(_, count)| count).sum()
    }
}

/// The count of keys that would be changed.
pub(crate) const CHANGE: &str = "change";
/// What is done with a value of which members, entries or a field are erased.
pub(crate) const ERASE_PARTS: &str = "erase parts";
/// The count of keys that look like an old name and cannot be read as one.
pub(crate) const UNREAD: &str = "kept: looks like this old name, and cannot be read as one";
/// The count of keys that stand under one name only, in a plan for a migration: `--remove-lone` removes them.
pub const LONE: &str = "conflict: nothing under its other name";
/// What the counts of conflicts begin with.
pub(crate) const CONFLICT: &str = "conflict";

impl Plan {
    /// Reads a plan, and refuses one that is not as it was written.
    ///
    /// # Errors
    /// If the file cannot be read, is no plan, or was edited or torn.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = keyward_fact::read_file(path, LARGEST)
            .map_err(|error| Error::file("read", path, error))?;
        Plan::parse(&bytes, &path.display().to_string())
    }

    /// Reads the text of a plan; `shown` is what it is called in errors.
    ///
    /// # Errors
    /// If it is no plan, or was edited or torn.
    pub fn parse(bytes: &[u8], shown: &str) -> Result<Self, Error> {
        let refuse = |why: String| Error::Document {
            why,
            help: "make the plan again: a plan is changed by planning, and approved with `plan approve`",
        };
        let value: serde_json::Value = serde_json::from_slice(bytes)
            .map_err(|error| refuse(format!("`{shown}` is not a plan: {error}")))?;
        match value.get("keyward_plan").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(refuse(format!(
                    "`{shown}` is a plan of version {version}, and this program knows version {VERSION}"
                )));
            }
            None => return Err(refuse(format!("`{shown}` is not a plan"))),
        }
        let plan: Plan = serde_json::from_value(value)
            .map_err(|error| refuse(format!("`{shown}` is not a plan: {error}")))?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if plan.id.len() != 16 || !plan.id.bytes().all(is_hex) {
            return Err(refuse(format!("`{shown}` is not a plan: its id is not one")));
        }
        if plan.seal != plan.sealed()? {
            return Err(refuse(format!("`{shown}` was edited after it was made")));
        }
        Ok(plan)
    }

    /// Writes the plan: all of it, or nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |error| Error::file(MAKE, path, error);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        text.push('\n');
        let beside = path.with_extension(format!("{}.new", self.id));
        let write = || {
            let mut file = File::create(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, path)
        };
        write().map_err(|error| {
            // What was written of it is of no use; if it cannot be removed, its name says what it is.
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
    }

    /// Seals what was planned.
    pub(crate) fn seal(&mut self) -> Result<(), Error> {
        self.seal = self.sealed()?;
        Ok(())
    }

    fn sealed(&self) -> Result<String, Error> {
        let mut plain = self.clone();
        plain.approvals.clear();
        plain.seal.clear();
        let text = serde_json::to_string(&plain).map_err(|error| {
            Error::unfinished(format!("the plan cannot be written: {error}"), "make it again")
        })?;
        Ok(sha1_smol::Sha1::from(text).digest().to_string())
    }

    /// Notes that somebody approves for an owner.
    ///
    /// # Errors
    /// If nobody asks this owner.
    pub fn approve(&mut self, owner: &str, by: &str, at: String) -> Result<(), Error> {
        if !self.needs.iter().any(|it| it == owner) {
            let all = self.needs.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>();
            let help = match all.len() {
                0 => "the plan needs no approval".to_owned(),
                _ => format!("it needs the approval of {}", all.join(", ")),
            };
            return Err(Error::refused(format!("the plan touches nothing of `{owner}`"), help));
        }
        if by.trim().is_empty() {
            return Err(Error::refused(
                "an approval needs a name",
                "`--by NAME` says who approves",
            ));
        }
        self.approvals.retain(|it| it.owner != owner);
        self.approvals.push(Approval { owner: owner.to_owned(), by: by.to_owned(), at });
        Ok(())
    }

    /// The owners who have not approved yet.
    pub fn missing_approvals(&self) -> impl Iterator<Item = &str> {
        let has = |owner: &&String| self.approvals.iter().any(|it| it.owner == **owner);
        self.needs.iter().filter(move |owner| !has(owner)).map(String::as_str)
    }

    /// How many keys would be changed.
    pub fn changes(&self) -> u64 {
        self.rows.iter().map(Row::changes).sum()
    }

    /// How many keys a person must decide about.
    pub fn conflicts(&self) -> u64 {
        self.rows.iter().map(Row::conflict_count).sum()
    }
}
