//! The application from start to end.

use crate::api;
use crate::database::Database;
use crate::quota::Quotas;
use crate::settings::Settings;
use anyhow::Context as _;
use keyward::Store;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// What every request needs. Cloning is cheap.
#[derive(Clone)]
pub struct App {
    /// The truth
    pub database: Database,
    /// What stands in front of it, and may be away
    pub store: Store,
    /// How much users store
    pub quotas: Quotas,
    /// What has been counted so far
    pub metrics: PrometheusHandle,
}

/// Serves until the process is told to stop.
pub async fn run(settings: Settings) -> anyhow::Result<()> {
    tell_what_happens();
    let app = App::new(&settings).await?;
    let listener = TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("`{}` cannot be listened on", settings.listen))?;
    tracing::info!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, api::router(app)).with_graceful_shutdown(told_to_stop()?).await?;
    tracing::info!("stopped");
    Ok(())
}

impl App {
    async fn new(settings: &Settings) -> anyhow::Result<Self> {
        let metrics = PrometheusBuilder::new().install_recorder()?;
        let database = Database::connect(&settings.database).await?;
        // ANCHOR: store
        // Lazy: an application whose cache is away can start.
        let store = Store::builder(&settings.redis)
            .response_timeout(settings.redis_timeout)
            .connect_timeout(settings.redis_timeout * 2)
            .lazy()?;
        // ANCHOR_END: store
        let quotas = Quotas::new(store.clone(), database.clone());
        Ok(App { database, store, quotas, metrics })
    }
}

/// Logs go to standard error; `RUST_LOG` chooses which.
fn tell_what_happens() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

/// Ctrl-C, or what a service manager sends. Requests that have begun are finished.
fn told_to_stop() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
