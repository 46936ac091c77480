//! A server of its own, for those who have no other at hand. It ends with the application, and so does its data.

use anyhow::Context as _;
use keyward::Store;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What `[server]` in `keyward.toml` asks for.
const SETTINGS: &[&str] = &[
    "maxmemory 4gb",
    "maxmemory-policy noeviction",
    "save \"\"",
    "appendonly yes",
    "appendfsync everysec",
    "tcp-keepalive 300",
    "timeout 0",
];

/// A running `redis-server` or `valkey-server`. It is stopped when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Server {
    /// Starts whichever is installed, on a free port of this machine, and waits until it answers.
    pub async fn start() -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = std::env::temp_dir().join(format!("media-gateway-{}", std::process::id()));
        fs::create_dir_all(&folder)
            .with_context(|| format!("`{}` cannot be created", folder.display()))?;
        let config = folder.join("server.conf");
        let lines = [format!("port {port}"), "bind 127.0.0.1".to_owned()];
        let settings: Vec<String> =
            lines.into_iter().chain(SETTINGS.iter().map(|&line| line.to_owned())).collect();
        fs::write(&config, settings.join("\n") + "\n")?;
        let start = |program: &str| {
            let mut command = Command::new(program);
            command.arg(&config).current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null());
            command.spawn()
        };
        let child = match start("redis-server") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => start("valkey-server"),
            started => started,
        };
        let child = child.context(
            "neither `redis-server` nor `valkey-server` can be started: install one, or give the URL of a server",
        )?;
        let server = Server { child, folder, port };
        server.answers().await?;
        tracing::info!("started a server of its own at {}", server.url());
        Ok(server)
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    async fn answers(&self) -> anyhow::Result<()> {
        for _ in 0..100 {
            if Store::connect(self.url()).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::bail!("the server at {} does not answer", self.url())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // These fail only if the server or its folder is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
