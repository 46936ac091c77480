//! Stands between a client and a server, and does what networks do.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use keyward_testkit::Server;

/// What a proxy does to the connections made through it.
#[derive(Clone, Copy)]
pub(crate) enum Harm {
    /// Cuts each of so many connections when the server has sent so many bytes
    Cut { connections: usize, after: u64 },
    /// Sends something else once the server has sent so many bytes
    Garble { after: u64 },
    /// Answers as a web server does
    Web,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    port: u16,
    cuts: Arc<AtomicUsize>,
}

impl Proxy {
    pub(crate) fn new(server: &Server, harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let address = server.address();
        let cuts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&cuts);
        // It ends with the test's process: nothing of it outlives the listener's clients.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&address) else { continue };
                carry(client, server, harm, &counted);
            }
        });
        Proxy { port, cuts }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// How often it did harm.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

fn carry(client: TcpStream, server: TcpStream, harm: Harm, cuts: &Arc<AtomicUsize>) {
    let (mut from_client, mut to_server) =
        (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let cuts = Arc::clone(cuts);
    let sent = AtomicU64::new(0);
    let client = Mutex::new(client);
    thread::spawn(move || {
        let mut server = server;
        let mut client = client.into_inner().expect("nobody else has it");
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = server.read(&mut buffer) {
            let total = sent.fetch_add(read as u64, Ordering::SeqCst) + read as u64;
            let harmed = match harm {
                Harm::Cut { connections, after } if total > after => {
                    cuts.fetch_add(1, Ordering::SeqCst) < connections
                }
                Harm::Garble { after } if total > after => {
                    cuts.fetch_add(1, Ordering::SeqCst);
                    let _ = client.write_all(b"\x00\xffwhat is this\r\n");
                    false
                }
                Harm::Web => {
                    let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                    true
                }
                _ => false,
            };
            if harmed || client.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}
