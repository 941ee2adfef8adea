//! What is asked of rows and must not be without effect: keys that differ, classes that weigh the
//! same, a number of features.

mod common;

use common::Folder;
use serde_json::Value;

/// Rows of three classes with holes, mostly in the first class; and the same without the rows that
/// have one, each with the weight `n / (classes m)` of scikit-learn's `class_weight="balanced"`.
fn classes() -> (String, String) {
    let mut rows = Vec::new();
    for i in 0..90_i32 {
        let class = ["low", "mid", "high"][(i * i % 7 % 3) as usize];
        let a = f64::from(i * 37 % 41) / 10.0 + if class == "high" { 1.5 } else { 0.0 };
        let b = f64::from(i * 53 % 29) / 7.0 - if class == "low" { 0.8 } else { 0.0 };
        let c = f64::from(i * 17 % 23) / 5.0;
        let hole = i % 4 == 1 && (class == "low" || i % 5 == 0);
        rows.push((a, (!hole).then_some(b), c, class));
    }
    let head = "a,b,c";
    let mut with = format!("{head},y\n");
    let mut without = format!("{head},weight,y\n");
    let whole: Vec<_> = rows.iter().filter(|row| row.1.is_some()).collect();
    assert!(whole.len() < rows.len());
    for (a, b, c, y) in &rows {
        let b = b.map_or(String::new(), |b| b.to_string());
        with += &format!("{a},{b},{c},{y}\n");
    }
    for (a, b, c, y) in &whole {
        let same = whole.iter().filter(|row| row.3 == *y).count();
        let weight = whole.len() as f64 / (3.0 * same as f64);
        without += &format!("{a},{},{c},{weight},{y}\n", b.unwrap());
    }
    (with, without)
}

fn numbers(result: &Value) -> Vec<f64> {
    let selected = result["selected"].as_array().unwrap();
    let weights = selected.iter().map(|f| &f["coefficient"]).chain([&result["intercept"]]);
    let flat = weights.flat_map(|v| match v {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    });
    flat.map(|v| v.as_f64().unwrap()).collect()
}

#[test]
fn balanced_classes_are_counted_in_the_rows_that_are_used() {
    let (folder, (with, without)) = (Folder::new(), classes());
    folder.write("with.csv", with).write("without.csv", without);
    for method in ["olsth", "annealed-ridge", "ols"] {
        let call = format!("--target y -k 3 --method {method} --missing drop-row");
        let got = folder.select(&format!("with.csv {call} --class-weight balanced"));
        let again =
            folder.select(&format!("without.csv {call} --class-weight balanced --exclude weight"));
        let want = folder.select(&format!("without.csv {call} --sample-weight weight"));
        let (got, again, want) = (numbers(&got), numbers(&again), numbers(&want));
        assert!(!want.is_empty());
        assert_eq!(got, again, "{method}");
        for (got, want) in got.iter().zip(&want) {
            assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{method}: {got} {want}");
        }
    }
}

#[test]
fn a_key_that_occurs_twice_in_the_input_is_refused_on_rows_as_on_columns() {
    let folder = Folder::new();
    let input = "id,site,a,b\n1,x,0.5,1\n2,x,1.5,3\n1,y,2.5,2\n2,x,3.5,7\n3,x,1,1\n";
    folder.write("x.csv", input).write("y.csv", "id,site,y\n1,x,1\n2,x,2\n1,y,4\n3,x,3\n");
    folder.write("one.csv", "id,site,a,b\n1,x,0.5,1\n2,x,1.5,3\n");
    folder.write("two.csv", "id,site,a,b\n1,y,2.5,2\n2,x,3.5,7\n3,x,1,1\n");
    let twice = ["key id,site is \"2,x\" in rows 1 and 3; keys must not repeat"];
    for input in ["x.csv", "one.csv two.csv"] {
        for method in ["os-plus", "olsth", "sgd"] {
            let call = format!("select {input} --key id,site --target y.csv:y -k 1");
            let call = format!("{call} --task regression --method {method}");
            folder.run(&call).refused(1, &twice);
        }
    }
    // The rows are read again for the reduced table.
    folder.write("x.csv", input.replace("2,x,3.5,7\n", ""));
    let call = "x.csv --key id,site --target y.csv:y -k 1 --method olsth --reduced r.csv";
    assert_eq!(folder.select(call)["rows"]["unmatched"], 0);
    assert_eq!(folder.read("r.csv").lines().count(), 5);
}

#[test]
fn ols_says_that_it_keeps_every_feature_where_k_was_asked_for() {
    let folder = Folder::new();
    folder.write("x.csv", common::small_csv());
    let told = |words: &str| {
        let called = folder.run(&format!("select x.csv --target y {words} --output r.json"));
        let told = called.fine().err.lines().any(|line| line.contains("--method olsth"));
        let warnings = folder.json("r.json")["warnings"].to_string();
        assert_eq!(warnings.contains("--method olsth keeps the 2"), told, "{warnings}");
        told
    };
    assert!(told("--method ols -k 2"));
    assert!(!told("--method ols"));
    assert!(!told("--method ols -k 3"));
    assert!(!told("--method olsth -k 2"));
    folder.run("compare x.csv --target y --methods ols,olsth -k 2").fine();
}
