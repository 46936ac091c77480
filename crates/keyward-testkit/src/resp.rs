//! A connection to a server that does what a test says and nothing else: it sends no command unasked, never
//! sends one again and never reconnects. Only the protocol is the crate `redis`'s: this workspace has one RESP
//! reader beside it, the audit's, and that is one of those that are tested here.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

/// One connection to a server, for what needs more than one command: transactions, subscriptions,
/// client tracking, or many commands in one round trip.
pub struct Connection {
    stream: Box<dyn Stream>,
    parser: redis::Parser,
}

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
        Self::new(UnixStream::connect(path)?)
    }

    /// Connects to `host:port`.
    pub fn tcp(address: &str) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    pub(crate) fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Self::new(stream)
    }

    fn new(stream: impl Stream + 'static) -> io::Result<Self> {
        stream.wait_up_to(TIMEOUT)?;
        Ok(Self { stream: Box::new(stream), parser: redis::Parser::new() })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Waits no longer than this for a reply, instead of half a minute.
    pub fn wait_up_to(&mut self, time: Duration) -> io::Result<()> {
        self.stream.wait_up_to(time)
    }

    /// Sends one command and waits for its reply, which may be an error reply.
    pub fn command<A: AsRef<[u8]>>(&mut self, args: &[A]) -> io::Result<Reply> {
        self.write(&packed(args))?;
        self.receive()
    }

    /// Sends all commands before it reads the first reply.
    pub fn pipeline<A: AsRef<[u8]>>(&mut self, commands: &[Vec<A>]) -> io::Result<Vec<Reply>> {
        // Both sides would block once the socket buffers are full of unread replies.
        const ROUND: usize = 1_000;
        let mut replies = Vec::with_capacity(commands.len());
        for round in commands.chunks(ROUND) {
            self.write(&round.iter().flat_map(|args| packed(args)).collect::<Vec<u8>>())?;
            for _ in round {
                replies.push(self.receive()?);
            }
        }
        Ok(replies)
    }

    /// Waits for the next reply or message.
    pub fn receive(&mut self) -> io::Result<Reply> {
        let value = self.parser.parse_value(&mut self.stream).map_err(io::Error::other)?;
        Reply::of(value)
    }
}

fn packed<A: AsRef<[u8]>>(args: &[A]) -> Vec<u8> {
    let mut cmd = redis::Cmd::new();
    for arg in args {
        cmd.arg(arg.as_ref());
    }
    cmd.get_packed_command()
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
    fn of(value: redis::Value) -> io::Result<Self> {
        use redis::Value;
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Okay => Self::Status("OK".to_owned()),
            Value::SimpleString(text) => Self::Status(text),
            Value::ServerError(error) => Self::Error(match error.details() {
                Some(details) => format!("{} {details}", error.code()),
                None => error.code().to_owned(),
            }),
            Value::Int(number) => Self::Integer(number),
            Value::BulkString(bytes) => Self::Bytes(bytes),
            Value::Array(values) => {
                Self::Array(values.into_iter().map(Self::of).collect::<Result<_, _>>()?)
            }
            other => return Err(io::Error::other(format!("{other:?} is not RESP2"))),
        })
    }

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
