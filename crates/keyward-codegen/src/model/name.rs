//! A name in the ways that languages write names.

#[cfg(feature = "files")]
use serde::Serialize;
use std::collections::HashSet;

/// A name in every case. All but `id` are ASCII letters, digits and `_`, begin with a letter and
/// differ from the other names beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Name {
    /// As the schema has it
    pub id: String,
    /// `folder_listing`
    pub snake: String,
    /// `FOLDER_LISTING`
    pub screaming: String,
    /// `folderListing`
    pub camel: String,
    /// `FolderListing`
    pub pascal: String,
    /// `folder-listing`
    pub kebab: String,
    /// `folderlisting`
    pub flat: String,
}

impl Name {
    /// The name of a thing that stands alone.
    pub fn new(id: &str) -> Self {
        Name::from_words(id, &words(id))
    }

    fn from_words(id: &str, words: &[String]) -> Self {
        let capital = |word: &String| {
            let mut word = word.clone();
            if let Some(first) = word.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            word
        };
        let pascal: String = words.iter().map(capital).collect();
        let camel = words[0].clone() + &words[1..].iter().map(capital).collect::<String>();
        Name {
            id: id.to_owned(),
            snake: words.join("_"),
            screaming: words.join("_").to_ascii_uppercase(),
            camel,
            pascal,
            kebab: words.join("-"),
            flat: words.concat(),
        }
    }
}

/// Names that stand beside each other: a second one that would look like the first gets a number.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    pub(super) fn add(&mut self, id: &str) -> Name {
        self.add_words(id, &words(id))
    }

    /// The same for a thing of an owner: a second one gets its owner's name instead of a number.
    pub(super) fn add_of(&mut self, owner: &str, id: &str) -> Name {
        let mut base = words(id);
        if self.taken.contains(&base.concat()) {
            base.splice(0..0, words(owner));
        }
        self.add_words(id, &base)
    }

    fn add_words(&mut self, id: &str, base: &[String]) -> Name {
        for number in 1.. {
            let mut words = base.to_owned();
            if number > 1 {
                words.push(format!("n{number}"));
            }
            // Without the joints: `ab_c` and `a_bc` must differ in camel case too.
            if self.taken.insert(words.concat()) {
                return Name::from_words(id, &words);
            }
        }
        Name::new(id)
    }
}

/// The words of a name, in lower case; never none, and the first begins with a letter.
fn words(id: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for char in id.chars() {
        if char.is_ascii_alphanumeric() {
            let begins = !previous.is_ascii_alphanumeric()
                || (char.is_ascii_uppercase() && !previous.is_ascii_uppercase());
            match words.last_mut() {
                Some(word) if !begins => word.push(char.to_ascii_lowercase()),
                _ => words.push(char.to_ascii_lowercase().to_string()),
            }
        }
        previous = char;
    }
    match words.first_mut() {
        None => words.push("word".to_owned()),
        Some(first) if first.starts_with(|char: char| char.is_ascii_digit()) => {
            first.insert(0, 'v');
        }
        Some(_) => {}
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_each_language_writes_it() {
        let name = Name::new("userHTTPSession_id2");
        assert_eq!(name.snake, "user_httpsession_id2");
        assert_eq!(name.camel, "userHttpsessionId2");
        assert_eq!(name.pascal, "UserHttpsessionId2");
        assert_eq!(name.screaming, "USER_HTTPSESSION_ID2");
        assert_eq!(Name::new("1m").pascal, "V1m");
        assert_eq!(Name::new("数据").snake, "word");
        assert_eq!(Name::new("__").snake, "word");
    }

    #[test]
    fn names_that_would_look_alike_get_a_number() {
        let mut names = Names::default();
        let added: Vec<String> =
            ["user_id", "userId", "USERID", "u_serid"].map(|id| names.add(id).snake).into();
        assert_eq!(added, ["user_id", "user_id_n2", "userid_n3", "u_serid_n4"]);
    }

    #[test]
    fn a_second_type_of_a_name_is_named_after_its_owner() {
        let mut names = Names::default();
        let added: Vec<String> = ["association", "page_cache", "page_cache"]
            .map(|owner| names.add_of(owner, "path").pascal)
            .into();
        assert_eq!(added, ["Path", "PageCachePath", "PageCachePathN2"]);
    }
}
