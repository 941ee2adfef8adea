//! Faults around a run: standard streams that cannot be written, a terminal that hangs up,
//! outputs that are inputs, what killed runs leave, two runs on one checkpoint, names that are
//! no plain text. What is expected is what docs/cli.md says.

mod common;

use std::fs::File;
use std::io::BufRead;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::child::{begun, ended, signal};
use common::{Called, Folder, names, small_csv};

/// Scans without end, so that a run can only be ended from outside.
const ENDLESS: &str = "select x.csv --target y -k 1 --scans 100000000 --quiet --progress json";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    folder
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// The writing end of a pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_standard_error_that_cannot_be_written_costs_nothing_but_what_is_said_there() {
    let calls = [
        "select x.csv --target y -k 1 --progress json --output r.json",
        "select x.csv --target y -k 1 --progress bar --output r.json",
        // The reserve is lowered with a warning.
        "select x.csv --target y -k 1 --set reserve=90 --output r.json",
        "select x.csv --target y -k 1 --method olsth --output r.json",
        "select x.csv --target y -k 1 --method ols --every 10 --output r.json",
        "compare x.csv --target y --methods os,saola -k 1 --progress json --output r.csv",
        "demo --set p=300 --set n=50 --set s=3 --progress json",
    ];
    for call in calls {
        for (what, stderr) in [("full", full as fn() -> Stdio), ("closed", closed)] {
            let folder = folder();
            let output = folder.command(call).stderr(stderr()).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{call}, standard error {what}");
            if call.contains("--output") {
                let file = if call.contains("r.csv") { "r.csv" } else { "r.json" };
                assert!(!folder.read(file).is_empty(), "{call}");
            }
            assert!(!output.stdout.is_empty(), "{call}");
        }
    }
    // An error still has its status.
    let wrong = folder().command("select x.csv --target none -k 1").stderr(full()).status();
    assert_eq!(wrong.unwrap().code(), Some(1));
    let wrong = folder().command("select --no-such-flag").stderr(closed()).status();
    assert_eq!(wrong.unwrap().code(), Some(2));
}

#[test]
fn signals_act_where_standard_error_cannot_be_written() {
    for stderr in [full as fn() -> Stdio, closed] {
        let folder = folder();
        // Standard input that never ends keeps the program opening.
        let mut command = folder.command("select - --format csv --target y -k 1");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "-TERM");
        let stdin = child.stdin.take();
        assert_eq!(ended(child), 1);
        drop(stdin);
    }
}

#[test]
fn a_standard_output_that_cannot_be_written_is_an_error_and_quiet_where_nobody_reads() {
    let calls = [
        "select x.csv --target y -k 1",
        "select x.csv --target y -k 1 --quiet --output -",
        "select x.csv --target y -k 1 --dry-run",
        "select x.csv --target y -k 1 --method olsth --every 10",
        "methods",
        "--help",
        "select --help",
        "--version",
        "completions bash",
        "man",
    ];
    for call in calls {
        let called = |stdout| {
            let output = folder().command(call).stdout(stdout).output().unwrap();
            Called::new(&output)
        };
        let full = called(full());
        assert_eq!(full.code, 1, "{call}: {}", full.err);
        let last = full.err.lines().last().unwrap_or_default();
        assert!(last.starts_with("keepnet: cannot write to standard output"), "{call}: {last}");
        let closed = called(closed());
        assert_eq!(closed.code, 1, "{call}");
        // Warnings may come before; nothing is said of the pipe.
        assert!(!closed.err.contains("standard output") && !closed.err.contains("panicked"));
    }
}

#[test]
fn a_terminal_that_hangs_up_ends_a_run_as_sigterm_does() {
    let folder = folder();
    let call = format!("{ENDLESS} --checkpoint run.kn --output r.json --reduced small.csv");
    // The tests may themselves run under nohup, which the program would inherit.
    let mut command = Command::new("env");
    command.current_dir(folder.0.path()).arg("--default-signal=HUP");
    command.arg(assert_cmd::cargo::cargo_bin!("keepnet")).args(call.split_whitespace());
    let (child, _lines) = begun(&mut command);
    signal(&child, "-HUP");
    assert_eq!(ended(child), 0);
    assert_eq!(folder.json("r.json")["complete"], false);
    assert_eq!(folder.json("r.json")["selected"].as_array().unwrap().len(), 1);
    assert_eq!(folder.names(), ["r.json", "run.kn", "small.csv", "x.csv"]);
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let folder = folder();
    let call = format!("{ENDLESS} --output r.json");
    let program = assert_cmd::cargo::cargo_bin!("keepnet");
    let mut command = Command::new("sh");
    command.current_dir(folder.0.path());
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(program);
    command.args(call.split_whitespace());
    let (mut child, _lines) = begun(&mut command);
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it was to ignore SIGHUP");
    signal(&child, "-TERM");
    assert_eq!(ended(child), 0);
}

/// A folder with every kind of input that a flag can name.
fn inputs() -> Folder {
    let folder = folder();
    let rows = |name: &str, of: fn(usize) -> String| {
        let lines: String = (0..40).map(|row| of(row) + "\n").collect();
        folder.write(name, format!("v\n{lines}"));
    };
    rows("y.csv", |row| format!("{}", row % 7));
    rows("w.csv", |row| format!("{}", 1 + row % 3));
    folder.write("order.csv", "c\nb\na\n").write("names.csv", "a\nb\n");
    folder.write("groups.csv", "a,1\nb,1\nc,2\ny,2\n");
    std::fs::create_dir(folder.path("sub")).unwrap();
    std::fs::hard_link(folder.path("x.csv"), folder.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("x.csv", folder.path("soft.csv")).unwrap();
    std::os::unix::fs::symlink("../x.csv", folder.path("sub/far.csv")).unwrap();
    folder
}

#[test]
fn an_output_that_is_an_input_is_refused_before_the_run() {
    let folder = inputs();
    let before: Vec<(String, Vec<u8>)> = contents(folder.0.path());
    let x = "select x.csv --target y -k 1 --quiet";
    for (call, word) in [
        (format!("{x} --output x.csv"), "INPUT"),
        (format!("{x} --output ./sub/../x.csv"), "INPUT"),
        (format!("{x} --output hard.csv"), "INPUT"),
        (format!("{x} --output soft.csv"), "INPUT"),
        (format!("{x} --output sub/far.csv"), "INPUT"),
        (format!("{x} --reduced x.csv"), "INPUT"),
        (format!("{x} --decisions x.csv"), "INPUT"),
        (format!("{x} --checkpoint x.csv"), "INPUT"),
        (format!("{x} --method ols --averages x.csv"), "INPUT"),
        (format!("{x} --method ols --reduced hard.csv"), "INPUT"),
        ("select x.* --target y -k 1 --output x.csv".into(), "INPUT"),
        ("select soft.csv --target y -k 1 --output x.csv".into(), "INPUT"),
        ("select x.csv --target y.csv -k 1 --output y.csv".into(), "--target"),
        ("select x.csv --target y.csv:v -k 1 --reduced y.csv".into(), "--target"),
        (
            format!("{x} --method ofs --target y.csv --output y.csv").replacen(
                "--target y ",
                "",
                1,
            ),
            "--target",
        ),
        (format!("{x} --sample-weight w.csv --output w.csv"), "--sample-weight"),
        (format!("{x} --offset w.csv:v --output w.csv"), "--offset"),
        (format!("{x} --covar w.csv:v --reduced w.csv"), "--covar"),
        (format!("{x} --order order.csv --output order.csv"), "--order"),
        (format!("{x} --columns @names.csv --output names.csv"), "--columns"),
        (format!("{x} --exclude @names.csv --output names.csv"), "--exclude"),
        (format!("{x} --always @names.csv --output names.csv"), "--always"),
        (
            format!("{x} --method group-saola --groups groups.csv --decisions groups.csv"),
            "--groups",
        ),
        ("compare x.csv --target y --methods os -k 1 --output x.csv".into(), "INPUT"),
        ("compare x.csv --target y.csv --methods os -k 1 --output y.csv".into(), "--target"),
        ("compare x.csv --target y --methods os -k 1 --checkpoint hard.csv".into(), "INPUT"),
        ("compare --dataset a=x.csv:y --methods os -k 1 --output x.csv".into(), "--dataset"),
        (
            "compare x.csv --target y --methods os -k 1 --truth w.csv --output w.csv".into(),
            "--truth",
        ),
        (
            "compare x.csv --target y --methods os -k 1 --splits w.csv --output w.csv".into(),
            "--splits",
        ),
        (
            "compare x.csv --target y --methods os -k 1 --external e=w.csv --output w.csv".into(),
            "--external",
        ),
    ] {
        folder.run(&call).refused(2, &["which is read as", word]);
        assert_eq!(contents(folder.0.path()), before, "{call}");
    }
    // Standard input that comes from a file is a file that is read.
    let mut command = folder.command("select - --format csv --target y -k 1 --output x.csv");
    command.stdin(File::open(folder.path("x.csv")).unwrap());
    Called::new(&command.output().unwrap()).refused(2, &["which is read as"]);
}

#[test]
fn saved_averages_are_not_written_over_those_they_come_from() {
    let folder = folder();
    for name in ["a.kn", "b.kn"] {
        let call = format!("select x.csv --target y -k 1 --method ols --quiet --averages {name}");
        folder.run(&call).fine();
    }
    std::os::unix::fs::symlink("a.kn", folder.path("link.csv")).unwrap();
    folder.run("merge a.kn b.kn --output b.kn").refused(2, &["b.kn", "which is read as"]);
    folder.run("merge a.kn b.kn --output ./a.kn").refused(2, &["a.kn", "which is read as"]);
    folder.run("extract a.kn -k 1 --output link.csv").refused(2, &["which is read as a.kn"]);
    folder.run("merge a.kn b.kn --output c.kn").fine();
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    folder.write("a.csv", "old");
    std::fs::hard_link(folder.path("a.csv"), folder.path("b.csv")).unwrap();
    std::os::unix::fs::symlink("new.csv", folder.path("dangling.csv")).unwrap();
    let x = "select x.csv --target y -k 1 --quiet";
    for call in [
        format!("{x} --output a.csv --reduced b.csv"),
        format!("{x} --output new.csv --reduced dangling.csv"),
        format!("{x} --output new.csv --decisions ./new.csv"),
        format!("{x} --output new.csv --checkpoint new.csv"),
        "generate regression --set n=9 --set p=3 --set s=1 --output a.csv --truth b.csv".into(),
    ] {
        folder.run(&call).refused(2, &["twice"]);
        assert_eq!(folder.read("a.csv"), "old", "{call}");
    }
}

#[test]
fn a_link_to_a_file_that_is_not_there_is_written_through() {
    let folder = folder();
    std::fs::create_dir(folder.path("sub")).unwrap();
    std::os::unix::fs::symlink("sub/r.json", folder.path("link.json")).unwrap();
    folder.run("select x.csv --target y -k 1 --output link.json").fine();
    assert!(folder.path("link.json").is_symlink());
    assert_eq!(folder.json("sub/r.json")["complete"], true);
    std::os::unix::fs::symlink("none/r.json", folder.path("nowhere.json")).unwrap();
    folder.run("select x.csv --target y -k 1 --output nowhere.json").refused(1, &["nowhere.json"]);
    assert!(folder.path("nowhere.json").is_symlink());
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let path = folder.join(&name);
        let bytes = if path.is_dir() { Vec::new() } else { std::fs::read(path).unwrap() };
        (name, bytes)
    };
    names(folder).into_iter().map(read).collect()
}

#[test]
fn what_killed_runs_left_is_removed_at_the_next_start_and_a_living_one_is_left_alone() {
    let folder = folder();
    folder.write(".keepnet-notes.tmp", "mine").write(".x.csv.tmp", "mine");
    let decisions =
        |name: &str| begun(&mut folder.command(&format!("{ENDLESS} --decisions {name}")));
    let (mut killed, _) = decisions("killed.csv");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let ours = || -> Vec<String> {
        let named = |name: &String| name.starts_with(".keepnet-") && name != ".keepnet-notes.tmp";
        folder.names().into_iter().filter(named).collect()
    };
    let left = ours();
    assert_eq!(left.len(), 1, "{left:?}");
    let (living, _lines) = decisions("living.csv");
    let held = ours();
    assert!(held.len() == 1 && held != left, "{held:?} after {left:?}");
    for call in ["--output r.json", "--checkpoint run.kn"] {
        folder.run(&format!("select x.csv --target y -k 1 --quiet {call}")).fine();
        assert_eq!(ours(), held, "{call}");
    }
    signal(&living, "-TERM");
    assert_eq!(ended(living), 0);
    let expected = [".keepnet-notes.tmp", ".x.csv.tmp", "living.csv", "r.json", "x.csv"];
    assert_eq!(folder.names(), expected);
}

#[test]
fn a_table_that_went_to_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    // Transposed, this takes more than the memory that it may have.
    let wide: String = (0..400).map(|c| format!("f{c},")).collect::<String>() + "y\n";
    let row =
        |r: usize| (0..401).map(|c| format!("{}.5,", (r * 31 + c * 17) % 97)).collect::<String>();
    let rows: String = (0..2500).map(|r| row(r).trim_end_matches(',').to_string() + "\n").collect();
    folder.write("x.csv", wide + &rows);
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let call = ENDLESS.to_string() + " --memory 20MB";
    let mut command = folder.command(&call);
    let (mut child, _lines) = begun(command.env("TMPDIR", folder.path("tmp")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(names(&folder.path("tmp")).is_empty(), "{:?}", names(&folder.path("tmp")));
}

#[test]
fn a_second_run_on_one_checkpoint_names_the_first() {
    let folder = folder();
    std::os::unix::fs::symlink("run.kn", folder.path("link.kn")).unwrap();
    let call = format!("{ENDLESS} --checkpoint run.kn --checkpoint-every 1b");
    let (first, lines) = begun(&mut folder.command(&call));
    let process = format!("process {}", first.id());
    // The first one's lines must go somewhere while it is at work.
    std::thread::spawn(move || lines.lines().count());
    for second in ["run.kn", "./run.kn", "link.kn"] {
        for method in ["", " --method olsth"] {
            let call = format!("select x.csv --target y -k 1 --checkpoint {second}{method}");
            folder.run(&call).refused(1, &["in use by", &process]);
        }
    }
    signal(&first, "-TERM");
    assert_eq!(ended(first), 0);
    assert_eq!(folder.names(), ["link.kn", "run.kn", "x.csv"]);
    // A run that was killed is in nobody's way.
    let (mut killed, _lines) = begun(&mut folder.command(&call));
    killed.kill().unwrap();
    killed.wait().unwrap();
    folder.run(&format!("{call} --time 0.1s")).fine();
    assert_eq!(folder.names(), ["link.kn", "run.kn", "x.csv"]);
}

#[test]
fn two_runs_at_a_time_on_one_checkpoint_end_well_or_say_who_has_it() {
    let folder = folder();
    let call = "select x.csv --target y -k 1 --quiet --checkpoint c.kn --checkpoint-every 1b";
    for _ in 0..12 {
        let start = || folder.command(call).stderr(Stdio::piped()).spawn().unwrap();
        for child in [start(), start(), start()] {
            let called = Called::new(&child.wait_with_output().unwrap());
            if called.code != 0 {
                called.refused(1, &["c.kn is in use by process"]);
            }
        }
        assert_eq!(folder.names(), ["x.csv"]);
    }
}

#[test]
fn control_characters_in_names_are_written_out() {
    let folder = Folder::new();
    let name = "b\u{1b}[31mred\u{7}";
    let text = small_csv().replacen("a,b,c,y", &format!("a,{name},\"c\nd\",y"), 1);
    folder.write("x.csv", &text);
    let clean = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
    let shown = "b\\u{1b}[31mred\\u{7}";
    let called = folder.run("select x.csv --target y -k 3");
    assert!(called.fine().out.contains(shown) && called.out.contains("c\\nd"), "{}", called.out);
    assert!(clean(&called.out) && clean(&called.err));
    // A column that does not vary and is to be kept gives a warning with its name.
    let constant = text.lines().map(|line| format!("{line},{}\n", "7")).collect::<String>();
    let constant = constant.replacen("y,7", &format!("y,q{name}"), 1);
    folder.write("q.csv", constant.replacen("\"c,7\nd\"", "\"c\nd\"", 1));
    let mut command = folder.command("select q.csv --target y -k 1 --always");
    let called = Called::new(&command.arg(format!("q{name}")).output().unwrap());
    called.fine();
    assert!(called.err.contains(&format!("q{shown}")), "{}", called.err);
    assert!(clean(&called.err) && clean(&called.out));
    // An error names what the user wrote.
    let mut command = folder.command("select -k 1 --target y");
    let called = Called::new(&command.arg("no\u{1b}2J\nsuch.csv").output().unwrap());
    called.refused(1, &["no\\u{1b}2J\\nsuch.csv"]);
    // In JSON and CSV names are quoted as those formats do, and come back as they were.
    let result = folder.select("x.csv --target y -k 3");
    let mut found: Vec<&str> = result["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["a", name, "c\nd"]);
    folder.run("select x.csv --target y -k 3 --quiet --output r.csv").fine();
    assert!(folder.read("r.csv").contains(name) && folder.read("r.csv").contains("\"c\nd\""));
}

#[test]
fn a_forged_checkpoint_of_a_comparison_is_refused() {
    let folder = folder();
    let call = "compare x.csv --target y --methods os,saola -k 1 --splits 3 --quiet \
                --checkpoint c.journal";
    // It ends after its passes, for want of a file that is read then.
    folder.run(&format!("{call} --external gone=none.csv")).refused(1, &["none.csv"]);
    let journal = folder.read("c.journal");
    for (from, to) in [("\"split\":1", "\"split\":7"), ("\"entrant\":1", "\"entrant\":9")] {
        assert!(journal.contains(from), "{journal}");
        folder.write("c.journal", journal.replace(from, to));
        folder.run(call).refused(1, &["no method or split"]);
    }
    folder.write("c.journal", &journal);
    folder.run(call).fine();
}
