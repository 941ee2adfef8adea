//! Mutated saved states: checkpoints of methods on columns and on rows, running averages, and the
//! checkpoint of a comparison. The program makes them itself, since a checkpoint belongs to its
//! data; their checksums are made right again after every change.

use keepnet::registry::{self, MethodInfo, Stream};

use crate::cases::{Case, Cases, words};
use crate::mutate::{Kind, mutate};
use crate::random::Random;
use crate::readers::seeds;
use crate::worker::run;

/// Bytes before the header: magic, format, length of header, length of body.
const FIXED: usize = 8 + 4 + 8 + 8;

/// A saved state and the calls that take it up.
struct State {
    file: &'static str,
    bytes: Vec<u8>,
    calls: Vec<Vec<String>>,
}

/// Saved states of one kind.
pub struct States {
    states: Vec<State>,
    // Bodies of earlier states that broke something.
    bodies: Vec<Vec<u8>>,
    text: bool,
}

fn call(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

impl States {
    /// Makes the states in the current folder.
    pub fn new(kind: &str) -> Result<Self, String> {
        let (wide, long) = ("n=30 --set p=140 --set s=4", "n=700 --set p=7 --set s=3");
        for (size, file) in [(wide, "wide.npy"), (wide, "wide.csv"), (long, "long.csv")] {
            let line = format!("generate classification --set {size} --output {file} --threads 1");
            run(&call(&line)).map_err(|error| format!("{line}: {error}"))?;
        }
        let states = match kind {
            "columns-state" => checkpoints(false),
            "rows-state" => checkpoints(true),
            "averages" => averages(),
            _ => comparison(),
        };
        let bodies = match kind {
            "averages" => seeds("averages").map_err(|error| error.to_string())?,
            _ => Vec::new(),
        };
        let bodies = bodies.iter().filter_map(|bytes| split(bytes)).map(|parts| parts.1.to_vec());
        match states.is_empty() {
            true => Err(format!("no state of {kind} could be made")),
            false => Ok(Self { states, bodies: bodies.collect(), text: kind == "compare-state" }),
        }
    }
}

/// What a run that is ended after its first block leaves, method by method.
fn checkpoints(rows: bool) -> Vec<State> {
    let fits = |method: &&&MethodInfo| (method.stream == Stream::Samples) == rows;
    let mut states = Vec::new();
    for method in registry::methods().iter().filter(fits) {
        let losses: &[&str] = match method.has_loss {
            true => &["", " --loss squared", " --loss logistic", " --loss squared-hinge"],
            false => &[""],
        };
        let groups = if method.stream == Stream::Groups { " --groups block:9" } else { "" };
        let k = if method.name == "group-saola" { "" } else { " -k 3" };
        let data = if rows { "long.csv --target target" } else { "wide.npy --target f140" };
        let name = method.name;
        for loss in losses {
            let more = format!("{k}{loss}{groups} --method {name} --checkpoint input.kn");
            let mut line = words("select", data.split(' ').next().unwrap_or_default());
            line.extend(data.split(' ').skip(1).map(String::from));
            line.extend(call(&more));
            if name == "asy-os" {
                line.extend(call("--set centre=simulated"));
            }
            let mut ended = line.clone();
            ended.extend(call("--time 0.000001s"));
            let _ = std::fs::remove_file("input.kn");
            // A method that does not take this loss or target has no state.
            let _ = run(&ended);
            if let Ok(bytes) = std::fs::read("input.kn") {
                states.push(State { file: "input.kn", bytes, calls: vec![line] });
            }
        }
    }
    states
}

fn averages() -> Vec<State> {
    let mut states = Vec::new();
    for flags in
        ["--method ols", "--method ols --task regression", "--method ols --set forget=0.01"]
    {
        let mut line = words("select", "long.csv");
        line.extend(call(&format!("--target target -k 3 {flags} --averages input.kn")));
        if run(&line).is_ok()
            && let Ok(bytes) = std::fs::read("input.kn")
        {
            let other = format!("other{}.kn", states.len());
            if std::fs::copy("input.kn", &other).is_err() {
                continue;
            }
            let mut calls = vec![call(&format!("merge input.kn {other} --output sum.kn"))];
            let on_averages = ["ols", "olsth", "ofsa", "annealed-ridge", "olasso", "omcp", "gcv"];
            for method in on_averages.iter().filter(|name| registry::find(name).is_ok()) {
                calls.push(call(&format!("extract input.kn -k 2 --method {method} --quiet")));
            }
            calls.push(call("extract input.kn --quiet --always f1"));
            states.push(State { file: "input.kn", bytes, calls });
        }
    }
    states
}

/// The journal of a comparison that ends after its passes, for want of a file that is read then.
fn comparison() -> Vec<State> {
    let line = "compare wide.csv --target target --methods os,saola,ols:k=3 -k 3 --splits 3 \
                --threads 1 --quiet --output out.csv --checkpoint input.journal";
    let failing = format!("{line} --external gone=no-such-file.csv");
    let _ = run(&call(&failing));
    match std::fs::read("input.journal") {
        Ok(bytes) => vec![State { file: "input.journal", bytes, calls: vec![call(line)] }],
        Err(_) => Vec::new(),
    }
}

/// Header and body of a sealed state.
pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let header = FIXED.checked_add(usize::try_from(length(12)?).ok()?)?;
    let body = header.checked_add(usize::try_from(length(20)?).ok()?)?;
    Some((bytes.get(..header)?, bytes.get(header..body)?))
}

/// The body under another's header, with its length and the checksum made right.
pub fn seal(header: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = header.to_vec();
    out[20..28].copy_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(body);
    let crc = crc32fast::hash(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    out
}

impl Cases for States {
    fn case(&self, number: u64, random: &mut Random) -> Case {
        let state = &self.states[random.below(self.states.len())];
        let other = &self.states[random.below(self.states.len())].bytes;
        let call = state.calls[random.below(state.calls.len())].clone();
        let mut bytes = state.bytes.clone();
        match split(&bytes).filter(|_| !self.text) {
            None => {
                // The first line says what the journal is of.
                let head = bytes.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
                let mut rest = bytes.split_off(if random.often(95) { head } else { 0 });
                mutate(&mut rest, other, Kind::Text, random);
                bytes.extend(rest);
            }
            Some((header, body)) => {
                let mut body = match self.bodies.get(number as usize) {
                    Some(old) => old.clone(),
                    None => body.to_vec(),
                };
                if number as usize >= self.bodies.len() {
                    mutate(&mut body, other, Kind::Binary, random);
                }
                let mut sealed = seal(header, &body);
                if random.often(3) {
                    mutate(&mut sealed, other, Kind::Binary, random);
                }
                bytes = sealed;
            }
        }
        Case { file: state.file.into(), bytes, call }
    }
}
