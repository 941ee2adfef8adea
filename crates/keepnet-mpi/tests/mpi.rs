//! The program over real ranks: `mpirun` on this machine, and over three network namespaces.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

#[path = "../../keepnet-cli/tests/common/skipped.rs"]
mod skipped;

use skipped::skipped;

const PROGRAM: &str = env!("CARGO_BIN_EXE_keepnet-mpi");

/// The program without ranks, which stands beside this one.
fn keepnet() -> PathBuf {
    let path = Path::new(PROGRAM).with_file_name("keepnet");
    assert!(path.exists(), "{} is missing; scripts/mpi.sh builds it", path.display());
    path
}

fn data(p: usize, n: usize, s: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [format!("p={p}"), format!("n={n}"), format!("s={s}")];
    let mut generate = Command::new(keepnet());
    generate.args(["generate", "regression", "--output", "x.npy", "--target", "y.csv"]);
    generate.args(["--seed", "3"]).current_dir(&folder);
    sizes.iter().for_each(|size| {
        generate.args(["--set", size]);
    });
    let done = generate.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

fn mpirun(ranks: usize, folder: &TempDir, flags: &str) -> Command {
    let mut command = Command::new("mpirun");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
    command.args(["-n", &ranks.to_string(), PROGRAM]).args(flags.split_whitespace());
    command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn selected(result: &Value) -> Vec<(u64, f64)> {
    let one = |f: &Value| (f["index"].as_u64().unwrap(), f["coefficient"].as_f64().unwrap());
    result["selected"].as_array().unwrap().iter().map(one).collect()
}

const SELECT: &str = "select x.npy --target y.csv -k 16 --quiet --order shuffled --output r.json";

#[test]
fn one_worker_is_os_by_messages_and_by_window() {
    let folder = data(400, 200, 16);
    let flags = SELECT.replace("r.json", "os.json") + " --method os";
    let os = Command::new(keepnet()).args(flags.split_whitespace()).current_dir(&folder).output();
    assert!(os.unwrap().status.success());
    let want = json(folder.path().join("os.json"));
    for centre in ["messages", "window"] {
        let flags = format!("{SELECT} --method asy-os --set centre={centre}");
        let output = mpirun(2, &folder, &flags).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let got = json(folder.path().join("r.json"));
        let (got, want) = (selected(&got), selected(&want));
        assert_eq!(got.len(), 16);
        for ((i, a), (j, b)) in got.iter().zip(&want) {
            assert!(
                i == j && (a - b).abs() <= 1e-10 * (1.0 + b.abs()),
                "{centre}: {i} {a} {j} {b}"
            );
        }
    }
}

#[test]
fn four_workers_lose_no_delta() {
    let folder = data(2000, 100, 16);
    for centre in ["messages", "window"] {
        let flags = format!("{SELECT} --method asy-os --set centre={centre} --scans 4");
        let output = mpirun(5, &folder, &flags).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let result = json(folder.path().join("r.json"));
        let metrics = &result["metrics"];
        assert!(metrics["centre_error"].as_f64().unwrap() < 1e-6, "{metrics}");
        assert!(metrics["updates"].as_u64().unwrap() > 7000, "{metrics}");
        assert_eq!(metrics["worker_features"].as_array().unwrap().len(), 4);
        assert_eq!(result["features_seen"], 2000);
        assert_eq!(result["params"]["workers"], 4);
        let mut ids: Vec<u64> = selected(&result).into_iter().map(|(index, _)| index).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 16);
        let dropped = result["dropped"].as_object().unwrap();
        let fates: u64 = dropped.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(fates + 16, 2000, "{dropped:?}");
    }
}

#[test]
fn a_wrong_call_is_told_once() {
    let folder = data(50, 40, 4);
    for (ranks, flags, word) in [
        (3, "select x.npy --target y.csv -k 4", "asy-os"),
        (1, "select x.npy --target y.csv -k 4 --method asy-os", "mpirun -n 2"),
        (3, "select x.npy --target y.csv -k 4 --method asy-os --set centre=moon", "messages"),
        (3, "select x.npy --target y.csv -k 1 --method asy-os", "at least one feature a worker"),
    ] {
        let output = mpirun(ranks, &folder, flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags}: {}", said(&output));
        let text = said(&output);
        let lines: Vec<_> = text.lines().filter(|l| l.starts_with("keepnet")).collect();
        assert!(lines.len() == 1 && lines[0].contains(word), "{flags}: {text}");
    }
    let output = mpirun(3, &folder, "select none.npy --target y.csv -k 4 --method asy-os").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("none.npy"));
}

/// Averages of shares add up to those of all rows, to the rounding of averages held in f32: the
/// bound of `keepnet merge` in `keepnet-cli/tests/rows.rs`.
#[test]
fn rows_on_four_ranks_give_the_selection_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let make = "generate regression --set p=60 --set n=3000 --set s=8 --output x.csv";
    let made = Command::new(keepnet()).args(make.split_whitespace()).current_dir(&folder).output();
    assert!(made.unwrap().status.success());
    let flags = "select x.csv --target target -k 8 --method annealed-ridge --quiet --output";
    let one = Command::new(keepnet())
        .args(flags.split_whitespace().chain(["one.json"]))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(one.status.success(), "{}", said(&one));
    let output = mpirun(4, &folder, &format!("{flags} r.json")).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let (got, want) = (json(folder.path().join("r.json")), json(folder.path().join("one.json")));
    assert_eq!(got["rows"], want["rows"]);
    for ((i, a), (j, b)) in selected(&got).iter().zip(&selected(&want)) {
        assert!(i == j && (a - b).abs() <= 1e-6 * (1.0 + b.abs()), "{i} {a} {j} {b}");
    }
}

/// Processes of the program that run in `folder`, with their ranks.
fn ranks_in(folder: &Path) -> Vec<(u32, String)> {
    let folder = folder.canonicalize().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        let program = std::fs::read_link(entry.path().join("exe")).unwrap_or_default();
        if !here || !program.ends_with("keepnet-mpi") {
            continue;
        }
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let key = b"OMPI_COMM_WORLD_RANK=";
        let rank = environ.split(|b| *b == 0).find_map(|pair| pair.strip_prefix(&key[..]));
        if let Some(rank) = rank {
            found.push((pid, String::from_utf8_lossy(rank).into_owned()));
        }
    }
    found
}

fn until(what: &str, seconds: u64, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(seconds), "{what} took over {seconds} s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

/// A long run, once all its ranks are there.
fn long_run(folder: &TempDir, more: &str) -> Child {
    let flags = format!("{SELECT} --method asy-os --scans 100000 {more}");
    let child = mpirun(4, folder, &flags).spawn().unwrap();
    until("starting four ranks", 30, || ranks_in(folder.path()).len() == 4);
    child
}

#[test]
fn a_killed_rank_ends_the_run_with_an_error_and_nothing_behind() {
    for victim in ["2", "0"] {
        let folder = data(400, 200, 16);
        let mut child = long_run(&folder, "");
        std::thread::sleep(Duration::from_millis(700));
        let ranks = ranks_in(folder.path());
        let (pid, _) = ranks.iter().find(|(_, rank)| rank == victim).unwrap();
        kill(*pid);
        until("the end", 15, || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        assert!(said(&output).contains("signal 9"), "{}", said(&output));
        until("the end of every rank", 10, || ranks_in(folder.path()).is_empty());
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(left.len(), 2, "only the data: {left:?}");
    }
}

#[test]
fn a_later_run_resumes_from_the_last_whole_checkpoint() {
    let folder = data(400, 200, 16);
    let saved = folder.path().join("run.kn");
    let mut child = long_run(&folder, "--checkpoint run.kn --checkpoint-every 3b");
    until("a checkpoint", 30, || saved.exists());
    std::thread::sleep(Duration::from_millis(300));
    kill(ranks_in(folder.path())[1].0);
    until("the end", 15, || child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap();
    assert!(saved.exists() && !folder.path().join("r.json").exists());
    // The same command takes it up and is ended by the clock, whole and with a checkpoint.
    let flags = format!("{SELECT} --method asy-os --scans 100000 --checkpoint run.kn");
    let flags = flags + " --checkpoint-every 3b --time 2s";
    let before = std::fs::read(&saved).unwrap();
    let output = mpirun(4, &folder, &flags).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let result = json(folder.path().join("r.json"));
    assert_eq!(result["complete"], false);
    assert!(result["metrics"]["centre_error"].as_f64().unwrap() < 1e-6);
    assert_eq!(result["selected"].as_array().unwrap().len(), 16);
    assert!(result["metrics"]["updates"].as_u64().unwrap() > 0);
    assert_ne!(std::fs::read(&saved).unwrap(), before);
    // Another number of workers is another run.
    let output = mpirun(3, &folder, &flags).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("other settings"), "{}", said(&output));
}

#[test]
fn three_hosts_select_together_by_tcp() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/netns.sh");
    let netns = |arg: &str| Command::new(&script).arg(arg).output().unwrap();
    if !netns("up").status.success() {
        netns("down");
        skipped("MPI over TCP: network namespaces need root and iproute2");
        return;
    }
    let folder = data(600, 200, 16);
    let flags = format!("{SELECT} --method asy-os");
    let output = Command::new(&script)
        .args(["run", "-n", "3", PROGRAM])
        .args(flags.split_whitespace())
        .current_dir(&folder)
        .output();
    netns("down");
    let output = output.unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let result = json(folder.path().join("r.json"));
    assert_eq!(result["params"]["workers"], 2);
    assert_eq!(result["selected"].as_array().unwrap().len(), 16);
    assert!(result["metrics"]["centre_error"].as_f64().unwrap() < 1e-6);
}
