//! No flag is silently without effect: for every method each flag changes the result, or is
//! refused with the reason. And what was nearly right leads to the right name.

mod common;

use common::{Called, Folder, random};
use keepnet::registry::{self, MethodInfo, Stream};
use serde_json::Value;

const ROWS: usize = 90;
const FEATURES: usize = 12;

/// Twelve features of which some are rare, weights, an offset and a covariate; a number and two
/// classes of 30 and 60 rows to predict.
fn folder() -> Folder {
    let (folder, mut random) = (Folder::new(), random(7));
    let names: Vec<String> = (0..FEATURES).map(|j| format!("g{}_{j}", j / 4)).collect();
    let mut text = names.join(",") + ",w,o,cov,y,c\n";
    for i in 0..ROWS {
        let mut x: Vec<f64> = (0..FEATURES).map(|_| random()).collect();
        // One value in ten rows only.
        x[9] = if i % 10 == 0 { 1.0 } else { 0.0 };
        let (w, o, cov, noise) = (1.5 + random(), random(), random(), random());
        let y = 3.0 * x[0] - 2.0 * x[5] + x[8] + x[9] + 0.5 * cov + 0.3 * noise;
        let class = if i % 3 == 0 { "p" } else { "q" };
        let x: Vec<String> = x
            .iter()
            .enumerate()
            .map(|(j, v)| (v + if class == "p" && j % 5 == 0 { 1.0 } else { 0.0 }).to_string())
            .collect();
        text += &format!("{},{w},{o},{cov},{y},{class}\n", x.join(","));
    }
    folder.write("x.csv", &text);
    // The same with a missing value in every ninth row of one feature.
    let holes =
        text.lines().enumerate().map(|(i, line)| match (i > 0 && i % 9 == 0).then_some(line) {
            Some(line) => {
                let mut cells: Vec<&str> = line.split(',').collect();
                cells[1] = "";
                cells.join(",") + "\n"
            }
            None => format!("{line}\n"),
        });
    folder.write("holes.csv", holes.collect::<String>());
    folder
}

/// A selection of three features by a method, of the classes where it can, else of the number.
fn call(method: &MethodInfo, file: &str) -> String {
    let classes = method.tasks.contains("class") && method.name != "alpha-investing";
    let (target, other) = if classes { ("c", "y") } else { ("y", "c") };
    let mut call = format!("select {file} --target {target} --exclude {other},w,o,cov");
    call += &format!(" --method {} --quiet --output -", method.name);
    if method.takes_k() {
        call += " -k 3";
    }
    if method.stream == Stream::Groups {
        call += " --groups block:3";
    }
    call
}

/// The result without what differs from run to run.
fn result(called: &Called) -> Option<Value> {
    if called.code != 0 {
        return None;
    }
    // With --every, a line a look comes before the result.
    let at = called.out.find("{\n").expect("a result");
    let mut result: Value = serde_json::from_str(&called.out[at..]).unwrap();
    result.as_object_mut().unwrap().remove("run");
    if called.out[..at].contains('{') {
        result["looks"] = true.into();
    }
    Some(result)
}

/// Flags that choose what is used of the data or how: each shows in the result, or is refused.
const FLAGS: [&str; 16] = [
    "--sample-weight w",
    "--offset o",
    "--covar cov",
    "--class-weight balanced",
    "--always g1_6",
    "--min-count 30",
    "--scans 3",
    "--order shuffled",
    "--groups prefix:_",
    "--measure su",
    "--on-full evict",
    "--loss squared-epsilon",
    "--set epsilon=0.7",
    "--set m=3",
    "--set delta=0.4",
    "--every 20",
];

/// Methods and flags whose answer need not change on this table.
fn may_agree(method: &MethodInfo, flag: &str) -> bool {
    // Another scan need not end in another set. The threads of asy-os meet in the order of the
    // moment.
    (flag == "--scans 3" && method.scans != 1) || method.name == "asy-os"
}

#[test]
fn every_flag_has_an_effect_or_is_refused_with_the_reason() {
    let folder = folder();
    let (mut wrong, mut tried) = (String::new(), 0);
    for method in registry::methods() {
        let plain = result(&folder.run(&call(method, "x.csv"))).expect(method.name);
        for flag in FLAGS {
            if flag.starts_with("--groups") && method.stream == Stream::Groups {
                continue;
            }
            let called = folder.run(&format!("{} {flag}", call(method, "x.csv")));
            let told = matches!(called.code, 1 | 2) && called.err.lines().count() == 1;
            let changed = result(&called).is_some_and(|result| result != plain);
            if !told && !changed && !may_agree(method, flag) {
                wrong += &format!("{} {flag}: {} {}\n", method.name, called.code, called.err);
            }
            tried += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(tried > 600, "{tried}");
}

#[test]
fn missing_values_are_treated_as_each_flag_says() {
    let folder = folder();
    for method in registry::methods().iter().filter(|m| m.stream == Stream::Features) {
        let call = call(method, "holes.csv");
        folder.run(&call).refused(1, &["g0_1", "--missing drop-feature"]);
        let [dropped, filled, limited] =
            ["drop-feature", "mean", "mean --max-missing 0.05"].map(|missing| {
                result(folder.run(&format!("{call} --missing {missing}")).fine()).unwrap()
            });
        assert_eq!(dropped["dropped"]["missing"], 1, "{}", method.name);
        assert_eq!(filled["dropped"]["missing"], 0, "{}", method.name);
        assert_eq!(limited["dropped"]["missing"], 1, "{}", method.name);
    }
}

#[test]
fn flags_that_need_another_say_which() {
    let folder = folder();
    let call = "select x.csv --target y --exclude c -k 2";
    for (flags, words) in [
        ("--groups block:2", "os-plus weighs features one by one, expected a method on groups: g"),
        ("--method ofsa --groups block:2", "ofsa weighs features one by one"),
        (
            "--set epsilon=0.3",
            "epsilon is given, but has no effect here, expected --loss squared-ep",
        ),
        ("--loss squared --set epsilon=0.3", "expected --loss squared-epsilon"),
        ("--set ridge=0.3", "ridge is given, but has no effect here, expected another --loss than"),
        ("--method os --set m=3", "m is given, but has no effect here, expected --set eta"),
        ("--method saola --set delta=0.1", "expected --measure su or mi with it; tests take"),
        ("--method saola --measure su --set alpha=0.1", "expected --measure fisher-z with it"),
        ("--method saola --on-full evict", "expected --memory SIZE with it"),
        ("--method saola --scans 3", "scans is 3, but saola decides in one scan"),
        ("--method lasso --scans 2", "lasso decides in one scan"),
        ("--missing drop-feature --max-missing 0.1", "drops every feature with a missing value"),
        ("--checkpoint-every 3b", "required arguments were not provided: --checkpoint <FILE>"),
        ("--quiet --progress bar", "progress is bar with --quiet"),
    ] {
        folder.run(&format!("{call} {flags}")).refused(2, &[words]);
    }
}

#[test]
fn what_was_nearly_right_leads_to_the_name() {
    let folder = folder();
    let call = "select x.csv --target y --exclude c -k 2";
    for (words, meant) in [
        ("--method osplus", "did you mean os-plus?"),
        ("--method os_plus", "did you mean os-plus?"),
        ("--method OSPlus", "did you mean os-plus?"),
        ("--method lasos", "did you mean lasso"),
        ("--method annealed", "did you mean annealed-ridge?"),
        ("--methd os", "did you mean --method?"),
        ("--k 3", "did you mean -k?"),
        ("--set reserv=1", "did you mean reserve?"),
    ] {
        folder.run(&format!("{call} {words}")).refused(2, &[meant]);
    }
    folder.run("selct x.csv").refused(2, &["did you mean select"]);
    folder.run("methods osplus").refused(2, &["did you mean os-plus?"]);
}

#[test]
fn errors_of_k_and_of_the_target_name_what_was_read() {
    let folder = folder();
    let call = "select x.csv --target y --exclude c";
    folder
        .run(&format!("{call} -k ten"))
        .refused(2, &["k is", "ten", "a number, a list such as 5,10,20, or auto"]);
    folder.run(&format!("{call} -k 90")).refused(2, &["x.csv: k is 90 with 90 rows"]);
    folder
        .run(&format!("{call} --scans two"))
        .refused(2, &["scans is", "two", "a number of at least 1, or rest"]);
    let columns =
        "target is not given (x.csv has 17 columns: g0_0, g0_1 ... y, c), expected --target";
    folder.run("select x.csv -k 2").refused(2, &[columns]);
}

#[test]
fn whole_numbers_are_classes_and_the_first_line_says_so() {
    let folder = Folder::new();
    let rows: String =
        (0..30).map(|i| format!("{},{},{}\n", i * 7 % 11, i * 5 % 13, i % 4)).collect();
    folder.write("x.csv", format!("a,b,grade\n{rows}"));
    for method in ["os-plus", "annealed-ridge"] {
        let call = format!("select x.csv --target grade -k 1 --method {method}");
        let called = folder.run(&call);
        let line = called.fine().out.lines().next().unwrap();
        let said = "the target has 4 distinct whole numbers";
        let want =
            format!("classification into 4 classes, as {said}; --task regression takes them");
        assert!(line.starts_with(&want), "{line}");
        let warning =
            format!("{said}, which are taken for classes; --task regression takes them as n");
        assert!(called.err.contains(&warning), "{}", called.err);
        let result = folder.select(&call["select ".len()..]);
        let warnings = result["warnings"].to_string();
        assert!(warnings.contains(&warning), "{warnings}");
        let called = folder.run(&format!("{call} --task regression"));
        assert!(called.fine().err.is_empty() && called.out.starts_with("rank"), "{}", called.out);
    }
    let other = folder.select("x.csv --target grade -k 1 --loss squared-epsilon");
    assert_eq!(
        (&other["task"], &other["warnings"]),
        (&"regression".into(), &serde_json::json!([]))
    );
}
