//! A client over loopback. It measures from the first byte of the request to the last one of the answer.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Client {
    address: String,
}

impl Client {
    pub(super) fn new(address: &str) -> Self {
        Client { address: address.to_owned() }
    }

    /// The status of an answer, and how long it took.
    pub(super) fn time(&self, path: &str) -> Result<(u16, Duration)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut answer = Vec::new();
        let began = Instant::now();
        self.send(&mut stream, path)?;
        stream.read_to_end(&mut answer)?;
        let took = began.elapsed();
        let head = String::from_utf8_lossy(&answer[..answer.len().min(64)]).into_owned();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).context("a status")?;
        Ok((status, took))
    }

    pub(super) fn json(&self, path: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.address)?;
        self.send(&mut stream, path)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("a head")?;
        ensure!(!head.to_lowercase().contains("chunked"), "{path} comes in chunks");
        serde_json::from_str(body).with_context(|| format!("{path}: {head}"))
    }

    fn send(&self, stream: &mut TcpStream, path: &str) -> Result<()> {
        let host = &self.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        Ok(stream.write_all(request.as_bytes())?)
    }
}
