//! Each design has the distribution that its name promises.

use std::collections::BTreeMap;

use super::*;

fn workload(name: &str, settings: &[(&str, &str)]) -> Workload {
    let settings: BTreeMap<_, _> =
        settings.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
    Workload::parse(name, &settings).unwrap()
}

fn values(workload: &Workload, j: u64) -> Vec<f64> {
    let mut out = vec![0.0; workload.rows()];
    workload.column(j).view().fill(&mut out);
    out
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let ((ma, sa), (mb, sb)) = (spread(a), spread(b));
    let cross: f64 = a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum();
    cross / (a.len() as f64 * sa * sb)
}

#[test]
fn the_papers_sizes_follow_from_p() {
    // round(1.2 * 100 * log2(2000)) = round(1315.89...) and for p = 6000 round(1506.09...).
    assert_eq!(workload("regression", &[]).rows(), 1316);
    assert_eq!(workload("regression", &[("p", "6000")]).rows(), 1506);
}

#[test]
fn a_column_is_a_function_of_seed_and_index() {
    let a = workload("regression", &[("seed", "3")]);
    let b = workload("regression", &[("seed", "3")]);
    assert_eq!(values(&a, 7), values(&b, 7));
    assert_ne!(values(&a, 7), values(&a, 8));
    assert_ne!(values(&a, 7), values(&workload("regression", &[("seed", "4")]), 7));
    assert_eq!(a.target(), b.target());
}

#[test]
fn another_sample_has_the_same_truth_and_other_rows() {
    for name in ["classification", "scales", "sparse"] {
        let size = [("n", "200"), ("p", "400"), ("s", "5"), ("sample", "1")];
        let size = if name == "sparse" {
            [&size[..], &[("per-row", "20")]].concat()
        } else {
            size.to_vec()
        };
        let other = workload(name, &size);
        let first = Workload { sample: 0, ..other.clone() };
        assert_eq!(first.truth(), other.truth(), "{name}");
        assert_ne!(values(&first, 0), values(&other, 0), "{name}");
    }
}

#[test]
fn noise_is_the_difference_between_target_and_signal() {
    // sd 0.1 as stated, 0.1 sqrt(n) as matched; n = 1316 gives a relative error near 0.02.
    for (noise, sd) in [("stated", 0.1), ("matched", 0.1 * 1316f64.sqrt()), ("2", 2.0)] {
        let data = workload("regression", &[("noise", noise)]);
        let Target::Numbers(y) = data.target() else { panic!("numbers") };
        let mut rest = y;
        for (j, w) in data.truth() {
            data.column(j).view().axpy(-w, &mut rest);
        }
        assert!((spread(&rest).1 / sd - 1.0).abs() < 0.1, "{noise}: {}", spread(&rest).1);
    }
}

#[test]
fn toeplitz_columns_correlate_by_their_distance() {
    // The standard error of a correlation is at most 1 / sqrt(20,000) = 0.007.
    let data = workload("toeplitz", &[("n", "20000"), ("p", "100"), ("s", "3"), ("rho", "0.8")]);
    let columns: Vec<_> =
        [0, 1, 2, 5, 50, 51, 99].iter().map(|j| (*j, values(&data, *j))).collect();
    for (i, a) in &columns {
        assert!((spread(a).1 - 1.0).abs() < 0.03);
        for (j, b) in &columns {
            let want = 0.8f64.powi((*i as i32 - *j as i32).abs());
            assert!((correlation(a, b) - want).abs() < 0.035, "{i} {j}");
        }
    }
}

#[test]
fn the_stress_designs_have_their_marks() {
    let rows = ("n", "4000");
    let equal = workload("equicorrelated", &[rows]);
    assert!((correlation(&values(&equal, 3), &values(&equal, 900)) - 0.5).abs() < 0.06);
    let offset = workload("offset", &[rows]);
    assert!((spread(&values(&offset, 1)).0 - 5.0).abs() < 0.1);
    let binary = workload("binary", &[rows]);
    assert!((spread(&values(&binary, 1)).0 - 0.02).abs() < 0.01);
    let twice = workload("duplicates", &[]);
    assert_eq!(values(&twice, 10), values(&twice, 11));
    assert!(twice.truth().iter().all(|(j, _)| j % 2 == 0));
    let heavy = values(&workload("student", &[rows]), 0);
    assert!(heavy.iter().fold(0.0f64, |most, v| most.max(v.abs())) > 20.0);
    let scales = workload("scales", &[]);
    let sizes: Vec<f64> = (0..50).map(|j| spread(&values(&scales, j)).1).collect();
    assert!(sizes.iter().any(|s| *s > 100.0) && sizes.iter().any(|s| *s < 0.01));
}

#[test]
fn sparse_columns_follow_the_power_law() {
    let size = [("n", "1000"), ("p", "5000"), ("s", "20"), ("per-row", "50")];
    let data = workload("sparse", &size);
    let counts: Vec<usize> = (0..5000)
        .map(|j| match data.column(j) {
            ColumnData::Sparse { index, .. } => index.len(),
            _ => panic!("sparse"),
        })
        .collect();
    let total: usize = counts.iter().sum();
    assert!((total as f64 / 50_000.0 - 1.0).abs() < 0.1, "{total}");
    assert_eq!(*counts.iter().max().unwrap(), 500);
    assert!(data.truth().iter().all(|(j, _)| counts[*j as usize] >= 20));
}

#[test]
fn what_is_unknown_or_out_of_range_is_named() {
    let refused = |name: &str, key: &str, value: &str| {
        let settings = BTreeMap::from([(key.to_string(), value.to_string())]);
        Workload::parse(name, &settings).unwrap_err().to_string()
    };
    assert!(refused("nonesuch", "p", "5").contains("toeplitz"));
    assert!(refused("wide", "q", "5").contains("knows n, p, s"));
    assert!(refused("toeplitz", "rho", "1").contains("below 1"));
    assert!(refused("iid", "s", "2000").contains("1000 columns"));
    assert!(refused("regression", "noise", "-1").contains("stated"));
    assert!(refused("iid", "n", "0").contains("at least 1"));
}
