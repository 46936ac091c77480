//! A page over HTTP, as a person sees and uses it.

use super::devtools::DevTools;
use crate::wait_until;
use base64::Engine as _;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// A tab of a browser.
///
/// ```no_run
/// use keyward_testkit::browser::Browser;
///
/// let browser = Browser::new();
/// let tab = browser.tab();
/// tab.screen(390, 844);
/// tab.dark(true);
/// tab.visit("http://127.0.0.1:9736/");
/// tab.press("/");
/// tab.write("session");
/// tab.wait("document.querySelectorAll('tbody tr:not([hidden])').length === 1");
/// assert_eq!(tab.eval("document.title"), "Definitions");
/// assert_eq!(tab.errors(), [""; 0]);
/// ```
#[derive(Debug)]
pub struct Tab {
    devtools: DevTools,
    session: String,
}

impl Tab {
    pub(super) fn open(profile: &Path) -> Self {
        let devtools = DevTools::start(profile);
        let text = |value: &Value| value.as_str().expect("an id is a text").to_owned();
        let target =
            devtools.command(None, "Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = devtools.command(None, "Target.attachToTarget", &attach);
        let tab = Tab { session: text(&attached["sessionId"]), devtools };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.command(&format!("{domain}.enable"), json!({}));
        }
        tab.command("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        tab.screen(1280, 900);
        tab
    }

    /// Opens a page and waits until it is there.
    #[track_caller]
    pub fn visit(&self, url: &str) {
        let answer = self.command("Page.navigate", json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        // Within a page, nothing is loaded.
        let Some(loader) = answer["loaderId"].as_str() else { return };
        wait_until(url, || {
            let events = self.devtools.events(&self.session, &["Page.lifecycleEvent"]);
            let loaded = |it: &Value| it["loaderId"] == loader && it["name"] == "load";
            events.iter().any(|it| loaded(&it["params"]))
        });
    }

    /// What an expression of the page's language is.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.command("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, also across pages.
    #[track_caller]
    pub fn wait(&self, condition: &str) {
        wait_until(condition, || {
            let params = json!({ "expression": condition, "returnByValue": true });
            self.command("Runtime.evaluate", params)["result"]["value"] == true
        });
    }

    /// Presses a key: a character, or `Tab`, `Enter`, `Escape`, `ArrowDown`; `Shift+Tab`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let (modifiers, key) = key.strip_prefix("Shift+").map_or((0, key), |key| (8, key));
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowDown" => (40, ""),
            "ArrowUp" => (38, ""),
            character => {
                assert_eq!(character.chars().count(), 1, "`{key}` is not a known key");
                (0, character)
            }
        };
        let event = |kind: &str, text: &str| {
            json!({ "type": kind, "key": key, "code": key, "text": text, "modifiers": modifiers,
                "windowsVirtualKeyCode": code })
        };
        self.command("Input.dispatchKeyEvent", event("keyDown", text));
        self.command("Input.dispatchKeyEvent", event("keyUp", ""));
    }

    /// Types a text, key by key.
    #[track_caller]
    pub fn write(&self, text: &str) {
        for character in text.chars() {
            self.press(&character.to_string());
        }
    }

    /// Makes the screen this large.
    pub fn screen(&self, width: u32, height: u32) {
        // A phone would zoom out where a page is too wide, and hide that it is.
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", params);
    }

    /// Prefers dark colours, or light ones.
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Runs no scripts of pages, or runs them again.
    pub fn scripts(&self, run: bool) {
        self.command("Emulation.setScriptExecutionDisabled", json!({ "value": !run }));
    }

    /// Sends these headers with every request.
    pub fn headers(&self, headers: &[(&str, &str)]) {
        let headers: Map<String, Value> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        self.command("Network.setExtraHTTPHeaders", json!({ "headers": headers }));
    }

    /// Keeps a cookie for the pages of a URL.
    pub fn cookie(&self, url: &str, name: &str, value: &str) {
        self.command("Network.setCookie", json!({ "url": url, "name": name, "value": value }));
    }

    /// What went wrong in the pages since this was asked last: exceptions, and what the browser complains about.
    pub fn errors(&self) -> Vec<String> {
        let methods = ["Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"];
        let events = self.devtools.events(&self.session, &methods);
        let text = |event: &Value| {
            let params = &event["params"];
            match event["method"].as_str() {
                Some("Log.entryAdded") if params["entry"]["level"] != "error" => None,
                Some("Log.entryAdded") => Some(params["entry"]["text"].to_string()),
                Some("Page.javascriptDialogOpening") => Some(params["message"].to_string()),
                _ => Some(params["exceptionDetails"].to_string()),
            }
        };
        events.iter().filter_map(text).collect()
    }

    /// How far the page is wider than the screen, in pixels.
    #[track_caller]
    pub fn overflow(&self) -> i64 {
        let root = "document.documentElement";
        let width = self.eval(&format!("{root}.scrollWidth - {root}.clientWidth"));
        width.as_i64().expect("it is a number of pixels")
    }

    /// A picture of the screen, or of the whole page, as PNG.
    #[track_caller]
    pub fn screenshot(&self, path: &Path, whole: bool) {
        let params = json!({ "format": "png", "captureBeyondViewport": whole });
        let picture = self.command("Page.captureScreenshot", params);
        let data = picture["data"].as_str().expect("a picture is text in base64");
        let png = base64::engine::general_purpose::STANDARD.decode(data).expect("it is base64");
        fs::write(path, png).expect("the folder is writable");
    }

    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "callers write `json!({ … })`")]
    fn command(&self, method: &str, params: Value) -> Value {
        self.devtools.command(Some(&self.session), method, &params)
    }
}
