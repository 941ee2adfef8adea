//! A minute of mutated inputs: no panic, no signal, no hang, no allocation beyond the limit.

use std::process::Command;

#[test]
fn a_minute_of_mutated_files_and_states() {
    let keep = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    let output = Command::new(env!("CARGO_BIN_EXE_keepnet-fuzz"))
        .args(["run", "--seconds", "55", "--seed", "14", "--keep"])
        .arg(keep)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    // Every target was at work, and most of them found inputs that the program takes.
    let counts: Vec<u64> = said
        .lines()
        .filter_map(|line| line.split_once(": ")?.1.split_once(" inputs, ")?.0.parse().ok())
        .collect();
    assert!(counts.len() == 16 && counts.iter().all(|inputs| *inputs > 0), "{counts:?}");
}
