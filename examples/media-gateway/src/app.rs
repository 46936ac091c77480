//! The application from start to end.

use crate::catalogue::Catalogue;
use crate::people::People;
use crate::{jobs, media_gateway, router};
use anyhow::Context as _;
use keyward::queue::terminated;
use keyward::testing::Server;
use keyward::{Store, random_id};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// What `[server]` in `keyward.toml` asks for.
const SETTINGS: &[(&str, &str)] = &[
    ("maxmemory", "4gb"),
    ("maxmemory-policy", "noeviction"),
    ("appendonly", "yes"),
    ("appendfsync", "everysec"),
    ("tcp-keepalive", "300"),
    ("timeout", "0"),
];

/// What every request needs. Cloning is cheap.
#[derive(Clone)]
pub struct App {
    /// The truth about titles
    pub catalogue: Arc<Catalogue>,
    /// The truth about users
    pub people: Arc<People>,
    /// Redis, or Valkey
    pub store: Store,
    /// What access tokens are signed with. A real one is configured, and the same in all processes
    pub secret: Arc<str>,
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
    let app = App {
        catalogue: Arc::default(),
        people: Arc::default(),
        // Sessions and jobs live there, so that there is nothing to serve without it.
        store: Store::connect(&url).await.context("the application needs Redis or Valkey")?,
        secret: random_id::<String>()?.into(),
        counted: PrometheusBuilder::new().install_recorder()?,
    };
    let listen = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
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
    // ANCHOR: tell
    /// Says what has happened, after the truth has changed: what it makes invalid is removed from Redis.
    pub async fn tell<E>(&self, event: E)
    where
        E: keyward::Event<Keyspace = media_gateway::Key>,
    {
        // If Redis cannot be reached, the store makes up for it later. What is left is a server that refuses:
        // the user can do nothing about that, and old values live until their TTL ends.
        if let Err(error) = self.store.emit(event).await {
            tracing::warn!(event = E::NAME, %error, "old values may be served for a while");
        }
    }
    // ANCHOR_END: tell
}

/// `RUST_LOG` chooses what is logged.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
