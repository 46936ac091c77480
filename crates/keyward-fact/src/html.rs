//! Text in HTML.

/// A text that stays text in HTML, between tags or in a quoted attribute.
///
/// ```
/// assert_eq!(keyward_fact::escape_html("<b a='\"&"), "&lt;b a=&#39;&quot;&amp;");
/// ```
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}
