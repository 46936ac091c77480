//! The bytes between here and a server: TCP, a Unix socket, or TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use keyward_fact::address::{Endpoint, Socket};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::error::Fault;
use super::options::Tls;
use super::wait::{SLICE, Wait, explain, is_timeout};

/// An open connection, without its protocol. Reads and writes return after [`SLICE`] at most.
#[derive(Debug)]
pub(super) enum Transport {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<Secured>),
}

impl Transport {
    /// Connects, and shakes hands where there is TLS.
    pub(super) fn open(target: &Endpoint, tls: &Tls, wait: &mut Wait) -> Result<Self, Fault> {
        let transport = connect(&target.socket, wait)?;
        match (transport, &target.socket) {
            (Transport::Tcp(stream), Socket::Tcp { host, .. }) if target.tls => {
                secure(stream, host, tls, wait)
            }
            (transport, _) => Ok(transport),
        }
    }
}

/// Connects in a thread of its own: neither the resolver nor a connect can be interrupted.
fn connect(socket: &Socket, wait: &mut Wait) -> Result<Transport, Fault> {
    let (socket, timeout) = (socket.clone(), wait.timeout());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Whoever waited may be gone.
        let _ = sender.send(connect_blocking(&socket, timeout));
    });
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(SLICE) {
            Ok(Ok(transport)) => return Ok(transport),
            Ok(Err(error)) if is_timeout(&error) => return Err(wait.silence()),
            Ok(Err(error)) => return Err(Fault::Lost(explain(&error))),
            Err(RecvTimeoutError::Timeout) => wait.check(start.elapsed())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::Lost("connecting failed".to_owned()));
            }
        }
    }
}

fn connect_blocking(socket: &Socket, timeout: Duration) -> io::Result<Transport> {
    let (host, port) = match socket {
        Socket::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(SLICE))?;
            stream.set_write_timeout(Some(SLICE))?;
            return Ok(Transport::Unix(stream));
        }
        Socket::Tcp { host, port } => (host.as_str(), *port),
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(SLICE))?;
                stream.set_write_timeout(Some(SLICE))?;
                return Ok(Transport::Tcp(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// TLS over TCP. `rustls::StreamOwned` waits for a whole record, however slowly it comes.
#[derive(Debug)]
pub(super) struct Secured {
    tls: ClientConnection,
    stream: TcpStream,
}

fn secure(stream: TcpStream, host: &str, tls: &Tls, wait: &mut Wait) -> Result<Transport, Fault> {
    let refused = |error: &dyn std::fmt::Display| Fault::Lost(error.to_string());
    let name = ServerName::try_from(host.to_owned()).map_err(|error| refused(&error))?;
    let config = config(tls).map_err(|error| refused(&error))?;
    let tls = ClientConnection::new(Arc::new(config), name).map_err(|error| refused(&error))?;
    let mut secured = Box::new(Secured { tls, stream });
    let mut start = Instant::now();
    wait.begin();
    while secured.tls.is_handshaking() {
        match secured.shake_hands() {
            Ok(bytes) => {
                wait.received(bytes, start.elapsed())?;
                start = Instant::now();
            }
            Err(error) if is_timeout(&error) => {
                wait.check(start.elapsed()).map_err(perhaps_plain)?;
            }
            Err(error) if speaks_tls(&error) => return Err(Fault::Lost(explain(&error))),
            Err(error) => return Err(perhaps_plain(Fault::Lost(explain(&error)))),
        }
    }
    Ok(Transport::Tls(secured))
}

/// A server without TLS waits for the rest of what it takes for a command, or hangs up.
fn perhaps_plain(fault: Fault) -> Fault {
    match fault {
        Fault::Lost(why) => {
            Fault::Lost(format!("{why}; this port may not use TLS: try `redis://`"))
        }
        fault => fault,
    }
}

/// Whether what came is TLS, whatever else is wrong with it.
fn speaks_tls(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    tls.is_some_and(|error| !matches!(error, rustls::Error::InvalidMessage(_)))
}

impl Secured {
    /// One step of the handshake: how many bytes came.
    fn shake_hands(&mut self) -> io::Result<usize> {
        if self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream)?;
            return Ok(0);
        }
        self.receive()
    }

    fn receive(&mut self) -> io::Result<usize> {
        let read = self.tls.read_tls(&mut self.stream)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The alert says why; whether it arrives changes nothing here.
            let _ = self.tls.write_tls(&mut self.stream);
            return Err(io::Error::other(error));
        }
        Ok(read)
    }
}

impl Read for Secured {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.tls.reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.receive()?;
                self.tls.reader().read(buffer)
            }
            read => read,
        }
    }
}

impl Write for Secured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        self.tls.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream)?;
        }
        Ok(())
    }
}

fn config(tls: &Tls) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = &tls.authority {
        for certificate in CertificateDer::pem_slice_iter(&pem(path)?) {
            let certificate = certificate.map_err(io::Error::other)?;
            roots.add(certificate).map_err(io::Error::other)?;
        }
    } else {
        // Where one of the system's certificates cannot be read, the others do.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots);
    let Some((certificate, key)) = &tls.client else {
        return Ok(builder.with_no_client_auth());
    };
    let certificates = pem(certificate)?;
    let chain = CertificateDer::pem_slice_iter(&certificates);
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_slice(&pem(key)?).map_err(io::Error::other)?;
    builder.with_client_auth_cert(chain, key).map_err(io::Error::other)
}

/// Each connection reads the file again, so that it cannot be a pipe.
fn pem(path: &Path) -> io::Result<Vec<u8>> {
    const MAX_BYTES: u64 = 16 * 1024 * 1024;
    keyward_fact::read_file(path, MAX_BYTES).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()))
    })
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Tcp(stream) => stream.read(buffer),
            Transport::Unix(stream) => stream.read(buffer),
            Transport::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Tcp(stream) => stream.write(bytes),
            Transport::Unix(stream) => stream.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Tcp(stream) => stream.flush(),
            Transport::Unix(stream) => stream.flush(),
            Transport::Tls(stream) => stream.flush(),
        }
    }
}
