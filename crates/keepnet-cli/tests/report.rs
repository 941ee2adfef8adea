//! `--report`: a page that stands by itself, looked at in a real browser where there is one.

mod common;

use std::process::Command;

use common::Folder;

/// A table with hostile names.
fn hostile() -> String {
    let mut text = "<script>alert(1)</script>,\"a&b\",c,y\n".to_string();
    for i in 0..60 {
        let (a, b, c) = (i % 7, i % 5, i * i % 11);
        text += &format!("{a},{b},{c},{}\n", if 2 * a > 3 * b { "<b>yes" } else { "no" });
    }
    text
}

/// Loads a page in headless Chromium; its document after loading, or `None` without a browser.
fn load(folder: &Folder, name: &str) -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = names.into_iter().find(there) else {
        println!("skipped: no Chromium here; scripts/browser.sh installs it");
        return None;
    };
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(format!("file://{}", folder.path(name).display()))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "{said:?}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("</html>"), "{log}");
    Some(dom)
}

/// Everything that a page must be, browser or not.
fn stands_alone(html: &str, charts: usize) {
    assert_eq!(html.matches("<svg").count(), charts, "charts");
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert!(!html.contains("<script") && !html.contains("<link") && !html.contains("src="));
    assert!(!html.contains("https://") && !html.contains("@import") && !html.contains("<b>yes"));
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("@media print"));
}

#[test]
fn a_selection_of_features_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile());
    folder.run("select x.csv --target y -k 2 --report r.html --quiet").fine();
    let html = folder.read("r.html");
    stands_alone(&html, html.matches("<svg").count());
    for word in ["Selected features", "What became of the rest", "Memory and speed", "&lt;script"] {
        assert!(html.contains(word), "{word}");
    }
    if let Some(dom) = load(&folder, "r.html") {
        assert!(
            dom.matches("<svg").count() >= 3 && dom.contains("<polyline") | dom.contains("<rect")
        );
    }
}

#[test]
fn the_course_of_a_long_stream_is_shown() {
    let folder = Folder::new();
    folder.run("generate regression --output x.npy --set p=2000 --set n=120 --set s=5").fine();
    folder.run("select x.npy --target f2000 -k 5 --report r.html --quiet").fine();
    let html = folder.read("r.html");
    for word in ["Loss along the stream", "Kept set along the stream", "Substitutions over time"] {
        assert!(html.contains(word), "{word}");
    }
    stands_alone(&html, 6);
    assert_eq!(html.matches("<table>").count(), 6, "a table under each chart");
}

#[test]
fn a_selection_from_rows_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile());
    let words = "select x.csv --target y -k 2 --method annealed-ridge --report r.html --quiet";
    folder.run(words).fine();
    let html = folder.read("r.html");
    stands_alone(&html, html.matches("<svg").count());
    assert!(html.contains("rows a second") && html.contains("Selected features"));
    load(&folder, "r.html");
}

#[test]
fn a_comparison_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile()).write("<i>.csv", hostile());
    let called = folder.run(
        "compare --dataset one=x.csv:y --dataset <i>=<i>.csv:y -k 2 --splits 3 \
         --methods os-plus,os,saola:measure=fisher-z --classifiers 1nn,svm --report r.html --quiet",
    );
    called.fine();
    let html = folder.read("r.html");
    assert!(!html.contains("<i>"));
    for word in
        ["Accuracy against size: svm", "Time and memory", "Stability", "Methods side by side"]
    {
        assert!(html.contains(word), "{word}");
    }
    stands_alone(&html, html.matches("<svg").count());
    if let Some(dom) = load(&folder, "r.html") {
        assert!(dom.matches("<circle").count() >= 6, "a dot a data set and method");
    }
}

#[test]
fn a_report_that_is_no_page_is_refused() {
    let folder = Folder::new();
    folder.write("x.csv", hostile());
    folder.run("select x.csv --target y -k 2 --report r.pdf").refused(2, &["r.pdf", ".html"]);
}
