//! One process's share of a stream of rows.

use keepnet::{Result, RowBlock, SampleSource};

/// Rows in a row that belong to one share.
const STRIPE: u64 = 256;

/// Every `of`th stripe of rows from stripe `i` on; the others are read past.
pub struct RowShare<'a> {
    source: &'a mut dyn SampleSource,
    block: RowBlock,
    at: u64,
    i: u64,
    of: u64,
}

impl<'a> RowShare<'a> {
    /// Share `i` of `of`.
    pub fn new(source: &'a mut dyn SampleSource, (i, of): (usize, usize)) -> Self {
        let block = RowBlock::new(source.names().len(), 1);
        Self { source, block, at: 0, i: i as u64, of: of as u64 }
    }
}

impl SampleSource for RowShare<'_> {
    fn names(&self) -> &[String] {
        self.source.names()
    }

    fn fingerprint(&self) -> u64 {
        self.source.fingerprint()
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        // To the end of the stripe at most, so that a block is all this share's or all not.
        let left = STRIPE - self.at % STRIPE;
        self.block.reset(left.min(out.room().max(1) as u64) as usize);
        let own = self.at / STRIPE % self.of == self.i;
        let more = self.source.next_block(&mut self.block)?;
        self.at += self.block.len() as u64;
        if own {
            for (at, row) in self.block.rows().enumerate() {
                out.push(row, self.block.y()[at], self.block.weight()[at])?;
            }
        }
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keepnet::Row;

    /// Rows 0, 1, 2, ... of one feature.
    struct Count(u64, u64, Vec<String>);

    impl SampleSource for Count {
        fn names(&self) -> &[String] {
            &self.2
        }

        fn fingerprint(&self) -> u64 {
            0
        }

        fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
            while out.room() > 0 && self.0 < self.1 {
                out.push(Row::F64(&[self.0 as f64]), 0.0, 1.0)?;
                self.0 += 1;
            }
            Ok(self.0 < self.1)
        }
    }

    #[test]
    fn shares_are_disjoint_and_cover_the_rows() {
        let mut seen = Vec::new();
        for i in 0..3 {
            let mut rows = Count(0, 2000, vec!["x".into()]);
            let mut share = RowShare::new(&mut rows, (i, 3));
            let mut block = RowBlock::new(1, 100);
            loop {
                block.reset(100);
                let more = share.next_block(&mut block).unwrap();
                seen.extend(block.rows().map(|row| row.get(0) as u64));
                if !more {
                    break;
                }
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..2000));
    }
}
