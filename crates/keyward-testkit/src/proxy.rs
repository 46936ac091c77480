//! Stands between a client and a server, and does what networks do.

use crate::Server;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
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
}

/// A proxy in front of a server.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    harmed: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts one. It ends with the test's process: nothing of it outlives its clients.
    pub fn new(server: &Server, harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let address = server.address();
        let harmed = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&harmed);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&address) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("a socket");
                }
                carry(&client, &server, harm, &counted);
            }
        });
        Proxy { port, harmed }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Host and port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// How often it did harm.
    pub fn harmed(&self) -> usize {
        self.harmed.load(Ordering::SeqCst)
    }
}

fn carry(client: &TcpStream, server: &TcpStream, harm: Harm, harmed: &Arc<AtomicUsize>) {
    let clone = |stream: &TcpStream| stream.try_clone().expect("a socket");
    let delay = match harm {
        Harm::Delay(delay) => delay / 2,
        _ => Duration::ZERO,
    };
    pass(clone(client), clone(server), delay, |bytes, to| to.write_all(bytes).is_ok());
    let (mut sent, counted) = (0, Arc::clone(harmed));
    pass(clone(server), clone(client), delay, move |bytes, to| {
        sent += bytes.len() as u64;
        let harm_done = || counted.fetch_add(1, Ordering::SeqCst);
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
