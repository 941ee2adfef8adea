//! Whole lines from a file, or from a pipe that may be slow or never end.
//!
//! A pipe is read by a thread of its own that hands on what there is; when nothing comes for a
//! tenth of a second the caller gets an empty text, so that it can look at the clock and at
//! signals. What is between two lines waits for its end.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use keepnet::{Error, Result};

use crate::formats::chunk::CHUNK;
use crate::formats::table::Fingerprint;
use crate::formats::text::TextInput;
use crate::store::Place;

/// How long a pipe may be silent before the caller gets an empty text.
const PATIENCE: Duration = Duration::from_millis(100);
/// Bytes taken from a pipe at a time.
const SIP: usize = 1 << 16;

/// Whole lines, in order.
pub(crate) struct Feed {
    source: Source,
    // What was read to look at the head and comes again.
    waiting: Option<Vec<u8>>,
}

/// Where lines come from.
enum Source {
    File(Box<TextInput>),
    Pipe { from: Receiver<std::io::Result<Vec<u8>>>, tail: Vec<u8>, ended: bool, place: Place },
}

impl Feed {
    pub(crate) fn open(path: &str, quotes: bool, place: &Place) -> Result<Self> {
        if path != "-" {
            let chunk = place.chunk().min(CHUNK);
            let input = TextInput::open(path, place, chunk, quotes)?;
            return Ok(Self { source: Source::File(Box::new(input)), waiting: None });
        }
        // A few chunks ahead at most: a fast writer waits for us, not in our memory.
        let (to, from) = sync_channel(4);
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            loop {
                let mut bytes = vec![0; SIP];
                let (sent, end) = match input.read(&mut bytes) {
                    Ok(0) => return,
                    Ok(n) => {
                        bytes.truncate(n);
                        (to.send(Ok(bytes)), false)
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(error) => (to.send(Err(error)), true),
                };
                if sent.is_err() || end {
                    return;
                }
            }
        });
        let (tail, place) = (Vec::new(), place.clone());
        let source = Source::Pipe { from, tail, ended: false, place };
        Ok(Self { source, waiting: None })
    }

    /// Whole lines; empty where a pipe is silent; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.waiting.is_some() {
            return Ok(self.waiting.take());
        }
        match &mut self.source {
            Source::File(input) => input.next(),
            Source::Pipe { from, tail, ended, place } => {
                if *ended {
                    return Ok(None);
                }
                place.go_on()?;
                line_fits(tail, place)?;
                match from.recv_timeout(PATIENCE) {
                    Ok(bytes) => {
                        let bytes = bytes.map_err(|e| Error::io("standard input", e))?;
                        tail.extend_from_slice(&bytes);
                        // A quoted line end would be cut here: pipes hold plain numbers.
                        let end = memchr::memrchr(b'\n', tail).map_or(0, |at| at + 1);
                        let rest = tail.split_off(end);
                        Ok(Some(std::mem::replace(tail, rest)))
                    }
                    Err(RecvTimeoutError::Timeout) => Ok(Some(Vec::new())),
                    Err(RecvTimeoutError::Disconnected) => {
                        *ended = true;
                        let last = std::mem::take(tail);
                        Ok((!last.is_empty()).then_some(last))
                    }
                }
            }
        }
    }

    /// The first text that holds `lines` line ends, or all there is.
    pub(crate) fn head(&mut self, lines: usize) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        while memchr::memchr_iter(b'\n', &text).count() < lines {
            match self.next()? {
                Some(more) => text.extend(more),
                None => break,
            }
        }
        Ok(text)
    }

    /// Takes back a text, which comes next.
    pub(crate) fn put_back(&mut self, text: Vec<u8>) {
        self.waiting = Some(text);
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        match &self.source {
            Source::File(input) => input.fingerprint(),
            Source::Pipe { .. } => Fingerprint::new(),
        }
    }
}

/// Refuses a line of a pipe that is too long, or does not fit.
fn line_fits(tail: &[u8], place: &Place) -> Result<()> {
    let length = tail.len() as u64;
    if length > place.max_line {
        let most = place.max_line;
        let what = format!("a line is longer than {most} bytes; raise --max-line");
        return Err(Error::Data(what));
    }
    place.meter.take(2 * length, "a line").map(drop)
}
