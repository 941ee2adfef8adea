//! What every test of the program needs: a folder, data, a call.
#![allow(dead_code, unused_imports)]

pub mod child;
pub mod skipped;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program.
pub fn keepnet() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("keepnet"))
}

/// A folder that goes away, with data in it.
pub struct Folder(pub tempfile::TempDir);

/// A finished call.
pub struct Called {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Called {
    pub fn new(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The call failed with `code`, one line that starts with the program's name, and `words`.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "one line: {}", self.err);
        assert!(self.err.starts_with("keepnet: "), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} in {}", self.err);
        }
    }

    #[track_caller]
    pub fn fine(&self) -> &Self {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names in the folder, hidden ones too, sorted.
    pub fn names(&self) -> Vec<String> {
        names(self.0.path())
    }

    /// Runs `keepnet` in the folder; words are split at spaces.
    pub fn run(&self, words: &str) -> Called {
        Called::new(&self.command(words).output().unwrap())
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = keepnet();
        command.current_dir(self.0.path()).args(words.split_whitespace());
        command
    }

    /// Runs a selection and gives its JSON result.
    pub fn select(&self, words: &str) -> Value {
        let called = self.run(&format!("select {words} --quiet --output -"));
        called.fine();
        serde_json::from_str(&called.out).unwrap()
    }

    /// The JSON in a file.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A small table as CSV: y = 2 a - 3 b, and c is noise.
pub fn small_csv() -> String {
    let mut text = "a,b,c,y\n".to_string();
    for i in 0..40 {
        let (a, b, c) = (f64::from(i % 7), f64::from(i % 5) - 2.0, f64::from(i * i % 11));
        text += &format!("{a},{b},{c},{}\n", 2.0 * a - 3.0 * b);
    }
    text
}

/// Everything outside `run`, and the sources' names made equal.
pub fn outside_run(mut result: Value) -> Value {
    result.as_object_mut().unwrap().remove("run").unwrap();
    result
}

/// The selected features by index, with their weights.
pub fn chosen(result: &Value) -> Vec<(u64, f64)> {
    let mut chosen: Vec<_> = result["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["index"].as_u64().unwrap(), f["coefficient"].as_f64().unwrap()))
        .collect();
    chosen.sort_by_key(|(index, _)| *index);
    chosen
}

/// Numbers of a small generator, from -1 to 1.
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}
