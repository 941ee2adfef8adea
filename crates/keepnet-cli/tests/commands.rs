//! The other commands, and the outputs beside the result.

mod common;

use common::{Folder, keepnet, small_csv};

#[test]
fn methods_are_listed_and_shown_from_the_registry() {
    let folder = Folder::new();
    let list = folder.run("methods");
    list.fine();
    for method in keepnet::registry::methods() {
        assert!(list.out.contains(method.name) && list.out.contains(method.summary));
        let one = folder.run(&format!("methods {}", method.name));
        for setting in method.settings {
            let shown = keepnet_run::wording::with_flags(&setting.default());
            assert!(one.out.contains(setting.name) && one.out.contains(&shown));
        }
    }
    let json: serde_json::Value = serde_json::from_str(&folder.run("methods --json").out).unwrap();
    assert_eq!(json.as_array().unwrap().len(), keepnet::registry::methods().len());
    folder.run("methods nonesuch").refused(2, &["nonesuch"]);
}

#[test]
fn the_promises_in_the_docs_are_those_of_the_registry() {
    let folder = Folder::new();
    let table = folder.run("methods --promises");
    let docs = include_str!("../../../docs/promises.md");
    assert!(docs.contains(&table.fine().out), "renew it: keepnet methods --promises");
    let one = folder.run("methods sgd");
    assert!(one.fine().out.contains("not row-order: each row moves the model"), "{}", one.out);
    let json: serde_json::Value = serde_json::from_str(&folder.run("methods --json").out).unwrap();
    for (method, shown) in keepnet::registry::methods().iter().zip(json.as_array().unwrap()) {
        let promises = &shown["promises"];
        let except = promises["except"].as_object().unwrap();
        let kept = promises["kept"].as_array().unwrap().len();
        assert_eq!(kept + except.len(), keepnet::registry::Relation::ALL.len());
        for (relation, why) in method.promises.except {
            assert_eq!(except[relation.name()], *why, "{}", method.name);
        }
    }
    folder.run("methods --promises --json").refused(2, &["--json"]);
}

#[test]
fn completions_and_man_page_know_the_flags() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = folder.run(&format!("completions {shell}")).out;
        assert!(text.contains("checkpoint") && text.contains("max-missing"), "{shell}");
    }
    assert!(folder.run("man").out.contains(".TH keepnet"));
    folder.run("man --directory .").fine();
    assert!(folder.read("keepnet-select.1").contains("decisions"));
}

#[test]
fn every_flag_of_select_says_its_default_or_an_example() {
    let help = Folder::new().run("select --help").out;
    for flag in [
        "--scans",
        "--seed",
        "--threads",
        "--memory",
        "--checkpoint",
        "--sample-weight",
        "--offset",
        "--always",
        "--covar",
        "--class-weight",
        "--missing",
        "--max-missing",
        "--min-count",
        "--order",
        "--loss",
        "--set",
        "--method",
        "--task",
        "--key",
        "--format",
        "--stack",
        "--columns",
        "--exclude",
        "--categorical",
        "--output",
        "--reduced",
        "--decisions",
        "--progress",
        "--time",
    ] {
        let at = help.find(&format!("{flag} <")).unwrap_or_else(|| panic!("{flag} in {help}"));
        let text = &help[at..];
        // A help text ends at the next empty line or flag.
        let end = text[1..].find("\n      -").or(text[1..].find("\n\n")).unwrap_or(text.len() - 1);
        let text = &text[..end + 1];
        assert!(text.contains("[default") || text.contains("[example"), "{flag}: {text}");
    }
}

#[test]
fn generated_data_are_the_same_for_any_thread_count_and_have_their_truth() {
    let folder = Folder::new();
    for (threads, name) in [(1, "a"), (4, "b")] {
        let call = format!("generate toeplitz --threads {threads} --seed 9 --truth t{name}.csv");
        folder.run(&format!("{call} --output {name}.npy")).fine();
    }
    assert_eq!(
        std::fs::read(folder.path("a.npy")).unwrap(),
        std::fs::read(folder.path("b.npy")).unwrap()
    );
    let truth = folder.read("ta.csv");
    assert_eq!(truth, folder.read("tb.csv"));
    assert_eq!(truth.lines().count(), 31);
    folder.run("generate iid --output x.csv --target y.csv").fine();
    assert_eq!(folder.read("y.csv").lines().next(), Some("target"));
    assert!(!folder.read("x.csv").lines().next().unwrap().contains("target"));
    folder.run("generate iid --set q=1 --output z.csv").refused(2, &["q", "knows"]);
    assert!(folder.run("generate --list").out.contains("toeplitz"));
}

#[test]
fn text_is_the_same_whatever_memory_it_is_written_in() {
    let folder = Folder::new();
    let sizes = "--set n=300 --set p=50 --set s=5";
    folder.run(&format!("generate binary {sizes} --output a.csv")).fine();
    folder.run(&format!("generate binary {sizes} --output b.csv --memory 4KiB")).fine();
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
}

#[test]
fn the_demonstration_finds_most_of_the_truth() {
    let folder = Folder::new();
    let called = folder.run("demo --set p=5000 --set s=20");
    called.fine();
    let recall: f64 = called.out.split("recall ").nth(1).unwrap()[..4].parse().unwrap();
    assert!(recall >= 0.8, "{}", called.out);
    assert!(called.out.contains("peak memory") && called.out.contains("full matrix"));
}

#[test]
fn a_dry_run_says_what_would_happen_and_writes_nothing() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let called = folder.run("select x.csv --target y -k 2 --dry-run --memory 1GB --output r.json");
    called.fine();
    for word in
        ["x.csv", "40 in the input, 40 used", "position", "regression", "squared", "953.7 MiB"]
    {
        assert!(called.out.contains(word), "{word} in {}", called.out);
    }
    assert_eq!(folder.names(), ["x.csv"]);
}

#[test]
fn the_reduced_table_holds_the_chosen_columns_and_the_target() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let first = folder.select("x.csv --target y -k 2 --reduced small.csv");
    let table = folder.read("small.csv");
    let names: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let chosen: Vec<_> =
        first["selected"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], chosen);
    assert_eq!(names[2], "target");
    assert_eq!(table.lines().count(), 41);
    for format in ["tsv", "parquet", "arrow", "npy", "svm", "jsonl"] {
        let file = format!("small.{format}");
        folder.run(&format!("select x.csv --target y -k 2 --quiet --reduced {file}")).fine();
        let target = match format {
            "npy" => "--target f2",
            "svm" => "",
            _ => "--target target",
        };
        let again = folder.select(&format!("{file} {target} -k 2"));
        let weights = |result: &serde_json::Value| -> Vec<f64> {
            let selected = result["selected"].as_array().unwrap();
            selected.iter().map(|f| f["coefficient"].as_f64().unwrap()).collect()
        };
        for (a, b) in weights(&again).iter().zip(weights(&first)) {
            assert!((a - b).abs() < 1e-9, "{format}");
        }
    }
}

#[test]
fn the_reduced_table_has_the_rows_that_count() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv().replacen("\n0,-2,0,6\n", "\n0,-2,0,\n", 1));
    folder.select("x.csv --target y -k 1 --reduced small.tsv");
    assert_eq!(folder.read("small.tsv").lines().count(), 40);
}

#[test]
fn decisions_tell_the_story_of_every_feature() {
    let folder = Folder::new();
    folder.run("generate iid --output x.npy").fine();
    let result = folder.select("x.npy --target f1000 -k 10 --set reserve=0 --decisions d.csv");
    let text = folder.read("d.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("scan,index,name,event,reason,by,marginal,score"));
    let mut held = std::collections::BTreeSet::new();
    let mut arrivals = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let index: u64 = cells[1].parse().unwrap();
        assert_eq!(cells[2], format!("f{index}"));
        match cells[3] {
            "kept" => assert!(held.insert(index), "{line}"),
            "evicted" => {
                assert!(held.remove(&index), "{line}");
                assert!(!cells[5].is_empty(), "{line}");
            }
            "held" => assert!(held.contains(&index), "{line}"),
            "dropped" => assert!(!cells[4].is_empty() && !held.contains(&index), "{line}"),
            other => panic!("{other}"),
        }
        arrivals += u32::from(cells[3] != "evicted");
    }
    assert_eq!(arrivals, 2000);
    let chosen: std::collections::BTreeSet<u64> =
        common::chosen(&result).into_iter().map(|(index, _)| index).collect();
    assert_eq!(held, chosen);
    folder.select("x.npy --target f1000 -k 10 --decisions d.parquet");
    let parquet = std::fs::read(folder.path("d.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[test]
fn progress_lines_are_json() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let called = folder.run("select x.csv --target y -k 1 --quiet --progress json");
    called.fine();
    let line: serde_json::Value = serde_json::from_str(called.err.lines().last().unwrap()).unwrap();
    assert_eq!((&line["arrived"], &line["scans"]), (&6.into(), &2.into()));
    let silent = folder.run("select x.csv --target y -k 1 --quiet");
    assert_eq!((silent.out.as_str(), silent.err.as_str()), ("", ""));
}

#[test]
fn version_and_help_go_to_standard_output() {
    let output = keepnet().arg("--version").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "keepnet 0.1.0\n");
}
