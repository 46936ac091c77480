//! Where the names of touched keys come from.

use super::Watch;
use super::queue::Queue;
use crate::checks::Audit;
use crate::live::connection::{Connection, Head, Reply, write_command};
use crate::live::error::{Error, Fault};
use crate::live::lookup::Batch;
use crate::live::primary::Primary;
use crate::live::server::{self, Can, Info, Setting};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longer names are not looked at.
const LONGEST_NAME: usize = 1024 * 1024;

/// The most keys that can be told from new ones by scans.
const MOST_SCANNED: usize = 2_000_000;

/// How often a connection that may be silent for hours must show that it is alive.
const BEAT: Duration = Duration::from_secs(5);

/// How long names may gather while few come: a wake-up for each costs other programs more than it does this one.
const GATHER: Duration = Duration::from_millis(2);

/// The keys of one SCAN, and the pauses after it and after all.
const COUNT: &str = "200";
const PAUSE: Duration = Duration::from_millis(20);
const ROUND: Duration = Duration::from_secs(1);

const INVALIDATIONS: &[u8] = b"__redis__:invalidate";

/// How the names of touched keys are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `CLIENT TRACKING … BCAST`, by which a server tells caches of clients what they may not keep
    Tracking,
    /// Keyspace notifications, where the server has them switched on
    Notifications,
    /// One scan after the other
    Scan,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Tracking => "client tracking",
            Way::Notifications => "keyspace notifications",
            Way::Scan => "one scan after the other",
        })
    }
}

/// The names that one server tells.
pub(super) struct Names {
    pub(super) way: Way,
    /// What it cannot see
    pub(super) notes: Vec<String>,
    /// The number by which the server knows the connection that is told, where it tells without being asked
    pub(super) subscriber: Option<i64>,
    connection: Connection,
    /// Where names are redirected from; while it lives, they come
    redirects: Option<Connection>,
    /// By scans: the keys that were there, by their hashes
    known: HashSet<u64>,
    /// The only database that is watched
    db: u64,
}

impl Names {
    /// Finds the best way that a server allows, or the one that was asked for.
    pub(super) fn open(
        primary: &Primary,
        audit: &Audit,
        wanted: Option<Way>,
    ) -> Result<Self, Error> {
        let server = primary.name.clone();
        let early = |fault: Fault| fault.early(&server);
        let mut connection = primary.open()?;
        let info = Info::ask(&mut connection).map_err(early)?;
        let mut names = Names {
            way: Way::Scan,
            notes: Vec::new(),
            subscriber: None,
            connection,
            redirects: None,
            known: HashSet::new(),
            db: primary.db(),
        };
        let mut refused = Vec::new();
        for way in [Way::Notifications, Way::Tracking] {
            if wanted.is_some_and(|wanted| wanted != way) {
                continue;
            }
            let result = match way {
                Way::Notifications => names.subscribe_to_notifications(),
                _ => names.subscribe_to_tracking(primary),
            };
            match result.map_err(early)? {
                Ok(()) => {
                    names.way = way;
                    names.note(&info);
                    return Ok(names);
                }
                Err(why) => refused.push(why),
            }
            // It may be half subscribed.
            names.connection = primary.open()?;
        }
        if wanted.is_some_and(|wanted| wanted != Way::Scan) {
            let why = format!("{server} cannot be watched this way: {}", refused.join("; "));
            return Err(Error::Options { why });
        }
        names.select().map_err(early)?;
        let can =
            server::can(&mut names.connection, &["SCAN", "0", "COUNT", "1"]).map_err(early)?;
        if can != Can::Yes {
            refused.push("the server denies SCAN".to_owned());
            let why = format!("{server} cannot be watched: {}", refused.join("; "));
            return Err(Error::Options { why });
        }
        names.remember(audit).map_err(early)?;
        names.notes.extend(refused.into_iter().filter(|why| !why.contains("notify-keyspace")));
        names.note(&info);
        Ok(names)
    }

    fn note(&mut self, info: &Info) {
        let other = info.has_other_databases(Some(self.db));
        let db = self.db;
        match self.way {
            Way::Tracking => {
                self.notes
                    .push("a key that was gone before it was looked up is not judged".to_owned());
                if other {
                    self.notes.push(format!(
                        "the server does not say in which database a key was written: all names are looked up in \
                         database {db}, and what other databases alone have is not judged"
                    ));
                }
            }
            Way::Notifications => {}
            Way::Scan => {
                self.notes.push(
                    "only keys that were not there before are seen, and none that lives shorter than a scan takes"
                        .to_owned(),
                );
                if other {
                    self.notes.push(format!("only database {db} is watched"));
                }
            }
        }
    }

    fn select(&mut self) -> Result<(), Fault> {
        if self.db > 0 {
            self.connection.command(&["SELECT", &self.db.to_string()])?;
        }
        Ok(())
    }

    /// Why not, if the server does not allow it.
    fn subscribe_to_notifications(&mut self) -> Result<Result<(), String>, Fault> {
        let setting = server::setting(&mut self.connection, "notify-keyspace-events")?;
        let Setting::Is(classes) = setting else {
            return Ok(Err("whether `notify-keyspace-events` is set cannot be known".to_owned()));
        };
        let has_all = classes.contains('A') || "g$lshzt".chars().all(|it| classes.contains(it));
        if !classes.contains('K') || !has_all {
            return Ok(Err("`notify-keyspace-events` does not contain `KA`".to_owned()));
        }
        let id = self.connection.command(&["CLIENT", "ID"])?;
        let answer = self.connection.command(&["PSUBSCRIBE", "__keyspace@*__:*"])?;
        Ok(self.subscribed(&id, &answer, "PSUBSCRIBE"))
    }

    fn subscribe_to_tracking(&mut self, primary: &Primary) -> Result<Result<(), String>, Fault> {
        let id = self.connection.command(&["CLIENT", "ID"])?;
        let answer = self.connection.command(&["SUBSCRIBE", "__redis__:invalidate"])?;
        if let Err(why) = self.subscribed(&id, &answer, "SUBSCRIBE") {
            return Ok(Err(why));
        }
        let Some(id) = self.subscriber else {
            return Ok(Err("the server denies CLIENT ID: allow `+client|id`".to_owned()));
        };
        let mut redirects = primary.open()?;
        let track = ["CLIENT", "TRACKING", "ON", "REDIRECT", &id.to_string(), "BCAST"];
        let answer = redirects.command(&track)?;
        self.redirects = Some(redirects);
        Ok(match answer {
            Reply::Error(reply) => Err(refusal("CLIENT TRACKING", "client|tracking", &reply)),
            _ => Ok(()),
        })
    }

    fn subscribed(&mut self, id: &Reply, answer: &Reply, command: &str) -> Result<(), String> {
        self.subscriber = match id {
            Reply::Integer(id) => Some(*id),
            _ => None,
        };
        match answer {
            Reply::Error(reply) => Err(refusal(command, &command.to_lowercase(), reply)),
            _ => Ok(()),
        }
    }

    /// Takes in names until it is over, and whatever was touched before.
    pub(super) fn receive(
        mut self,
        watch: &Watch<'_>,
        queue: &Queue,
        ends: &AtomicBool,
    ) -> Result<(), Fault> {
        let received = match self.way {
            Way::Scan => self.scan(watch, queue, ends),
            _ => self.listen(watch, queue, ends),
        };
        if received.is_ok() {
            queue.lock().close();
        }
        received
    }

    /// Takes in what the server tells without being asked.
    fn listen(&mut self, watch: &Watch<'_>, queue: &Queue, ends: &AtomicBool) -> Result<(), Fault> {
        let mut places = Vec::new();
        let mut ping = Vec::new();
        write_command(&mut ping, &[b"PING"]);
        let (mut beat, mut asked, mut rounds) = (Instant::now(), None::<Instant>, 0);
        let mut heard = false;
        loop {
            if ends.load(Ordering::Acquire) {
                return Ok(());
            }
            if asked.is_none() && (beat.elapsed() > BEAT || watch.is_over()) {
                rounds += u32::from(watch.is_over());
                // Where that connection breaks, names stop to come without a word.
                if let Some(redirects) = &mut self.redirects {
                    redirects.command(&["PING"])?;
                }
                self.connection.send(&ping)?;
                asked = Some(Instant::now());
            }
            if asked.is_some_and(|asked| asked.elapsed() > watch.options.timeout) {
                let seconds = watch.options.timeout.as_secs();
                return Err(Fault::Lost(format!("no answer within {seconds} s")));
            }
            if heard && self.connection.is_drained() && !watch.is_over() {
                thread::sleep(GATHER);
            }
            heard = self.connection.is_ready()?;
            if !heard {
                continue;
            }
            let answered = self.message(&mut |touched| match touched {
                Touched::Name(db, key, written)
                    if watch.options.db.is_none_or(|only| only == db) =>
                {
                    let class = watch.audit.classify(db, key, &mut places);
                    if !watch.audit.leaves_out(class, key) {
                        queue.lock().push(watch.audit, class, (db, key), written);
                    }
                }
                Touched::Name(..) => {}
                Touched::TooLong => queue.lock().passed_over += 1,
            })?;
            if answered {
                // What is touched in the moment of the first PING is told behind its answer, and before that of
                // the second.
                if rounds >= 2 {
                    return Ok(());
                }
                (beat, asked) = (Instant::now(), None);
            }
        }
    }

    /// Reads one message; whether it is the answer to a PING.
    fn message(&mut self, touched: &mut dyn FnMut(Touched<'_>)) -> Result<bool, Fault> {
        let db = self.db;
        let connection = &mut self.connection;
        let odd = |connection: &Connection| connection.odd("SUBSCRIBE", "what is not a message");
        let Head::Array(Some(parts)) = connection.head()? else { return Err(odd(connection)) };
        let (mut kind, mut name) = (Vec::new(), Vec::new());
        text(connection, 16, &mut kind)?;
        match (&kind[..], parts) {
            (b"pong", 2) => {
                text(connection, 0, &mut name)?;
                Ok(true)
            }
            (b"message", 3) => {
                let mut channel = Vec::new();
                text(connection, INVALIDATIONS.len(), &mut channel)?;
                let count = match connection.inner()? {
                    // All keys are gone.
                    Head::Array(None) | Head::Bulk(None) => 0,
                    Head::Array(Some(count)) => count,
                    _ => return Err(odd(connection)),
                };
                for _ in 0..count {
                    name.clear();
                    let whole = text(connection, LONGEST_NAME, &mut name)?;
                    touched(if whole { Touched::Name(db, &name, false) } else { Touched::TooLong });
                }
                Ok(false)
            }
            (b"pmessage", 4) => {
                text(connection, 0, &mut Vec::new())?;
                let whole = text(connection, LONGEST_NAME, &mut name)?;
                let mut event = Vec::new();
                text(connection, 32, &mut event)?;
                if !takes_away(&event) {
                    match channel(&name).filter(|_| whole) {
                        Some((db, key)) => touched(Touched::Name(db, key, true)),
                        None => touched(Touched::TooLong),
                    }
                }
                Ok(false)
            }
            _ => Err(odd(connection)),
        }
    }

    /// Scans again and again, and once more at the end. What is there at the beginning is not new.
    fn scan(&mut self, watch: &Watch<'_>, queue: &Queue, ends: &AtomicBool) -> Result<(), Fault> {
        let (mut places, mut last) = (Vec::new(), false);
        while !last {
            last = watch.is_over();
            let mut cursor = 0;
            loop {
                let batch = self.batch(cursor)?;
                for key in (0..batch.len()).map(|number| batch.name(number)) {
                    if !self.known.insert(watch.audit.mask.salt.order(self.db, key)) {
                        continue;
                    }
                    let class = watch.audit.classify(self.db, key, &mut places);
                    if !watch.audit.leaves_out(class, key) {
                        queue.lock().push(watch.audit, class, (self.db, key), false);
                    }
                }
                if ends.load(Ordering::Acquire) {
                    return Ok(());
                }
                self.expect_room()?;
                cursor = batch.cursor;
                // The round in which it ended need not be finished: another one follows.
                if cursor == 0 || !last && watch.is_over() {
                    break;
                }
                if !last {
                    thread::sleep(PAUSE);
                }
            }
            let rest = Instant::now();
            while !last && !watch.is_over() && rest.elapsed() < ROUND {
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Remembers which keys there are.
    fn remember(&mut self, audit: &Audit) -> Result<(), Fault> {
        let mut cursor = 0;
        loop {
            let batch = self.batch(cursor)?;
            for number in 0..batch.len() {
                self.known.insert(audit.mask.salt.order(self.db, batch.name(number)));
            }
            self.expect_room()?;
            cursor = batch.cursor;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    fn batch(&mut self, cursor: u64) -> Result<Batch, Fault> {
        let mut request = Vec::new();
        let at = cursor.to_string();
        write_command(&mut request, &[b"SCAN", at.as_bytes(), b"COUNT", COUNT.as_bytes()]);
        self.connection.send(&request)?;
        Batch::receive(cursor, &mut self.connection)
    }

    fn expect_room(&self) -> Result<(), Fault> {
        if self.known.len() <= MOST_SCANNED {
            return Ok(());
        }
        let why = "more than 2,000,000 keys cannot be watched by scans: allow this user `+client|tracking`, \
                   `+client|id` and `+subscribe`";
        Err(Error::Options { why: why.to_owned() }.into())
    }
}

/// What a message tells.
enum Touched<'m> {
    /// A key, and whether it is known to have been written
    Name(u64, &'m [u8], bool),
    TooLong,
}

/// Reads a part of a message, up to so many bytes; whether that was all of it.
fn text(connection: &mut Connection, most: usize, out: &mut Vec<u8>) -> Result<bool, Fault> {
    match connection.inner()? {
        Head::Bulk(Some(length)) => {
            connection.bulk(length, most, out)?;
            Ok(length <= most as u64)
        }
        _ => Err(connection.odd("SUBSCRIBE", "what is not a message")),
    }
}

/// The database and the key of `__keyspace@0__:key`.
fn channel(name: &[u8]) -> Option<(u64, &[u8])> {
    let rest = name.strip_prefix(b"__keyspace@")?;
    let end = rest.windows(3).position(|it| it == b"__:")?;
    let db = str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    Some((db, &rest[end + 3..]))
}

/// Whether an event says that a key is gone.
fn takes_away(event: &[u8]) -> bool {
    const GONE: [&[u8]; 5] = [b"del", b"expired", b"evicted", b"rename_from", b"move_from"];
    GONE.contains(&event)
}

fn refusal(command: &str, category: &str, reply: &str) -> String {
    match server::ability(reply) {
        server::Can::Missing => format!("the server has no {command}"),
        _ if reply.starts_with("NOPERM") && reply.contains("channel") => {
            format!(
                "the server denies {command}: allow the channels `&__redis__:invalidate` or `&__keyspace@*`"
            )
        }
        _ if reply.starts_with("NOPERM") => {
            format!("the server denies {command}: allow `+{category}`")
        }
        _ => format!("the server answers {command} with `{reply}`"),
    }
}
