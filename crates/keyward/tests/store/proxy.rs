//! Stands between a store and its server, and loses answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A proxy in front of a server.
pub(crate) struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Default)]
struct Plan {
    /// What a request must mention for its answer to be lost
    mentions: Option<Vec<u8>>,
    lost: usize,
}

impl Proxy {
    pub(crate) fn to(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Mutex::new(Plan::default()));
        let carried = plan.clone();
        // It ends with the test's process.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(&address) {
                    carry(client, server, &carried);
                }
            }
        });
        Proxy { port, plan }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Loses the answer to the next request that mentions this, with the connection.
    pub(crate) fn lose_the_answer_to(&self, mentions: &str) {
        self.plan().mentions = Some(mentions.as_bytes().to_vec());
    }

    /// How many answers it has lost.
    pub(crate) fn lost(&self) -> usize {
        self.plan().lost
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn carry(mut client: TcpStream, mut server: TcpStream, plan: &Arc<Mutex<Plan>>) {
    let doomed = Arc::new(Mutex::new(false));
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (its_plan, its_doom) = (plan.clone(), doomed.clone());
    thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let mut plan = its_plan.lock().unwrap_or_else(PoisonError::into_inner);
            let hit = plan.mentions.as_ref().is_some_and(|it| {
                buffer[..read].windows(it.len()).any(|window| window == it.as_slice())
            });
            if hit {
                plan.mentions = None;
                plan.lost += 1;
                *its_doom.lock().unwrap_or_else(PoisonError::into_inner) = true;
            }
            drop(plan);
            if to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok(read @ 1..) = server.read(&mut buffer) {
            // The server has done what it was asked, since it answers.
            let doomed = *doomed.lock().unwrap_or_else(PoisonError::into_inner);
            if doomed || client.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}
