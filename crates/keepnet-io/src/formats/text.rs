//! Text files and standard input in chunks of whole lines, gz and zst included.

use std::fs::File;
use std::io::Read;

use keepnet::{Error, Result};

use crate::formats::table::Fingerprint;
use crate::memory::Charge;
use crate::store::Place;

/// Reads text a chunk of whole lines at a time.
pub(crate) struct TextInput {
    path: String,
    reader: Box<dyn Read + Send>,
    place: Place,
    chunk: usize,
    // Taken where a line is longer than a chunk.
    long: Option<Charge>,
    // What was read past the last whole line.
    tail: Vec<u8>,
    spare: Vec<Vec<u8>>,
    // Whether quotes hide line ends, as in CSV.
    quotes: bool,
    ended: bool,
    /// Bytes of text given out so far.
    pub(crate) bytes: u64,
    print: Fingerprint,
    hash: bool,
}

impl TextInput {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &str, place: &Place, chunk: usize, quotes: bool) -> Result<Self> {
        let mut print = Fingerprint::new();
        let standard = path == "-";
        let mut raw: Box<dyn Read + Send> = if standard {
            Box::new(std::io::stdin())
        } else {
            let file = File::open(path).map_err(|e| Error::io(path, e))?;
            print.file(&file.metadata().map_err(|e| Error::io(path, e))?);
            Box::new(file)
        };
        let mut lead = Vec::new();
        raw.by_ref().take(4).read_to_end(&mut lead).map_err(|e| Error::io(path, e))?;
        let kind = (lead.starts_with(&[0x1f, 0x8b]), lead == [0x28, 0xb5, 0x2f, 0xfd]);
        let whole = std::io::Cursor::new(lead).chain(raw);
        let reader: Box<dyn Read + Send> = match kind {
            (true, _) => Box::new(flate2::read::MultiGzDecoder::new(whole)),
            (_, true) => Box::new(unzstd(whole, place).map_err(|e| Error::io(path, e))?),
            _ => Box::new(whole),
        };
        Ok(Self {
            path: path.into(),
            reader,
            place: place.clone(),
            // A line that is too long then never is within a chunk.
            chunk: chunk.min(usize::try_from(place.max_line).unwrap_or(chunk)).max(1),
            long: None,
            tail: Vec::new(),
            spare: Vec::new(),
            quotes,
            ended: false,
            bytes: 0,
            print,
            hash: standard,
        })
    }

    /// The next whole lines; `None` at the end. The last line may lack its line end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text.append(&mut self.tail);
        let mut want = self.chunk.max(text.len() + 1);
        while !self.ended {
            self.place.go_on()?;
            self.afford(want)?;
            let more = (want - text.len()) as u64;
            text.reserve_exact(more as usize);
            let got = self.reader.by_ref().take(more).read_to_end(&mut text);
            let got = got.map_err(|e| Error::io(&self.path, e))?;
            self.ended = (got as u64) < more;
            if self.ended {
                break;
            }
            if let Some(end) = self.line_end(&text) {
                self.tail = text.split_off(end);
                break;
            }
            // One line is longer than the chunk.
            want = self.longer(text.len())?;
        }
        if text.is_empty() {
            return Ok(None);
        }
        if self.bytes == 0 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        self.bytes += text.len() as u64;
        if self.hash {
            self.print.bytes(&text);
        }
        Ok(Some(text))
    }

    /// Takes back the buffer of an earlier piece: a fresh one would cost its page faults.
    pub(crate) fn recycle(&mut self, text: Vec<u8>) {
        if text.capacity() <= 2 * self.chunk {
            self.spare.push(text);
        }
    }

    /// Takes room for a text of `bytes`, and for the next as long, where it is no usual chunk.
    fn afford(&mut self, bytes: usize) -> Result<()> {
        if bytes <= 2 * self.chunk {
            return Ok(());
        }
        let (bytes, what) = (2 * bytes as u64, format!("the line at byte {}", self.bytes));
        match &mut self.long {
            Some(long) => long.reach(bytes, &what),
            None => {
                self.long = Some(self.place.meter.take(bytes, &what)?);
                Ok(())
            }
        }
    }

    /// How far to read on where `bytes` bytes hold no whole line.
    fn longer(&self, bytes: usize) -> Result<usize> {
        let most = usize::try_from(self.place.max_line).unwrap_or(usize::MAX - 1);
        if bytes > most {
            let quotes = if self.quotes { ", or close its quote" } else { "" };
            return Err(Error::Data(format!(
                "the line at byte {} is longer than {most} bytes; raise --max-line{quotes}",
                self.bytes
            )));
        }
        Ok((2 * bytes).min(most + 1))
    }

    /// The place after the last line end that is not within quotes.
    fn line_end(&self, text: &[u8]) -> Option<usize> {
        if !self.quotes || memchr::memchr(b'"', text).is_none() {
            return memchr::memrchr(b'\n', text).map(|at| at + 1);
        }
        let (mut inside, mut last) = (false, None);
        for at in memchr::memchr2_iter(b'"', b'\n', text) {
            match text[at] {
                b'"' => inside = !inside,
                _ if !inside => last = Some(at + 1),
                _ => {}
            }
        }
        last
    }

    /// Size and time of the file; of standard input, the text itself.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.print
    }
}

/// A decoder whose window, which a frame may ask for, is a part of what reading may take.
fn unzstd<R: Read>(
    reader: R,
    place: &Place,
) -> std::io::Result<zstd::Decoder<'static, std::io::BufReader<R>>> {
    let mut decoder = zstd::Decoder::new(reader)?;
    let window = (place.meter.room() / 2).max(1).ilog2();
    decoder.window_log_max(window.clamp(17, 27))?;
    Ok(decoder)
}

/// Lines that end in `text`.
pub(crate) fn count_lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_lines_and_add_up_in_every_size() {
        let text = "\u{feff}a,b\n1,\"x\ny\"\n22,333\n\n4,5";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.csv");
        std::fs::write(&path, text).unwrap();
        for chunk in 1..30 {
            let place = Place::new(&crate::OpenOptions::default());
            let mut input = TextInput::open(path.to_str().unwrap(), &place, chunk, true).unwrap();
            let mut all = Vec::new();
            while let Some(text) = input.next().unwrap() {
                assert!(text.ends_with(b"\n") || text.ends_with(b"4,5"));
                assert!(!text.ends_with(b"\"x\n"));
                all.extend(text);
            }
            assert_eq!(String::from_utf8(all).unwrap(), text[3..]);
        }
    }
}
