//! `keepnet compare` as a user calls it.

mod common;

use std::collections::BTreeMap;

use common::{Folder, small_csv};

/// Two classes told by `a` and `b`; `c` to `h` are noise.
fn classes() -> String {
    let mut text = "a,b,c,d,e,f,g,h,y\n".to_string();
    let mut state = 7u64;
    for i in 0..120 {
        let mut draw = || {
            state = (state * 1_103_515_245 + 12345) % 2_147_483_648;
            ((state >> 16) % 1000) as f64 / 1000.0
        };
        let y = i % 2;
        let shift = f64::from(y) * 0.9;
        let row: Vec<String> =
            (0..8).map(|j| (draw() + if j < 2 { shift } else { 0.0 }).to_string()).collect();
        text += &format!("{},{}\n", row.join(","), if y == 1 { "yes" } else { "no" });
    }
    text
}

/// Values by method, classifier and metric, in the order of the file.
fn tidy(text: &str) -> BTreeMap<(String, String, String), Vec<f64>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("dataset,method,split,order,classifier,metric,value"));
    let mut out: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let n = cells.len();
        let key = (cells[1].to_string(), cells[n - 3].to_string(), cells[n - 2].to_string());
        out.entry(key).or_default().push(cells[n - 1].parse().unwrap());
    }
    out
}

fn key(method: &str, classifier: &str, metric: &str) -> (String, String, String) {
    (method.into(), classifier.into(), metric.into())
}

/// Every method in the registry that takes a size, beside two with sizes of their own.
#[test]
fn one_size_is_for_every_method_that_takes_one() {
    let folder = Folder::new();
    folder.write("x.csv", classes());
    let takes = |method: &&&keepnet::MethodInfo| method.takes_k();
    let names: Vec<&str> =
        keepnet::registry::methods().iter().filter(takes).map(|method| method.name).collect();
    let known = names.iter().map(|name| match *name {
        // The threaded form is not the same twice.
        "asy-os" => "asy-os:centre=simulated",
        name => name,
    });
    let list: Vec<&str> = known.chain(["lasso:lambda=1e-9", "saola:k=1"]).collect();
    let called = folder.run(&format!(
        "compare x.csv --target y -k 2 --methods {} --groups block:2 --splits holdout:2 \
         --classifiers 1nn --output t.csv --quiet",
        list.join(",")
    ));
    called.fine();
    let tidy = tidy(&folder.read("t.csv"));
    for name in &list {
        let label = if name.contains(':') { format!("\"{name}\"") } else { name.to_string() };
        let kept = tidy.get(&key(&label, "", "kept")).or_else(|| tidy.get(&key(name, "", "kept")));
        let kept = kept.unwrap_or_else(|| panic!("{name}: {:?}", tidy.keys()));
        let most = match *name {
            "saola:k=1" => 1.0,
            "lasso:lambda=1e-9" => 8.0,
            _ => 2.0,
        };
        assert!(kept.iter().all(|kept| *kept <= most), "{name}: {kept:?}");
        if most == 8.0 {
            assert!(kept.iter().all(|kept| *kept > 2.0), "{name}: {kept:?}");
        }
    }
}

#[test]
fn methods_on_features_and_rows_stand_side_by_side() {
    let folder = Folder::new();
    folder.write("x.csv", classes());
    let called = folder.run(
        "compare x.csv --target y -k 2 --methods os-plus,saola:measure=fisher-z,annealed-ridge \
         --splits 4 --orders 2 --output t.csv --seed 1",
    );
    called.fine();
    for word in ["os-plus", "annealed-ridge", "svm error", "AUC", "stability", "memory", "Friedman"]
    {
        assert!(called.out.contains(word), "{word} in {}", called.out);
    }
    let tidy = tidy(&folder.read("t.csv"));
    // Four splits in two orders; rows have one order.
    assert_eq!(tidy[&key("os-plus", "svm", "error")].len(), 8);
    assert_eq!(tidy[&key("annealed-ridge", "svm", "error")].len(), 4);
    assert!(tidy[&key("os-plus", "", "kept")].iter().all(|kept| *kept == 2.0));
    for (judge, most) in [("1nn", 0.15), ("svm", 0.15), ("tree", 0.25), ("own", 0.15)] {
        let errors = &tidy[&key("os-plus", judge, "error")];
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(mean < most, "{judge} {mean}");
    }
    assert_eq!(tidy[&key("os-plus", "", "kuncheva")], [1.0]);
    assert!(!tidy.contains_key(&key("saola:measure=fisher-z", "own", "error")));
}

#[test]
fn a_second_run_gives_the_same_numbers_but_for_time() {
    let folder = Folder::new();
    folder.write("x.csv", classes());
    let run = |threads: usize| {
        let called = folder.run(&format!(
            "compare x.csv --target y -k 2 --methods os-plus,os --quiet --output - --threads {threads}"
        ));
        let text = called.fine().out.clone();
        text.lines()
            .filter(|line| !line.contains(",seconds,"))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(2));
}

/// The held-out rows alone tell that a column is the target: a selection that saw them would
/// take it.
#[test]
fn selections_see_the_training_rows_only() {
    let folder = Folder::new();
    let (mut text, mut splits) = ("good,leak,y\n".to_string(), "s\n".to_string());
    for i in 0..60 {
        let (y, test) = (i % 2, i >= 30);
        let good = y as f64 + if i % 10 == 0 { 1.0 } else { 0.0 };
        let leak = if test { 100 * y } else { (i / 2) % 2 };
        text += &format!("{good},{leak},{y}\n");
        splits += if test { "test\n" } else { "train\n" };
    }
    folder.write("x.csv", text).write("s.csv", splits);
    folder.write("e.csv", "feature,split\nleak,s\n");
    let called = folder.run(
        "compare x.csv --target y -k 1 --methods os-plus --splits s.csv --classifiers svm \
         --external leaky=e.csv --output - --quiet",
    );
    let tidy = tidy(&called.fine().out);
    assert_eq!(tidy[&key("os-plus", "", "kept")], [1.0]);
    let error = tidy[&key("os-plus", "svm", "error")][0];
    assert!(error < 0.2, "{error}");
    // Trained on the rows where it says nothing, the leak is no better than chance there.
    assert!(tidy[&key("leaky", "svm", "error")][0] > error);
    assert!(!tidy.contains_key(&key("leaky", "", "seconds")));
}

#[test]
fn a_selection_on_a_split_is_that_of_a_file_with_its_training_rows() {
    let folder = Folder::new();
    let text = classes();
    let (mut train, mut splits) = (String::new(), "s\n".to_string());
    for (at, line) in text.lines().enumerate() {
        let test = at > 0 && at % 3 == 0;
        if !test {
            train += &format!("{line}\n");
        }
        if at > 0 {
            splits += if test { "test\n" } else { "train\n" };
        }
    }
    folder.write("x.csv", &text).write("train.csv", train).write("s.csv", splits);
    for method in ["os-plus", "annealed-ridge"] {
        let alone = folder.select(&format!("train.csv --target y -k 4 --method {method}"));
        let names: Vec<&str> = alone["selected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|feature| feature["name"].as_str().unwrap())
            .collect();
        folder.write("e.csv", format!("feature\n{}\n", names.join("\n")));
        let called = folder.run(&format!(
            "compare x.csv --target y -k 4 --methods {method} --splits s.csv \
             --external alone=e.csv --output - --quiet"
        ));
        let tidy = tidy(&called.fine().out);
        for (judge, metric) in [("svm", "auc"), ("svm", "error"), ("1nn", "error"), ("tree", "auc")]
        {
            let (ours, alone) =
                (&tidy[&key(method, judge, metric)], &tidy[&key("alone", judge, metric)]);
            assert!((ours[0] - alone[0]).abs() < 1e-9, "{method} {judge} {metric}");
        }
    }
}

#[test]
fn numbers_are_judged_by_least_squares_and_the_truth_by_recall() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv()).write("truth.csv", "index,name,weight\n0,a,2\n1,b,-3\n");
    let called = folder.run(
        "compare x.csv --target y -k 2 --methods os-plus,os --splits holdout:3 \
         --truth truth.csv --output - --quiet",
    );
    let tidy = tidy(&called.fine().out);
    assert!(tidy[&key("os-plus", "linear", "rmse")].iter().all(|rmse| *rmse < 1e-3));
    assert!(tidy[&key("os-plus", "own", "r2")].iter().all(|r2| *r2 > 0.999));
    assert_eq!(tidy[&key("os-plus", "", "recall")], [1.0; 3]);
    assert!(tidy[&key("os-plus", "", "recovery")].iter().all(|error| *error < 1e-6));
}

#[test]
fn several_data_sets_are_ranked_and_counted() {
    let folder = Folder::new();
    folder.write("x.csv", classes()).write("z.csv", classes().replace("yes", "zzz"));
    let called = folder.run(
        "compare --dataset one=x.csv:y --dataset two=z.csv:y -k 2 --methods os-plus,os \
         --classifiers svm,tree --splits 3",
    );
    called.fine();
    assert!(called.out.contains("ranks over 2 data sets"), "{}", called.out);
    assert!(called.out.contains("won/tied/lost"), "{}", called.out);
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let folder = Folder::new();
    folder.write("x.csv", classes()).write("e.csv", "feature\nnone\n");
    let call = |words: &str| folder.run(&format!("compare x.csv --target y {words}"));
    call("--methods os-plus").refused(2, &["os-plus", "k is not given"]);
    call("--methods nothing -k 2").refused(2, &["nothing", "keepnet methods"]);
    call("--methods os-plus,os-plus -k 2").refused(2, &["os-plus twice"]);
    call("--methods saola:size=3").refused(2, &["size", "saola knows"]);
    call("--methods group-saola").refused(2, &["group-saola", "groups"]);
    call("--methods os-plus -k 2 --splits 1").refused(2, &["splits", "at least 2 folds"]);
    call("--methods os-plus -k 2 --splits none.csv").refused(1, &["none.csv"]);
    call("--methods os-plus -k 2 --classifiers linear").refused(2, &["linear", "1nn"]);
    call("--methods os-plus -k 2 --output t.txt").refused(2, &["t.txt", ".csv"]);
    call("--methods os-plus -k 2 --external e=e.csv").refused(1, &["e.csv, line 2", "none"]);
    call("--methods os-plus -k 2 --orders 0").refused(2, &["orders"]);
    folder.run("compare --methods os-plus -k 2").refused(2, &["INPUT"]);
    assert_eq!(folder.names(), ["e.csv", "x.csv"]);
}

/// Everything but the seconds, which no second run repeats.
fn without_seconds(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.contains(",seconds,")).collect()
}

#[test]
fn a_comparison_that_was_ended_goes_on_with_the_same_numbers() {
    let folder = Folder::new();
    folder.write("x.csv", classes());
    let call = "compare x.csv --target y -k 2 --methods os-plus,annealed-ridge --splits 3 --orders 2 \
                --output t.csv --quiet";
    folder.run(call).fine();
    let whole = folder.read("t.csv");
    // The last data set is missing: the first one is done when the run fails.
    let two = "compare --dataset a=x.csv:y --dataset b=z.csv:y -k 2 --methods os-plus,annealed-ridge \
               --splits 3 --orders 2 --output t.csv --quiet --checkpoint c.journal";
    folder.run(two).refused(1, &["z.csv"]);
    let journal = folder.read("c.journal");
    assert_eq!(journal.lines().filter(|line| line.starts_with('[')).count(), 3, "{journal}");
    // With the last line torn and every selection of the first pass marked, the run takes the
    // marks: it was not done again.
    let mut lines: Vec<String> = journal.lines().map(String::from).collect();
    lines[1] = lines[1].replace("\"bytes\":", "\"bytes\":7000000");
    let torn = lines[3][..40].to_string();
    folder.write("c.journal", format!("{}\n{}\n{}\n{torn}", lines[0], lines[1], lines[2]));
    folder.write("z.csv", classes());
    folder.run(two).fine();
    assert!(!folder.path("c.journal").exists());
    let resumed = folder.read("t.csv");
    let of = |text: &str, name: &str| -> Vec<String> {
        let lines = without_seconds(text).into_iter().filter(|line| line.starts_with(name));
        let lines = lines.filter(|line| !line.contains(",held_bytes,"));
        lines.map(|line| line.split_once(',').unwrap().1.to_string()).collect()
    };
    assert_eq!(of(&resumed, "a,"), of(&whole, "x,"));
    assert_eq!(of(&resumed, "b,"), of(&whole, "x,"));
    assert!(resumed.contains("a,os-plus,1,0,,held_bytes,7000000"), "{resumed}");
    assert!(!resumed.contains("b,os-plus,1,0,,held_bytes,7000000"));
    // A checkpoint of another comparison is refused.
    folder.write("c.journal", format!("{}\n", lines[0]));
    folder.run(&two.replace("-k 2", "-k 3")).refused(1, &["c.journal", "remove it"]);
}

#[test]
fn weights_reach_the_selections() {
    let folder = Folder::new();
    // Rows of weight near nothing say that b tells the classes, the others that a does.
    let mut text = "a,b,c,w,y\n".to_string();
    for i in 0..120 {
        let (y, light) = (i % 2, i % 3 == 0);
        let noise = [(i * 37 % 101) as f64 / 101.0, (i * 53 % 97) as f64 / 97.0];
        let lift = y as f64 * 2.0;
        let (a, b) =
            if light { (noise[0], noise[1] + 9.0 * lift) } else { (noise[0] + lift, noise[1]) };
        let weight = if light { 1e-6 } else { 1.0 };
        text += &format!("{a},{b},{},{weight},{}\n", (i * 29 % 89) as f64 / 89.0, ["n", "p"][y]);
    }
    folder.write("x.csv", text);
    let call = "compare x.csv --target y -k 1 --methods os-plus --splits 3 --quiet --output - \
                --classifiers own";
    let error = |flags: &str| {
        let called = folder.run(&format!("{call} {flags}"));
        let values = tidy(&called.fine().out)[&key("os-plus", "own", "error")].clone();
        values.iter().sum::<f64>() / values.len() as f64
    };
    // Without weights the loud light rows win and the others cannot be told; with them the
    // heavy ones do, and w is no feature.
    let (plain, weighted) = (error("--exclude w"), error("--sample-weight w"));
    assert!(weighted < plain, "{weighted} {plain}");
    folder.run(&format!("{call} --class-weight balanced")).fine();
    folder.run(&format!("{call} --class-weight odd")).refused(2, &["class-weight", "balanced"]);
    let rows = call.replace("os-plus", "annealed-ridge");
    folder.run(&format!("{rows} --class-weight balanced")).refused(2, &["annealed-ridge"]);
}

#[test]
fn auto_takes_a_measure_that_the_values_allow() {
    let folder = Folder::new();
    // Integers with a level a row: too many for a discrete measure.
    let mut text = "a,b,y\n".to_string();
    for i in 0..600 {
        text +=
            &format!("{},{},{}\n", i * 7 % 599 + 300 * (i % 2), i * 31 % 601, ["n", "p"][i % 2]);
    }
    folder.write("x.csv", text);
    let called =
        folder.run("compare x.csv --target y --methods saola --splits 2 --quiet --output -");
    let tidy = tidy(&called.fine().out);
    assert_eq!(tidy[&key("saola", "", "kept")], [1.0, 1.0]);
}
