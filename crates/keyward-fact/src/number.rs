//! Numbers with thousands separated, as reports show them.

/// A number with its thousands separated by commas.
///
/// ```
/// assert_eq!(keyward_fact::thousands(12_404), "12,404");
/// assert_eq!(keyward_fact::thousands(999), "999");
/// ```
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
