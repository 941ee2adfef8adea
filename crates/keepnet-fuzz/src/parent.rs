//! Starts the workers under a memory limit, watches them, and keeps what ended one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::shrink::shrink;

/// Address space of a worker: the `--memory` of its calls, the program, and as much again for
/// what a decoder may hold for a moment.
pub const LIMIT: u64 = 600 << 20;
/// How a worker ends that cannot begin.
const SETUP: &str = "exit status 2";
/// How long one input may take; the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A call of this program in a process of its own that cannot take more than the limit.
pub fn limited(words: &[&str], folder: &Path) -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let stderr = std::fs::File::create(folder.join("stderr"))?;
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {} && exec \"$0\" \"$@\"", LIMIT >> 10);
    // One arena: each thread's own would take 64 MB of address space without using it.
    command.env("MALLOC_ARENA_MAX", "1").env("RUST_BACKTRACE", "0").arg("-c").arg(script);
    command.arg(program).args(words).arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).spawn()
}

/// What ended a process, in words; `None` where nothing did.
pub fn fault(folder: &Path, status: std::process::ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    if status.success() {
        return None;
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let said = [read("panic"), read("stderr")].join(" ");
    let said: Vec<&str> = said.split_whitespace().take(60).collect();
    let how = match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("exit status {}", status.code().unwrap_or(-1)),
    };
    Some(format!("{how}: {}", said.join(" ")))
}

/// One target: its worker and how far it is.
pub struct Target {
    pub name: String,
    folder: TempDir,
    child: Child,
    first: u64,
    at: u64,
    since: Instant,
    // When the first input was tried: states are made before that.
    begun: Option<Instant>,
    /// Inputs tried, and how many of them the program took.
    pub tried: u64,
    pub accepted: u64,
    before: u64,
    pub failures: Vec<PathBuf>,
}

/// What a run is asked to do.
pub struct Plan {
    pub seed: u64,
    pub most: u64,
    pub keep: PathBuf,
    /// Where the work folders are made.
    pub place: PathBuf,
}

impl Target {
    /// Starts the worker of a target.
    pub fn start(name: &str, plan: &Plan) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("keepnet-fuzz-").tempdir_in(&plan.place)?;
        let child = begin(name, folder.path(), plan, 0)?;
        Ok(Self {
            name: name.into(),
            folder,
            child,
            first: 0,
            at: 0,
            since: Instant::now(),
            begun: None,
            tried: 0,
            accepted: 0,
            before: 0,
            failures: Vec::new(),
        })
    }

    /// Looks after the worker; `true` once it has nothing left to do.
    pub fn look(&mut self, plan: &Plan) -> std::io::Result<bool> {
        let text = std::fs::read_to_string(self.folder.path().join("progress")).unwrap_or_default();
        let mut numbers = text.split(' ').map_while(|n| n.parse::<u64>().ok());
        if let (Some(at), Some(accepted)) = (numbers.next(), numbers.next()) {
            if at != self.at || self.begun.is_none() {
                (self.at, self.since) = (at, Instant::now());
            }
            self.begun.get_or_insert_with(Instant::now);
            self.tried = at;
            self.accepted = self.before + accepted;
        }
        let patience = if self.begun.is_some() { PATIENCE } else { 10 * PATIENCE };
        let ended = self.child.try_wait()?;
        let what = match ended {
            Some(status) => match fault(self.folder.path(), status) {
                None => return Ok(true),
                Some(what) => what,
            },
            None if self.since.elapsed() < patience => return Ok(false),
            None => {
                self.child.kill()?;
                self.child.wait()?;
                format!("it hangs: no end after {} s", PATIENCE.as_secs())
            }
        };
        if what.starts_with(SETUP) {
            println!("FAILED {}: {what}", self.name);
            self.failures.push(PathBuf::new());
            return Ok(true);
        }
        self.keep(&what, plan)?;
        self.before = self.accepted;
        // The input that ended it is left out.
        self.first = self.at + 1;
        self.since = Instant::now();
        if self.first >= plan.most || self.failures.len() >= 20 {
            return Ok(true);
        }
        self.child = begin(&self.name, self.folder.path(), plan, self.first)?;
        Ok(false)
    }

    /// Shrinks the input that ended the worker and puts it aside with all that is known of it.
    fn keep(&mut self, what: &str, plan: &Plan) -> std::io::Result<()> {
        let (name, seed) = (&self.name, plan.seed);
        println!("FAILED {name}, seed {seed}, input {}: {what}", self.at);
        let place = plan.keep.join(format!("{name}-{seed}-{}", self.at));
        std::fs::create_dir_all(&place)?;
        for entry in std::fs::read_dir(self.folder.path())? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), place.join(entry.file_name()))?;
            }
        }
        std::fs::write(place.join("what"), what)?;
        let said = match shrink(self.folder.path(), &place)? {
            Some((before, after)) => format!("shrunk from {before} to {after} bytes"),
            None => "it does not fail by itself".into(),
        };
        println!("  kept in {}; {said}", place.display());
        self.failures.push(place);
        Ok(())
    }

    /// Whether inputs were tried for as long as this.
    pub fn had(&self, share: Duration) -> bool {
        self.begun.is_some_and(|begun| begun.elapsed() >= share)
    }

    /// Ends the worker.
    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn begin(name: &str, folder: &Path, plan: &Plan, first: u64) -> std::io::Result<Child> {
    for file in ["panic", "progress", "call"] {
        let _ = std::fs::remove_file(folder.join(file));
    }
    let (seed, first, most) = (plan.seed.to_string(), first.to_string(), plan.most.to_string());
    limited(&["work", name, &seed, &first, &most], folder)
}
