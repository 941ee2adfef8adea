//! Signals, the clock and a full disk: the whole current result or nothing, never half a file.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use common::child::{begun, ended, signal};
use common::skipped::skipped;
use common::{Called, Folder, names};

/// Scans without end, so that a run can only be ended from outside.
const CALL: &str = "select x.npy --target f3000 -k 10 --scans 100000000 --quiet";

fn folder() -> Folder {
    let folder = Folder::new();
    let sizes = "--set n=200 --set p=3000 --set s=10";
    folder.run(&format!("generate regression {sizes} --output x.npy")).fine();
    folder
}

/// Starts a run that shows its progress.
fn start(folder: &Folder, flags: &str) -> (Child, BufReader<ChildStderr>) {
    begun(&mut folder.command(&format!("{CALL} --progress json {flags}")))
}

#[test]
fn a_signal_ends_a_run_with_the_whole_current_result() {
    for name in ["-INT", "-TERM"] {
        let folder = folder();
        let flags = "--output r.json --reduced small.csv --decisions d.csv";
        let (child, lines) = start(&folder, flags);
        signal(&child, name);
        assert_eq!(ended(child), 0, "{name}");
        let last = lines.lines().last().unwrap().unwrap();
        assert!(last.contains("ended early by a signal"), "{last}");
        let result = folder.json("r.json");
        assert_eq!(result["complete"], false);
        assert_eq!(result["selected"].as_array().unwrap().len(), 10);
        assert_eq!(folder.read("small.csv").lines().count(), 201);
        assert!(folder.read("d.csv").ends_with('\n'));
        assert_eq!(folder.names(), ["d.csv", "r.json", "small.csv", "x.npy"]);
    }
}

#[test]
fn sigterm_leaves_a_checkpoint_where_one_was_asked_for() {
    let folder = folder();
    let (child, _lines) = start(&folder, "--checkpoint run.kn --output r.json");
    signal(&child, "-TERM");
    assert_eq!(ended(child), 0);
    assert_eq!(folder.names(), ["r.json", "run.kn", "x.npy"]);
}

#[test]
fn a_signal_while_files_are_opened_ends_at_once_with_nothing_written() {
    let folder = folder();
    // Standard input that never ends keeps the program opening.
    let words = "select - --format csv --target y -k 1 --output r.json";
    let mut command = folder.command(words);
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "-INT");
    let stdin = child.stdin.take();
    let mut stderr = child.stderr.take().unwrap();
    assert_eq!(ended(child), 1);
    drop(stdin);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
    assert!(said.starts_with("keepnet: ended by a signal"), "{said}");
    assert_eq!(folder.names(), ["x.npy"]);
}

#[test]
fn two_signals_leave_the_whole_result_or_nothing() {
    let mut endings = [0, 0];
    for attempt in 0..12 {
        let folder = folder();
        let (child, _lines) = start(&folder, "--output r.json --reduced small.parquet");
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_micros(300 * attempt));
        // The run may have ended between the two.
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
        let code = ended(child);
        match code {
            0 => {
                assert_eq!(folder.json("r.json")["complete"], false);
                assert_eq!(folder.names(), ["r.json", "small.parquet", "x.npy"]);
            }
            1 => assert_eq!(folder.names(), ["x.npy"]),
            other => panic!("exit status {other}"),
        }
        endings[code as usize] += 1;
    }
    println!("{} whole results, {} ended at once", endings[0], endings[1]);
}

#[test]
fn the_clock_ends_a_run() {
    let folder = folder();
    let called = folder.run(&format!("{CALL} --time 0.3s --output r.json"));
    called.fine();
    assert_eq!(folder.json("r.json")["complete"], false);
    let seconds = folder.json("r.json")["run"]["seconds"]["total"].as_f64().unwrap();
    assert!((0.3..5.0).contains(&seconds), "{seconds}");
}

/// A file system of one page or so; `None` where this user may not mount one.
struct Small(tempfile::TempDir);

impl Small {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_gives_one_line_and_no_partial_file() {
    let Some(small) = Small::new("8k") else {
        skipped("a full disk: there is no right to mount a tmpfs");
        return;
    };
    let folder = folder();
    let run = |flags: &str| {
        let mut command = folder.command("select x.npy --target f3000 -k 10 --quiet");
        for (at, word) in flags.split_whitespace().enumerate() {
            match at % 2 {
                0 => command.arg(word),
                _ => command.arg(small.0.path().join(word)),
            };
        }
        Called::new(&command.output().unwrap())
    };
    for flags in [
        "--reduced small.csv",
        "--reduced small.parquet",
        "--reduced small.arrow",
        "--reduced small.npy --output r.json",
        "--decisions d.csv",
        "--output r.json --decisions d.csv",
        "--checkpoint run.kn",
    ] {
        let checkpoint = flags.contains("checkpoint");
        let called = match checkpoint {
            false => run(flags),
            true => {
                let mut command =
                    folder.command("select x.npy --target f3000 -k 10 --checkpoint-every 1b");
                command.arg("--checkpoint").arg(small.0.path().join("run.kn"));
                Called::new(&command.output().unwrap())
            }
        };
        println!("{flags}");
        called.refused(1, &["No space left", "cannot write"]);
        assert!(names(small.0.path()).is_empty(), "{flags}: {:?}", names(small.0.path()));
    }
    // What fits is written whole.
    run("--output r.csv").fine();
    assert_eq!(names(small.0.path()), ["r.csv"]);
}
