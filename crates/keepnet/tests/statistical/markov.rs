//! `iamb` and its forms, `mmpc` and `mmmb` by their pages of pseudo-code, on whole columns, against
//! the methods on a stream with any number of columns held.

use std::collections::BTreeMap;

use keepnet::{
    Budget, Covariate, Driver, Lane, MethodSpec, Problem, Quiet, RunOptions, Selection, registry,
};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use crate::data::{Data, STORAGES, Storage, listed, random, source};
use crate::naive::{constant, residual, square};

/// The class, or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Class,
    Column(usize),
}

use Node::{Class, Column};

/// What is tested, and how.
struct Tests<'a> {
    data: &'a Data,
    covariate: Option<Vec<f64>>,
    g2: bool,
    few: f64,
    alpha: f64,
    /// Two numbers were close, but not equal: rounding decides.
    close: bool,
}

/// p-value and statistic.
type Link = (f64, f64);

impl Tests<'_> {
    fn column(&self, node: Node) -> &[f64] {
        match node {
            Class => &self.data.y,
            Column(at) => &self.data.x[at],
        }
    }

    fn test(&mut self, x: Node, y: Node, set: &[Node]) -> Option<Link> {
        let mut given: Vec<&[f64]> = self.covariate.iter().map(|c| &c[..]).collect();
        given.extend(set.iter().map(|node| self.column(*node)));
        let (x, y) = (self.column(x), self.column(y));
        let link = if self.g2 { g2(x, y, &given, self.few) } else { z(x, y, &given) };
        self.close |= link.is_some_and(|(p, _)| near(p, self.alpha) && p != self.alpha);
        link
    }

    fn holds(&self, link: Option<Link>) -> bool {
        link.is_some_and(|(p, _)| p <= self.alpha)
    }

    /// Position of the strongest of the dependent ones: least p-value, then largest statistic.
    fn strongest(&mut self, links: &[Option<Link>]) -> Option<usize> {
        let mut best: Option<(usize, Link)> = None;
        for (at, link) in links.iter().enumerate() {
            let Some((p, s)) = link.filter(|link| self.holds(Some(*link))) else { continue };
            let Some((_, (bp, bs))) = best else {
                best = Some((at, (p, s)));
                continue;
            };
            self.close |= near(p, bp) && !equal(p, bp) || near(s, bs) && !equal(s, bs);
            if !equal(p, bp) && p < bp || equal(p, bp) && !equal(s, bs) && s > bs {
                best = Some((at, (p, s)));
            }
        }
        best.map(|(at, _)| at)
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * a.abs().max(b.abs()) || a < 1e-290 && b < 1e-290
}

/// Observed and expected cells in maps, within each configuration.
fn g2(x: &[f64], y: &[f64], given: &[&[f64]], few: f64) -> Option<Link> {
    let code = |v: f64| (v * 8.0) as i64;
    let levels = |x: &[f64]| {
        let mut levels: Vec<i64> = x.iter().map(|v| code(*v)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.len() as f64
    };
    let product: f64 = given.iter().map(|g| levels(g)).product();
    let df = ((levels(x) - 1.0) * (levels(y) - 1.0) * product).max(1.0);
    if (x.len() as f64) < few * df {
        return None;
    }
    let mut strata: BTreeMap<Vec<i64>, Vec<(i64, i64)>> = BTreeMap::new();
    for i in 0..x.len() {
        let key = given.iter().map(|g| code(g[i])).collect();
        strata.entry(key).or_default().push((code(x[i]), code(y[i])));
    }
    let mut sum = 0.0;
    for mut rows in strata.into_values() {
        let n = rows.len() as f64;
        let of = |f: &dyn Fn(&(i64, i64)) -> bool| rows.iter().filter(|r| f(r)).count() as f64;
        let mut cells = rows.clone();
        cells.sort_unstable();
        cells.dedup();
        for cell in cells {
            let o = of(&|r| *r == cell);
            sum += o * (o * n / (of(&|r| r.0 == cell.0) * of(&|r| r.1 == cell.1))).ln();
        }
        rows.clear();
    }
    let statistic = (2.0 * sum).max(0.0);
    // Independent within rounding.
    let statistic = if statistic < 1e-9 { 0.0 } else { statistic };
    Some((ChiSquared::new(df).unwrap().sf(statistic), statistic))
}

/// What least squares leaves of both, correlated.
fn z(x: &[f64], y: &[f64], given: &[&[f64]]) -> Option<Link> {
    let mut kept: Vec<&[f64]> = Vec::new();
    for g in given {
        if square(&residual(g, &kept)) > 1e-10 * square(&residual(g, &[])) {
            kept.push(g);
        }
    }
    let df = x.len() as f64 - kept.len() as f64 - 3.0;
    if df < 1.0 {
        return None;
    }
    let (a, b) = (residual(x, &kept), residual(y, &kept));
    if square(&a) < 1e-10 * square(&residual(x, &[])) || square(&b) < 1e-10 * square(y) {
        return Some((1.0, 0.0));
    }
    let product: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    let r = (product / (square(&a) * square(&b)).sqrt()).abs().min(1.0 - 1e-12);
    let r = if r < 1e-12 { 0.0 } else { r };
    Some((2.0 * Normal::standard().sf(df.sqrt() * r.atanh()), r))
}

/// The columns that vary.
fn columns(data: &Data) -> Vec<Node> {
    (0..data.x.len()).filter(|j| !constant(&data.x[*j])).map(Column).collect()
}

fn shrink(t: &mut Tests<'_>, b: &mut Vec<Node>) {
    for x in b.clone() {
        let others: Vec<Node> = b.iter().copied().filter(|o| *o != x).collect();
        let link = t.test(x, Class, &others);
        if !t.holds(link) {
            *b = others;
        }
    }
}

/// The three forms; most members while growing.
fn iamb(t: &mut Tests<'_>, form: &str, most: usize) -> Vec<Node> {
    let (mut b, mut barred): (Vec<Node>, Vec<Node>) = (Vec::new(), Vec::new());
    let mut past: Vec<(Vec<Node>, usize)> = Vec::new();
    loop {
        let free: Vec<Node> =
            columns(t.data).into_iter().filter(|j| !b.contains(j) && !barred.contains(j)).collect();
        let given = b.clone();
        let mut links: Vec<_> = free.iter().map(|j| t.test(*j, Class, &given)).collect();
        let mut new = Vec::new();
        while b.len() < most {
            let Some(at) = t.strongest(&links) else { break };
            if !new.is_empty() && t.test(free[at], Class, &b).is_none() {
                break;
            }
            links[at] = None;
            b.push(free[at]);
            new.push(free[at]);
            if form != "fast-iamb" {
                break;
            }
        }
        if new.is_empty() {
            break;
        }
        if form == "iamb" {
            continue;
        }
        shrink(t, &mut b);
        barred.extend(new.into_iter().filter(|j| !b.contains(j)));
        let mut set = b.clone();
        set.sort_unstable();
        if past.contains(&(set.clone(), barred.len())) {
            break;
        }
        past.push((set, barred.len()));
    }
    if form == "iamb" {
        shrink(t, &mut b);
    }
    b
}

fn subsets(items: &[Node], most: usize) -> Vec<Vec<Node>> {
    let mut all: Vec<Vec<usize>> = (0..1u32 << items.len().min(16))
        .map(|mask| (0..items.len()).filter(|i| mask >> i & 1 == 1).collect())
        .collect();
    all.retain(|set: &Vec<usize>| set.len() <= most);
    all.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    all.into_iter().map(|set| set.into_iter().map(|i| items[i]).collect()).collect()
}

/// Members and separating sets. A test without rows proves nothing unless `independent`.
fn mmpc(
    t: &mut Tests<'_>,
    target: Node,
    (condition, most, independent): (usize, usize, bool),
) -> (Vec<Node>, BTreeMap<Node, Vec<Node>>) {
    let mut live: Vec<(Node, Option<Link>)> =
        columns(t.data).into_iter().filter(|j| *j != target).map(|j| (j, None)).collect();
    if target != Class {
        live.insert(0, (Class, None));
    }
    let mut c: Vec<Node> = Vec::new();
    let mut apart: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
    let refuted = |t: &mut Tests<'_>, x: Node, set: &[Node]| -> (bool, Option<Link>) {
        match t.test(x, target, set) {
            None => (set.is_empty() || independent, None),
            link => (!t.holds(link), link),
        }
    };
    while c.len() < most {
        let sets = match c.split_last() {
            None => vec![Vec::new()],
            Some((new, older)) => {
                let sets = subsets(older, condition - 1).into_iter();
                sets.map(|set| [set, vec![*new]].concat()).collect()
            }
        };
        live.retain_mut(|(j, weakest)| {
            for set in &sets {
                let (dead, link) = refuted(t, *j, set);
                if dead {
                    apart.insert(*j, set.clone());
                    return false;
                }
                let Some((p, s)) = link else { continue };
                let weaker = weakest.is_none_or(|(wp, ws)| {
                    t.close |= near(p, wp) && !equal(p, wp);
                    !equal(p, wp) && p > wp || equal(p, wp) && s < ws
                });
                if weaker {
                    *weakest = Some((p, s));
                }
            }
            true
        });
        let alpha = std::mem::replace(&mut t.alpha, 1.0);
        let links: Vec<Option<Link>> = live.iter().map(|(_, weakest)| *weakest).collect();
        let best = t.strongest(&links);
        t.alpha = alpha;
        let Some(at) = best else { break };
        c.push(live.remove(at).0);
    }
    for x in c.clone() {
        let others: Vec<Node> = c.iter().copied().filter(|o| *o != x).collect();
        for set in subsets(&others, condition) {
            if refuted(t, x, &set).0 {
                apart.insert(x, set);
                c = others;
                break;
            }
        }
    }
    (c, apart)
}

fn mmmb(t: &mut Tests<'_>, limits: (usize, usize, bool), symmetric: bool) -> Vec<Node> {
    let (condition, most, independent) = limits;
    let (parents, apart) = mmpc(t, Class, limits);
    let mut found: Vec<(Node, Vec<Node>)> = Vec::new();
    for x in parents {
        let of = mmpc(t, x, (condition, usize::MAX, independent)).0;
        if !symmetric || of.contains(&Class) {
            found.push((x, of));
        }
    }
    let mut blanket: Vec<Node> = found.iter().map(|(x, _)| *x).collect();
    for (x, of) in found {
        for y in of.into_iter().filter(|y| *y != Class) {
            let Some(set) = apart.get(&y).filter(|_| !blanket.contains(&y)) else { continue };
            let mut set = set.clone();
            if !set.contains(&x) {
                set.push(x);
            }
            let link = t.test(y, Class, &set);
            if t.holds(link) && blanket.len() < most {
                blanket.push(y);
            }
        }
    }
    blanket
}

/// A run of as many scans as it takes.
fn run(
    data: &Data,
    storage: Storage,
    method: &str,
    spec: &MethodSpec,
    covariate: Option<&[f64]>,
    hold: &str,
) -> Selection {
    let info = registry::find(method).unwrap();
    let spec = spec.clone().set("hold", hold);
    let mut problem = Problem::binary(&data.y);
    if let Some(values) = covariate {
        problem.covariates.push(Covariate { name: "age".into(), values: values.to_vec() });
    }
    let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
    let mut source = source(data, storage);
    let options = RunOptions { scans: 0, width: 3, ..RunOptions::default() };
    let driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options).unwrap();
    driver.run(&mut Quiet).unwrap().lanes.remove(0).selection
}

/// Settings of a table.
fn condition(seed: u64) -> usize {
    [3, 1, 2][seed as usize / 2 % 3]
}

fn independent(seed: u64) -> bool {
    seed % 4 == 3
}

fn symmetric(seed: u64) -> bool {
    seed % 8 < 5
}

/// The method against `plain` on random tables.
fn agree(method: &str, plain: impl Fn(&mut Tests<'_>, u64, usize) -> Vec<Node>) {
    let (mut compared, mut left_out, mut several) = (0, 0, 0);
    for seed in 0..600 {
        let data = random(seed);
        let n = data.y.len();
        if n < 6 {
            continue;
        }
        let covariate: Option<Vec<f64>> =
            (seed % 5 == 0).then(|| (0..n).map(|i| f64::from(i as u32 * 7 % 3 % 2)).collect());
        for g2 in [true, false] {
            let (few, alpha) = ([0.0, 2.0, 5.0][seed as usize % 3], [0.05, 0.3][seed as usize % 2]);
            let few = if independent(seed) && method.starts_with("mm") { 5.0 } else { few };
            let k = [usize::MAX, 2][usize::from(seed % 7 == 0)];
            let covariate = covariate.clone();
            let given = covariate.clone();
            let mut t = Tests { data: &data, covariate, g2, few, alpha, close: false };
            let want: Vec<usize> = plain(&mut t, seed, k)
                .into_iter()
                .map(|node| if let Column(j) = node { j } else { usize::MAX })
                .collect();
            if t.close {
                left_out += 1;
                continue;
            }
            compared += 1;
            several += u32::from(want.len() > 1);
            let mut spec = MethodSpec::default().set("alpha", alpha);
            spec.k = (k < usize::MAX).then_some(k);
            spec = match g2 {
                true => spec.set("measure", "g2").set("few-rows", few as u64),
                false => spec.set("measure", "fisher-z"),
            };
            spec = match method.ends_with("iamb") {
                true => spec.set("max-condition", "unlimited"),
                false => spec.set("max-condition", condition(seed)),
            };
            if method == "mmmb" {
                spec = spec.set("symmetric", symmetric(seed));
            }
            if independent(seed) && g2 && method.starts_with("mm") {
                spec = spec.set("few-rows", "independent");
            }
            for (at, hold) in ["1", "2", "7", "all", "auto"].into_iter().enumerate() {
                let storage = STORAGES[(seed as usize + at) % 6];
                let got = run(&data, storage, method, &spec, given.as_deref(), hold);
                let what = format!("seed {seed} {method} g2={g2} {storage:?} hold={hold}");
                assert_eq!(listed(&got), want, "{what}");
            }
        }
    }
    println!("{method}: {compared} compared, {left_out} left out, {several} of several");
    assert!(compared > 1000 && left_out < compared / 10, "{compared} {left_out}");
    assert!(several > 100, "{several}");
}

#[test]
fn iamb_is_its_pseudo_code_for_every_hold_and_storage() {
    agree("iamb", |t, _, k| iamb(t, "iamb", k));
}

#[test]
fn inter_iamb_is_its_pseudo_code_for_every_hold_and_storage() {
    agree("inter-iamb", |t, _, k| iamb(t, "inter-iamb", k));
}

#[test]
fn fast_iamb_is_its_pseudo_code_for_every_hold_and_storage() {
    agree("fast-iamb", |t, _, k| iamb(t, "fast-iamb", k));
}

#[test]
fn mmpc_is_its_pseudo_code_for_every_hold_and_storage() {
    agree("mmpc", |t, seed, k| mmpc(t, Class, (condition(seed), k, independent(seed))).0);
}

#[test]
fn mmmb_is_its_pseudo_code_for_every_hold_and_storage() {
    agree("mmmb", |t, seed, k| mmmb(t, (condition(seed), k, independent(seed)), symmetric(seed)));
}
