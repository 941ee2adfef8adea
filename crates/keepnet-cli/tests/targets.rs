//! Several targets in one read: each has the result of a run of its own, digit for digit, whatever
//! the method, the format, the rows that count and what is asked beside; the expected values are
//! those of the program with that target alone.

mod common;

use common::{Folder, outside_run, random};
use keepnet::Stream;
use serde_json::Value;

const ROWS: usize = 90;
const FEATURES: usize = 40;

/// Features in `x.csv`, and in `t.csv` targets of numbers (`Y2` with gaps, `Y3` in the rows of
/// `Y1`) and of classes (`C2` with gaps, `C3` of text and three classes).
fn folder() -> Folder {
    let folder = Folder::new();
    let mut next = random(5);
    let x: Vec<Vec<f64>> =
        (0..ROWS).map(|_| (0..FEATURES).map(|_| (1e3 * next()).round() / 1e3).collect()).collect();
    let mut text = (0..FEATURES).map(|j| format!("g{}_{j}", j / 4)).collect::<Vec<_>>().join(",");
    let mut targets = "Y1,Y2,Y3,C1,C2,C3,w\n".to_string();
    text.push('\n');
    for (i, row) in x.iter().enumerate() {
        text += &row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        text.push('\n');
        let y = [3, 11, 17].map(|j| 2.0 * row[j] - row[j + 1] + 0.5 * row[j + 5] + 0.2 * next());
        let gap = |text: String, every: usize| if i % every == 2 { String::new() } else { text };
        let class = |y: f64| u8::from(y > 0.0).to_string();
        let level = ["low", "mid", "high"][usize::from(y[2] > -0.5) + usize::from(y[2] > 0.5)];
        targets += &format!(
            "{},{},{},{},{},{level},{}\n",
            y[0],
            gap(y[1].to_string(), 7),
            y[2],
            class(y[0]),
            gap(class(y[1]), 5),
            1 + i % 3
        );
    }
    folder.write("x.csv", text).write("t.csv", targets);
    folder
}

/// What a target has in a result of several: every field of a result, but the target's name.
fn of(result: &Value, name: &str) -> Value {
    let all = result["targets"].as_array().unwrap();
    let mut one = all.iter().find(|one| one["target"] == name).unwrap().clone();
    one.as_object_mut().unwrap().remove("target");
    outside_run(one)
}

/// Selects for several targets at once and for each alone, and compares every digit.
#[track_caller]
fn same(folder: &Folder, file: &str, names: &[&str], words: &str) -> Value {
    let together = folder.select(&format!("{words} --target {file}:{}", names.join(",")));
    assert_eq!(together["targets"].as_array().unwrap().len(), names.len(), "{words}");
    for name in names {
        let alone = folder.select(&format!("{words} --target {file}:{name}"));
        assert_eq!(of(&together, name), outside_run(alone), "{words} {name}");
    }
    together
}

#[test]
fn every_method_gives_each_target_what_it_gets_alone() {
    let folder = folder();
    let columns = |method: &&&keepnet::MethodInfo| method.stream != Stream::Samples;
    let mut fine = 0;
    for method in keepnet::registry::methods().iter().filter(columns) {
        let k = if method.takes_k() { "-k 5" } else { "" };
        let groups = if method.stream == Stream::Groups { "--groups prefix:_" } else { "" };
        // On threads the order of updates is up to the machine.
        let centre = if method.name == "asy-os" { "--set centre=simulated" } else { "" };
        let words = format!("x.csv {k} --method {} {groups} {centre}", method.name);
        for names in [["Y1", "Y2", "Y3"], ["C1", "C2", "C3"]] {
            let alone = |name: &&str| {
                folder.run(&format!("select {words} --quiet --target t.csv:{name}")).code
            };
            let (taken, refused): (Vec<&str>, Vec<&str>) =
                names.into_iter().partition(|name| alone(name) == 0);
            if taken.len() > 1 {
                same(&folder, "t.csv", &taken, &words);
                fine += 1;
            }
            // What the method refuses of one target it refuses of several.
            if let Some(one) = refused.first() {
                let list = names.join(",");
                let all = folder.run(&format!("select {words} --quiet --target t.csv:{list}"));
                all.refused(alone(one), &[]);
            }
        }
    }
    assert!(fine > 20, "{fine} methods and tasks");
}

#[test]
fn tasks_masks_weights_and_missing_values_are_each_targets_own() {
    let folder = folder();
    let all = ["Y1", "Y2", "Y3", "C1", "C2", "C3"];
    let result = same(&folder, "t.csv", &all, "x.csv -k 5");
    let fields = |name| of(&result, name);
    assert_eq!(fields("Y2")["rows"]["masked_target"], 13);
    assert_eq!(
        (fields("Y1")["task"].as_str(), fields("C1")["task"].as_str()),
        (Some("regression"), Some("classification"))
    );
    assert_eq!(fields("C3")["classes"].as_array().unwrap().len(), 3);
    for words in [
        "--sample-weight t.csv:w",
        "--covar t.csv:w",
        "--scans 8 --method os",
        "--scans 8 --method os --order shuffled --seed 3",
        "--scans rest",
        "--always g0_1 --method os",
        "--order shuffled --seed 4 --groups block:5 --method group-saola",
        "--holdout 0.2",
        "--null 3",
        "--inference split",
        "--stability 3",
    ] {
        let k = if words.contains("group") { "" } else { "-k 5" };
        same(&folder, "t.csv", &["Y1", "Y2", "Y3"], &format!("x.csv {k} {words}"));
    }
    same(&folder, "t.csv", &["Y1", "Y2"], "x.csv -k 2,4,6");
    same(&folder, "t.csv", &["Y1", "Y3"], "x.csv -k 2,4,6 --choose ebic");
    same(&folder, "t.csv", &["C1", "C2", "C3"], "x.csv -k 4 --class-weight balanced");
    // Gaps in the features: the mean of a column is that of the rows of each target.
    let gaps: Vec<String> = folder
        .read("x.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let gap = |(j, cell): (usize, &&str)| {
                if i > 0 && (i + j) % 13 == 0 { "" } else { *cell }.into()
            };
            cells.iter().enumerate().map(gap).collect::<Vec<String>>().join(",")
        })
        .collect();
    folder.write("gaps.csv", gaps.join("\n"));
    for missing in ["mean", "indicator", "zero", "drop-feature"] {
        let words = format!("gaps.csv -k 3 --missing {missing}");
        if missing == "drop-feature" {
            folder.run(&format!("select {words} --target t.csv:Y1,Y2 --quiet")).fine();
            continue;
        }
        same(&folder, "t.csv", &["Y1", "Y2", "Y3"], &words);
    }
}

/// A lane rests when another scan would change nothing for it, while others go on.
#[test]
fn a_target_that_has_converged_waits_for_the_others() {
    let folder = folder();
    let mut apart = 0;
    for method in ["grafting", "l0-cd", "l1-cd"] {
        let words = format!("x.csv -k 5 --method {method} --scans 500");
        let result = same(&folder, "t.csv", &["Y1", "Y2", "Y3"], &words);
        let scans = ["Y1", "Y2", "Y3"].map(|name| of(&result, name)["scans"].as_u64().unwrap());
        assert_eq!(result["scans"].as_u64(), scans.iter().copied().max());
        apart += usize::from(scans.iter().any(|other| *other != scans[0]));
    }
    assert!(apart > 0, "the targets of each method took the same scans");
}

#[test]
fn every_format_gives_each_target_what_it_gets_alone() {
    let folder = folder();
    for format in ["parquet", "arrow", "npy", "tsv", "svm", "jsonl"] {
        let file = format!("x.{format}");
        let all = format!("x.csv --target t.csv:Y1 -k {FEATURES} --reduced {file} --quiet");
        folder.run(&format!("select {all}")).fine();
        let target = if format == "npy" { format!("f{FEATURES}") } else { "target".into() };
        let exclude = if format == "svm" { String::new() } else { format!("--exclude {target}") };
        same(&folder, "t.csv", &["Y2", "Y3", "C3"], &format!("{file} -k 4 {exclude}"));
    }
    // Columns of the input: no target is a feature of another.
    let both = folder
        .read("x.csv")
        .lines()
        .zip(folder.read("t.csv").lines())
        .fold(String::new(), |text, (x, t)| text + x + "," + t + "\n");
    folder.write("both.csv", both);
    let words = "both.csv -k 4 --exclude Y3,C1,C2,C3,w";
    let list = folder.select(&format!("{words} --target Y1,Y2"));
    let file = folder.select(&format!("{words} --target both.csv:Y1,Y2"));
    for (name, other) in [("Y1", "Y2"), ("Y2", "Y1")] {
        let alone = folder.select(&format!("{words},{other} --target {name}"));
        assert_eq!(of(&list, name), outside_run(alone));
        assert_eq!(of(&file, name), of(&list, name));
    }
    // A column that is called as the list would be comes first.
    folder.write("odd.csv", "\"a,b\",a,b,c\n1,2,5,3\n2,1,4,4\n4,4,2,9\n5,1,1,2\n7,8,3,2\n");
    assert!(folder.select("odd.csv -k 1 --target a,b")["targets"].is_null());
}

#[test]
fn genotypes_take_every_phenotype_of_a_file() {
    let folder = Folder::new();
    let words = "--set n=300 --set p=400 --set causal=6 --set traits=3 --set h2=0.6 --seed 5";
    folder.run(&format!("generate genotypes {words} --output g.bed --truth truth.csv")).fine();
    // Some people have no second phenotype.
    let phe: Vec<String> = folder
        .read("g.phe")
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let mut fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if at > 0 && at % 9 == 0 {
                fields[3] = "NA";
            }
            fields.join("\t")
        })
        .collect();
    folder.write("h.phe", phe.join("\n") + "\n");
    for words in ["g -k 8", "g -k 8 --method os", "g -k 8 --maf 0.1 --loss squared-epsilon"] {
        let all = folder.select(&format!("{words} --target h.phe:*"));
        let listed = same(&folder, "h.phe", &["Y1", "Y2", "Y3"], words);
        assert_eq!(outside_run(all.clone())["targets"][1]["rows"], listed["targets"][1]["rows"]);
        assert_eq!(of(&all, "Y2"), of(&listed, "Y2"));
        assert_eq!(of(&all, "Y2")["rows"]["masked_target"], 33);
        // Distinct variants, counted by hand.
        let kept = all["targets"].as_array().unwrap().iter();
        let kept = kept.flat_map(|one| one["selected"].as_array().unwrap());
        let kept: std::collections::BTreeSet<u64> =
            kept.map(|feature| feature["index"].as_u64().unwrap()).collect();
        assert_eq!(all["distinct_kept"], kept.len());
    }
    // One table of scores: a column a target, 0 where it does not keep the variant.
    folder.run("select g -k 8 --target h.phe:* --quiet --output all.score").fine();
    let score = folder.read("all.score");
    let mut lines = score.lines();
    assert_eq!(lines.next(), Some("#ID A1 Y1 Y2 Y3"));
    let result = folder.select("g -k 8 --target h.phe:*");
    let mut found = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        for (at, one) in result["targets"].as_array().unwrap().iter().enumerate() {
            let selected = one["selected"].as_array().unwrap();
            let feature = selected.iter().find(|feature| feature["name"] == fields[0]);
            let want = feature.map_or(0.0, |feature| feature["coefficient"].as_f64().unwrap());
            assert_eq!(fields[2 + at].parse::<f64>().unwrap(), want);
            found += usize::from(feature.is_some());
        }
    }
    assert_eq!(found, 24);
}

#[test]
fn a_run_of_several_targets_resumes_with_every_digit() {
    let folder = folder();
    for method in ["os-plus", "os", "saola --measure fisher-z", "lasso", "fcbf"] {
        let words = format!("x.csv --target t.csv:Y1,Y2,Y3 -k 5 --method {method} --memory 200MB");
        let expected = outside_run(folder.select(&words));
        let expected: Vec<Value> = ["Y1", "Y2", "Y3"].map(|name| of(&expected, name)).into();
        let call = format!("select {words} --quiet --checkpoint run.kn --output r.json");
        let called = folder.run(&format!("{call} --time 0.000001s"));
        called.fine();
        assert!(folder.path("run.kn").exists(), "{method}: {}", called.err);
        assert_eq!(folder.json("r.json")["complete"], false);
        folder.run(&call).fine();
        let got = folder.json("r.json");
        assert_eq!(["Y1", "Y2", "Y3"].map(|name| of(&got, name)), expected[..], "{method}");
        assert!(!folder.path("run.kn").exists());
        // Another target, or the same in another order, is another run.
        folder.run(&format!("{call} --time 0.000001s")).fine();
        let other = call.replace("Y1,Y2,Y3", "Y1,Y3,Y2");
        folder.run(&other).refused(1, &["run.kn"]);
        std::fs::remove_file(folder.path("run.kn")).unwrap();
    }
}

/// Lines of a table of events or features that are of one target, without it.
fn lines_of(text: &str, name: &str) -> Vec<String> {
    let begin = format!("{name},");
    text.lines().filter_map(|line| line.strip_prefix(&begin).map(String::from)).collect()
}

#[test]
fn files_have_the_target_in_their_first_column_or_are_one_each() {
    let folder = folder();
    let words = "select x.csv -k 4 --quiet";
    let both = "--target t.csv:Y1,Y2 --output all.csv --decisions all_events.csv --null 2";
    folder.run(&format!("{words} {both}")).fine();
    for name in ["Y1", "Y2"] {
        let alone = format!("--target t.csv:{name} --output one.csv --decisions one_events.csv");
        folder.run(&format!("{words} {alone}")).fine();
        for (all, one) in [("all.csv", "one.csv"), ("all_events.csv", "one_events.csv")] {
            let (all, one) = (folder.read(all), folder.read(one));
            assert_eq!(
                all.lines().next(),
                Some(&*format!("target,{}", one.lines().next().unwrap()))
            );
            let want: Vec<&str> = one.lines().skip(1).collect();
            assert_eq!(lines_of(&all, name), want);
        }
    }
    folder.run(&format!("{words} --target t.csv:Y1,Y2 --decisions all.parquet")).fine();
    folder.run(&format!("{words} --target t.csv:Y1,Y2,C3 --output new/")).fine();
    let alone = folder.select("x.csv -k 4 --target t.csv:C3");
    assert_eq!(outside_run(folder.json("new/C3.json")), outside_run(alone));
    assert_eq!(common::names(&folder.path("new")), ["C3.json", "Y1.json", "Y2.json"]);
    // A folder that is there does as well, and of one target it has one file.
    folder.run(&format!("{words} --target t.csv:Y3 --output new")).fine();
    assert!(folder.json("new/Y3.json")["targets"].is_null());
    // A run that fails leaves no folder behind.
    folder
        .run("select x.csv -k 4 --quiet --target t.csv:Y1,none --output gone/")
        .refused(1, &["none"]);
    folder
        .run(&format!("{words} --target t.csv:Y1,Y2 --output none/new/"))
        .refused(1, &["none/new"]);
    assert!(!folder.path("gone").exists());
    // With coefficients of classes beside plain ones.
    folder.run(&format!("{words} --target t.csv:Y1,C3 --output mixed.csv")).fine();
    let mixed = folder.read("mixed.csv");
    let head = "target,index,name,arrival,order,source,group,always,coefficient,coefficient:high,";
    assert!(mixed.starts_with(head), "{mixed}");
    assert_eq!(lines_of(&mixed, "Y1").len() + lines_of(&mixed, "C3").len(), 8);
}

#[test]
fn a_result_of_several_targets_is_used_by_the_target_that_is_named() {
    let folder = folder();
    folder.run("select x.csv -k 4 --quiet --target t.csv:Y1,C2 --output all.json").fine();
    for name in ["Y1", "C2"] {
        folder
            .run(&format!("select x.csv -k 4 --quiet --target t.csv:{name} --output one.json"))
            .fine();
        for command in ["apply", "predict"] {
            folder
                .run(&format!("{command} all.json x.csv --target {name} --output all.out.csv"))
                .fine();
            folder.run(&format!("{command} one.json x.csv --output one.out.csv")).fine();
            assert_eq!(folder.read("all.out.csv"), folder.read("one.out.csv"), "{command} {name}");
        }
    }
    folder.run("predict all.json x.csv --output p.csv").refused(2, &["target", "Y1, C2"]);
    folder.run("predict all.json x.csv --target Y9 --output p.csv").refused(2, &["Y9", "Y1, C2"]);
    folder.run("predict one.json x.csv --target C2 --output p.csv").refused(2, &["one target"]);
    // As a list of names: what any target keeps, each once.
    let all = folder.json("all.json");
    let again = folder.select("x.csv -k 40 --target t.csv:Y1 --columns @all.json");
    assert_eq!(again["features_seen"], all["distinct_kept"]);
}

#[test]
fn what_is_said_of_several_targets() {
    let folder = folder();
    let words = "select x.csv -k 4 --target t.csv:Y1,Y2,C3";
    let dry = folder.run(&format!("{words} --dry-run"));
    for line in
        ["target    Y2", "13 without target", "classification into high, low, mid", "at most"]
    {
        assert!(dry.fine().out.contains(line), "{line}: {}", dry.out);
    }
    let shown = folder.run(&format!("{words} --report r.html --progress json"));
    let table = &shown.fine().out;
    assert!(table.contains("for 3 targets") && table.contains("best features"), "{table}");
    assert!(shown.err.contains("\"targets\":3"), "{}", shown.err);
    assert!(shown.err.contains("warning: Y2: 13 rows have no target"), "{}", shown.err);
    let page = folder.read("r.html");
    for heading in ["3 targets by os-plus", "Y1: Selected features", "C3: What became of the rest"]
    {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn what_is_for_one_target_is_refused_with_the_reason() {
    let folder = folder();
    let refused = |words: &str, code: i32, say: &[&str]| {
        folder.run(&format!("select x.csv -k 4 --quiet {words}")).refused(code, say);
    };
    let two = "--target t.csv:Y1,Y2";
    refused(&format!("{two} --state s.kn"), 2, &["state", "2 targets", "one kept set"]);
    refused(&format!("{two} --reduced r.csv"), 2, &["reduced", "2 targets", "apply"]);
    refused(&format!("{two} --method annealed-ridge"), 2, &["target is 2 columns", "features"]);
    refused("--target t.csv:Y1,Y1", 2, &["\"Y1\" twice"]);
    refused("--target t.csv:Y1,Q", 1, &["t.csv", "\"Q\""]);
    refused("--target x.csv:*", 2, &["every column of the input"]);
    refused("--target t.csv:C1,Y1 --class-weight balanced", 2, &["class-weight"]);
    refused("--target t.csv:Y1,C3 --loss squared --task regression", 1, &["\"C3\"", "text"]);
    refused("--target t.csv:Y1,Y2 --output t.csv", 2, &["t.csv", "read"]);
    folder.run("compare x.csv --target t.csv:Y1,Y2 --methods os -k 3").refused(2, &["2 columns"]);
    // A reference level goes by the rows of a target.
    let cat: String = "level\n".to_string()
        + &(0..ROWS).map(|i| format!("{}\n", ["a", "b", "c"][i % 3])).collect::<String>();
    folder.write("cat.csv", cat);
    let words = "select x.csv cat.csv --stack columns -k 4 --quiet --categorical onehot";
    folder.run(&format!("{words} --target t.csv:Y1,Y3")).fine();
    folder.run(&format!("{words} --target t.csv:Y1,Y2")).refused(1, &["reference level", "rows"]);
}
