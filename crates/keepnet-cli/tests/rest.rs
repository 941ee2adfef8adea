//! `--scans rest` from the command line: result, progress, dry run, decisions, resume.

mod common;

use common::{Folder, outside_run};
use serde_json::Value;

const CALL: &str = "select x.npy --target f900 -k 12 --scans rest --quiet";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.run("generate toeplitz --set n=150 --set p=900 --set s=12 --output x.npy").fine();
    folder
}

#[test]
fn a_run_to_the_end_has_a_certificate_and_no_higher_loss() {
    let folder = folder();
    let called = folder.run(&format!("{CALL} --progress json --decisions d.csv --output r.json"));
    called.fine();
    let rest = folder.json("r.json");
    let metrics = &rest["metrics"];
    assert_eq!(metrics["certificate"], true);
    assert_eq!(
        (&metrics["certificate_kind"], &rest["params"]["scans"]),
        (&"exact".into(), &"rest".into())
    );
    let (rounds, scans) = (metrics["rounds"].as_u64().unwrap(), rest["scans"].as_u64().unwrap());
    assert!(rounds >= 2 && scans == 2 + rounds, "{metrics}");
    let mut lines = called.err.lines().filter(|line| line.starts_with('{'));
    // How many scans there will be is not known before the last.
    let last: Value = serde_json::from_str(lines.next_back().unwrap()).unwrap();
    assert_eq!(last["scans"], Value::Null);
    // Each exchange of a round is a decision of its own, after those of its scan.
    let decisions = folder.read("d.csv");
    let later = decisions.lines().filter(|line| line.contains("kept")).count();
    assert!(later as u64 >= metrics["exchanges"].as_u64().unwrap());
    let two = folder.select("x.npy --target f900 -k 12");
    let loss = |result: &Value| result["final_loss"].as_f64().unwrap();
    assert!(loss(&rest) <= loss(&two), "{} {}", loss(&rest), loss(&two));
    assert!(two["metrics"].get("certificate").is_none());
}

#[test]
fn a_dry_run_says_what_is_not_known() {
    let folder = folder();
    let called = folder.run(&format!("{CALL} --dry-run"));
    called.fine();
    assert!(called.out.contains("each scan, and as many scans as it takes"), "{}", called.out);
    assert!(called.out.contains("scans=rest"), "{}", called.out);
}

#[test]
fn a_run_resumes_inside_a_round() {
    let folder = folder();
    folder.run(&format!("{CALL} --output r.json")).fine();
    let want = outside_run(folder.json("r.json"));
    // Each run ends after its first block; the last goes to the end.
    let mut ends = 0;
    while !folder.path("done.json").exists() {
        let time = if ends < 25 { "--time 0.000001s" } else { "" };
        let call = format!("{CALL} --checkpoint c.kn {time} --output part.json");
        let called = folder.run(&call);
        called.fine();
        let part = folder.json("part.json");
        if part["complete"] == true {
            std::fs::rename(folder.path("part.json"), folder.path("done.json")).unwrap();
        } else {
            assert_eq!(part["metrics"]["certificate"], false);
            assert!(part["warnings"].to_string().contains("no certificate"), "{part}");
        }
        ends += 1;
    }
    assert!(ends > 10);
    assert_eq!(outside_run(folder.json("done.json")), want);
    let other = folder.run("select x.npy --target f900 -k 12 --quiet --checkpoint c.kn --time 0.000001s --output p.json");
    other.fine();
    folder.run(&format!("{CALL} --checkpoint c.kn --output p.json")).refused(1, &["scans=rest"]);
}
