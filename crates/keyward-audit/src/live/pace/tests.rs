use super::super::probe::is_enough;
use super::*;
use std::collections::VecDeque;

const IDLE: Duration = Duration::from_micros(50);

fn pace(round_trip: Duration) -> Pace {
    Pace::new(Some(Bound::default()), round_trip, Instant::now())
}

/// So many rounds of PINGs that took this much longer than the fastest.
fn probed(pace: &mut Pace, rounds: usize, added: Duration) {
    let round_trip = pace.round_trip;
    for _ in 0..rounds {
        pace.is_full();
        pace.probed(&mut [round_trip + added; 5], round_trip);
    }
}

#[test]
fn others_who_wait_make_the_window_smaller_and_then_pauses_longer() {
    let mut pace = pace(IDLE);
    probed(&mut pace, 20, Duration::ZERO);
    let (before, busy) = (pace.window(), Duration::from_millis(1));
    probed(&mut pace, 20, busy);
    assert!(pace.window() < before, "{pace:?}");
    assert!((pace.share - BUSY_SHARE).abs() < f64::EPSILON, "{pace:?}");
    assert_eq!(pace.rest(IDLE + busy), busy * 3);
    probed(&mut pace, 20, Duration::from_millis(6));
    assert!(pace.share <= LEAST_SHARE, "{pace:?}");
    assert!(pace.rest(Duration::from_secs(1)) <= Duration::from_millis(5), "{pace:?}");
    probed(&mut pace, 40, Duration::ZERO);
    assert_eq!(pace.rest(busy), Duration::ZERO);
    assert!(pace.window() > 100, "{pace:?}");
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut pace = pace(IDLE);
    let before = pace.window();
    for _ in 0..20 {
        pace.probed(&mut [IDLE; 5], IDLE);
    }
    assert_eq!(pace.window(), before);
}

#[test]
fn commands_a_second_are_bounded_however_few_may_be() {
    let bound = Bound { max_ops: Some(10), ..Bound::default() };
    let now = Instant::now();
    let mut pace = Pace::new(Some(bound), Duration::ZERO, now);
    assert_eq!(pace.due(now), Duration::ZERO);
    pace.sent(100, 400, now);
    assert_eq!(pace.due(now), Duration::from_secs(40));
    assert_eq!(pace.due(now + Duration::from_secs(39)), Duration::from_secs(1));
    let mut free = Pace::new(None, Duration::ZERO, now);
    free.sent(100, 400, now);
    assert_eq!(free.due(now), Duration::ZERO);
}

/// A server far away, and a scan of it, by a clock of their own. The scan does what `Scan::look_up` does: it
/// fills the window, then waits for the oldest group's answers.
struct World {
    pace: Pace,
    now: Instant,
    round_trip: Duration,
    /// When the server begins and ends what it has been sent, in turn
    jobs: VecDeque<(Instant, Instant)>,
    /// When a group's answers arrive, its keys, and how often they are to be asked yet
    under_way: VecDeque<(Instant, usize, u32)>,
    /// Keys that SCAN returned and nobody has asked for
    found: usize,
    /// When the next reply to SCAN arrives, and its keys
    scan: (Instant, usize),
    /// When the next PING is sent, and what those before took
    ping: Instant,
    took: Vec<Duration>,
    decided: Instant,
    done: usize,
    /// When keys were asked for within the last millisecond, how many, and the most so far
    lately: VecDeque<(Instant, usize)>,
    burst: usize,
}

/// What a key takes the server each time it is asked, and this side: 125,000 keys a second at most.
const EACH: Duration = Duration::from_micros(4);
const CAPACITY: f64 = 125_000.0;
const READ: Duration = Duration::from_micros(1);
/// What SCAN takes the server for a key.
const SCANNED: Duration = Duration::from_nanos(200);

impl World {
    fn new(round_trip: Duration) -> Self {
        let start = Instant::now();
        let pace = Pace::new(Some(Bound::default()), round_trip, start);
        let mut world = World {
            pace,
            now: start,
            round_trip,
            jobs: VecDeque::from([(start, start)]),
            under_way: VecDeque::new(),
            found: 0,
            scan: (start, 0),
            ping: start,
            took: Vec::new(),
            decided: start,
            done: 0,
            lately: VecDeque::new(),
            burst: 0,
        };
        world.send_scan(start);
        world
    }

    /// When the answer to what is sent at a moment arrives, if it takes the server so long.
    fn ask(&mut self, sent: Instant, takes: Duration) -> Instant {
        let arrives = sent + self.round_trip / 2;
        let begins = self.jobs.back().map_or(arrives, |(_, ended)| arrives.max(*ended));
        self.jobs.push_back((begins, begins + takes));
        begins + takes + self.round_trip / 2
    }

    fn send_scan(&mut self, at: Instant) {
        let count = self.pace.count().load(Ordering::Relaxed);
        let takes = SCANNED * u32::try_from(count).unwrap();
        self.scan = (at + self.round_trip + takes, count);
    }

    fn send(&mut self, keys: usize, left: u32) {
        self.now += self.pace.pause(self.now);
        self.pace.sent(keys, 3 * keys as u64, self.now);
        self.lately.push_back((self.now, keys));
        while self.now - self.lately[0].0 > Duration::from_millis(1) {
            self.lately.pop_front();
        }
        self.burst = self.burst.max(self.lately.iter().map(|(_, keys)| keys).sum());
        let answered = self.ask(self.now, EACH * u32::try_from(keys).unwrap());
        self.under_way.push_back((answered, keys, left));
    }

    /// PINGs, one after the other, every 5 ms if that is possible; and what is decided by them.
    fn probe(&mut self) {
        while self.ping + self.round_trip <= self.now {
            let arrives = self.ping + self.round_trip / 2;
            while self.jobs.len() > 1 && self.jobs[0].1 < arrives {
                self.jobs.pop_front();
            }
            // It waits for what is running, and not for what waits with it.
            let running = self.jobs.front().filter(|(begins, _)| *begins <= arrives);
            let waited =
                running.map_or(Duration::ZERO, |job| job.1.saturating_duration_since(arrives));
            self.took.push(self.round_trip + waited);
            let pause = Duration::from_millis(5).saturating_sub(self.round_trip + waited);
            self.ping += self.round_trip + waited + pause.max(Duration::from_millis(1));
        }
        if is_enough(self.took.len(), self.now - self.decided) {
            self.pace.probed(&mut std::mem::take(&mut self.took), self.round_trip);
            self.decided = self.now;
        }
    }

    fn fill(&mut self) {
        loop {
            let keys: usize = self.under_way.iter().map(|(_, keys, _)| keys).sum();
            if keys >= self.pace.window() {
                return self.pace.is_full();
            }
            let is_idle = self.under_way.is_empty();
            if !is_idle && !self.pace.due(self.now).is_zero() {
                return;
            }
            if self.found == 0 {
                let (arrives, keys) = self.scan;
                if !is_idle && arrives > self.now {
                    return;
                }
                self.now = self.now.max(arrives);
                self.found = keys;
                self.send_scan(arrives);
            }
            let group = self.pace.group().min(self.found);
            self.found -= group;
            self.send(group, 1);
        }
    }

    fn run(&mut self, millis: u64) -> usize {
        let before = self.done;
        let until = self.now + Duration::from_millis(millis);
        while self.now < until {
            self.probe();
            self.fill();
            let (answered, keys, left) = self.under_way.pop_front().expect("something is sent");
            self.now = self.now.max(answered) + READ * u32::try_from(keys).unwrap();
            if left > 0 {
                self.send(keys, left - 1);
            } else {
                self.pace.looked_up(keys, self.now);
                self.done += keys;
            }
        }
        self.done - before
    }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "some hundred thousand keys")]
fn an_idle_server_is_used_as_much_however_far_away_it_is() {
    for millis in [0, 1, 5, 20] {
        let mut world = World::new(IDLE + Duration::from_millis(millis));
        let ramp = world.run(500) as f64 / (0.5 * CAPACITY);
        let (most, burst) = (world.pace.window(), world.burst);
        let steady = world.run(2_000) as f64 / (2.0 * CAPACITY);
        let found = format!("{millis} ms: {ramp:.2}, {steady:.2}, {burst}, {most}");
        assert!(ramp > 0.5, "the first half second reads half of what it could: {found}");
        assert!(steady > 0.95, "and then all of it: {found}");
        assert!(burst <= 1_000, "a window that grows is not sent at once: {found}");
        let needed = MOST + 2.0 * CAPACITY * world.round_trip.as_secs_f64();
        assert!(world.pace.window < 1.5 * needed, "no more waits than is of use: {found}");
    }
}
