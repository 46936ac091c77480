use crate::markdown::{assert_sound, read};
use crate::{HOSTILE, html_of, markdown_of, schema};
use keyward_docs::{Locale, Options};

#[test]
fn no_text_of_a_schema_becomes_markup() {
    for locale in Locale::ALL {
        let options = Options { locale, ..Options::default() };
        assert_sound(locale.name(), &markdown_of(&schema(HOSTILE), &options));
    }
}

#[test]
fn hostile_texts_are_read_as_they_were_written() {
    let page = read(&markdown_of(&schema(HOSTILE), &Options::default()));
    for text in [
        "<img src=x onerror=alert(1)> | a b|c [x](javascript:alert(2)) </script><!-- --> -->",
        "| pipe || pipes | code | code \\| \\\\| end\\",
        "{{ words }} {% raw %} &lt;b&gt; **bold** _em_ ~~gone~~ $x$ !i <https://a.b>",
        "collides with a heading, as does contents",
        "</code><script>alert(5)</script>",
        "old|`<b>:{a}",
        "|`*<script>",
    ] {
        assert!(page.text.contains(text), "{text}\n{}", page.text);
    }
    for heading in ["heading", "1. list"] {
        assert!(!page.headings.iter().any(|it| it == heading), "{heading}");
    }
}

#[test]
fn headings_of_the_same_words_have_anchors_of_their_own() {
    let page = markdown_of(&schema(HOSTILE), &Options::default());
    for link in ["(#overview-1)", "(#contents-1)", "(#events)", "(#events-1)"] {
        assert!(page.contains(link), "{link}\n{page}");
    }
}

#[test]
fn no_text_of_a_schema_becomes_a_tag() {
    let page = html_of(&schema(HOSTILE), &Options::default());
    for text in
        ["<img", "alert('name')</", "<i>:", "onerror=alert(1)>", "\"onmouseover", "</td>\"", "<b>|"]
    {
        assert!(!page.contains(text), "{text}");
    }
    for (tag, count) in [("<script", 1), ("</script", 1), ("<style", 1), ("<title>", 1)] {
        assert_eq!(page.matches(tag).count(), count, "{tag}");
    }
    assert!(!page.contains("href=\"javascript:"));
    assert!(page.contains("href=\"https://ok.example/?a=1&amp;b=\" rel"));
}

#[test]
fn a_command_that_is_copied_runs_nothing_else() {
    let page = markdown_of(&schema(HOSTILE), &Options::default());
    let html = html_of(&schema(HOSTILE), &Options::default());
    let command = r"redis-cli --scan --pattern '<b>|`:'\''; rm -rf ~; echo '\'':*'";
    let escaped = command.replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#x27;");
    assert!(html.contains(&escaped), "{html}");
    assert!(page.contains("loglevel \"x\\nrequirepass y\""), "{page}");
}
