//! Asking limits: those of one slot in one script.

use super::Allowance;
use crate::Definition;
use crate::codec::NOT_OF_ITS_TYPE;
use crate::definition::Algorithm;
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::lua::{Lua, lua};
use crate::store::measure;
use futures_util::future::join_all;
use keyward_pattern::slot;
use redis::Value;
use std::collections::BTreeMap;
use std::time::Duration;

static ASK: Lua = lua!("ask.lua");

/// What Lua counts exactly.
const MOST: u64 = 1 << 53;
/// When to try again, where a limit refuses because the server is unreachable.
const OUTAGE: Duration = Duration::from_secs(1);

/// One limit, and what a request costs it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(super) definition: &'static Definition,
    pub(super) name: String,
    pub(super) limit: u64,
    pub(super) cost: u64,
}

impl Asked {
    pub(super) fn new(
        definition: &'static Definition,
        name: String,
        limit: u64,
        cost: u64,
    ) -> Self {
        Asked { definition, name, limit: limit.min(MOST), cost: cost.min(MOST) }
    }

    fn algorithm(&self) -> &'static str {
        match self.definition.behaviour.algorithm {
            Algorithm::FixedWindow => "fixed-window",
            Algorithm::SlidingWindow => "sliding-window",
            Algorithm::Gcra => "gcra",
        }
    }

    fn window_ms(&self) -> u64 {
        self.definition.behaviour.window_ms.unwrap_or(1).max(1)
    }

    /// An answer that nobody was asked for.
    pub(super) fn unasked(&self, allowed: bool, wait: Duration, outage: bool) -> Allowance {
        self.answer(allowed, 0, wait, wait, outage)
    }

    /// Whether the request costs more than the limit ever allows.
    fn is_hopeless(&self) -> bool {
        self.cost > self.limit
    }

    pub(super) fn answer(
        &self,
        allowed: bool,
        remaining: u64,
        retry_after: Duration,
        reset: Duration,
        outage: bool,
    ) -> Allowance {
        let (definition, limit) = (self.definition.name, self.limit);
        let retry_after = (allowed || !self.is_hopeless()).then_some(retry_after);
        let window = Duration::from_millis(self.window_ms());
        Allowance { definition, limit, window, allowed, remaining, retry_after, reset, outage }
    }

    /// The refusal that is known without asking: of a limit of zero, or one that was heard a moment ago.
    fn known_refusal(&self, core: &Core) -> Option<Allowance> {
        if self.limit == 0 {
            return Some(self.unasked(false, Duration::from_millis(self.window_ms()), false));
        }
        let refused = core.refusals.find(self, core.clock.now());
        refused.inspect(|_| self.tick("remembered"))
    }

    fn tick(&self, outcome: &'static str) {
        let labels = [("definition", self.definition.name), ("outcome", outcome)];
        measure::count("keyward_limit_checks_total", 1, &labels);
    }
}

/// Asks one limit.
pub(super) async fn one(core: &Core, asked: Asked, count: bool) -> Result<Allowance, Error> {
    let nothing = asked.unasked(false, Duration::ZERO, false);
    let answers = all(core, &[asked], count).await?;
    Ok(answers.into_iter().next().unwrap_or(nothing))
}

/// Asks all of them, and counts if all allow. Where it is known without asking that some refuse, only those
/// answer.
///
/// Limits of one slot are asked in one step. On a cluster those of several slots are first only looked at, and
/// counted in a second round if all allow: of a request that is refused in the second round, because others
/// came in between, the limits that allowed it keep their count.
pub(super) async fn all(
    core: &Core,
    asked: &[Asked],
    count: bool,
) -> Result<Vec<Allowance>, Error> {
    for it in asked {
        core.suits(it.definition)?;
    }
    if let Some(twice) = asked.iter().enumerate().find(|(at, it)| names(&asked[..*at], it)) {
        let name = twice.1.definition.name;
        let why =
            format!("one key of the limit `{name}` is asked twice in one check: add up its cost");
        return Err(Error::Settings(why));
    }
    if count {
        let refused: Vec<_> = asked.iter().filter_map(|it| it.known_refusal(core)).collect();
        if !refused.is_empty() {
            return Ok(refused);
        }
    }
    let mut groups: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (at, it) in asked.iter().enumerate() {
        let slot = if core.is_cluster() { slot(it.name.as_bytes()) } else { 0 };
        groups.entry(slot).or_default().push(at);
    }
    let groups: Vec<Vec<usize>> = groups.into_values().collect();
    let sent = core.clock.now();
    let mut answers = match groups.len() {
        0 | 1 => round(core, asked, &groups, count).await?,
        _ => round(core, asked, &groups, false).await?,
    };
    if count && groups.len() > 1 && answers.iter().all(|it| it.allowed) {
        answers = round(core, asked, &groups, true).await?;
    }
    for (it, answer) in asked.iter().zip(&answers).filter(|_| count) {
        it.tick(match (answer.allowed, answer.outage) {
            (true, false) => "allowed",
            (false, false) => "refused",
            (true, true) => "allowed_in_outage",
            (false, true) => "refused_in_outage",
        });
        if !answer.allowed && !answer.outage {
            core.refusals.remember(it, answer, sent);
        }
    }
    Ok(answers)
}

fn names(asked: &[Asked], one: &Asked) -> bool {
    asked.iter().any(|it| it.name == one.name)
}

/// One round trip, each group in a script of its own; the answers in the order of the limits.
async fn round(
    core: &Core,
    asked: &[Asked],
    groups: &[Vec<usize>],
    count: bool,
) -> Result<Vec<Allowance>, Error> {
    let mut answers: Vec<Option<Allowance>> = vec![None; asked.len()];
    let sent = groups.iter().map(|group| {
        let of_group: Vec<&Asked> = group.iter().map(|at| &asked[*at]).collect();
        ask_group(core, of_group, count)
    });
    for (group, answered) in groups.iter().zip(join_all(sent).await) {
        for (at, answer) in group.iter().zip(answered?) {
            answers[*at] = Some(answer);
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// Asks limits of one slot.
async fn ask_group(core: &Core, asked: Vec<&Asked>, count: bool) -> Result<Vec<Allowance>, Error> {
    let keys: Vec<&str> = asked.iter().map(|it| it.name.as_str()).collect();
    let call = ASK.call(&keys, |cmd| {
        cmd.arg(u8::from(count));
        for it in &asked {
            cmd.arg(it.algorithm()).arg(it.limit).arg(it.window_ms()).arg(it.cost);
        }
    });
    let call = if count { call } else { call.repeatable() };
    let failed = |definition: &'static str, error: Error| {
        let error = error.about(definition);
        core.failures.note(definition, &error);
        error
    };
    let first = asked[0].definition.name;
    match core.send(&call).await {
        Ok(answer) => understand(&asked, answer).map_err(|(at, error)| failed(at, error)),
        Err(error) if error.is_unavailable() => {
            failed(first, error);
            let answer = |it: &&Asked| {
                let allowed = !it.definition.behaviour.closed_on_outage;
                it.unasked(allowed, if allowed { Duration::ZERO } else { OUTAGE }, true)
            };
            Ok(asked.iter().map(answer).collect())
        }
        Err(error) => Err(failed(first, error)),
    }
}

/// What the script has answered; otherwise the definition that it could not understand.
fn understand(asked: &[&Asked], answer: Value) -> Result<Vec<Allowance>, (&'static str, Error)> {
    if let Value::Int(number) = answer {
        let at = usize::try_from(number.unsigned_abs()).unwrap_or(0).saturating_sub(1);
        let definition = asked.get(at).map_or("", |it| it.definition.name);
        let why = "it does not hold what a limit of this algorithm counts".to_owned();
        let malformed = Error::Malformed { definition, field: None, why };
        let error = if number < 0 { Error::WrongType { definition } } else { malformed };
        return Err((definition, error));
    }
    let parsed: Result<Vec<(bool, u64, u64, u64)>, _> = redis::from_redis_value(answer);
    let answers = parsed.ok().filter(|answers| answers.len() == asked.len()).ok_or_else(|| {
        let definition = asked[0].definition.name;
        let why = NOT_OF_ITS_TYPE.to_owned();
        (definition, Error::Malformed { definition, field: None, why })
    })?;
    let allowances = asked.iter().zip(answers).map(|(it, (allowed, remaining, retry, reset))| {
        let (retry, reset) = (Duration::from_millis(retry), Duration::from_millis(reset));
        it.answer(allowed, remaining, retry, reset, false)
    });
    Ok(allowances.collect())
}
