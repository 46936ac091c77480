//! Stands between a client and a server, and does what networks do.

use crate::Server;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
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
    harm: Harm,
    harmed: AtomicUsize,
    /// What a request must mention for its answer to be lost
    mentions: Mutex<Option<Vec<u8>>>,
}

impl Proxy {
    /// Starts one. It ends with the test's process: nothing of it outlives its clients.
    pub fn new(server: &Server, harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let address = server.address();
        let plan = Arc::new(Plan { harm, harmed: AtomicUsize::new(0), mentions: Mutex::default() });
        let followed = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&address) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("a socket");
                }
                carry(&client, &server, &followed);
            }
        });
        Proxy { port, plan }
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
        *self.plan.mentions() = Some(mentions.as_bytes().to_vec());
    }
}

impl Plan {
    fn mentions(&self) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
        self.mentions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn harm_done(&self) -> usize {
        self.harmed.fetch_add(1, Ordering::SeqCst)
    }

    /// Whether the answer to a request is to be lost.
    fn is_doomed(&self, request: &[u8]) -> bool {
        let mut mentions = self.mentions();
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

fn carry(client: &TcpStream, server: &TcpStream, plan: &Arc<Plan>) {
    let harm = plan.harm;
    let clone = |stream: &TcpStream| stream.try_clone().expect("a socket");
    let delay = match harm {
        Harm::Delay(delay) => delay / 2,
        _ => Duration::ZERO,
    };
    let doomed = Arc::new(AtomicBool::new(false));
    let (requested, dooming) = (Arc::clone(plan), Arc::clone(&doomed));
    pass(clone(client), clone(server), delay, move |bytes, to| {
        if requested.is_doomed(bytes) {
            dooming.store(true, Ordering::SeqCst);
        }
        to.write_all(bytes).is_ok()
    });
    let (mut sent, plan) = (0, Arc::clone(plan));
    pass(clone(server), clone(client), delay, move |bytes, to| {
        sent += bytes.len() as u64;
        let harm_done = || plan.harm_done();
        match harm {
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

/// Passes bytes on, each a while after it came, as long as `write` says that it goes on.
fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    delay: Duration,
    mut write: impl FnMut(&[u8], &mut TcpStream) -> bool + Send + 'static,
) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    let reading = from.try_clone().expect("a socket");
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if !write(&bytes, &mut to) {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = reading.shutdown(Shutdown::Both);
    });
}
