//! A page over HTTP in a real browser.

use keyward_testkit::browser::Browser;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

const PAGE: &str =
    "<!doctype html><title>A page</title><meta name=viewport content=\"width=device-width\">
    <style>body { background: light-dark(white, black); color-scheme: light dark } </style>
    <p id=told></p><input id=first><input id=second><noscript>no script</noscript>
    <script>
      document.getElementById('second').addEventListener('input', (event) => {
        document.getElementById('told').textContent = event.target.value;
      });
    </script>";

/// Answers every request with the page and what its headers were.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> =
                lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let asked = head.join("|").to_lowercase().replace('<', "");
            let body = format!("{PAGE}<pre hidden>{asked}</pre>");
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            // A browser may have gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_tab_is_used_as_a_person_would() {
    let url = serve();
    let browser = Browser::new();
    let tab = browser.tab();
    tab.headers(&[("X-Token", "abc")]);
    tab.cookie(&url, "kind", "oat");
    tab.visit(&url);
    assert_eq!(tab.eval("document.title"), "A page");
    let head = tab.eval("document.querySelector('pre').textContent").to_string();
    assert!(head.contains("x-token: abc") && head.contains("cookie: kind=oat"), "{head}");
    tab.press("Tab");
    tab.press("Tab");
    tab.write("a/b");
    tab.wait("document.getElementById('told').textContent === 'a/b'");
    tab.press("Shift+Tab");
    assert_eq!(tab.eval("document.activeElement.id"), "first");
    assert_eq!(tab.errors(), [""; 0]);
    tab.eval(
        "setTimeout(() => { throw new Error('oh') }); new Promise((done) => setTimeout(done, 10))",
    );
    let errors = tab.errors();
    assert!(errors.len() == 1 && errors[0].contains("oh"), "{errors:?}");
}

#[test]
fn a_tab_has_a_screen_and_colours_and_may_run_no_script() {
    let url = serve();
    let browser = Browser::new();
    let tab = browser.visit(&url);
    let paper = "getComputedStyle(document.body).backgroundColor";
    tab.dark(false);
    assert_eq!(tab.eval(paper), "rgb(255, 255, 255)");
    tab.dark(true);
    assert_eq!(tab.eval(paper), "rgb(0, 0, 0)");
    tab.screen(390, 844);
    assert_eq!(tab.eval("innerWidth"), 390);
    assert_eq!(tab.overflow(), 0);
    tab.scripts(false);
    tab.visit(&url);
    assert!(tab.eval("document.body.innerText").to_string().contains("no script"));
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("page.png");
    tab.screenshot(&picture, true);
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));
}
