//! `[webhooks.NAME]`

use super::file::Reading;
use super::read::Table;
use super::{HookEvent, Webhook, is_name};
use keyward_audit::live::Secret;
use keyward_audit::report::Severity;
use keyward_fact::Duration;
use keyward_pattern::nearest;
use keyward_schema::{Diagnostic, Span};

/// The longest and the shortest time that may be asked for.
const TIMEOUTS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

impl Reading {
    /// A webhook; `servers` are the names that there are.
    pub(super) fn webhook(
        &mut self,
        name: &str,
        span: &Span,
        mut table: Table<'_>,
        servers: &[&str],
    ) -> Option<Webhook> {
        if !is_name(name) {
            let message = "the name of a webhook has letters, digits, `-`, `_` and `.`, at most 64";
            self.errors.push(Diagnostic::config(message, span.clone(), "cannot stand in a metric"));
        }
        let url = self.address(&mut table, span);
        let token = self.secret(&mut table, ["token_file", "token_env"]);
        let authority = table.text("tls_ca", &mut self.errors);
        let authority = self.existing(authority);
        let events = table.texts("events", &mut self.errors);
        let named = table.texts("servers", &mut self.errors);
        let severity = table.text("severity", &mut self.errors);
        let timeout = table.parsed::<Duration>("timeout", &mut self.errors);
        table.finish(&mut self.errors);
        let mut webhook = Webhook { token, authority, ..Webhook::new(name, url?) };
        if !events.is_empty() {
            let known = HookEvent::ALL.map(HookEvent::name);
            let event = |(text, span): (&str, Span)| match HookEvent::parse(text) {
                Some(event) => Some(event),
                None => self.no_such("event", text, &known, span),
            };
            webhook.events = events.into_iter().filter_map(event).collect();
        }
        for (text, span) in named {
            if servers.contains(&text) {
                webhook.servers.push(text.to_owned());
            } else {
                let _: Option<()> = self.no_such("server", text, servers, span);
            }
        }
        webhook.severity = match severity {
            None | Some(("warning", _)) => Severity::Warning,
            Some(("error", _)) => Severity::Error,
            Some((text, span)) => self
                .no_such("severity", text, &["error", "warning"], span)
                .unwrap_or(Severity::Warning),
        };
        if let Some((timeout, span)) = timeout {
            if !(TIMEOUTS.0..=TIMEOUTS.1).contains(&timeout) {
                let message = "`timeout` must be between 1 s and 60 s";
                self.errors.push(Diagnostic::config(message, span, ""));
            }
            webhook.timeout = std::time::Duration::from_millis(timeout.as_millis());
        }
        Some(webhook)
    }

    /// The URL, which may be a secret as a whole: what is wrong with it is said without repeating it.
    fn address(&mut self, table: &mut Table<'_>, webhook: &Span) -> Option<Secret> {
        let (url, span) = self.one_of_three(table, webhook, "a webhook")?;
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
        let is_sane = !url.chars().any(|char| char.is_whitespace() || char.is_control());
        let has_user = host.is_some_and(|host| host.contains('@'));
        if has_user || !is_sane || host.is_none_or(str::is_empty) {
            let help =
                "write it as `https://host/path`; a token goes into `token_file` or `token_env`";
            let error = Diagnostic::config("this is not the URL of a webhook", span, "").help(help);
            self.errors.push(error);
            return None;
        }
        Some(Secret::new(url))
    }

    fn no_such<T>(&mut self, what: &str, text: &str, known: &[&str], span: Span) -> Option<T> {
        let help = match nearest(text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        let message = format!("there is no {what} `{text}`");
        self.errors.push(Diagnostic::config(message, span, "").help(help));
        None
    }
}
