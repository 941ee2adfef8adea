//! One chunk of CSV text into numbers.

use std::collections::HashMap;

use keepnet::Error;

use crate::formats::number::number;

/// What a column of text holds, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only missing values so far.
    Unknown,
    Number,
    Bool,
    Text,
}

impl Kind {
    /// What a field on its own would be; `None` where it is missing.
    pub(crate) fn of(field: &str) -> Option<Self> {
        let bytes = field.as_bytes();
        if is_missing(bytes) {
            None
        } else if fast_float2::parse::<f64, _>(bytes).is_ok() {
            Some(Self::Number)
        } else if boolean(bytes).is_some() {
            Some(Self::Bool)
        } else {
            Some(Self::Text)
        }
    }
}

/// How a file is laid out.
pub(crate) struct Shape<'a> {
    pub(crate) separator: u8,
    pub(crate) kinds: &'a [Kind],
    pub(crate) names: &'a [String],
}

/// A chunk's values, a row after the other.
pub(crate) struct Parsed {
    /// Numbers, or for text the place in `texts`.
    pub(crate) values: Vec<f64>,
    /// The kinds, with what this chunk settled.
    pub(crate) kinds: Vec<Kind>,
    /// For each text column its different values in this chunk.
    pub(crate) texts: Vec<Vec<Box<str>>>,
}

/// What is wrong with a chunk, and in which of its lines.
pub(crate) struct Bad {
    line: u64,
    what: String,
}

impl Bad {
    /// The error, given the number of the chunk's first line.
    pub(crate) fn at(self, first: u64) -> Error {
        Error::Data(format!("line {}: {}", first + self.line, self.what))
    }
}

fn is_missing(field: &[u8]) -> bool {
    matches!(field, b"" | b"NA" | b"N/A" | b"NaN" | b"nan" | b"NAN" | b"null" | b"NULL" | b"None")
}

/// Whether a whole number begins with a zero.
fn is_code(field: &[u8]) -> bool {
    field.len() > 1 && field[0] == b'0' && field.iter().all(u8::is_ascii_digit)
}

fn boolean(field: &[u8]) -> Option<f64> {
    match field {
        b"true" | b"True" | b"TRUE" => Some(1.0),
        b"false" | b"False" | b"FALSE" => Some(0.0),
        _ => None,
    }
}

/// One field with quotes and blanks taken off, and the place after it.
struct Field<'a> {
    text: std::borrow::Cow<'a, [u8]>,
    end: usize,
}

impl Shape<'_> {
    fn field<'a>(&self, text: &'a [u8], start: usize) -> Field<'a> {
        let rest = &text[start..];
        let blank = rest.iter().take_while(|b| **b == b' ').count();
        if rest.get(blank) == Some(&b'"') {
            return self.quoted(text, start + blank + 1);
        }
        let length = memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
        Field { text: rest[..length].trim_ascii().into(), end: start + length }
    }

    fn quoted<'a>(&self, text: &'a [u8], start: usize) -> Field<'a> {
        let mut value = Vec::new();
        let mut at = start;
        loop {
            let Some(length) = memchr::memchr(b'"', &text[at..]) else {
                value.extend_from_slice(&text[at..]);
                return Field { text: value.into(), end: text.len() };
            };
            value.extend_from_slice(&text[at..at + length]);
            at += length + 1;
            if text.get(at) != Some(&b'"') {
                break;
            }
            value.push(b'"');
            at += 1;
        }
        // What stands between the closing quote and the separator belongs to the value.
        let rest = &text[at..];
        let length = memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
        value.extend_from_slice(rest[..length].trim_ascii());
        Field { text: value.into(), end: at + length }
    }

    /// Hands on the fields of the first line; the bytes that it takes with its line end.
    fn each(&self, text: &[u8], mut f: impl FnMut(&[u8])) -> usize {
        let mut at = 0;
        loop {
            let field = self.field(text, at);
            f(&field.text);
            match text.get(field.end) {
                Some(b) if *b == self.separator => at = field.end + 1,
                Some(_) => return field.end + 1,
                None => return field.end,
            }
        }
    }

    /// The fields of the first line, and the bytes that it takes with its line end.
    pub(crate) fn fields(&self, text: &[u8]) -> (Vec<String>, usize) {
        let mut fields = Vec::new();
        let used = self.each(text, |field| {
            fields.push(String::from_utf8_lossy(field).into_owned());
        });
        (fields, used)
    }

    /// What is known of the columns before their values are read: text where a whole number
    /// begins with a zero, as codes do.
    pub(crate) fn codes(&self, text: &[u8]) -> Vec<Kind> {
        let mut kinds = vec![Kind::Unknown; self.names.len()];
        let coded = |at: usize| {
            let before = at.checked_sub(1).map(|at| text[at]);
            let starts = before.is_none_or(|b| b == self.separator || b"\n\" ".contains(&b));
            starts && text.get(at + 1).is_some_and(u8::is_ascii_digit)
        };
        if !memchr::memchr_iter(b'0', text).any(coded) {
            return kinds;
        }
        let mut at = 0;
        while at < text.len() {
            let mut column = 0;
            at += self.each(&text[at..], |field| {
                if let Some(kind) = kinds.get_mut(column).filter(|_| is_code(field)) {
                    *kind = Kind::Text;
                }
                column += 1;
            });
        }
        kinds
    }

    /// About how many fields the first line has: quotes may hide some of its end.
    pub(crate) fn width(&self, text: &[u8]) -> u64 {
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        memchr::memchr_iter(self.separator, &text[..end]).count() as u64 + 1
    }

    /// Bytes that parsing a text takes at most: its numbers, their transposed copy, its words.
    pub(crate) fn work(&self, text: &[u8]) -> u64 {
        let values = memchr::memchr2_iter(self.separator, b'\n', text).count() as u64 + 1;
        2 * text.len() as u64 + 20 * values
    }
}

/// Parses whole lines.
pub(crate) fn parse(text: &[u8], shape: &Shape<'_>) -> Result<Parsed, Bad> {
    let columns = shape.kinds.len();
    let mut parser = Parser {
        text,
        shape,
        out: Parsed {
            // About eight bytes a value is usual; the vector grows where they are shorter.
            values: Vec::with_capacity(text.len() / 8),
            kinds: shape.kinds.to_vec(),
            texts: vec![Vec::new(); columns],
        },
        codes: HashMap::new(),
    };
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\n' => at += 1,
            b'\r' if text.get(at + 1) == Some(&b'\n') => at += 2,
            _ => at = parser.row(at)?,
        }
    }
    Ok(parser.out)
}

struct Parser<'a> {
    text: &'a [u8],
    shape: &'a Shape<'a>,
    out: Parsed,
    codes: HashMap<(usize, Box<str>), u32>,
}

impl Parser<'_> {
    /// Parses the row at `at` and gives the place of the next.
    fn row(&mut self, mut at: usize) -> Result<usize, Bad> {
        let (text, separator) = (self.text, self.shape.separator);
        let columns = self.out.kinds.len();
        let start = at;
        for c in 0..columns {
            let mut end = None;
            if self.out.kinds[c] == Kind::Number
                && let Some((value, used)) = number(&text[at..])
            {
                let next = text.get(at + used);
                if next.is_none_or(|b| *b == separator || *b == b'\n') {
                    self.out.values.push(value);
                    end = Some(at + used);
                }
            }
            let end = match end {
                Some(end) => end,
                None => self.slow(at, c)?,
            };
            let last = c + 1 == columns;
            match text.get(end) {
                Some(b) if *b == separator && !last => at = end + 1,
                Some(b'\n') if last => return Ok(end + 1),
                None if last => return Ok(end),
                _ => return Err(self.uneven(start)),
            }
        }
        Ok(at)
    }

    /// Any field that is not a plain number with a separator behind it.
    #[cold]
    fn slow(&mut self, at: usize, c: usize) -> Result<usize, Bad> {
        let field = self.shape.field(self.text, at);
        let bytes: &[u8] = &field.text;
        if is_missing(bytes) {
            self.out.values.push(f64::NAN);
            return Ok(field.end);
        }
        if self.out.kinds[c] == Kind::Unknown {
            let kind = Kind::of(&String::from_utf8_lossy(bytes));
            self.out.kinds[c] = kind.unwrap_or(Kind::Unknown);
        }
        let value = match self.out.kinds[c] {
            Kind::Text => Some(self.code(c, bytes)),
            Kind::Bool => boolean(bytes),
            Kind::Number | Kind::Unknown => fast_float2::parse(bytes).ok(),
        };
        let Some(value) = value else {
            let found: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
            let want = if self.out.kinds[c] == Kind::Bool { "true or false" } else { "a number" };
            let name = &self.shape.names[c];
            let what = format!("column {name:?} has {found:?} where {want} was expected");
            return Err(Bad { line: self.line(at), what });
        };
        self.out.values.push(value);
        Ok(field.end)
    }

    fn code(&mut self, c: usize, bytes: &[u8]) -> f64 {
        let text: Box<str> = String::from_utf8_lossy(bytes).into();
        let list = &mut self.out.texts[c];
        let next = list.len() as u32;
        let code = *self.codes.entry((c, text)).or_insert_with_key(|(_, text)| {
            list.push(text.clone());
            next
        });
        f64::from(code)
    }

    fn line(&self, at: usize) -> u64 {
        crate::formats::text::count_lines(&self.text[..at])
    }

    fn uneven(&self, start: usize) -> Bad {
        let (mut got, want) = (0_usize, self.out.kinds.len());
        self.shape.each(&self.text[start..], |_| got += 1);
        let separator = match self.shape.separator {
            b',' => "commas",
            b';' => "semicolons",
            _ => "tabs",
        };
        let what = format!("{got} fields separated by {separator}, expected {want} as in the head");
        Bad { line: self.line(start), what }
    }
}
