//! A run that is killed and resumed ends with the digits of an unbroken one; a checkpoint that
//! is damaged or of something else is refused with the reason.

mod common;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, outside_run};
use serde_json::Value;

const CALL: &str = "select x.npy --target f8000 -k 15 --quiet";

fn folder() -> Folder {
    let folder = Folder::new();
    let sizes = "--set n=250 --set p=8000 --set s=15";
    folder.run(&format!("generate regression {sizes} --output x.npy")).fine();
    folder
}

fn unbroken(folder: &Folder, flags: &str) -> Value {
    folder.run(&format!("{CALL} {flags} --output whole.json")).fine();
    outside_run(folder.json("whole.json"))
}

fn start(folder: &Folder, words: &str) -> Child {
    folder.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A generator for the moments of the kills; the sequence is fixed, the moments are not.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as f64 / f64::from(1u32 << 31)
    }
}

#[test]
fn fifty_kills_at_random_moments_change_no_digit() {
    let folder = folder();
    let flags = "--order shuffled --seed 4";
    let expected = unbroken(&folder, flags);
    let call = format!("{CALL} {flags} --checkpoint run.kn --checkpoint-every 5b --output r.json");
    let begun = Instant::now();
    folder.run(&call).fine();
    let whole = begun.elapsed();
    std::fs::remove_file(folder.path("r.json")).unwrap();
    let mut moments = Moments(7);
    let (mut kills, mut resumed, mut finished) = (0, 0, 0);
    while kills < 50 {
        if folder.path("run.kn").exists() {
            resumed += 1;
        }
        let mut child = start(&folder, &call);
        std::thread::sleep(whole.mul_f64(0.6 * moments.next()));
        let _ = child.kill();
        if child.wait().unwrap().success() {
            finished += 1;
            assert!(folder.path("r.json").exists());
            assert!(!folder.path("run.kn").exists(), "a complete run removes its checkpoint");
        } else {
            kills += 1;
        }
        // A kill may come after the result is in its place; then it is whole.
        if folder.path("r.json").exists() {
            assert_eq!(outside_run(folder.json("r.json")), expected);
            std::fs::remove_file(folder.path("r.json")).unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{kills} kills");
    }
    assert!(resumed > 10, "only {resumed} runs had a checkpoint to resume from");
    folder.run(&call).fine();
    assert_eq!(outside_run(folder.json("r.json")), expected, "{finished} finished before");
    let left: Vec<_> = folder.names().into_iter().filter(|name| name.contains("run.kn")).collect();
    assert!(left.is_empty(), "{left:?}");
    println!("{kills} kills, {resumed} resumed, {finished} finished, a whole run {whole:?}");
}

/// Leaves a checkpoint behind: the run is ended by `--time` after its first block.
fn interrupted(folder: &Folder) -> Value {
    let call = format!("{CALL} --checkpoint run.kn --time 0.000001s --output part.json");
    let called = folder.run(&call);
    called.fine();
    assert!(called.err.contains("--time") && folder.path("run.kn").exists(), "{}", called.err);
    folder.json("part.json")
}

#[test]
fn a_run_ended_by_time_is_marked_and_resumes() {
    let folder = folder();
    let expected = unbroken(&folder, "");
    let part = interrupted(&folder);
    assert_eq!((&part["complete"], &part["scans"]), (&false.into(), &1.into()));
    let seen = |result: &Value| result["features_seen"].as_u64().unwrap();
    assert!((1..seen(&expected)).contains(&seen(&part)), "{}", part["features_seen"]);
    folder.run(&format!("{CALL} --checkpoint run.kn --output r.json")).fine();
    assert_eq!(outside_run(folder.json("r.json")), expected);
    assert!(!folder.path("run.kn").exists());
}

#[test]
fn every_method_resumes_with_the_digits_of_an_unbroken_run() {
    let folder = Folder::new();
    folder.run("generate classification --set n=150 --set p=900 --set s=8 --output x.npy").fine();
    // Methods on rows read another order of the file; tests/rows.rs resumes them.
    let columns = |method: &&&keepnet::MethodInfo| method.stream != keepnet::Stream::Samples;
    for method in keepnet::registry::methods().iter().filter(columns) {
        for loss in ["squared", "squared-hinge", "logistic"] {
            let loss = if method.has_loss { format!("--loss {loss}") } else { String::new() };
            let groups = method.stream == keepnet::Stream::Groups;
            let groups = if groups { "--groups block:30" } else { "" };
            let k = if method.name == "group-saola" { "" } else { "-k 8" };
            // On threads the order of updates is up to the machine.
            let centre = if method.name == "asy-os" { "--set centre=simulated" } else { "" };
            let name = format!("{} {centre}", method.name);
            let call = format!("select x.npy --target f900 {k} --method {name} {loss} {groups}");
            let expected = outside_run(folder.select(&call[7..]));
            // The first run ends after a block, the second after its own first block, the third
            // goes to the end.
            for time in ["--time 0.000001s", "--time 0.000001s", ""] {
                folder
                    .run(&format!("{call} --quiet --checkpoint c.kn {time} --output r.json"))
                    .fine();
                assert_eq!(folder.path("c.kn").exists(), !time.is_empty(), "{call}");
            }
            assert_eq!(outside_run(folder.json("r.json")), expected, "{call}");
        }
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = folder();
    interrupted(&folder);
    let refused = |call: &str, words: &[&str]| {
        folder.run(&format!("{call} --quiet --checkpoint run.kn")).refused(1, words);
    };
    refused("select x.npy --target f8000 -k 16", &["run.kn", "other settings", "k=15", "k=16"]);
    refused("select x.npy --target f8000 -k 15 --seed 9", &["other settings", "seed=9"]);
    refused("select x.npy --target f8000 -k 15 --scans 3", &["other settings"]);
    refused("select x.npy --target f8000 -k 15 --set reserve=3", &["other settings"]);
    refused("select x.npy --target f8000 -k 15 --missing mean", &["other settings"]);
    refused("select x.npy --target f7999 -k 15", &["run.kn"]);
    folder.run("generate regression --set n=250 --set p=8000 --set s=15 --seed 1 --output z.npy");
    refused("select z.npy --target f8000 -k 15", &["run.kn", "belongs to"]);
    // Refused means untouched: the right command still resumes.
    folder.run(&format!("{CALL} --checkpoint run.kn")).fine();
}

/// Workers come from the threads where they are not asked for; either way they belong to the
/// checkpoint, and asking for as many resumes it on any number of threads.
#[test]
fn a_checkpoint_of_other_workers_is_refused() {
    let folder = folder();
    let call = "select x.npy --target f8000 -k 15 --method asy-os --quiet --checkpoint w.kn";
    for (before, after) in [(4, 2), (2, 4)] {
        folder.run(&format!("{call} --threads {before} --time 0.000001s")).fine();
        let (then, now) = (format!("workers={before}"), format!("workers={after}"));
        folder
            .run(&format!("{call} --threads {after}"))
            .refused(1, &["w.kn", "other settings", &then, &now]);
        folder
            .run(&format!("{call} --threads {after} --set workers={before} --output r.json"))
            .fine();
        let result = folder.json("r.json");
        assert_eq!(result["selected"].as_array().unwrap().len(), 15);
        assert_eq!(result["params"]["workers"], before);
        assert!(result["metrics"]["centre_error"].as_f64().unwrap() < 1e-9);
    }
}

/// The simulated centre gives the same digits on any number of threads, also where the run was
/// broken off on another number.
#[test]
fn simulated_workers_do_not_come_from_threads() {
    let folder = folder();
    let call = "select x.npy --target f8000 -k 15 --method asy-os --set centre=simulated";
    let expected = outside_run(folder.select(&format!("{} --threads 1", &call[7..])));
    assert_eq!(expected["params"]["workers"], 4);
    for threads in [2, 5] {
        let got = outside_run(folder.select(&format!("{} --threads {threads}", &call[7..])));
        assert_eq!(got, expected, "{threads} threads");
    }
    let call = format!("{call} --quiet --checkpoint s.kn --output r.json");
    folder.run(&format!("{call} --threads 1 --time 0.000001s")).fine();
    folder.run(&format!("{call} --threads 3")).fine();
    assert_eq!(outside_run(folder.json("r.json")), expected);
}

#[test]
fn a_damaged_checkpoint_is_never_used() {
    let folder = folder();
    interrupted(&folder);
    let whole = std::fs::read(folder.path("run.kn")).unwrap();
    let call = format!("{CALL} --checkpoint run.kn --output r.json");
    for part in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        folder.write("run.kn", &whole[..part]);
        folder.run(&call).refused(1, &["run.kn", "damaged"]);
    }
    let step = whole.len() / 40;
    for (bit, at) in (8..whole.len()).step_by(step).enumerate() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (bit % 8);
        folder.write("run.kn", &flipped);
        folder.run(&call).refused(1, &["run.kn", "damaged"]);
    }
    folder.write("run.kn", b"something else entirely, long enough to be a checkpoint");
    folder.run(&call).refused(1, &["run.kn", "no keepnet checkpoint"]);
    assert!(!folder.path("r.json").exists());
}

#[test]
fn decisions_and_checkpoints_do_not_go_together() {
    let folder = folder();
    let called = folder.run(&format!("{CALL} --checkpoint run.kn --decisions d.csv"));
    called.refused(2, &["--decisions", "--checkpoint"]);
}
