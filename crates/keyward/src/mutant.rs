//! The text of scripts, and for `cargo xtask mutants` one of them without one of its lines.

/// The text of a script.
#[cfg(not(feature = "mutants"))]
pub fn text(script: &'static str) -> &'static str {
    script
}

/// The text of a script; without a line, if that is in the file that `KEYWARD_MUTANT=path:line` names.
#[cfg(feature = "mutants")]
pub fn text(script: &'static str) -> &'static str {
    static MUTANT: std::sync::LazyLock<Option<(String, String)>> = std::sync::LazyLock::new(|| {
        let named = std::env::var("KEYWARD_MUTANT").ok()?;
        let (path, line) = named.rsplit_once(':').expect("KEYWARD_MUTANT is `path:line`");
        let line: usize = line.parse().expect("KEYWARD_MUTANT ends with the number of a line");
        let whole = std::fs::read_to_string(path).expect("KEYWARD_MUTANT names a script");
        let kept = (1..).zip(whole.split_inclusive('\n')).filter(|(at, _)| *at != line);
        let mutant = kept.map(|(_, text)| text).collect();
        Some((whole, mutant))
    });
    match &*MUTANT {
        Some((whole, mutant)) if script.contains(whole.as_str()) => {
            Box::leak(script.replace(whole, mutant).into_boxed_str())
        }
        _ => script,
    }
}
