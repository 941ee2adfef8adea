//! `ofsa` on the slides' design beside a plain version of its recurrence.

use keepnet::RowBlock;
use keepnet::learn::{AveragesParams, Extract, Gram, Ofsa, OfsaParams, RunningAverages};
use keepnet_papers::design::Design;

/// The recurrence of `ofsa` as its formula stands, on the full matrix in f64.
fn annealed(gram: &Gram, k: usize, steps: usize) -> Vec<usize> {
    let (p, s) = (gram.p(), &gram.xy[0]);
    let times = |b: &[f64]| -> Vec<f64> {
        (0..p).map(|i| gram.column(i).iter().zip(b).map(|(s, b)| s * b).sum()).collect()
    };
    let mut v = vec![1.0; p];
    let mut largest = 0.0;
    for _ in 0..30 {
        let next = times(&v);
        largest = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        v = next.iter().map(|v| v / largest).collect();
    }
    let (mut b, mut alive) = (vec![0.0; p], (0..p).collect::<Vec<_>>());
    for e in 1..=steps {
        let slope = times(&b);
        for j in &alive {
            b[*j] -= 1.9 / largest * (slope[*j] - s[*j]);
        }
        let (e, n) = (e as f64, steps as f64);
        let kept = k + ((p - k) as f64 * ((n - 2.0 * e) / (20.0 * e + n)).max(0.0)) as usize;
        alive.sort_by(|i, j| b[*j].abs().total_cmp(&b[*i].abs()));
        for j in alive.drain(kept.min(alive.len())..) {
            b[j] = 0.0;
        }
    }
    alive.sort_unstable();
    alive
}

#[test]
fn ofsa_chooses_what_its_recurrence_in_f64_chooses() {
    // Weak features, of which many are near the line between staying and going.
    for (seed, p) in [(1, 190), (2, 201), (3, 202), (4, 203)] {
        let mut block = RowBlock::new(p, 600);
        Design::new(p, 0.1, false, seed).fill(600, &mut block);
        let mut averages = RunningAverages::new(p, 0, AveragesParams::default()).unwrap();
        averages.push(&block).unwrap();
        let gram = averages.gram().unwrap();
        for iterations in [60, 1000] {
            let ofsa = Ofsa::new(OfsaParams { iterations, ..OfsaParams::default() }).unwrap();
            let want = annealed(&gram, 20, iterations);
            assert_eq!(ofsa.choose(&gram, 20).unwrap(), want, "seed {seed}, {iterations} steps");
        }
    }
}
