//! What relations seem to disagree about, read again.

use super::{MOST_ELEMENTS, Reader};
use crate::checks::{End, PlannedRelation};
use crate::counts::{Counts, Link, Saying, Side};
use crate::live;
use crate::live::client::page;
use crate::live::connection::Reply;
use keyward_fact::KeyType;
use keyward_schema::model::Law;
use std::collections::BTreeSet;

/// The most keys that are read to follow steps; beyond that, nothing about closures is certain.
const MOST_WALKED: usize = 20_000;

impl Reader<'_> {
    /// Whether one side of two relations still says what the other does not. Whoever says it is asked before and after the
    /// other: a change between the two reads is seen.
    pub(super) fn is_still_related(
        &mut self,
        planned: &PlannedRelation,
        side: Side,
        link: &Link,
    ) -> Result<bool, live::Error> {
        let other = if side == Side::Set { Side::Member } else { Side::Set };
        Ok(self.leads(planned, side, link)? == Some(true)
            && self.leads(planned, other, link)? == Some(false)
            && self.leads(planned, side, link)? == Some(true))
    }

    /// Whether one side leads from a key to another now; `None` if that cannot be known.
    fn leads(
        &mut self,
        planned: &PlannedRelation,
        side: Side,
        link: &Link,
    ) -> Result<Option<bool>, live::Error> {
        let Link { db, from, to } = link;
        match (side, planned.law) {
            (Side::Set, _) => self.holds(&planned.own, *db, from, to),
            (Side::Member, Law::Inverse) => self.holds(&planned.other, *db, to, from),
            (Side::Member, _) => self.holds(&planned.other, *db, from, to),
        }
    }

    /// What is still wrong with the closure from one key, and what is not. The closure is asked before and after the steps,
    /// and the steps before and after the closure.
    pub(super) fn still_lacking(
        &mut self,
        counts: &Counts,
        number: usize,
        sayings: Vec<Saying>,
    ) -> Result<(Vec<Saying>, Vec<Saying>), live::Error> {
        let planned = &self.audit.relations[number];
        let links = sayings.iter().map(|saying| counts.relations[number].link(saying));
        let Some(links) = links.collect::<Option<Vec<Link>>>() else {
            return Ok((Vec::new(), sayings));
        };
        let Some(root) = links.first().cloned() else { return Ok((Vec::new(), sayings)) };
        let held = |reader: &mut Self| -> Result<Vec<Option<bool>>, live::Error> {
            links.iter().map(|it| reader.holds(&planned.own, it.db, &it.from, &it.to)).collect()
        };
        let before = held(self)?;
        let reached = self.reached(&planned.other, &root)?;
        let after = held(self)?;
        let again = self.reached(&planned.other, &root)?;
        let (Some(reached), Some(again)) = (reached, again) else {
            return Ok((Vec::new(), sayings));
        };
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (at, saying) in sayings.into_iter().enumerate() {
            let to = &links[at].to;
            let is_still = match saying.side {
                Side::Set => {
                    (before[at], after[at]) == (Some(true), Some(true))
                        && !reached.contains(to)
                        && !again.contains(to)
                }
                Side::Member => {
                    reached.contains(to) && again.contains(to) && after[at] == Some(false)
                }
            };
            if is_still { kept.push(saying) } else { gone.push(saying) }
        }
        Ok((kept, gone))
    }

    /// Whether a relation leads from one key to another, whose prefix it may leave out.
    fn holds(
        &mut self,
        end: &End,
        db: u64,
        from: &str,
        to: &str,
    ) -> Result<Option<bool>, live::Error> {
        let Some((key, prefix)) = self.key_of(end, db, from) else { return Ok(None) };
        let bare = to.strip_prefix(&prefix).filter(|bare| *bare != to);
        for element in [Some(to), bare].into_iter().flatten() {
            let command: &[&str] = match self.audit.definitions[end.definition].key_type {
                Some(KeyType::Set) => &["SISMEMBER", &key, element],
                Some(KeyType::Zset) => &["ZSCORE", &key, element],
                Some(KeyType::List) => &["LPOS", &key, element],
                _ => &["GET", &key],
            };
            let is_held = match self.ask(db, &key, command)? {
                Reply::Nil => false,
                Reply::Integer(found) if command[0] == "SISMEMBER" => found == 1,
                Reply::Bytes(value) if command[0] == "GET" => value == element.as_bytes(),
                Reply::Integer(_) | Reply::Bytes(_) => true,
                _ => return Ok(None),
            };
            if is_held {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// All that a relation reaches from a key in one or more steps; `None` if there are too many steps to know.
    fn reached(&mut self, end: &End, root: &Link) -> Result<Option<BTreeSet<String>>, live::Error> {
        let (mut open, mut seen) = (vec![root.from.clone()], BTreeSet::new());
        while let Some(node) = open.pop() {
            // What it does not go from leads nowhere.
            let Some((key, prefix)) = self.key_of(end, root.db, &node) else { continue };
            if self.walked >= MOST_WALKED {
                self.too_far = true;
                return Ok(None);
            }
            self.walked += 1;
            let Some(elements) = self.elements(end, root.db, &key)? else { return Ok(None) };
            for element in elements {
                let Ok(element) = String::from_utf8(element) else { continue };
                let is_full = element.starts_with(&prefix);
                let element = if is_full { element } else { format!("{prefix}{element}") };
                if seen.insert(element.clone()) {
                    open.push(element);
                }
            }
        }
        Ok(Some(seen))
    }

    /// The key that holds where a relation leads from a key, and the prefix of both.
    fn key_of(&self, end: &End, db: u64, node: &str) -> Option<(String, String)> {
        let key = end.key_of(self.audit, db, node.as_bytes())?;
        let mut places = Vec::new();
        self.audit.classify(db, node.as_bytes(), &mut places);
        let prefix = end.spelling.prefix(node.as_bytes(), &places)?;
        Some((String::from_utf8(key).ok()?, String::from_utf8(prefix).ok()?))
    }

    /// All that a key of a relation holds; `None` if it is too much, or another type.
    fn elements(
        &mut self,
        end: &End,
        db: u64,
        key: &str,
    ) -> Result<Option<Vec<Vec<u8>>>, live::Error> {
        let last = MOST_ELEMENTS.to_string();
        let (command, step) = match self.audit.definitions[end.definition].key_type {
            Some(KeyType::Set) => ("SSCAN", 1),
            Some(KeyType::Zset) => ("ZSCAN", 2),
            Some(KeyType::List) => {
                let Reply::Array(items) = self.ask(db, key, &["LRANGE", key, "0", &last])? else {
                    return Ok(None);
                };
                let bytes = |item| if let Reply::Bytes(it) = item { Some(it) } else { None };
                let items: Option<Vec<_>> = items.into_iter().map(bytes).collect();
                return Ok(items.filter(|items| items.len() <= MOST_ELEMENTS));
            }
            _ => {
                return Ok(match self.ask(db, key, &["GET", key])? {
                    Reply::Nil => Some(Vec::new()),
                    Reply::Bytes(value) => Some(vec![value]),
                    _ => None,
                });
            }
        };
        let (mut cursor, mut all) = ("0".to_owned(), Vec::new());
        loop {
            let reply = self.ask(db, key, &[command, key, &cursor, "COUNT", "1000"])?;
            let Some((next, elements)) = page(reply) else { return Ok(None) };
            all.extend(elements.into_iter().step_by(step));
            if next == "0" {
                return Ok(Some(all));
            }
            if all.len() > MOST_ELEMENTS {
                return Ok(None);
            }
            cursor = next;
        }
    }
}
