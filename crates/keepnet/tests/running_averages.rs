//! Properties of running averages: blocks, merges, offsets, forgetting, saving.

use keepnet::learn::{
    AveragesParams, Extract, GRID, Gram, Olasso, OlassoParams, RunningAverages, SavedAverages,
};
use keepnet::{Row, RowBlock, RowProblem};
use proptest::prelude::*;

/// Correlated rows with weights, from a seed.
fn rows(n: usize, p: usize, seed: u64, offset: f64) -> Vec<(Vec<f64>, f64, f64)> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    (0..n)
        .map(|_| {
            let z = next();
            let x: Vec<f64> = (0..p).map(|j| offset + z + (1.0 + j as f64) * next()).collect();
            let y = x[0] - offset + 0.5 * next();
            (x, y, 0.5 + next().abs())
        })
        .collect()
}

fn block(rows: &[(Vec<f64>, f64, f64)]) -> RowBlock {
    let mut block = RowBlock::new(rows[0].0.len(), rows.len());
    for (x, y, w) in rows {
        block.push(Row::F64(x), *y, *w).unwrap();
    }
    block
}

fn empty(p: usize, params: AveragesParams) -> RunningAverages {
    RunningAverages::new(p, 0, params).unwrap()
}

fn pushed(rows: &[(Vec<f64>, f64, f64)], params: AveragesParams) -> RunningAverages {
    let mut averages = empty(rows[0].0.len(), params);
    averages.push(&block(rows)).unwrap();
    averages
}

/// Largest difference of two Grams, relative to 1 for correlations and to sd for the rest.
fn distance(a: &Gram, b: &Gram) -> f64 {
    let mut most = (a.n / b.n - 1.0).abs();
    for i in 0..a.p() {
        most = most.max((a.sd[i] / b.sd[i] - 1.0).abs());
        most = most.max((a.mean[i] - b.mean[i]).abs() / (a.sd[i] + a.mean[i].abs()));
        for o in 0..a.xy.len() {
            most = most.max((a.xy[o][i] - b.xy[o][i]).abs() / a.yy[o].sqrt());
        }
        for j in 0..i {
            most = most.max((a.s[(i, j)] - b.s[(i, j)]).abs());
        }
    }
    most
}

const F64_PRODUCTS: AveragesParams =
    AveragesParams { forget: 0.0, f64_products: true, f32_storage: false };
const F32_PRODUCTS: AveragesParams =
    AveragesParams { forget: 0.0, f64_products: false, f32_storage: false };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn source_blocks_change_no_digit(
        n in 1usize..900, cut in 1usize..400, seed: u64, forget in prop_oneof![Just(0.0), 0.001..0.2],
    ) {
        let all = rows(n, 5, seed, 3.0);
        let params = AveragesParams { forget, f64_products: false, f32_storage: false };
        let once = pushed(&all, params);
        let mut parts = empty(5, params);
        for part in all.chunks(cut) {
            parts.push(&block(part)).unwrap();
            let _ = parts.gram(); // a look in between must not move anything
        }
        prop_assert_eq!(once, parts);
    }

    #[test]
    fn merged_parts_in_any_order_are_the_whole(
        n in 60usize..1500, a in 0.1f64..0.5, b in 0.5f64..0.9, seed: u64, turn in 0usize..3,
    ) {
        let all = rows(n, 6, seed, -2.0);
        let (a, b) = ((a * n as f64) as usize, (b * n as f64) as usize);
        for (params, most) in [(F64_PRODUCTS, 1e-10), (F32_PRODUCTS, 1e-6)] {
            let whole = pushed(&all, params).gram().unwrap();
            let mut parts = [&all[..a], &all[a..b], &all[b..]].map(|part| pushed(part, params));
            parts.rotate_left(turn);
            let mut left = parts[0].clone();
            left.merge(&parts[1]).unwrap();
            left.merge(&parts[2]).unwrap();
            let mut right = parts[1].clone();
            right.merge(&parts[2]).unwrap();
            right.merge(&parts[0]).unwrap();
            prop_assert_eq!(left.rows(), n as u64);
            for merged in [left, right] {
                let off = distance(&whole, &merged.gram().unwrap());
                prop_assert!(off < most, "{off:e} with {params:?}");
            }
        }
    }

    #[test]
    fn a_saved_state_is_the_same_state_and_damage_is_noticed(n in 2usize..600, at: u32, seed: u64) {
        let saved = SavedAverages {
            problem: RowProblem::regression(4),
            averages: pushed(&rows(n, 4, seed, 0.0), F32_PRODUCTS),
        };
        let mut bytes = saved.to_bytes().unwrap();
        prop_assert_eq!(&SavedAverages::from_bytes(&bytes).unwrap(), &saved);
        let at = at as usize % bytes.len();
        bytes[at] ^= 1;
        prop_assert!(SavedAverages::from_bytes(&bytes).is_err());
    }

    #[test]
    fn sparse_rows_have_the_moments_of_dense_ones(n in 20usize..700, seed: u64) {
        let all: Vec<_> = rows(n, 6, seed, 0.0)
            .into_iter()
            .map(|(x, y, w)| {
                let keep = |v: f64| if v.abs() < 0.8 { 0.0 } else { v };
                (x.into_iter().map(keep).collect::<Vec<_>>(), y, w)
            })
            .collect();
        let mut sparse = empty(6, F64_PRODUCTS);
        for part in all.chunks(37) {
            let mut block = RowBlock::new(6, part.len());
            for (x, y, w) in part {
                let index: Vec<u32> = (0..6).filter(|j| x[*j as usize] != 0.0).collect();
                let value: Vec<f64> = index.iter().map(|j| x[*j as usize]).collect();
                block.push(Row::Sparse { index: &index, value: &value }, *y, *w).unwrap();
            }
            sparse.push(&block).unwrap();
        }
        let dense = pushed(&all, F64_PRODUCTS);
        let off = distance(&dense.gram().unwrap(), &sparse.gram().unwrap());
        prop_assert!(off < 1e-10, "{off:e}");
        sparse.merge(&dense).unwrap();
        let mut twice = dense.clone();
        twice.merge(&dense).unwrap();
        prop_assert!(distance(&twice.gram().unwrap(), &sparse.gram().unwrap()) < 1e-10);
    }
}

#[test]
fn an_offset_of_a_million_keeps_the_covariances() {
    let (near, far) = (rows(2000, 8, 4, 0.0), rows(2000, 8, 4, 1e6));
    let plain = pushed(&near, F64_PRODUCTS).gram().unwrap();
    for params in [F64_PRODUCTS, F32_PRODUCTS] {
        let moved = pushed(&far, params).gram().unwrap();
        for i in 0..8 {
            assert!((plain.sd[i] / moved.sd[i] - 1.0).abs() < 1e-6);
            for j in 0..8 {
                assert!((plain.s[(i, j)] - moved.s[(i, j)]).abs() < 1e-6, "{params:?}");
            }
        }
    }
}

#[test]
fn moments_are_those_of_the_textbook_formula() {
    // Weighted mean and covariance computed here by two plain passes.
    let all = rows(777, 4, 9, 5.0);
    let gram = pushed(&all, F64_PRODUCTS).gram().unwrap();
    let weight: f64 = all.iter().map(|r| r.2).sum();
    let mean = |j: usize| all.iter().map(|r| r.2 * r.0[j]).sum::<f64>() / weight;
    let cov = |i: usize, j: usize| {
        let (a, b) = (mean(i), mean(j));
        all.iter().map(|r| r.2 * (r.0[i] - a) * (r.0[j] - b)).sum::<f64>() / weight
    };
    for i in 0..4 {
        assert!((gram.mean[i] - mean(i)).abs() < 1e-12);
        assert!((gram.sd[i] - cov(i, i).sqrt()).abs() < 1e-12);
        for j in 0..i {
            let want = cov(i, j) / (cov(i, i) * cov(j, j)).sqrt();
            assert!((gram.s[(i, j)] - want).abs() < 1e-12);
        }
    }
    let square: f64 = all.iter().map(|r| r.2 * r.2).sum();
    assert!((gram.n - weight * weight / square).abs() < 1e-9);
}

#[test]
fn forgetting_settles_at_its_effective_size_and_refuses_to_merge() {
    for alpha in [0.01, 0.002] {
        let params = AveragesParams { forget: alpha, f64_products: false, f32_storage: false };
        let mut all = rows(8000, 2, 1, 0.0);
        all.iter_mut().for_each(|r| r.2 = 1.0);
        let mut averages = pushed(&all, params);
        let want = (2.0 - alpha) / alpha;
        assert!((averages.effective_rows() / want - 1.0).abs() < 1e-6);
        let other = averages.clone();
        assert!(averages.merge(&other).unwrap_err().to_string().contains("forget"));
    }
}

#[test]
fn forgetting_weighs_rows_by_their_age() {
    // Against explicit weights (1 - alpha)^(n - 1 - i) without forgetting.
    let alpha = 0.003;
    let mut all = rows(1000, 3, 2, 1.0);
    let forgotten =
        pushed(&all, AveragesParams { forget: alpha, f64_products: true, f32_storage: false })
            .gram()
            .unwrap();
    let n = all.len();
    for (i, row) in all.iter_mut().enumerate() {
        row.2 *= (1.0f64 - alpha).powi((n - 1 - i) as i32);
    }
    let weighted = pushed(&all, F64_PRODUCTS).gram().unwrap();
    assert!(distance(&forgotten, &weighted) < 1e-10);
}

#[test]
fn bad_rows_are_refused_and_change_nothing() {
    let all = rows(300, 3, 8, 0.0);
    let mut averages = pushed(&all, F32_PRODUCTS);
    let before = averages.clone();
    for (x, y, w) in [
        ([1.0, f64::NAN, 0.0], 0.0, 1.0),
        ([1.0, 1e30, 0.0], 0.0, 1.0),
        ([1.0, 0.0, 0.0], f64::INFINITY, 1.0),
        ([1.0, 0.0, 0.0], 0.0, 0.0),
    ] {
        let mut block = RowBlock::new(3, 2);
        block.push(Row::F64(&[1.0, 2.0, 3.0]), 0.0, 1.0).unwrap();
        block.push(Row::F64(&x), y, w).unwrap();
        let message = averages.push(&block).unwrap_err().to_string();
        assert!(message.contains("row 301"), "{message}");
        assert_eq!(averages, before);
    }
    let mut other = SavedAverages { problem: RowProblem::regression(3), averages: before };
    let mut renamed = other.clone();
    renamed.problem.names[1] = "weight".into();
    let message = other.merge(&renamed).unwrap_err().to_string();
    assert!(message.contains("\"f1\"") && message.contains("\"weight\""), "{message}");
}

#[test]
fn averages_of_two_targets_are_not_merged() {
    let averages = pushed(&rows(300, 3, 8, 0.0), F32_PRODUCTS);
    let of = |target: &str| SavedAverages {
        problem: RowProblem { target: target.into(), ..RowProblem::regression(3) },
        averages: averages.clone(),
    };
    let message = of("y1").merge(&of("y2")).unwrap_err().to_string();
    assert!(message.contains("\"y1\"") && message.contains("\"y2\""), "{message}");
    // The name is in the file, and one that is not known may join.
    let mut read = SavedAverages::from_bytes(&of("y1").to_bytes().unwrap()).unwrap();
    assert_eq!(read.problem.target, "y1");
    read.merge(&of("")).unwrap();
    let mut unknown = of("");
    unknown.merge(&of("y2")).unwrap();
    assert_eq!((unknown.problem.target.as_str(), unknown.averages.rows()), ("y2", 600));
}

#[test]
fn constant_features_are_left_out() {
    let all: Vec<_> = rows(400, 3, 3, 0.0)
        .into_iter()
        .map(|(x, y, w)| (vec![x[0], 0.1, x[1], 7e5], y, w))
        .collect();
    let gram = pushed(&all, F32_PRODUCTS).gram().unwrap();
    assert_eq!(gram.index, [0, 2]);
    let lasso = Olasso::new(OlassoParams::default()).unwrap();
    let set = lasso.choose(&gram, 1).unwrap();
    let model = gram.model(&set, &gram.refit(&set).unwrap());
    assert_eq!(model.index, [0]);
}

#[test]
fn the_error_of_a_model_is_that_of_its_residuals() {
    let (train, test) = (rows(500, 4, 5, 2.0), rows(GRID + 91, 4, 6, 2.0));
    let gram = pushed(&train, F64_PRODUCTS).gram().unwrap();
    let set = [0, 2, 3];
    let model = gram.model(&set, &gram.refit(&set).unwrap());
    let (mut sum, mut weight) = (0.0, 0.0);
    for (x, y, w) in &test {
        let mut out = [0.0];
        model.predict(Row::F64(x), &mut out);
        sum += w * (y - out[0]) * (y - out[0]);
        weight += w;
    }
    let exact = pushed(&test, F64_PRODUCTS).error_of(&model)[0];
    assert!((exact / (sum / weight) - 1.0).abs() < 1e-10);
}

#[test]
fn averages_in_f32_are_near_those_in_f64_and_refuse_sparse_rows() {
    // 40 blocks: one rounding of 6e-8 each, 6e-8 sqrt(40) = 4e-7 expected; eight times that allowed.
    let all = rows(40 * GRID, 20, 4, 7.0);
    let narrow = AveragesParams { f32_storage: true, ..F64_PRODUCTS };
    let (full, small) = (pushed(&all, F64_PRODUCTS), pushed(&all, narrow));
    let apart = distance(&full.gram().unwrap(), &small.gram().unwrap());
    assert!(apart > 0.0 && apart < 3e-6, "{apart}");
    // Parts merge, and the file is a few bytes longer than half of the other.
    let (mut a, b) = (pushed(&all[..3000], narrow), pushed(&all[3000..], narrow));
    a.merge(&b).unwrap();
    assert!(distance(&full.gram().unwrap(), &a.gram().unwrap()) < 3e-6);
    let size = |averages| {
        let problem = RowProblem::regression(20);
        SavedAverages { problem, averages }.to_bytes().unwrap().len()
    };
    assert!(size(full) > size(small) + 4 * 200);
    let mut sparse = RowBlock::new(20, 1);
    sparse.push(Row::Sparse { index: &[3], value: &[1.0] }, 0.0, 1.0).unwrap();
    assert!(empty(20, narrow).push(&sparse).is_err());
}
