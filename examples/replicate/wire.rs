//! The messages between both processes over a socket.
//!
//! ```text
//!  packet   │ form │ frame │ base │ length │ bytes …        numbers are little endian
//!  answer   │ how  │ frame │     hash      │
//! ```
//!
//! The socket is TCP, which loses no message and keeps the order: [`link`](crate::link) decides
//! about losses and delays, so that they are the same in every run. A mirror answers each packet at
//! once. All waiting has a limit, so neither process waits for ever when the other one fails.

use std::fmt;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;

/// The longest that a process waits for the other one.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The most bytes of a packet, and of a state.
pub(crate) const BYTES_MAX: usize = 1 << 28;

/// The number of last states of the sender. One of them is the base of a packet.
pub(crate) const STATES_MAX: u32 = 32;

/// The base of a packet that has none.
const NO_BASE: u32 = u32::MAX;

/// The form in which the state of a frame is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// All of it: `Snapshot::to_bytes`
    Dump,
    /// `Snapshot::delta` the last acknowledged state
    Delta,
    /// The dump XORed with the dump of the last acknowledged state, without zeros
    Xor,
}

/// The state of a frame.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) form: Form,
    pub(crate) frame: u32,
    /// The frame from which it is the difference.
    pub(crate) base: Option<u32>,
    pub(crate) bytes: Vec<u8>,
}

/// The result of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) frame: u32,
    /// The hash of the mirror. `None` if a later frame came first.
    pub(crate) hash: Option<u64>,
}

/// A socket to the other process.
pub(crate) struct Wire {
    reader: BufReader<TcpStream>,
}

impl Wire {
    /// Waits until the child has connected and identified itself. Any program of this machine may
    /// connect: one that says something else is dropped, and one that says nothing holds up nobody.
    pub(crate) fn accept(listener: &TcpListener, child: &mut Child) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let start = Instant::now();
        let (mut unknown, mut other) = (Vec::new(), None);
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    unknown.extend(stream.set_nonblocking(true).is_ok().then_some(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
            for stream in mem::take(&mut unknown) {
                match said_id(&stream) {
                    Ok(Some(id)) if id == child.id() => return Self::of_child(stream),
                    Ok(None) => unknown.push(stream),
                    Ok(Some(id)) => other = Some(id),
                    Err(_) => {}
                }
            }
            if let Some(status) = child.try_wait()? {
                let other = other.map_or(String::new(), |id| {
                    format!("; process {id} has connected, and the mirror is {}", child.id())
                });
                return Err(io::Error::other(format!("the mirror has ended: {status}{other}")));
            }
            if start.elapsed() > WAIT_MAX {
                return Err(ErrorKind::TimedOut.into());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The socket to the child. Its id is still to be read.
    fn of_child(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        let mut wire = Self::new(stream)?;
        wire.number()?;
        Ok(wire)
    }

    /// Connects to the process that listens at this port, and identifies itself.
    pub(crate) fn connect(port: u16) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut wire = Self::new(TcpStream::connect_timeout(&address, WAIT_MAX)?)?;
        wire.write(&[&std::process::id().to_le_bytes()])?;
        Ok(wire)
    }

    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WAIT_MAX))?;
        stream.set_write_timeout(Some(WAIT_MAX))?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    /// Sends a packet, and waits for the answer.
    pub(crate) fn ask(&mut self, packet: &Packet) -> io::Result<Answer> {
        let len = packet.bytes.len();
        let len = u32::try_from(len).ok().filter(|_| len <= BYTES_MAX).ok_or_else(invalid)?;
        let header = [packet.form as u32, packet.frame, packet.base.unwrap_or(NO_BASE), len];
        self.write(&[&header.map(u32::to_le_bytes).concat(), &packet.bytes])?;
        let (how, frame) = (self.number()?, self.number()?);
        let hash = u64::from(self.number()?) | u64::from(self.number()?) << 32;
        match (how, frame == packet.frame) {
            (0, true) => Ok(Answer { frame, hash: None }),
            (1, true) => Ok(Answer { frame, hash: Some(hash) }),
            _ => Err(invalid()),
        }
    }

    /// Waits for a packet. `None` at the end of the connection.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Packet>> {
        let Some(form) = self.number_or_end()? else { return Ok(None) };
        let form = Form::value_variants().get(form as usize).ok_or_else(invalid)?;
        let (frame, base, len) = (self.number()?, self.number()?, self.number()?);
        if len as usize > BYTES_MAX {
            return Err(invalid());
        }
        let mut bytes = Vec::new();
        self.reader.by_ref().take(len.into()).read_to_end(&mut bytes)?;
        if bytes.len() < len as usize {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let base = (base != NO_BASE).then_some(base);
        Ok(Some(Packet { form: *form, frame, base, bytes }))
    }

    /// Answers the packet that was received last.
    pub(crate) fn answer(&mut self, answer: Answer) -> io::Result<()> {
        let how = u32::from(answer.hash.is_some());
        let hash = answer.hash.unwrap_or_default();
        let parts = [how.to_le_bytes(), answer.frame.to_le_bytes()];
        self.write(&[&parts.concat(), &hash.to_le_bytes()])
    }

    fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        // One write, so that a short message is one segment.
        self.reader.get_mut().write_all(&parts.concat())
    }

    fn number(&mut self) -> io::Result<u32> {
        self.number_or_end()?.ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }

    /// The next number, or `None` if the other process has closed the socket.
    fn number_or_end(&mut self) -> io::Result<Option<u32>> {
        let mut bytes = [0; 4];
        if self.reader.read(&mut bytes[..1])? == 0 {
            return Ok(None);
        }
        self.reader.read_exact(&mut bytes[1..])?;
        Ok(Some(u32::from_le_bytes(bytes)))
    }
}

/// The id that the other process has said, without waiting for it, and leaves it in the socket.
/// `None` if it may still say one.
fn said_id(stream: &TcpStream) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    match stream.peek(&mut bytes) {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(4) => Ok(Some(u32::from_le_bytes(bytes))),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn invalid() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "what came over the socket is no message, or too long")
}

/// The error in words: for a time limit, the system only says that it would have to wait.
pub(crate) fn explain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("the other process has said nothing for {WAIT_MAX:?}")
        }
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            "the other process has ended".into()
        }
        _ => error.to_string(),
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dump => "dump",
            Self::Delta => "delta",
            Self::Xor => "xor",
        })
    }
}
