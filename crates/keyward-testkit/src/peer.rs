//! What is not a server: a peer that answers as a test says, for what no real server would do.

use crate::{Connection, Reply};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A peer that listens on a port of its own. It ends with the test's process.
#[derive(Debug)]
pub struct Peer {
    port: u16,
}

impl Peer {
    /// Answers every command with the bytes that `answer` gives for its words; with none at all where it
    /// gives none.
    pub fn new(answer: impl Fn(&[String]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                thread::spawn(move || serve(client, &*answer));
            }
        });
        Peer { port }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

fn serve(client: TcpStream, answer: &(impl Fn(&[String]) -> Vec<u8> + ?Sized)) {
    let Ok(mut connection) = Connection::over(client) else { return };
    while let Ok(Reply::Array(words)) = connection.receive() {
        let words: Vec<String> = words.into_iter().map(Reply::text).collect();
        if connection.write(&answer(&words)).is_err() {
            return;
        }
    }
}
