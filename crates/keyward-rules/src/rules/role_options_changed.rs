use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_fact::Duration;
use keyward_schema::Spanned;
use keyward_schema::model::{Limit, OnOutage, Role, Ties};

rule! {
    /// ## What it does
    /// Reports other options of a role: a limit or a window, what a queue does with jobs, how long a session lives, who
    /// may hold a lock.
    ///
    /// ## Why is this bad
    /// While a version is rolled out, programs of both run on the same keys: one refuses what the other admits, or gives
    /// up a job that the other still handles.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.login]
    /// pattern = "login:{ip:ip}"
    /// rate_limit = { limit = 10, window = "1m" }
    /// ```
    /// After:
    /// ```toml
    /// [keys.login]
    /// pattern = "login:{ip:ip}"
    /// rate_limit = { limit = 5, window = "1m" }
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.login]
    /// pattern = "login:{ip:ip}"
    /// rate_limit = { limit = 10, window = "1m" }
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let (Some(old), Some(new)) = (&pair.old.role, &pair.new.role) else { continue };
        if old.name() != new.name() {
            continue; // see `role-changed`
        }
        let both = options(old).into_iter().zip(options(new));
        let changed: Vec<_> = both.filter(|(old, new)| old != new).collect();
        if changed.is_empty() {
            continue;
        }
        let names: Vec<&str> = changed.iter().map(|((name, _), _)| *name).collect();
        let message = format!(
            "the {} `{}` has another {}",
            new.name().replace('_', " "),
            pair.new.name.value,
            listed(&names, 6)
        );
        let is = (Some(&new.span), "the role now".to_owned());
        let finding = Finding::new(message).changes(cx, pair, None).was(
            pair,
            is,
            (Some(&old.span), "the role before".to_owned()),
        );
        let finding = changed.iter().fold(finding, |finding, ((name, was), (_, is))| {
            finding.note(format!("`{name}` is {is}, and was {was}"))
        });
        out.add(finding.help("make sure that programs of both versions can run together"));
    }
}

/// What a role is told, in words.
fn options(role: &Role) -> Vec<(&'static str, String)> {
    let time = |it: &Option<Spanned<Duration>>| word(it.as_ref().map(|it| it.value));
    let count = |it: &Option<Spanned<u64>>| word(it.as_ref().map(|it| it.value));
    let name = |it: &Option<Spanned<String>>| word(it.as_ref().map(|it| &it.value));
    let limit = |it: &Limit| match it {
        Limit::Fixed(limit) => limit.to_string(),
        Limit::Caller => "given by the caller".to_owned(),
    };
    match role {
        Role::Counter(counter) => vec![("negative", counter.negative.to_string())],
        Role::Quota(quota) => vec![("limit", limit(&quota.limit)), ("window", time(&quota.window))],
        Role::RateLimit(rate) => {
            let on_outage = if rate.on_outage == OnOutage::Open { "open" } else { "closed" };
            vec![
                ("limit", limit(&rate.limit)),
                ("window", rate.window.value.to_string()),
                ("on_outage", on_outage.to_owned()),
            ]
        }
        Role::Lock(lock) => vec![
            ("fair", lock.fair.to_string()),
            ("holders", count(&lock.holders)),
            ("replicas", count(&lock.replicas)),
        ],
        Role::Queue(queue) => vec![
            ("dead_letter", name(&queue.dead_letter)),
            ("status", name(&queue.status)),
            ("lease", queue.lease().to_string()),
            ("timeout", time(&queue.timeout)),
            ("max_attempts", queue.max_attempts().to_string()),
            ("max_crashes", queue.max_crashes().to_string()),
            ("backoff", queue.backoff().to_string()),
            ("max_backoff", queue.max_backoff().to_string()),
            ("retain", time(&queue.retain)),
            ("per_group", count(&queue.per_group)),
        ],
        Role::Session(session) => vec![
            ("max_age", time(&session.max_age)),
            ("touched", name(&session.touched)),
            ("index", name(&session.index)),
            ("revoked", name(&session.revoked)),
        ],
        Role::Index(index) => vec![
            ("of", index.of.value.clone()),
            ("by", name(&index.by)),
            ("reverse", name(&index.reverse)),
        ],
        Role::Flag(flag) => {
            vec![("override", name(&flag.overridden_by)), ("default", flag.default.to_string())]
        }
        Role::Ranking(ranking) => {
            let ties = ranking.ties.as_ref().map(|it| match it.value {
                Ties::First => "first",
                Ties::Last => "last",
            });
            vec![("ties", word(ties))]
        }
        Role::RefreshToken(token) => {
            vec![("reuse_grace", token.reuse_grace.to_string()), ("touched", name(&token.touched))]
        }
    }
}

fn word(option: Option<impl ToString>) -> String {
    option.map_or("not set".to_owned(), |it| it.to_string())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the rate limit `login` has another `limit`"]);
    }

    #[test]
    fn what_is_written_out_is_the_default() {
        let with = |options: &str| {
            format!("[keys.a]\npattern = \"a\"\nqueue = {{ {options} }}\nvalue = \"json\"\n")
        };
        assert_eq!(broken(&RULE, &with(""), &with("lease = \"30s\"")), [""; 0]);
        assert_eq!(
            broken(&RULE, &with(""), &with("lease = \"1m\", backoff = \"5s\"")),
            ["the queue `a` has another `lease` and `backoff`"]
        );
    }
}
