//! Paste any key: what it is, or why it fits nothing. It stands in no address.

use crate::stage::{Stage, listening, picture};

#[test]
fn a_pasted_key_is_explained_and_stands_in_no_address() {
    let stage = Stage::new();
    let tab = stage.visit("/key");
    listening(&tab);
    let key = "session:active:00000007-7425-40de-944b-e07fc1f90ae7";
    tab.press("/");
    tab.write(key);
    tab.press("Enter");
    tab.wait("document.getElementById('answer') !== null");
    let answer = tab.eval("document.getElementById('answer').innerText");
    let answer = answer.as_str().unwrap();
    for part in ["active_session", "session_id", "00000007-7425", "hash", "there, in database 0"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!tab.eval("location.href").to_string().contains("0007"));
    picture(&tab, "key-light");

    tab.visit(&format!("{}/key", stage.url));
    listening(&tab);
    tab.press("/");
    tab.write("sesion:active:7<script>alert(1)</script>");
    tab.press("Enter");
    tab.wait("document.querySelector('#answer .error') !== null");
    let answer = tab.eval("document.getElementById('answer').innerText");
    let answer = answer.as_str().unwrap();
    assert!(answer.contains("active_session") && answer.contains("sesion"), "{answer}");
    assert!(answer.contains("not there"), "{answer}");
    assert_eq!(tab.eval("document.scripts.length"), 1);
    assert_eq!(tab.errors(), [""; 0]);
    // Without a script it is a form like any other.
    tab.scripts(false);
    tab.visit(&format!("{}/key", stage.url));
    tab.eval("document.querySelector('.paste input').focus()");
    tab.write(key);
    tab.press("Enter");
    tab.wait("document.querySelector('#answer h2')?.textContent.trim() === 'active_session'");
}
