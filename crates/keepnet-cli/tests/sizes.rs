//! `-k 5,10,20`, `--choose`, `--holdout`: lanes against separate runs, and against what is known of
//! the data.

mod common;

use common::Folder;
use serde_json::Value;

/// A few numbers that look random, the same each time.
fn noise(seed: u64, i: usize, j: usize) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((i as u64) << 32 | j as u64);
    let mut sum = 0.0;
    for _ in 0..12 {
        z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum += ((x ^ x >> 31) >> 11) as f64 / (1u64 << 53) as f64;
    }
    sum - 6.0
}

/// `n` rows of `p` features; the first `s` make the target, with coefficient `beta`.
fn table(seed: u64, n: usize, p: usize, s: usize, beta: f64, classes: bool) -> Vec<Vec<String>> {
    let heading = (0..p).map(|j| format!("x{j}")).chain(["y".into()]).collect();
    let mut rows = vec![heading];
    for i in 0..n {
        let x: Vec<f64> = (0..p).map(|j| noise(seed, i, j)).collect();
        let y = beta * x[..s].iter().sum::<f64>() + noise(seed, i, p);
        let target = match classes {
            true => if y > 0.0 { "yes" } else { "no" }.to_string(),
            false => y.to_string(),
        };
        rows.push(x.iter().map(f64::to_string).chain([target]).collect());
    }
    rows
}

fn csv<'a>(rows: impl IntoIterator<Item = &'a Vec<String>>) -> String {
    rows.into_iter().map(|row| row.join(",") + "\n").collect()
}

/// What a selection says of its features and model.
fn told(result: &Value) -> [&Value; 4] {
    ["selected", "intercept", "final_loss", "trace"].map(|field| &result[field])
}

/// The mean squared error of a result's model on rows, halved as the loss is.
fn loss_on(result: &Value, rows: &[&Vec<String>]) -> f64 {
    let number = |text: &String| text.parse::<f64>().unwrap();
    let one = |row: &&Vec<String>| {
        let selected = result["selected"].as_array().unwrap();
        let part = |f: &Value| {
            f["coefficient"].as_f64().unwrap() * number(&row[f["index"].as_u64().unwrap() as usize])
        };
        let u = result["intercept"].as_f64().unwrap() + selected.iter().map(part).sum::<f64>();
        0.5 * (u - number(row.last().unwrap())).powi(2)
    };
    rows.iter().map(one).sum::<f64>() / rows.len() as f64
}

#[test]
fn a_lane_has_the_digits_of_a_run_of_its_own() {
    let folder = Folder::new();
    let rows = table(1, 90, 40, 3, 1.0, false);
    folder.write("x.csv", csv(&rows));
    for method in ["os-plus", "os", "grafting", "lasso"] {
        let call = format!("x.csv --target y --method {method} --seed 3");
        for choose in ["cv", "cv-min", "ebic"] {
            let chosen = folder.select(&format!("{call} -k 2,5,3 --choose {choose}"));
            let path = chosen["path"].as_array().unwrap();
            let sizes: Vec<_> = path.iter().map(|point| point["k"].as_u64().unwrap()).collect();
            assert_eq!(sizes, [2, 3, 5]);
            for point in path {
                let own = folder.select(&format!("{call} -k {}", point["k"]));
                assert_eq!(point["in_sample"], own["final_loss"], "{method} {choose}");
                if point["chosen"] == true {
                    assert_eq!(told(&chosen), told(&own), "{method} {choose}");
                    assert_eq!(chosen["params"]["k"], point["k"]);
                }
            }
            assert_eq!(path.iter().filter(|point| point["chosen"] == true).count(), 1);
        }
    }
}

/// The folds are found again by hand: a fold's rows are those whose removal, as a file without
/// them, gives a run whose loss on them is the fold's.
#[test]
fn a_held_out_loss_is_that_of_a_run_without_these_rows() {
    let folder = Folder::new();
    let rows = table(2, 80, 30, 3, 1.0, false);
    folder.write("x.csv", csv(&rows));
    let call = "x.csv --target y -k 4 --holdout 0.25 --seed 9";
    let result = folder.select(call);
    assert_eq!(result["holdout"]["rows"], 20);
    assert_eq!(result["holdout"]["error"], Value::Null);
    assert_eq!(result["rows"]["used"], 60);
    // A row was set aside if its target changes the loss there and nothing else.
    let mut aside = Vec::new();
    for i in 1..rows.len() {
        let mut other = rows.clone();
        *other[i].last_mut().unwrap() = "3.5".into();
        folder.write("other.csv", csv(&other));
        let moved = folder.select(&call.replace("x.csv", "other.csv"));
        if moved["final_loss"] == result["final_loss"] {
            let names = |result: &Value| {
                let selected = result["selected"].as_array().unwrap();
                selected
                    .iter()
                    .map(|f| (f["name"].clone(), f["coefficient"].clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(names(&moved), names(&result));
            assert_ne!(moved["holdout"]["loss"], result["holdout"]["loss"], "row {i}");
            aside.push(i);
        }
    }
    assert_eq!(aside.len(), 20);
    let kept = rows.iter().enumerate().filter(|(i, _)| !aside.contains(i)).map(|(_, row)| row);
    folder.write("kept.csv", csv(kept));
    let own = folder.select("kept.csv --target y -k 4 --seed 9");
    let numbers = |result: &Value| {
        let selected = result["selected"].as_array().unwrap();
        selected.iter().map(|f| (f["name"].clone(), f["coefficient"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&own), numbers(&result));
    assert_eq!(own["final_loss"], result["final_loss"]);
    let rest: Vec<_> = aside.iter().map(|i| &rows[*i]).collect();
    let (want, got) = (loss_on(&own, &rest), result["holdout"]["loss"].as_f64().unwrap());
    assert!((want - got).abs() < 1e-12 * want, "{want} {got}");
}

/// Ten of 300 features with coefficient 0.4, 400 rows, forward selection finds 10 in 40 of 40 seeds
/// (measured, specification); a few seeds here.
#[test]
fn cross_validation_finds_the_size() {
    let folder = Folder::new();
    let mut hits = 0;
    for seed in 0..6 {
        folder.write("x.csv", csv(&table(seed, 400, 300, 10, 0.4, false)));
        let call = format!("x.csv --target y -k 2,5,8,10,12,15,20 --seed {seed} --set reserve=10");
        hits += usize::from(folder.select(&call)["selected"].as_array().unwrap().len() == 10);
    }
    assert!(hits >= 5, "{hits} of 6");
}

#[test]
fn classes_have_an_error_rate_and_folds_of_every_class() {
    let folder = Folder::new();
    let rows = table(5, 120, 20, 2, 2.0, true);
    folder.write("x.csv", csv(&rows));
    let result = folder.select("x.csv --target y -k 1,2,4 --holdout 0.2 --class-weight balanced");
    for point in result["path"].as_array().unwrap() {
        let (error, loss) =
            (point["cv_error"].as_f64().unwrap(), point["cv_mean"].as_f64().unwrap());
        assert!((0.0..0.5).contains(&error) && loss < 0.7, "{point}");
    }
    assert!(result["holdout"]["error"].as_f64().unwrap() < 0.35);
    assert_eq!(result["loss_kind"], "in-sample");
    assert!(result["objective"].as_f64().unwrap() >= 0.0);
    // Nine rows of the rarer class are too few for five folds of two.
    let mut few = 0;
    let rare: Vec<_> = rows
        .iter()
        .filter(|row| {
            row.last().unwrap() != "yes" || {
                few += 1;
                few <= 9
            }
        })
        .collect();
    folder.write("few.csv", csv(rare));
    let refused = folder.run("select few.csv --target y -k 1,2");
    refused.refused(1, &["\"yes\" has 9 rows", "--folds"]);
    folder.run("select few.csv --target y -k 1,2 --choose ebic").fine();
}

#[test]
fn what_is_not_described_is_refused() {
    let folder = Folder::new();
    folder.write("x.csv", csv(&table(7, 40, 10, 2, 1.0, false)));
    let call = |words: &str| folder.run(&format!("select x.csv --target y {words}"));
    for (words, said) in [
        ("-k 3 --choose cv", ["choose", "-k 5,10,20"]),
        ("-k 3 --folds 4", ["folds", "-k 5,10,20"]),
        ("-k 3,4 --folds 1", ["folds", "at least 2"]),
        ("-k 3,4 --choose ebic --folds 3", ["folds", "ebic has no folds"]),
        ("-k 3,4 --checkpoint run.kn", ["checkpoint", "a choice of k"]),
        ("-k 3,4 --decisions d.csv", ["decisions", "one selection"]),
        ("-k 3,4 --method asy-os", ["centre", "simulated"]),
        ("-k 3,0", ["k is", "at least 1"]),
        ("-k 3 --holdout 1", ["holdout", "between 0 and 1"]),
        ("-k 3,4 --set gamma=0.5", ["gamma", "--choose ebic"]),
        ("-k 3,4 --method olsth", ["k is", "one size"]),
        ("-k 3 --method olsth --holdout 0.2", ["holdout", "method on features"]),
        ("-k 3,4 --choose ebic --loss squared-epsilon", ["choose", "no likelihood"]),
    ] {
        call(words).refused(2, &said);
    }
    call("-k 3,4 --method saola").refused(1, &["no model", "keepnet compare"]);
    call("-k 50,60").refused(1, &["no size", "32 rows"]);
    let dropped = folder.select("x.csv --target y -k 3,35");
    let warned = dropped["warnings"].to_string();
    assert!(warned.contains("k = 35 is left out"), "{warned}");
    let preview = call("-k 2,3 --dry-run");
    assert!(
        preview.fine().out.contains("lanes     12: 2 sizes on all rows and in 5 folds"),
        "{}",
        preview.out
    );
    assert!(preview.out.contains("os-plus k=2,3 "), "{}", preview.out);
    let table = call("-k 2,3 --holdout 0.2 --report r.html");
    for part in ["cv loss", "in-sample loss", "loss on 8 rows set aside"] {
        assert!(table.fine().out.contains(part), "{part} in {}", table.out);
    }
    assert!(folder.read("r.html").contains("The choice of k"));
}

/// Sparse columns, missing values, weights, a covariate, an offset of 1e8: the fold's loss stays
/// that of the model on the rows, so both storages agree.
#[test]
fn the_path_does_not_depend_on_threads_or_format() {
    let folder = Folder::new();
    let mut rows = table(8, 100, 25, 3, 1.0, false);
    for (i, row) in rows.iter_mut().enumerate().skip(1) {
        row[4] = (1e8 + row[4].parse::<f64>().unwrap()).to_string();
        if i % 9 == 0 {
            row[1] = String::new();
        }
        row.push((1.0 + (i % 3) as f64).to_string());
    }
    rows[0].push("w".into());
    folder.write("x.csv", csv(&rows));
    let call = "--target y --sample-weight w --covar x7 --missing mean -k 2,3,5 --holdout 0.2";
    let call = call
        .replace("--covar x7", "--covar x.csv:x7")
        .replace("x.csv:x7 ", "x.csv:x7 --exclude x7 ");
    let one = folder.select(&format!("x.csv {call} --threads 1"));
    let two = folder.select(&format!("x.csv {call} --threads 2"));
    assert_eq!(common::outside_run(one.clone()), common::outside_run(two));
    assert!(one["path"][0]["cv_mean"].as_f64().unwrap().is_finite());
}
