//! What asks servers: threads, since an audit blocks. Each writes to [`State`](crate::state::State) what it saw.

mod audit;
mod sample;
mod stop;

pub(crate) use stop::Stop;

use crate::config::Config;
use crate::state::Shared;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The threads of all servers.
pub(crate) struct Collectors {
    threads: Vec<JoinHandle<()>>,
}

/// Starts to collect.
pub(crate) fn start(config: &Config, state: &Shared, stop: &Stop) -> io::Result<Collectors> {
    let mut threads = Vec::new();
    for (number, source) in config.servers.iter().enumerate() {
        let (state, source, stop) = (state.clone(), source.clone(), stop.clone());
        let audits = thread::Builder::new().name(format!("audit {}", source.name));
        threads.push(audits.spawn(move || audit::run(&state, number, &source, &stop))?);
    }
    Ok(Collectors { threads })
}

impl Collectors {
    /// Waits until they have ended, and not for ever: a thread that hangs ends with the program.
    pub(crate) fn join(self, patience: Duration) {
        const TICK: Duration = Duration::from_millis(5);
        let until = Instant::now() + patience;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < until {
                thread::sleep(TICK);
            }
            if thread.is_finished() {
                // It has said itself what went wrong.
                let _ = thread.join();
            }
        }
    }
}
