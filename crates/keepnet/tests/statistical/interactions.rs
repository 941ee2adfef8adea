//! `ossfs-dd` and `sfs-fi` by their pages of pseudo-code, written out, against the methods.

use keepnet::{MethodSpec, Problem};

use crate::data::{Data, STORAGES, listed, random, run};
use crate::naive::{Measure, above, at_least, constant, correlation, dependent, information};

/// `I(f; y | t)` in bits by the chain rule, or the partial correlation where it is tested.
fn given(m: Measure, f: &[f64], y: &[f64], t: &[f64], alpha: f64) -> Option<f64> {
    if m != Measure::Z {
        let both: Vec<f64> = y.iter().zip(t).map(|(y, t)| 100.0 * y + t).collect();
        return Some(information(f, &both).0 - information(f, t).0);
    }
    let (fy, ft, ty) = (correlation(f, y), correlation(f, t), correlation(t, y));
    let left = (1.0 - ft * ft) * (1.0 - ty * ty);
    let r = (left > 1e-14).then(|| ((fy - ft * ty) / left.sqrt()).abs())?;
    dependent(r, y.len() as f64 - 4.0, alpha).then_some(r)
}

fn between(m: Measure, a: &[f64], b: &[f64], alpha: f64) -> Option<f64> {
    let c = m.strength(a, b);
    (m != Measure::Z || dependent(c, a.len() as f64 - 3.0, alpha)).then_some(c)
}

/// OSSFS-DD with a pool of three; `None` where a threshold is within rounding of a strength.
fn ossfs(data: &Data, m: Measure, alpha: f64, [low, high]: [f64; 2]) -> Option<Vec<usize>> {
    let pool = 3;
    let s: Vec<f64> = data.x.iter().map(|x| m.strength(x, &data.y)).collect();
    let (mut kept, mut waiting, mut seen) = (Vec::new(), Vec::new(), Vec::<f64>::new());
    let mut near = false;
    let mut hi = 0.0;
    let flush = |waiting: &mut Vec<usize>, kept: &mut Vec<usize>, hi: f64, near: &mut bool| {
        let mut paired: Vec<usize> = Vec::new();
        for (at, i) in waiting.iter().enumerate() {
            let partner = waiting[at + 1..].iter().find(|j| {
                let c = given(m, &data.x[*i], &data.y, &data.x[**j], alpha);
                *near |= c.is_some_and(|c| (s[*i] + c - 2.0 * hi).abs() < 1e-9);
                c.is_some_and(|c| s[*i] + c >= 2.0 * hi)
            });
            paired.extend(partner.iter().flat_map(|j| [*i, **j]));
        }
        kept.extend(waiting.drain(..).filter(|i| paired.contains(i)));
    };
    for t in (0..data.x.len()).filter(|t| !constant(&data.x[*t])) {
        seen.push(s[t]);
        let n = seen.len() as f64;
        let mean = seen.iter().sum::<f64>() / n;
        let square: f64 = seen.iter().map(|s| (s - mean) * (s - mean)).sum();
        let deviation = (square / (n - 1.0).max(1.0)).sqrt();
        let lo = mean + low * deviation;
        hi = mean + high * deviation;
        if seen.len() > 2 {
            near |= (s[t] - lo).abs() < 1e-9 || (s[t] - hi).abs() < 1e-9;
            if s[t] <= lo {
                continue;
            }
            if s[t] >= hi {
                let mut removed = Vec::new();
                let lost = kept.iter().any(|f: &usize| {
                    let c = given(m, &data.x[*f], &data.y, &data.x[t], alpha);
                    let Some(c) = c else { return false };
                    near |= (c + s[*f] - 2.0 * hi).abs() < 1e-9;
                    let short = c + s[*f] < 2.0 * hi;
                    if short && !at_least(s[*f], s[t]) {
                        removed.push(*f);
                    }
                    short && at_least(s[*f], s[t])
                });
                if !lost {
                    kept.retain(|f| !removed.contains(f));
                    kept.push(t);
                }
                continue;
            }
        }
        waiting.push(t);
        if waiting.len() == pool {
            flush(&mut waiting, &mut kept, hi, &mut near);
        }
    }
    flush(&mut waiting, &mut kept, hi, &mut near);
    (!near).then_some(kept)
}

/// SFS-FI with `gamma`; `None` where a mean gain is within rounding of a threshold.
fn sfs(data: &Data, m: Measure, alpha: f64, gamma: f64) -> Option<Vec<usize>> {
    let s: Vec<f64> = data.x.iter().map(|x| m.strength(x, &data.y)).collect();
    let mut kept: Vec<usize> = Vec::new();
    'newcomers: for t in (0..data.x.len()).filter(|t| !constant(&data.x[*t])) {
        if !m.relevant(s[t], data.y.len(), alpha) {
            continue;
        }
        let gain = |f: &usize| {
            given(m, &data.x[*f], &data.y, &data.x[t], alpha).map(|given| given - s[*f])
        };
        let gains: Vec<Option<f64>> = kept.iter().map(gain).collect();
        let known: Vec<f64> = gains.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        if !kept.is_empty() {
            if known.is_empty() {
                continue;
            }
            if (mean - gamma).abs() < 1e-9 {
                return None;
            }
            if !above(mean, 0.0) {
                continue;
            }
            if mean < gamma {
                let (mut at, mut passed) = (0, 0);
                while at < kept.len() {
                    let f = kept[at];
                    let own = gains[passed];
                    (at, passed) = (at + 1, passed + 1);
                    if own.is_some_and(|gain| above(gain, 0.0)) {
                        continue;
                    }
                    let Some(c) = between(m, &data.x[t], &data.x[f], alpha) else { continue };
                    if above(s[f], s[t]) && at_least(c, s[t]) {
                        continue 'newcomers;
                    }
                    if above(s[t], s[f]) && at_least(c, s[f]) {
                        at -= 1;
                        kept.remove(at);
                    }
                }
            }
        }
        kept.push(t);
    }
    Some(kept)
}

#[test]
fn the_selections_are_those_of_the_pseudo_code_in_every_storage() {
    let (mut several, mut compared) = ([0, 0], [0, 0]);
    for seed in 0..1500 {
        let data = random(seed);
        let alpha = [0.05, 0.4][seed as usize % 2];
        for m in [Measure::Mi, Measure::Z] {
            let mut spec = MethodSpec::default().set("measure", m.name());
            if m == Measure::Z {
                spec = spec.set("alpha", alpha);
            }
            let storages = match seed % 3 {
                0 => &STORAGES[..],
                _ => &STORAGES[seed as usize % 6..][..1],
            };
            // The defaults keep next to nothing of a dozen features.
            let around = [[1.0, 2.0], [0.0, 0.3], [0.0, 0.8]][seed as usize % 3];
            let cases = [
                (
                    "ossfs-dd",
                    spec.clone().set("pool", 3).set("low", around[0]).set("high", around[1]),
                    ossfs(&data, m, alpha, around),
                ),
                ("sfs-fi", spec.clone().set("gamma", 0.1), sfs(&data, m, alpha, 0.1)),
            ];
            for (at, (name, spec, want)) in cases.into_iter().enumerate() {
                let Some(want) = want else { continue };
                compared[at] += 1;
                several[at] += u32::from(want.len() > 1);
                for storage in storages {
                    let got = run(&data, *storage, name, &spec, Problem::binary(&data.y), None);
                    assert_eq!(listed(&got), want, "seed {seed} {m:?} {name} {storage:?}");
                }
            }
        }
    }
    assert!(compared.iter().all(|count| *count > 1500), "{compared:?}");
    assert!(several.iter().all(|count| *count > 300), "{several:?}");
}

#[test]
fn with_k_the_strongest_stay() {
    for seed in 0..60 {
        let data = random(seed);
        for name in ["ossfs-dd", "sfs-fi"] {
            let spec = MethodSpec { k: Some(2), ..MethodSpec::default() }.set("measure", "mi");
            let problem = Problem::binary(&data.y);
            let got = run(&data, STORAGES[0], name, &spec, problem, None);
            assert!(got.selected.len() <= 2, "{name} {seed}");
        }
    }
}
