//! `--report`: a page that stands by itself, looked at in a real browser where there is one.

mod common;

use std::process::Command;

use common::Folder;
use common::skipped::skipped;
use serde_json::Value;

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
        skipped("reports in a browser: there is no Chromium; scripts/browser.sh installs it");
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

/// The cells of the table under a heading, line by line, as they read.
fn cells(html: &str, title: &str) -> Vec<Vec<String>> {
    let section =
        html.split_once(&format!("<h2>{title}</h2>")).unwrap_or_else(|| panic!("{title}"));
    let body = section.1.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let read = |cell: &str| {
        let text = cell.split_once('>').unwrap().1.split_once("</td>").unwrap().0;
        let names =
            [("&lt;", "<"), ("&gt;", ">"), ("&#x2f;", "/"), ("&quot;", "\""), ("&amp;", "&")];
        names.iter().fold(text.to_string(), |text, (name, sign)| text.replace(name, sign))
    };
    let line = |line: &str| line.split("<td").skip(1).map(read).collect();
    body.split("<tr>").skip(1).map(line).collect()
}

/// The page shows the features, fates and charts of the result of the same run.
fn shows(html: &str, result: &Value) {
    let features = result["stream"] != "samples";
    let selected = result["selected"].as_array().unwrap();
    let shown = cells(html, "Selected features");
    assert_eq!(shown.len(), selected.len());
    for (line, feature) in shown.iter().zip(selected) {
        assert_eq!(line[0], feature["name"].as_str().unwrap());
        let index = [feature["index"].to_string(), feature["arrival"].to_string()];
        // Arrival, place and why are the last; columns that say nothing are left out before them.
        assert_eq!([&line[1], &line[line.len() - 3]], index.each_ref());
        // The coefficient, and beside it what a standard deviation of the feature changes.
        for (at, field) in [(2, "coefficient"), (3, "standardised")] {
            let Some(value) = feature[field].as_f64() else { continue };
            let shown: f64 = line[at].parse().unwrap();
            assert!((shown - value).abs() <= 1e-3 * value.abs(), "{field}: {shown}, {value}");
        }
    }
    if features {
        for line in cells(html, "What became of the rest") {
            assert_eq!(line[1], result["dropped"][&line[0]].to_string(), "{}", line[0]);
        }
    }
    // A chart of the scores and one of the time, one of the fates of features, and one along the
    // stream for each number that the trace has at two points and that changes.
    let none = Vec::new();
    let trace = result["trace"].as_array().unwrap_or(&none);
    let along = |name: &&str| {
        let mut values = trace.iter().map(|point| &point[*name]).filter(|value| !value.is_null());
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let along = ["loss", "kept", "substitutions"].iter().filter(|name| along(name)).count();
    stands_alone(html, 2 + usize::from(features) + along);
}

#[test]
fn a_selection_of_features_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile());
    let result = folder.select("x.csv --target y -k 2 --report r.html");
    let html = folder.read("r.html");
    shows(&html, &result);
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
    for word in ["Loss along the stream", "Substitutions over time", "scan 2\n", "role=\"img\""] {
        assert!(html.contains(word), "{word}");
    }
    // The kept set is full after the first block: a line that stays where it is is left out.
    assert!(!html.contains("Kept set along the stream"));
    stands_alone(&html, 5);
    assert_eq!(html.matches("<table>").count(), 5, "a table under each chart");
}

#[test]
fn a_selection_from_rows_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile());
    let words = "x.csv --target y -k 2 --method annealed-ridge --report r.html";
    let result = folder.select(words);
    let html = folder.read("r.html");
    shows(&html, &result);
    assert!(html.contains("rows a second") && html.contains("Selected features"));
    load(&folder, "r.html");
}

#[test]
fn a_comparison_is_shown() {
    let folder = Folder::new();
    folder.write("x.csv", hostile()).write("<i>.csv", hostile());
    let called = folder.run(
        "compare --dataset one=x.csv:y --dataset <i>=<i>.csv:y -k 2 --splits 3 \
         --methods os-plus,os,saola:measure=fisher-z --classifiers 1nn,svm --report r.html --output r.csv --quiet",
    );
    called.fine();
    let html = folder.read("r.html");
    assert!(!html.contains("<i>"));
    for word in
        ["Accuracy against size: svm", "Time and memory", "Stability", "Methods side by side"]
    {
        assert!(html.contains(word), "{word}");
    }
    let mut numbers = csv::Reader::from_path(folder.path("r.csv")).unwrap();
    let numbers: Vec<csv::StringRecord> = numbers.records().map(Result::unwrap).collect();
    for judge in ["1nn", "svm"] {
        let shown = cells(&html, &format!("Accuracy against size: {judge}"));
        assert_eq!(shown.len(), 6, "a line a data set and method");
        for line in shown {
            let of = |n: &&csv::StringRecord| {
                n[0] == line[1] && n[1] == line[0] && n[4] == *judge && &n[5] == "error"
            };
            let errors = numbers.iter().filter(of).map(|n| n[6].parse::<f64>().unwrap());
            let errors: Vec<f64> = errors.collect();
            assert_eq!(errors.len(), 3, "a number a split");
            assert_eq!(line[3], format!("{:.4}", errors.iter().sum::<f64>() / 3.0), "{line:?}");
        }
    }
    // Accuracy and ranks for each judge, time, and stability.
    stands_alone(&html, 2 * 2 + 2);
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
