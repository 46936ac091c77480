//! The words of a name or a sentence.

/// The words of a text in lower case, split at everything that is not a letter or digit, and where a
/// capital follows a small letter.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for char in text.chars() {
        let cut = !char.is_alphanumeric() || (after_small && char.is_uppercase());
        if cut && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        after_small = char.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// "`a`", "`a` and `b`", "`a`, `b` and `c`": names as a message lists them, cut after `at_most`.
pub(crate) fn listed<S: AsRef<str>>(names: &[S], at_most: usize) -> String {
    let quoted = |name: &S| format!("`{}`", name.as_ref());
    if names.len() > at_most {
        let shown: Vec<_> = names[..at_most].iter().map(quoted).collect();
        return format!("{} and {} more", shown.join(", "), names.len() - at_most);
    }
    match names {
        [] => String::new(),
        [only] => quoted(only),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(quoted).collect();
            format!("{} and {}", first.join(", "), quoted(last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_punctuation_and_capitals() {
        assert_eq!(words("rate_limit:userId, HTTPUrl"), ["rate", "limit", "user", "id", "httpurl"]);
        assert_eq!(words("Lese-Reihenfolge"), ["lese", "reihenfolge"]);
    }

    #[test]
    fn long_lists_are_cut_with_a_count() {
        assert_eq!(listed(&["a"], 3), "`a`");
        assert_eq!(listed(&["a", "b", "c"], 3), "`a`, `b` and `c`");
        assert_eq!(listed(&["a", "b", "c", "d", "e"], 3), "`a`, `b`, `c` and 2 more");
    }
}
