//! What a test leaves out is said: printed, and added to the list that the test command ends with.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that something was not tested here, and why.
pub fn skipped(what: &str) {
    println!("SKIPPED: {what}");
    if let Some(list) = std::env::var_os("KEEPNET_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(list);
        // One write a line, as tests run side by side.
        file.and_then(|mut file| file.write_all(format!("{what}\n").as_bytes())).unwrap();
    }
}
