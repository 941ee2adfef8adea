//! Genotypes with linkage disequilibrium, and traits that some of them cause, by seed.
//!
//! In blocks of 500 variants there are 64 founder haplotypes. A founder has an allele where a Gaussian
//! chain along the block exceeds the quantile that its frequency asks for:
//!
//! ```text
//! z_j = 0.97 z_(j-1) + sqrt(1 - 0.97^2) e_j        maf uniform on 0.05 to 0.5
//! ```
//!
//! Each of the two haplotypes of a person copies a founder and goes over to another after geometric
//! runs of mean 100. A trait is `sum w_j x_j` over its causal variants, with `w` from N(0, 1) and `x`
//! of unit variance, and noise of the share `1 - h2` of its variance.

use std::collections::BTreeMap;
use std::str::FromStr;

use rand::{Rng, RngExt, seq::index};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use keepnet::data::generator;
use keepnet::{Error, Result};

/// Variants of a block.
const BLOCK: usize = 500;
/// Founder haplotypes of a block.
const FOUNDERS: usize = 64;
/// Correlation of a founder's chain from one variant to the next.
const CHAIN: f64 = 0.97;
/// Mean number of variants that a haplotype copies from one founder.
const RUN: f64 = 100.0;

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct GenotypeSettings {
    /// People.
    pub n: usize,
    /// Variants.
    pub p: usize,
    /// Traits.
    pub traits: usize,
    /// Causal variants of a trait.
    pub causal: usize,
    /// Share of a trait's variance that its variants explain.
    pub h2: f64,
    /// Share of missing genotypes.
    pub missing: f64,
    /// Seed.
    pub seed: u64,
}

/// Settings with their defaults, as `keepnet generate --list` shows them.
pub const SETTINGS: [(&str, &str); 6] = [
    ("n", "4000"),
    ("p", "20000"),
    ("traits", "1"),
    ("causal", "100"),
    ("h2", "0.5"),
    ("missing", "0.005"),
];

impl GenotypeSettings {
    /// Reads settings by name.
    pub fn parse(given: &BTreeMap<String, String>, seed: u64) -> Result<Self> {
        if let Some(name) =
            given.keys().find(|name| SETTINGS.iter().all(|(known, _)| name != known))
        {
            let known: Vec<&str> = SETTINGS.iter().map(|(known, _)| *known).collect();
            return Err(Error::param("set", name, format!("one of {}", known.join(", "))));
        }
        let whole =
            |name, least: usize| number(given, name, |v: &usize| *v >= least, "a whole number");
        let share = |name, most| number(given, name, |v: &f64| (0.0..=most).contains(v), "a share");
        let new = Self {
            n: whole("n", 2)?,
            p: whole("p", 1)?,
            traits: whole("traits", 1)?,
            causal: whole("causal", 1)?,
            h2: share("h2", 1.0)?,
            missing: share("missing", 0.9)?,
            seed,
        };
        match new.causal <= new.p && new.h2 > 0.0 {
            true => Ok(new),
            false => Err(Error::param("causal", new.causal, "at most p, with h2 above 0")),
        }
    }
}

fn number<T: FromStr>(
    given: &BTreeMap<String, String>,
    name: &'static str,
    allowed: impl Fn(&T) -> bool,
    want: &'static str,
) -> Result<T> {
    let default = SETTINGS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let text = given.get(name).map_or(default, String::as_str);
    let value = text.parse().ok().filter(allowed);
    value.ok_or_else(|| Error::param(name, text, want))
}

/// Variants, made one after the other.
pub struct Genotypes {
    settings: GenotypeSettings,
    made: usize,
    founders: [f64; FOUNDERS],
    // The founder of each haplotype, and the variants for which it stays.
    copies: Vec<(u8, u32)>,
    rng: Xoshiro256PlusPlus,
    // For each trait its causal variants, ascending, and their weights.
    causal: Vec<Vec<(usize, f64)>>,
    traits: Vec<Vec<f64>>,
}

impl Genotypes {
    /// Before the first variant.
    #[must_use]
    pub fn new(settings: GenotypeSettings) -> Self {
        let mut rng = generator(settings.seed, 1);
        let mut truth = generator(settings.seed, 2);
        let mut causal = Vec::with_capacity(settings.traits);
        for _ in 0..settings.traits {
            let mut chosen = index::sample(&mut truth, settings.p, settings.causal).into_vec();
            chosen.sort_unstable();
            let weigh = |j| (j, StandardNormal.sample(&mut truth));
            causal.push(chosen.into_iter().map(weigh).collect());
        }
        let founders = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let traits = vec![vec![0.0; settings.n]; settings.traits];
        let copies = vec![(0, 0); 2 * settings.n];
        Self { settings, made: 0, founders, copies, rng, causal, traits }
    }

    /// The causal variants of each trait and their weights.
    #[must_use]
    pub fn truth(&self) -> &[Vec<(usize, f64)>] {
        &self.causal
    }

    /// The next variant in the code of a .bed file; `false` at the end.
    pub fn next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.made == self.settings.p {
            return false;
        }
        let alleles = self.alleles();
        out.clear();
        out.resize(self.settings.n.div_ceil(4), 0);
        for i in 0..self.settings.n {
            let copies = self.haplotype(2 * i, &alleles) + self.haplotype(2 * i + 1, &alleles);
            let missing =
                self.settings.missing > 0.0 && self.rng.random::<f64>() < self.settings.missing;
            let code = if missing { 0b01 } else { [0b11, 0b10, 0b00][usize::from(copies)] };
            out[i / 4] |= code << (2 * (i % 4));
        }
        self.add_to_traits(out);
        self.made += 1;
        true
    }

    /// Which founders have the allele.
    fn alleles(&mut self) -> [u8; FOUNDERS] {
        let new = self.made.is_multiple_of(BLOCK);
        for z in &mut self.founders {
            let e: f64 = StandardNormal.sample(&mut self.rng);
            *z = if new { e } else { CHAIN * *z + (1.0 - CHAIN * CHAIN).sqrt() * e };
        }
        if new {
            self.copies.iter_mut().for_each(|(_, left)| *left = 0);
        }
        let maf = 0.05 + 0.45 * self.rng.random::<f64>();
        let mut sorted = self.founders;
        sorted.sort_unstable_by(f64::total_cmp);
        // At least one founder, so that the variant varies.
        let carriers = ((maf * FOUNDERS as f64).round() as usize).max(1);
        let least = sorted[FOUNDERS - carriers];
        self.founders.map(|z| u8::from(z >= least))
    }

    fn haplotype(&mut self, at: usize, alleles: &[u8; FOUNDERS]) -> u8 {
        if self.copies[at].1 == 0 {
            let founder = (self.rng.next_u64() % FOUNDERS as u64) as u8;
            let run = 1.0 - RUN * (1.0 - self.rng.random::<f64>()).ln();
            self.copies[at] = (founder, run as u32);
        }
        self.copies[at].1 -= 1;
        alleles[usize::from(self.copies[at].0)]
    }

    /// Adds the variant to the traits that it causes.
    fn add_to_traits(&mut self, bytes: &[u8]) {
        let weight = |causal: &Vec<(usize, f64)>| {
            causal.binary_search_by_key(&self.made, |(j, _)| *j).ok().map(|at| causal[at].1)
        };
        let weights: Vec<Option<f64>> = self.causal.iter().map(weight).collect();
        if weights.iter().all(Option::is_none) {
            return;
        }
        let x = keepnet::Genotypes::new(self.settings.n, bytes, 0.0);
        let counts = x.counts();
        let (known, mean) = (counts.known() as f64, counts.mean());
        let square = counts.copies[1] as f64 + 4.0 * counts.copies[2] as f64;
        let sd = (square / known.max(1.0) - mean * mean).max(0.0).sqrt();
        if sd == 0.0 {
            return;
        }
        let levels = keepnet::Genotypes::new(self.settings.n, bytes, mean).levels();
        for (y, w) in self.traits.iter_mut().zip(weights).filter_map(|(y, w)| Some((y, w?))) {
            let value = |i: usize| w * (levels[usize::from(x.code(i))] - mean) / sd;
            y.iter_mut().enumerate().for_each(|(i, y)| *y += value(i));
        }
    }

    /// The traits, once all variants are made.
    #[must_use]
    pub fn traits(self) -> Vec<Vec<f64>> {
        let Self { settings, mut traits, .. } = self;
        for (t, y) in traits.iter_mut().enumerate() {
            let n = y.len() as f64;
            let mean = y.iter().sum::<f64>() / n;
            let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n;
            let noise = (variance * (1.0 - settings.h2) / settings.h2).sqrt();
            let mut rng = generator(settings.seed, 3 + t as u64);
            y.iter_mut().for_each(|y| {
                let e: f64 = StandardNormal.sample(&mut rng);
                *y += noise * e;
            });
        }
        traits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> GenotypeSettings {
        let given = [("n", "2000"), ("p", "600"), ("causal", "10"), ("traits", "2")];
        let given = given.map(|(name, value)| (name.to_string(), value.to_string()));
        GenotypeSettings::parse(&given.into_iter().collect(), 5).unwrap()
    }

    /// Neighbours are correlated, variants of other blocks are not, and `h2` is what it says.
    #[test]
    fn variants_are_in_linkage_disequilibrium() {
        let mut made = Genotypes::new(settings());
        let (mut all, mut bytes) = (Vec::new(), Vec::new());
        while made.next(&mut bytes) {
            let x = keepnet::Genotypes::new(2000, &bytes, 0.0);
            let mean = x.counts().mean();
            let levels = keepnet::Genotypes::new(2000, &bytes, mean).levels();
            let values = (0..2000).map(|i| levels[usize::from(x.code(i))] - mean);
            all.push(values.collect::<Vec<f64>>());
            let missing = x.counts().missing as f64 / 2000.0;
            assert!(missing < 0.02 && x.counts().minor() > 0);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let r2 = |a: usize, b: usize| {
            dot(&all[a], &all[b]).powi(2) / (dot(&all[a], &all[a]) * dot(&all[b], &all[b]))
        };
        let mean = |step: usize| (0..400).map(|j| r2(j, j + step)).sum::<f64>() / 400.0;
        // The reference of the same design has 0.43, 0.17 and 0.01 at distance 1, 10 and 50.
        assert!((mean(1) - 0.43).abs() < 0.1, "{}", mean(1));
        assert!(mean(50) < 0.06, "{}", mean(50));
        assert!((0..90).map(|j| r2(j, j + 505)).sum::<f64>() / 90.0 < 0.01);
        let truth = made.truth().to_vec();
        for (y, causal) in made.traits().iter().zip(truth) {
            let part = |i: usize| {
                let of = |(j, w): &(usize, f64)| {
                    w * all[*j][i] / (dot(&all[*j], &all[*j]) / 2000.0).sqrt()
                };
                causal.iter().map(of).sum::<f64>()
            };
            let signal: Vec<f64> = (0..2000).map(part).collect();
            let share = dot(&signal, &signal) / dot(y, y);
            assert!((share - 0.5).abs() < 0.1, "{share}");
        }
    }
}
