//! Everything can be reached with the keyboard alone, and one sees where one is.

use crate::stage::{Stage, listening};

#[test]
fn the_keyboard_is_enough() {
    let stage = Stage::new();
    let tab = stage.visit("");
    tab.press("Tab");
    assert_eq!(tab.eval("document.activeElement.className"), "skip");
    assert_eq!(tab.eval("document.activeElement.getBoundingClientRect().left >= 0"), true);
    tab.press("Enter");
    tab.wait("location.hash === '#content'");
    tab.press("Tab");
    assert_eq!(tab.eval("document.querySelector('main').contains(document.activeElement)"), true);
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(tab.eval(outline), "solid", "one sees where one is");

    // From the menu to the definitions, and from there to one of them.
    tab.visit(&stage.url);
    let is = "document.activeElement.getAttribute('href')";
    let mut steps = 0;
    while tab.eval(is) != "/s/main/definitions" {
        tab.press("Tab");
        steps += 1;
        assert!(steps < 30, "the menu cannot be reached");
    }
    tab.press("Enter");
    tab.wait("document.querySelector('h1')?.textContent === 'Definitions'");
    listening(&tab);
    tab.press("/");
    tab.write("profile");
    tab.wait("document.querySelectorAll('#results tbody tr').length === 1");
    for _ in 0..10 {
        tab.press("Tab");
        if tab.eval("document.activeElement.closest('#results') !== null") == true {
            break;
        }
    }
    tab.press("Enter");
    tab.wait("document.querySelector('h1')?.textContent.trim() === 'user_profile'");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_theme_is_chosen_and_remembered() {
    let stage = Stage::new();
    let tab = stage.visit("");
    tab.dark(false);
    let dark = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) < 128";
    assert_eq!(tab.eval(dark), false);
    tab.eval("document.getElementById('theme').click()");
    assert_eq!(tab.eval(dark), true);
    tab.visit(&format!("{}/definitions", stage.url));
    assert_eq!(tab.eval(dark), true);
}
