//! The smallest client that speaks RESP2. The testkit must not lean on the client that the tests
//! it serves are testing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

/// One connection to a server, for what needs more than one command: transactions, subscriptions,
/// client tracking, or many commands in one round trip.
pub struct Connection(BufReader<Box<dyn Stream>>);

trait Stream: Read + Write + Send {
    fn wait_up_to(&self, time: Duration) -> io::Result<()>;
}

impl Stream for UnixStream {
    fn wait_up_to(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

impl Stream for TcpStream {
    fn wait_up_to(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

impl Connection {
    /// Connects through a Unix socket.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.wait_up_to(TIMEOUT)?;
        Ok(Self(BufReader::new(Box::new(stream))))
    }

    /// Connects to `host:port`.
    pub fn tcp(address: &str) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    pub(crate) fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.wait_up_to(TIMEOUT)?;
        Ok(Self(BufReader::new(Box::new(stream))))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)?;
        self.flush()
    }

    /// Waits no longer than this for a reply, instead of half a minute.
    pub fn wait_up_to(&mut self, time: Duration) -> io::Result<()> {
        self.0.get_ref().wait_up_to(time)
    }

    /// Sends one command and waits for its reply, which may be an error reply.
    pub fn command<A: AsRef<[u8]>>(&mut self, args: &[A]) -> io::Result<Reply> {
        self.send(args)?;
        self.flush()?;
        self.receive()
    }

    /// Sends all commands before it reads the first reply.
    pub fn pipeline<A: AsRef<[u8]>>(&mut self, commands: &[Vec<A>]) -> io::Result<Vec<Reply>> {
        // Both sides would block once the socket buffers are full of unread replies.
        const ROUND: usize = 1_000;
        let mut replies = Vec::with_capacity(commands.len());
        for round in commands.chunks(ROUND) {
            round.iter().try_for_each(|args| self.send(args))?;
            self.flush()?;
            for _ in round {
                replies.push(self.receive()?);
            }
        }
        Ok(replies)
    }

    fn send<A: AsRef<[u8]>>(&mut self, args: &[A]) -> io::Result<()> {
        let mut request = format!("*{}\r\n", args.len()).into_bytes();
        for arg in args.iter().map(AsRef::as_ref) {
            request.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
            request.extend_from_slice(arg);
            request.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&request)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }

    /// Waits for the next reply or message.
    pub fn receive(&mut self) -> io::Result<Reply> {
        let line = self.line()?;
        let (kind, rest) = line.split_at_checked(1).ok_or_else(|| garbage(&line))?;
        let number = || rest.parse::<i64>().map_err(|_| garbage(&line));
        Ok(match kind {
            "+" => Reply::Status(rest.to_owned()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(number()?),
            "$" => match usize::try_from(number()?) {
                Err(_) => Reply::Nil,
                Ok(length) => {
                    let mut bytes = vec![0; length + 2];
                    self.0.read_exact(&mut bytes)?;
                    bytes.truncate(length);
                    Reply::Bytes(bytes)
                }
            },
            "*" => match usize::try_from(number()?) {
                Err(_) => Reply::Nil,
                Ok(length) => {
                    Reply::Array((0..length).map(|_| self.receive()).collect::<Result<_, _>>()?)
                }
            },
            _ => return Err(garbage(&line)),
        })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn garbage(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{line}` is not RESP2"))
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing is there.
    Nil,
    /// `OK` and the like.
    Status(String),
    /// The server refused; its message.
    Error(String),
    /// A number.
    Integer(i64),
    /// A value.
    Bytes(Vec<u8>),
    /// Several replies.
    Array(Vec<Reply>),
}

impl Reply {
    /// The text of a status or a value.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    #[track_caller]
    pub fn text(self) -> String {
        match self {
            Self::Status(text) => text,
            Self::Bytes(bytes) => String::from_utf8(bytes).expect("the value is not UTF-8"),
            other => panic!("expected text, the server answered {other:?}"),
        }
    }

    /// The number.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    #[track_caller]
    pub fn integer(self) -> i64 {
        match self {
            Self::Integer(number) => number,
            other => panic!("expected an integer, the server answered {other:?}"),
        }
    }

    /// The replies inside.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    #[track_caller]
    pub fn array(self) -> Vec<Self> {
        match self {
            Self::Array(replies) => replies,
            other => panic!("expected an array, the server answered {other:?}"),
        }
    }
}
