//! Stands between a client and a server, and does what networks do.

use crate::Server;
use rustix::net::connect_unspec;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// What a proxy does to the connections made through it.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    /// Lets every byte arrive later, by half of this in each direction, however many are on their way.
    Delay(Duration),
    /// Lets a byte pass every so often, once the server has sent so many on a connection.
    Trickle {
        /// The time between two bytes.
        every: Duration,
        /// Bytes that pass before.
        after: u64,
    },
    /// Cuts each of so many connections when the server has sent so many bytes.
    Cut {
        /// How many connections.
        connections: usize,
        /// Bytes that pass before.
        after: u64,
    },
    /// Sends something else once the server has sent so many bytes.
    Garble {
        /// Bytes that pass before.
        after: u64,
    },
    /// Takes nothing more from the server, once it has sent so many bytes on a connection: they pile up there.
    Stall {
        /// Bytes that pass before.
        after: u64,
    },
    /// Answers as a web server does.
    Web,
    /// Loses the answers that [`Proxy::lose_the_answer_to`] asks for.
    Lose,
}

/// A proxy in front of a server.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    plan: Arc<Plan>,
}

/// What it is to do, and how often it did.
#[derive(Debug)]
struct Plan {
    /// The server's address
    address: Mutex<String>,
    harm: Mutex<Harm>,
    harmed: AtomicUsize,
    /// What a request must mention for its answer to be lost
    mentions: Mutex<Option<Vec<u8>>>,
    open: Mutex<Vec<Weak<Carried>>>,
}

/// A connection through the proxy.
#[derive(Debug)]
struct Carried {
    client: TcpStream,
    server: TcpStream,
    closed: AtomicBool,
}

impl Proxy {
    /// Starts one. It ends with the test's process: nothing of it outlives its clients.
    pub fn new(server: &Server, harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let plan = Arc::new(Plan {
            address: Mutex::new(server.address()),
            harm: Mutex::new(harm),
            harmed: AtomicUsize::new(0),
            mentions: Mutex::default(),
            open: Mutex::default(),
        });
        let followed = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let address = locked(&followed.address).clone();
                let Ok(server) = TcpStream::connect(address) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("a socket");
                }
                let carried = Arc::new(Carried { client, server, closed: AtomicBool::new(false) });
                let mut open = locked(&followed.open);
                open.retain(|it| it.strong_count() > 0);
                open.push(Arc::downgrade(&carried));
                carry(&carried, &followed);
            }
        });
        Proxy { port, plan }
    }

    /// Does something else from now on, also to connections that are open.
    pub fn harm(&self, harm: Harm) {
        *locked(&self.plan.harm) = harm;
    }

    /// Closes every connection.
    pub fn cut(&self) {
        for carried in self.open() {
            for stream in [&carried.client, &carried.server] {
                // It fails only where the other side has closed it already.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }

    /// Resets every connection: what is on its way is lost, and both sides see an error.
    pub fn reset(&self) {
        for carried in self.open() {
            for stream in [&carried.client, &carried.server] {
                // As above.
                let _ = connect_unspec(stream);
            }
        }
    }

    /// Leads to another server from now on. Connections that are open stay where they are.
    pub fn lead_to(&self, server: &Server) {
        *locked(&self.plan.address) = server.address();
    }

    fn open(&self) -> Vec<Arc<Carried>> {
        locked(&self.plan.open).iter().filter_map(Weak::upgrade).collect()
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Host and port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How often it did harm.
    pub fn harmed(&self) -> usize {
        self.plan.harmed.load(Ordering::SeqCst)
    }

    /// With [`Harm::Lose`]: passes on the next request that mentions this, and closes its connection instead of
    /// passing on the answer.
    pub fn lose_the_answer_to(&self, mentions: &str) {
        *locked(&self.plan.mentions) = Some(mentions.as_bytes().to_vec());
    }
}

/// A panic in another thread says nothing about what is behind the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plan {
    fn now(&self) -> Harm {
        *locked(&self.harm)
    }

    /// By how much bytes are delayed in each direction.
    fn delay(&self) -> Duration {
        match self.now() {
            Harm::Delay(delay) => delay / 2,
            _ => Duration::ZERO,
        }
    }

    fn stalls(&self, taken: u64) -> bool {
        matches!(self.now(), Harm::Stall { after } if taken > after)
    }

    fn harm_done(&self) -> usize {
        self.harmed.fetch_add(1, Ordering::SeqCst)
    }

    /// Whether the answer to a request is to be lost.
    fn is_doomed(&self, request: &[u8]) -> bool {
        let mut mentions = locked(&self.mentions);
        let is_hit = mentions.as_ref().is_some_and(|wanted| {
            request.windows(wanted.len()).any(|window| window == wanted.as_slice())
        });
        if is_hit {
            *mentions = None;
            self.harm_done();
        }
        is_hit
    }
}

fn carry(carried: &Arc<Carried>, plan: &Arc<Plan>) {
    let doomed = Arc::new(AtomicBool::new(false));
    let (requested, dooming) = (Arc::clone(plan), Arc::clone(&doomed));
    pass(carried, Way::There, plan, move |bytes, mut to| {
        if requested.is_doomed(bytes) {
            dooming.store(true, Ordering::SeqCst);
        }
        to.write_all(bytes).is_ok()
    });
    let (mut sent, planned) = (0, Arc::clone(plan));
    pass(carried, Way::Back, plan, move |bytes, mut to| {
        sent += bytes.len() as u64;
        let harm_done = || planned.harm_done();
        match planned.now() {
            Harm::Cut { connections, after } if sent > after && harm_done() < connections => {
                return false;
            }
            Harm::Trickle { every, after } if sent > after => {
                harm_done();
                let one = |byte: &u8| {
                    thread::sleep(every);
                    to.write_all(&[*byte]).is_ok()
                };
                return bytes.iter().all(one);
            }
            Harm::Garble { after } if sent > after => {
                harm_done();
                let _ = to.write_all(b"\x00\xffwhat is this\r\n");
            }
            // The server has done what it was asked, since it answers.
            Harm::Lose if doomed.load(Ordering::SeqCst) => return false,
            Harm::Web => {
                let _ = to.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                return false;
            }
            _ => {}
        }
        to.write_all(bytes).is_ok()
    });
}

/// Which way bytes go: to the server, or back to the client.
#[derive(Clone, Copy)]
enum Way {
    There,
    Back,
}

impl Carried {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn ends(&self, way: Way) -> (&TcpStream, &TcpStream) {
        match way {
            Way::There => (&self.client, &self.server),
            Way::Back => (&self.server, &self.client),
        }
    }
}

/// Passes bytes on, each a while after it came, as long as `write` says that it goes on.
fn pass(
    carried: &Arc<Carried>,
    way: Way,
    plan: &Arc<Plan>,
    mut write: impl FnMut(&[u8], &TcpStream) -> bool + Send + 'static,
) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    let (reading, writing, plan) = (Arc::clone(carried), Arc::clone(carried), Arc::clone(plan));
    thread::spawn(move || {
        let (mut from, _) = reading.ends(way);
        let (mut buffer, mut taken) = ([0; 16 * 1024], 0);
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            taken += read as u64;
            while matches!(way, Way::Back) && plan.stalls(taken) && !reading.is_closed() {
                thread::sleep(Duration::from_millis(5));
            }
            if sender.send((Instant::now() + plan.delay(), buffer[..read].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        let (from, to) = writing.ends(way);
        for (due, bytes) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if !write(&bytes, to) {
                break;
            }
        }
        writing.closed.store(true, Ordering::SeqCst);
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
