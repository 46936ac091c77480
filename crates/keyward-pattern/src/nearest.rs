//! What may have been meant by a misspelt word.

/// The candidate nearest to `word`, if one is near enough to be worth asking about. Case does not count.
///
/// ```
/// assert_eq!(keyward_pattern::nearest("patern", ["pattern", "params"]), Some("pattern"));
/// assert_eq!(keyward_pattern::nearest("JSON", ["json", "text"]), Some("json"));
/// assert_eq!(keyward_pattern::nearest("colour", ["pattern", "params"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let small = word.to_lowercase();
    let ranked = candidates
        .into_iter()
        .map(|candidate| (edit_distance(&small, &candidate.to_lowercase()), candidate));
    let (distance, candidate) = ranked.min()?;
    let near = 1 + candidate.chars().count().min(word.chars().count()) / 4;
    (distance <= near).then_some(candidate)
}

/// How many single-character changes lead from one text to the other; long texts are never near.
fn edit_distance(left: &str, right: &str) -> usize {
    if left.len() > 64 || right.len() > 64 {
        return usize::MAX;
    }
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}
