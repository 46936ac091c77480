//! The application from start to end.

use crate::reed_cms::values;
use crate::reed_cms::{Key, Prefix};
use crate::themes::Themes;
use crate::{jobs, router};
use anyhow::Context as _;
use keyward::queue::terminated;
use keyward::testing::Server;
use keyward::{Prefixed, Store};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::env;
use std::io::{IsTerminal as _, stderr};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// What `[server]` in `keyward.toml` asks for.
const SETTINGS: &[(&str, &str)] =
    &[("maxmemory", "2gb"), ("maxmemory-policy", "volatile-lru"), ("appendonly", "yes")];

/// What every request needs. Cloning is cheap.
#[derive(Clone)]
pub struct App {
    /// Redis, or Valkey: all keys of one site
    pub site: Prefixed<Prefix>,
    /// Templates and styles
    pub themes: Arc<Themes>,
    /// What the store has counted so far, for Prometheus
    pub counted: PrometheusHandle,
}

/// Serves until the process is told to stop, on the server at this URL or on one of its own.
pub async fn run(url: Option<String>) -> anyhow::Result<()> {
    log_to_stderr();
    // Its own server ends with it, and so does the data.
    let own = if url.is_none() { Some(Server::start_with(SETTINGS)?) } else { None };
    let url = url.or_else(|| own.as_ref().map(Server::url)).context("no server")?;
    if own.is_some() {
        tracing::info!("started a server of its own at {url}");
    }
    let store = Store::connect(&url).await.context("the application needs Redis or Valkey")?;
    let site = values::Site::new(env::var("SITE").unwrap_or_else(|_| "reed".to_owned()))?;
    let site = store.with_prefix(Prefix { site }); // `reed:`, in front of every key
    let counted = PrometheusBuilder::new().install_recorder()?;
    let app = App { site, themes: Arc::default(), counted };
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&listen)
        .await
        .with_context(|| format!("`{listen}` cannot be listened on"))?;
    tracing::info!("listening on http://{}", listener.local_addr()?);
    let workers = jobs::workers(&app)?;
    let service = router::router(app).into_make_service_with_connect_info::<SocketAddr>();
    // Requests and jobs that have begun are finished.
    axum::serve(listener, service).with_graceful_shutdown(terminated()).await?;
    for worker in workers {
        worker.await??;
    }
    tracing::info!("stopped");
    Ok(())
}

impl App {
    /// Says what has happened, after the graph or a template has changed: what it makes invalid is removed.
    pub async fn tell<E>(&self, event: E)
    where
        E: keyward::Event<Keyspace = Key>,
    {
        // If Redis cannot be reached, the store makes up for it later. What is left is a server that refuses: the
        // editor can do nothing about that, and old pages live until their TTL ends.
        if let Err(error) = self.site.emit(event).await {
            tracing::warn!(event = E::NAME, %error, "old pages may be served for a while");
        }
    }
}

/// `RUST_LOG` chooses what is logged.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .init();
}
