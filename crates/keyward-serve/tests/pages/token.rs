//! Whoever has the token signs in once; nobody else sees a page.

use crate::stage::{PAGES, Stage, picture};
use keyward_audit::live::Secret;
use keyward_testkit::Server;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn the_token_opens_the_pages_and_nothing_else_does() {
    let stage =
        Stage::with(Server::redis(), |config| config.token = Some(Secret::new(TOKEN.to_owned())));
    let tab = stage.browser.tab();
    for path in PAGES {
        tab.visit(&format!("{}{path}", stage.url));
        assert_eq!(tab.eval("location.pathname"), "/login", "{path}");
    }
    assert_eq!(tab.overflow(), 0);
    assert_eq!(tab.errors(), [""; 0]);
    picture(&tab, "login-light");

    let ready = "document.activeElement.name === 'token'";
    tab.wait(ready);
    tab.write("not the token");
    tab.press("Enter");
    tab.wait("document.querySelector('[role=alert]')?.textContent === 'This is not the token.'");
    // The browser complains about the status, which is meant.
    assert_eq!(tab.errors().len(), 1);

    tab.wait(ready);
    tab.write(TOKEN);
    tab.press("Enter");
    tab.wait("location.pathname === '/s/main'");
    tab.wait("document.getElementById('memory') !== null");
    assert_eq!(tab.errors(), [""; 0], "events, style and script are let in too");
    assert!(!tab.eval("document.cookie + location.href").to_string().contains(TOKEN));
}

#[test]
fn a_header_opens_them_too() {
    let stage =
        Stage::with(Server::redis(), |config| config.token = Some(Secret::new(TOKEN.to_owned())));
    let tab = stage.browser.tab();
    tab.headers(&[("Authorization", &format!("Bearer {TOKEN}"))]);
    stage.audited(&tab);
    assert_eq!(tab.errors(), [""; 0]);
}
