//! What folders, files and users are.

use crate::xeuz_cloud::stored::Permission;
use keyward::Uuid;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::str::FromStr;

/// What is in a folder. The schema caches it, as compressed JSON, by this very type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderListing {
    /// By name
    pub folders: Vec<FolderEntry>,
    /// By name
    pub files: Vec<FileEntry>,
}

/// A folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderEntry {
    pub id: Uuid,
    pub name: String,
}

/// A file in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub id: Uuid,
    pub name: String,
    pub size: u64,
    pub mime: String,
}

/// A folder. A user's own has the user's id, and nothing above it.
#[derive(Debug, Clone)]
pub struct Folder {
    pub id: Uuid,
    pub parent_id: Option<Uuid>,
    /// Whoever owns the folder at the top
    pub owner_id: Uuid,
}

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    pub id: Uuid,
    pub folder_id: Uuid,
    /// Whoever uploaded it, and whose storage it takes
    pub owner_id: Uuid,
    pub name: String,
    pub size: u64,
    pub mime: String,
}

/// What an admin lets a user do in all folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything everywhere
    Admin,
    /// What folders' owners say
    Member,
    /// The same, but never more than looking
    Guest,
}

impl Role {
    /// What is permitted with this role where so much is granted.
    pub fn permits(self, granted: Option<Permission>) -> Option<Permission> {
        match self {
            Role::Admin => Some(Permission::Owner),
            Role::Member => granted,
            Role::Guest => granted.map(|_| Permission::Viewer),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Admin => "admin",
            Role::Member => "member",
            Role::Guest => "guest",
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let all = [Role::Admin, Role::Member, Role::Guest];
        all.into_iter().find(|it| it.as_str() == word).ok_or_else(|| format!("no role: `{word}`"))
    }
}

/// The name of a folder, a file or a user.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match name.chars().count() {
            0 => Err("a name cannot be empty"),
            1..=200 if !name.contains('/') => Ok(Name(name)),
            1..=200 => Err("a name cannot contain `/`"),
            _ => Err("a name has at most 200 characters"),
        }
    }
}

/// What kind of content a file has, such as `application/pdf`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Mime(String);

impl From<Mime> for String {
    fn from(mime: Mime) -> Self {
        mime.0
    }
}

impl TryFrom<String> for Mime {
    type Error = &'static str;

    fn try_from(mime: String) -> Result<Self, Self::Error> {
        let has_parts = mime.split('/').filter(|part| !part.is_empty()).count() == 2;
        let fits = has_parts && mime.len() <= 200;
        if fits { Ok(Mime(mime)) } else { Err("a MIME type looks like `application/pdf`") }
    }
}

/// Reads one of the schema's words from JSON.
pub fn word<'de, D, W>(deserializer: D) -> Result<W, D::Error>
where
    D: Deserializer<'de>,
    W: FromStr<Err: fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}
