//! Sparse columns by index, in the shape of a text data set.

use keepnet::data::generator;
use rand::RngExt;

/// A sparse stream in the shape of a text data set: power-law column counts, and informative
/// columns in families, as the words of a topic are.
pub struct SparseShape {
    pub rows: usize,
    pub features: u64,
    pub nonzeros: f64,
    pub families: u64,
    seed: u64,
}

/// Members of a family.
const FAMILY: u64 = 24;

impl SparseShape {
    pub fn new(rows: usize, features: u64, nonzeros: f64, families: u64, seed: u64) -> Self {
        Self { rows, features, nonzeros, families, seed }
    }

    /// Two classes by row, nearly balanced.
    pub fn target(&self) -> Vec<f64> {
        let mut random = generator(self.seed, u64::MAX);
        (0..self.rows).map(|_| f64::from(u8::from(random.random::<f64>() < 0.45))).collect()
    }

    /// Appends the rows and values of column `j`.
    pub fn column(&self, j: u64, y: &[f64], index: &mut Vec<u32>, value: &mut Vec<f32>) {
        let mut random = generator(self.seed, j);
        let start = index.len();
        let every = self.features / (self.families * FAMILY).max(1);
        if self.families > 0
            && j.is_multiple_of(every.max(1))
            && j / every.max(1) < self.families * FAMILY
        {
            self.topical(j / every.max(1) % self.families, y, &mut random, index);
        } else {
            // Pareto with exponent 1.25: mean 5 x_min, cut at a tenth of the rows.
            let mean = self.nonzeros / self.features as f64;
            let scale = mean / 4.2;
            let count = scale * random.random::<f64>().powf(-1.0 / 1.25);
            let whole = count.floor() + f64::from(u8::from(random.random::<f64>() < count.fract()));
            let count = (whole as usize).min(self.rows / 10);
            index.extend((0..count).map(|_| random.random_range(0..self.rows as u32)));
        }
        index[start..].sort_unstable();
        let mut end = start;
        for at in start..index.len() {
            if end == start || index[end - 1] != index[at] {
                index[end] = index[at];
                end += 1;
            }
        }
        index.truncate(end);
        value.extend((start..end).map(|_| 1.0 + random.random_range(0..4) as f32 * 0.5));
    }

    /// A word of a topic: most of the topic's rows, and a few others.
    fn topical(&self, family: u64, y: &[f64], random: &mut impl rand::Rng, index: &mut Vec<u32>) {
        let mut topic = generator(self.seed ^ 0xfeed, family);
        let size = self.rows / (40 + 4 * (family as usize % 40));
        let lean = 0.6 + 0.35 * topic.random::<f64>();
        let keep = 0.3 + 0.6 * random.random::<f64>();
        for _ in 0..size {
            let row = topic.random_range(0..self.rows as u32);
            let fits =
                topic.random::<f64>() < if y[row as usize] == 1.0 { lean } else { 1.0 - lean };
            if fits && random.random::<f64>() < keep {
                index.push(row);
            }
        }
        index.extend((0..size / 10).map(|_| random.random_range(0..self.rows as u32)));
    }
}
