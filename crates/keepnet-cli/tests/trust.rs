//! `--stability`, `--inference`, `--null` on the command line: fields, refusals, repeatability.

mod common;

use common::{Folder, outside_run};
use serde_json::Value;

/// y = 2 a - b + noise over eight columns of noise, or its sign.
fn table(n: usize, classes: bool) -> String {
    let value = |i: usize, j: usize| {
        let mut z = ((i * 64 + j) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut text = "a,b,c,d,e,f,g,h,y\n".to_string();
    for i in 0..n {
        let x: Vec<f64> = (0..8).map(|j| value(i, j)).collect();
        let y = 2.0 * x[0] - x[1] + value(i, 8);
        x.iter().for_each(|x| text += &format!("{x},"));
        match classes {
            true => text += if y > 0.2 { "yes\n" } else { "no\n" },
            false => text += &format!("{y}\n"),
        }
    }
    text
}

fn names(result: &Value) -> Vec<&str> {
    result["selected"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect()
}

#[test]
fn every_kind_has_its_fields_and_the_same_digits_on_any_threads() {
    let folder = Folder::new();
    folder.write("x.csv", table(120, false)).write("c.csv", table(200, true));
    for (file, flags, field, of_feature) in [
        ("x.csv", "--stability 10", "stability", "frequency"),
        ("c.csv", "--stability 10:0.6", "stability", "frequency"),
        ("x.csv", "--inference split:0.4", "inference", "p_adjusted"),
        ("c.csv", "--inference split", "inference", "ci_low"),
        ("x.csv", "--null 3", "null", "coefficient"),
    ] {
        let call = format!("{file} --target y -k 2 {flags} --seed 2");
        let one = folder.select(&format!("{call} --threads 1"));
        let two = folder.select(&format!("{call} --threads 2"));
        assert_eq!(outside_run(one.clone()), outside_run(two), "{flags}");
        assert!(one[field].is_object(), "{flags}");
        assert!(names(&one).contains(&"a"), "{flags}: {:?}", names(&one));
        for feature in one["selected"].as_array().unwrap() {
            assert!(feature[of_feature].is_number(), "{flags} {feature}");
            assert!(feature["coefficient"].is_number(), "{flags} {feature}");
        }
    }
    let plain = folder.select("x.csv --target y -k 2");
    for field in ["path", "holdout", "stability", "inference", "null", "error_control"] {
        assert_eq!(plain[field], Value::Null, "{field}");
    }
    let table = folder.run("select x.csv --target y -k 2 --inference split --report r.html");
    for word in ["estimate", "interval", "adjusted p", "selected on 60 rows, tested on 60 others"] {
        assert!(table.fine().out.contains(word), "{word} in {}", table.out);
    }
    assert!(folder.read("r.html").contains("Estimates and intervals"));
    let table = folder.run("select x.csv --target y -k 2 --stability 10 --report s.html");
    assert!(table.fine().out.contains("expected false at most"), "{}", table.out);
    assert!(folder.read("s.html").contains("Selection frequencies"));
    let preview = folder.run("select x.csv --target y -k 2 --stability 10 --dry-run");
    assert!(preview.fine().out.contains("lanes     20: 10 pairs of halves of 60 rows"));
}

/// A half has other means and gaps than all rows; what is said of a selected feature is over all of
/// them, and the refit is that of a run on the selected features alone.
#[test]
fn a_stable_feature_is_described_and_fitted_over_all_rows() {
    let folder = Folder::new();
    let text = table(150, false);
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for (i, line) in lines.iter_mut().enumerate().skip(1).filter(|(i, _)| i % 7 == 0) {
        let (_, rest) = line.split_once(',').unwrap();
        *line = if i % 2 == 0 { format!(",{rest}") } else { format!("1000,{rest}") };
    }
    let known: Vec<f64> =
        lines[1..].iter().filter_map(|line| line.split(',').next().unwrap().parse().ok()).collect();
    folder.write("x.csv", lines.join("\n") + "\n");
    let call = "x.csv --target y --missing mean -k 3 --always a --loss squared";
    for (flags, own) in [("--stability 10:0.6", true), ("--method saola --stability 5:0.6", false)]
    {
        let call = if own { call.to_string() } else { call.replace(" --loss squared", "") };
        let found = folder.select(&format!("{call} {flags}"));
        let a = &found["always"][0];
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        assert!((a["mean"].as_f64().unwrap() - mean).abs() < 1e-10 * mean.abs(), "{flags} {a}");
        assert_eq!(a["missing"], 150 - known.len(), "{flags}");
        if !own {
            continue;
        }
        let columns = [vec!["a"], names(&found)].concat().join(",");
        let plain = folder.select(&format!("{call} --columns {columns} --seed 1"));
        for feature in found["selected"].as_array().unwrap().iter().chain([a]) {
            let all = plain["selected"].as_array().unwrap().iter();
            let mut all = all.chain(plain["always"].as_array().unwrap());
            let same = all.rfind(|other| other["name"] == feature["name"]).unwrap();
            let [got, want] = [feature, same].map(|f| f["coefficient"].as_f64().unwrap());
            assert!((got - want).abs() < 1e-9 * want.abs(), "{got} {want}");
        }
    }
}

#[test]
fn three_classes_have_a_test_each() {
    let folder = Folder::new();
    let text = table(300, false);
    let mut lines = text.lines();
    let mut out = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let (x, y) = line.rsplit_once(',').unwrap();
        let y: f64 = y.parse().unwrap();
        out += &format!(
            "{x},{}\n",
            if y < -0.7 {
                "low"
            } else if y < 0.7 {
                "mid"
            } else {
                "top"
            }
        );
    }
    folder.write("x.csv", out);
    let result = folder.select("x.csv --target y -k 2 --inference split");
    let feature = &result["selected"][0];
    for field in ["estimate", "std_error", "ci_low", "ci_high", "p_value", "p_adjusted"] {
        assert_eq!(feature[field].as_array().unwrap().len(), 3, "{field}");
    }
}

#[test]
fn what_has_no_meaning_together_is_refused() {
    let folder = Folder::new();
    folder.write("x.csv", table(60, false)).write("c.csv", table(60, true));
    let call = |words: &str| folder.run(&format!("select x.csv --target y {words}"));
    for (words, said) in [
        ("-k 2 --stability 1", ["stability", "2 to 500"]),
        ("-k 2 --stability 10:0.5", ["stability", "above 0.5"]),
        ("-k 2 --stability 10 --inference split", ["inference", "--stability"]),
        ("-k 2,3 --stability 10", ["stability", "a choice of k"]),
        ("-k 2 --stability 10 --checkpoint r.kn", ["checkpoint", "--stability"]),
        ("-k 2 --stability 10 --null 2", ["null", "--stability"]),
        ("-k 2 --stability 10 --holdout 0.2", ["holdout", "--stability"]),
        ("-k 2 --stability 10 --decisions d.csv", ["decisions", "--stability"]),
        ("-k 2 --stability 10 --method asy-os", ["centre", "simulated"]),
        ("-k 2 --correction bh", ["correction", "--inference split"]),
        ("-k 2 --inference split --repeats 3", ["repeats", "--inference knockoffs"]),
        ("-k 2 --level 0.1", ["level", "--inference"]),
        ("-k 2 --inference split --level 1", ["level", "between 0 and 1"]),
        ("-k 2 --inference guess", ["inference", "split or knockoffs"]),
        ("-k 2 --inference knockoffs --level 0.1", ["k is", "at least 10"]),
        ("-k 2 --inference split --class-weight balanced", ["class weights", "split"]),
    ] {
        let called = call(words);
        assert!(called.code == 1 || called.code == 2, "{words}: {}", called.err);
        for word in said {
            assert!(called.err.contains(word), "{word:?} for {words}: {}", called.err);
        }
    }
    call("-k 8 --inference split:0.25").refused(1, &["15 rows for inference", "need 19"]);
    let few = folder.run("select c.csv --target y -k 6 --inference split");
    few.refused(1, &["too few for 7 coefficients", "35"]);
    folder.write("s.csv", table(15, false));
    folder.run("select s.csv --target y -k 2 --stability 5").refused(1, &["needs 20 rows"]);
}
