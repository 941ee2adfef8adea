//! Changes to bytes that keep enough of their structure to get past the first check.

use crate::random::Random;

/// Largest mutated input: seeds have a few KB.
const MOST: usize = 1 << 18;

/// What separates the values of text formats, and values at their edges.
const TOKENS: &[&str] = &[
    "",
    ",",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\"",
    "\"\"",
    ":",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "nan",
    "inf",
    "-inf",
    "-",
    "+",
    ".",
    "e",
    "1e999",
    "-1e-999",
    "1e308",
    "0x10",
    "1_000",
    "0",
    "-0",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9223372036854775808",
    "3000000000:1",
    "1:1",
    "0:1",
    "qid:1",
    "#",
    "\u{0}",
    "\u{1b}[2J",
    "\u{feff}",
    "\u{202e}",
    "é",
    "id",
    "y",
    "a",
    "(5, 3)",
    "(0, 9223372036854775808)",
    "'<f8'",
    "'|O'",
    "fortran_order",
    "123456789012345678901234567890123456789012345678901234567890",
];

/// Whole numbers at their edges, as a length or an offset may be.
const EDGES: &[u64] = &[
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e308,
    -1e308,
    5e-324,
    1e-300,
    4_294_967_296.0,
];

/// What kind of bytes they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Metadata stands at the end.
    Footer,
    Binary,
}

/// Changes `bytes` in one to eight places; `other` is another seed of the same kind.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], kind: Kind, random: &mut Random) {
    // Mostly one or two places, so that the rest is still what it was.
    let most = if random.often(60) { 2 } else { 8 };
    for _ in 0..1 + random.below(most) {
        let at = place(bytes.len(), kind, random);
        match random.below(12) {
            0 | 1 => flip(bytes, at, random),
            2 => overwrite(bytes, at, &[random.next() as u8]),
            3 => truncate(bytes, at, kind, random),
            4 => remove(bytes, at, random),
            5 => repeat(bytes, at, random),
            6 => splice(bytes, at, other, random),
            7 if kind == Kind::Text => token(bytes, at, random),
            8 if kind == Kind::Text => token(bytes, at, random),
            7 | 8 => number(bytes, at, random),
            9 if kind == Kind::Text => digits(bytes, at, random),
            9 => overwrite(bytes, at, &FLOATS[random.below(FLOATS.len())].to_le_bytes()),
            10 if kind != Kind::Text => varint(bytes, at, random),
            10 => swap(bytes, at, random),
            _ => fill(bytes, at, random),
        }
        bytes.truncate(MOST);
    }
}

/// Anywhere; in a file with a footer half of the time in its last fifth.
fn place(length: usize, kind: Kind, random: &mut Random) -> usize {
    match kind == Kind::Footer && random.often(50) {
        true => length - random.below(1 + length / 5),
        false => random.below(length + 1),
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn overwrite(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(new) {
        *byte = *new;
    }
}

fn truncate(bytes: &mut Vec<u8>, at: usize, kind: Kind, random: &mut Random) {
    match kind == Kind::Footer && random.often(70) {
        // The footer stays, so that the file is still taken for one.
        true => drop(bytes.drain(at / 2..at / 2 + (bytes.len() / 2).min(random.below(200)))),
        false => bytes.truncate(at),
    }
}

fn remove(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let end = (at + 1 + random.below(40)).min(bytes.len());
    bytes.drain(at.min(end)..end);
}

fn repeat(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let end = (at + 1 + random.below(60)).min(bytes.len());
    let part = bytes[at.min(end)..end].to_vec();
    let times = if random.often(90) { 1 } else { 1 + random.below(200) };
    bytes.splice(at.min(end)..at.min(end), part.repeat(times));
}

fn splice(bytes: &mut Vec<u8>, at: usize, other: &[u8], random: &mut Random) {
    let from = random.below(other.len() + 1);
    let part = &other[from..(from + random.below(300)).min(other.len())];
    match random.often(50) {
        true => overwrite(bytes, at, part),
        false => drop(bytes.splice(at..at, part.iter().copied())),
    }
}

fn token(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let new = random.pick(TOKENS).as_bytes();
    let end = (at + random.below(8)).min(bytes.len());
    bytes.splice(at..end, new.iter().copied());
}

/// A number of two, four or eight bytes, mostly where such numbers stand.
fn number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = [2, 4, 8][random.below(3)];
    let near = [0, 1, 2, bytes.len() as u64, bytes.len() as u64 / 2];
    let value = match random.below(3) {
        0 => near[random.below(near.len())].wrapping_sub(random.below(3) as u64),
        _ => EDGES[random.below(EDGES.len())],
    };
    let at = if random.often(80) { at / width * width } else { at };
    overwrite(bytes, at, &value.to_le_bytes()[..width]);
}

/// The length of a number in seven bits a byte, as Thrift and saved states have them.
fn varint(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let mut value = EDGES[random.below(EDGES.len())];
    let mut new = Vec::new();
    while value > 0x7f {
        new.push(value as u8 | 0x80);
        value >>= 7;
    }
    new.push(value as u8);
    let end = (at + random.below(3)).min(bytes.len());
    bytes.splice(at..end, new);
}

fn digits(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit) else { return };
    let start = at + start;
    let length = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    let new = match random.often(70) {
        true => EDGES[random.below(EDGES.len())].to_string(),
        false => format!("{:e}", FLOATS[random.below(FLOATS.len())]),
    };
    bytes.splice(start..start + length, new.into_bytes());
}

fn swap(bytes: &mut [u8], at: usize, random: &mut Random) {
    let other = random.below(bytes.len());
    if at < bytes.len() {
        bytes.swap(at, other);
    }
}

fn fill(bytes: &mut [u8], at: usize, random: &mut Random) {
    let value = [0, 0xff, 0x80, b'"', b'9'][random.below(5)];
    let length = random.below(64);
    bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = value);
}
