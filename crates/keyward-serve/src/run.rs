//! From a configuration to a running instance, and to its end.

use crate::collect::{self, Stop};
use crate::config::Config;
use crate::folder::{Folder, why as explained};
use crate::history::History;
use crate::http::{self, Guard};
use crate::schemas;
use crate::state::{Say, State};
use keyward_schema::{Diagnostic, Sources};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests may take to end, and then collectors, which have been told at the same time.
const REQUESTS: Duration = Duration::from_millis(800);
const COLLECTORS: Duration = Duration::from_millis(700);
/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Why an instance cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A schema cannot be read
    #[error("a schema cannot be read")]
    Schema {
        /// The files
        sources: Sources,
        /// What is wrong with them
        errors: Vec<Diagnostic>,
    },
    /// Nobody may listen elsewhere than on loopback without a token
    #[error("`{0}` can be reached from other machines: this needs a token")]
    NoToken(SocketAddr),
    /// The address cannot be listened on
    #[error("cannot listen on {address}: {}", explained(why))]
    Listen {
        /// Where
        address: SocketAddr,
        /// What the system said
        why: io::Error,
    },
    /// The folder of the state cannot be used
    #[error("cannot use `{}` for the state: {}", folder.display(), explained(why))]
    State {
        /// The folder
        folder: PathBuf,
        /// What the system said
        why: io::Error,
    },
    /// The certificates that a webhook trusts cannot be read
    #[error("a webhook cannot be started: {}", explained(.0))]
    Webhook(io::Error),
    /// No thread could be started
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

/// Serves until `stop` is set. `say` is told in lines for people what happens, beginning with the address.
///
/// # Errors
/// If it cannot begin. What goes wrong later is shown by the pages.
pub fn serve(
    config: &Config,
    stop: &Arc<AtomicBool>,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), Error> {
    if config.token.is_none() && !config.listen.ip().is_loopback() {
        return Err(Error::NoToken(config.listen));
    }
    let schemas = schemas::open_all(config)?;
    let unusable = |why| Error::State { folder: config.state.clone(), why };
    let folder = Arc::new(Folder::open(&config.state).map_err(unusable)?);
    let history = History::new(folder.path(), config.retention);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("keyward-http")
        .enable_all()
        .build()?;
    let refused = |why| Error::Listen { address: config.listen, why };
    let listener = runtime.block_on(TcpListener::bind(config.listen)).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let listening = format!("listening on http://{address}");
    let say = Say(Box::new(say));
    let state = Arc::new(State::new(config, schemas, history, say));
    let guard = Arc::new(Guard::new(config.token.clone())?);
    let ending = Stop::default();
    let mut collectors = collect::start(config, &state, &folder, &ending)?;
    collectors.add(state.webhooks.start(&state, &ending).map_err(Error::Webhook)?);
    state.say(&listening);
    let router = http::router(state, guard);
    runtime.block_on(async {
        let until = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
            }
            ending.stop();
        };
        http::serve(listener, router, until, REQUESTS).await;
    });
    collectors.join(COLLECTORS);
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(())
}
