//! Connections: bounded in number, and in the time that a request may take to arrive.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Connections at the same time; others wait to be accepted.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take, also the first and the next one of a connection.
const HEAD: Duration = Duration::from_secs(5);
/// The longest head.
const HEAD_BYTES: usize = 32 * 1024;

/// Serves until `until` is over, and then lets running requests end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    until: impl Future<Output = ()>,
    patience: Duration,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let (end, ended) = watch::channel(false);
    let mut until = pin!(until);
    loop {
        let accepted = async {
            let permit = room.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = &mut until => break,
            accepted = accepted => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files: it passes.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let mut ended = ended.clone();
        tokio::spawn(async move {
            let _permit = permit;
            let mut connection = pin!(
                http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .max_buf_size(HEAD_BYTES)
                    .serve_connection(TokioIo::new(stream), service)
            );
            tokio::select! {
                _ = connection.as_mut() => return,
                _ = ended.wait_for(|ended| *ended) => connection.as_mut().graceful_shutdown(),
            }
            // Whatever went wrong, the client knows.
            let _ = connection.await;
        });
    }
    drop(listener);
    let _ = end.send(true);
    drop(ended);
    let _ = timeout(patience, end.closed()).await;
}
