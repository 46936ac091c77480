//! Names that a person would choose, from the words around them.

use crate::draft::ParamType;

/// The words in a text: `userProfile_v2` has three.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut lower = false;
    for char in text.chars() {
        if !char.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let camel = lower && char.is_ascii_uppercase();
        lower = char.is_ascii_lowercase();
        if !open || camel {
            words.push(String::new());
        }
        open = true;
        if let Some(last) = words.last_mut() {
            last.push(char.to_ascii_lowercase());
        }
    }
    words
}

/// One of many: `users` → `user`.
pub(crate) fn singular(word: &str) -> String {
    let stem = |end: usize| &word[..word.len() - end];
    match word {
        _ if word.len() < 4
            || word.ends_with("ss")
            || word.ends_with("us")
            || word.ends_with("is") =>
        {
            word.to_owned()
        }
        _ if word.ends_with("ies") => format!("{}y", stem(3)),
        _ if word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") => {
            stem(2).to_owned()
        }
        _ if word.ends_with('s') => stem(1).to_owned(),
        _ => word.to_owned(),
    }
}

/// A name that may be an id: words joined by `_`, and nothing else.
pub(crate) fn id<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let name = words.collect::<Vec<_>>().join("_");
    let name: String = name.chars().take(60).collect();
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "key".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) => name.to_owned(),
    }
}

/// The name of a parameter with this word before it.
pub(crate) fn param(word: Option<&str>, ty: &ParamType) -> String {
    let stem =
        word.map(singular).filter(|word| word.starts_with(|it: char| it.is_ascii_lowercase()));
    match ty {
        ParamType::Rest => "rest".to_owned(),
        ParamType::Named(name) => match name.as_str() {
            "date" => "day".to_owned(),
            "unix" | "unix_ms" => "time".to_owned(),
            "ip" | "raw_ip" => "ip".to_owned(),
            "email" | "locale" | "slug" => name.clone(),
            "text" | "word" => match (word, stem) {
                (Some(word), Some(stem)) if *word != stem => stem,
                (_, Some(stem)) => format!("{stem}_name"),
                _ => "name".to_owned(),
            },
            _ => stem.map_or_else(|| "id".to_owned(), |stem| format!("{stem}_id")),
        },
        ParamType::Enum(_) => stem.map_or_else(|| "kind".to_owned(), |stem| format!("{stem}_kind")),
        ParamType::Without(name, _) if name == "text" => {
            stem.map_or_else(|| "name".to_owned(), |stem| format!("{stem}_name"))
        }
        ParamType::Without(name, _) if name == "slug" => name.clone(),
        ParamType::Without(..) => stem.map_or_else(|| "id".to_owned(), |stem| format!("{stem}_id")),
        ParamType::Regex(_) => stem.map_or_else(|| "id".to_owned(), |stem| format!("{stem}_id")),
    }
}

/// A name that is not taken: with a number, if it must be.
pub(crate) fn free(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let mut number = 2;
    while is_taken(&format!("{name}_{number}")) {
        number += 1;
    }
    format!("{name}_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_all_spellings() {
        assert_eq!(words("userProfile_v2"), ["user", "profile", "v2"]);
        assert_eq!(words("BO:User:"), ["bo", "user"]);
        assert_eq!(words("::"), [""; 0]);
        assert_eq!(
            ["users", "categories", "status", "boxes", "news"].map(singular),
            ["user", "category", "status", "box", "new"]
        );
    }

    #[test]
    fn ids_begin_with_a_letter() {
        assert_eq!(id(["2fa", "code"].into_iter()), "n2fa_code");
        assert_eq!(id([].into_iter()), "key");
    }
}
