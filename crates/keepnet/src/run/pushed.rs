//! A run whose columns the caller brings, where there is no source to ask.
//!
//! ```text
//! push(columns)* end_scan (push(columns)* end_scan)* finish
//! ```
//!
//! Columns are checked, offered and logged as by a [`super::Driver`], and the result is that of a
//! driver on a source of the same columns. Where a method wants whole groups, the columns of a
//! group wait until the next group begins.

use super::driver::{RunOptions, RunReport, no_order};
use super::lane::Lane;
use super::observer::{Observer, Progress};
use super::record::Record;
use super::snapshot;
use crate::data::block::{ColumnBlock, FeatureId, RawColumn};
use crate::data::column::ColumnData;
use crate::data::groups::Groups;
use crate::data::name::Name;
use crate::data::order::Order;
use crate::error::{Error, Result};

/// A run under way that takes columns as they are brought.
pub struct Pushed {
    record: Record,
    // Members of a group that may not be whole yet.
    waiting: Vec<RawColumn>,
    next: u64,
}

impl Pushed {
    /// A run from the start of a stream; problems are checked here.
    ///
    /// Of the options only the width counts, and the number of scans for [`Progress`].
    pub fn new(lanes: Vec<Lane>, options: RunOptions, groups: Option<Groups>) -> Result<Self> {
        let mut record = Record::new(lanes, options, None)?;
        record.groups = groups;
        Ok(Self { record, waiting: Vec::new(), next: 0 })
    }

    /// A run that has ended, which takes further columns behind all that came.
    pub(super) fn after(mut record: Record) -> Self {
        record.options.order = Order::Given;
        let next = record.reopen();
        Self { record, waiting: Vec::new(), next }
    }

    /// Opens the scan that ended last for further columns, behind all that came.
    pub fn reopen(&mut self) {
        self.next = self.record.reopen();
    }

    /// Takes the next columns of the scan, each with its name and values.
    ///
    /// An `Err` leaves the run as it was before the block of columns that is wrong.
    pub fn push(
        &mut self,
        columns: Vec<(impl Into<Name>, ColumnData)>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let first = self.next;
        let raw = columns.into_iter().enumerate().map(|(at, (name, data))| RawColumn {
            id: FeatureId::new(first + at as u64),
            name: name.into(),
            source: 0,
            data,
        });
        let raw: Vec<RawColumn> = raw.collect();
        let Some((groups, _)) = self.record.whole_groups() else {
            for columns in chunks(raw, self.record.options.width) {
                let count = columns.len() as u64;
                self.offer(columns, observer)?;
                self.next += count;
            }
            return Ok(());
        };
        let groups = groups
            .ok_or_else(|| Error::param("groups", "not given", "FILE, prefix:SEP or block:N"))?;
        raw.iter().try_for_each(|column| groups.of_column(column).map(drop))?;
        // The columns that wait are of one group, and need not be looked through again.
        let known = self.waiting.len();
        for column in raw {
            // The caller's memory is only lent for this call.
            let data = column.data.view().to_data();
            self.waiting.push(RawColumn { data, ..column });
            self.next += 1;
        }
        let waiting = &self.waiting;
        let mut cut = waiting.len();
        while cut > known && groups.same(&waiting[cut - 1], &waiting[waiting.len() - 1])? {
            cut -= 1;
        }
        if cut == known && known > 0 && groups.same(&waiting[0], &waiting[waiting.len() - 1])? {
            cut = 0;
        }
        let rest = self.waiting.split_off(cut);
        let ready = std::mem::replace(&mut self.waiting, rest);
        self.offer(ready, observer)
    }

    /// Offers one block.
    fn offer(&mut self, columns: Vec<RawColumn>, observer: &mut dyn Observer) -> Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        let mut block = ColumnBlock::new(columns.len());
        columns.into_iter().for_each(|column| block.push(column));
        if let Some((Some(groups), whole)) = self.record.whole_groups() {
            whole.pass(groups, &block)?;
        }
        self.record.offer(&block, observer)?;
        observer.progress(&self.progress())?;
        Ok(())
    }

    /// Ends a scan; `true` when another would change nothing.
    pub fn end_scan(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let waiting = std::mem::take(&mut self.waiting);
        self.offer(waiting, observer)?;
        let converged = self.record.end_scan(observer)?;
        self.next = 0;
        Ok(converged)
    }

    /// Forgets the fates that the last scan counted, as each scan counts its own.
    pub fn begin_scan(&mut self) -> Result<()> {
        if self.record.options.order != Order::Given {
            return Err(no_order());
        }
        self.record.begin_scan();
        Ok(())
    }

    /// Where the run stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.record.progress(None)
    }

    /// The result so far, without the last refit; the run goes on.
    ///
    /// Workers that are still busy are waited for.
    pub fn look(&mut self, observer: &mut dyn Observer) -> Result<RunReport> {
        self.record.settle(observer)?;
        self.record.report(false)
    }

    /// Refits and gives the result.
    pub fn finish(&mut self, complete: bool) -> Result<RunReport> {
        let complete = complete && self.record.whole();
        self.record.finish(complete)
    }

    /// The whole state.
    pub fn save(&mut self, observer: &mut dyn Observer) -> Result<Vec<u8>> {
        self.record.settle(observer)?;
        let waiting: Vec<(FeatureId, _, &ColumnData)> =
            self.waiting.iter().map(|c| (c.id, c.name.text(), &c.data)).collect();
        snapshot::encode(&(self.record.save()?, waiting, self.next))
    }

    /// Takes up a state that [`Pushed::save`] gave, on a run made with the same settings.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State = (Vec<u8>, Vec<(FeatureId, String, ColumnData)>, u64);
        let (record, waiting, next): State = snapshot::decode(state)?;
        let rows = self.record.rows().unwrap_or(0);
        let fits = waiting.iter().all(|(_, _, data)| data.sound() && data.view().rows() == rows);
        snapshot::ensure(fits, "a column that waits has other rows")?;
        self.record.restore(&record, None)?;
        let raw =
            |(id, name, data): (_, String, _)| RawColumn { id, name: name.into(), source: 0, data };
        self.waiting = waiting.into_iter().map(raw).collect();
        self.next = next;
        Ok(())
    }
}

/// Parts of at most `width` columns.
fn chunks(columns: Vec<RawColumn>, width: usize) -> impl Iterator<Item = Vec<RawColumn>> {
    let mut rest = columns.into_iter();
    std::iter::from_fn(move || {
        let part: Vec<RawColumn> = rest.by_ref().take(width.max(1)).collect();
        Some(part).filter(|part| !part.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{self, MethodSpec};
    use crate::{Budget, Driver, Generated, Problem, Quiet};

    const ROWS: usize = 60;

    fn value(i: usize, j: u64) -> f64 {
        (1e4 * ((j as usize * ROWS + i + 2) as f64).ln().sin()).fract()
    }

    fn column(j: u64) -> ColumnData {
        ColumnData::dense((0..ROWS).map(|i| value(i, j)).collect())
    }

    fn lane(method: &str) -> Lane {
        let y = |i| 2.0 * value(i, 17) - value(i, 40) + 0.5 * value(i, 71);
        let labels: Vec<f64> = (0..ROWS).map(|i| f64::from(y(i) > 0.0)).collect();
        let problem = Problem::binary(&labels);
        let method = registry::find(method).unwrap();
        let spec = match method.name {
            "group-saola" => MethodSpec::default().set("alpha", 0.5),
            _ => MethodSpec::k(5),
        };
        let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
        Lane::new(problem, selector)
    }

    fn names(report: &RunReport) -> Vec<(u64, Vec<f64>)> {
        let lane = &report.lanes[0];
        lane.selection.selected.iter().map(|f| (f.id.index, f.coefficient.clone())).collect()
    }

    fn pulled(method: &str, scans: u32) -> RunReport {
        let mut source = Generated::new("x", ROWS, 90, |j| Ok(column(j)));
        let options = RunOptions { scans, ..RunOptions::default() };
        let driver = Driver::new(&mut source, vec![lane(method)], options).unwrap();
        driver.with_groups(Groups::block(4).unwrap()).run(&mut Quiet).unwrap()
    }

    #[test]
    fn pushing_in_any_pieces_and_resuming_is_pulling() {
        for (method, scans) in [("os-plus", 2), ("os", 2), ("saola", 1), ("group-saola", 1)] {
            let want = pulled(method, scans);
            assert!(!names(&want).is_empty(), "{method}");
            for piece in [1, 3, 7, 90] {
                let groups = || Some(Groups::block(4).unwrap());
                let new =
                    || Pushed::new(vec![lane(method)], RunOptions::default(), groups()).unwrap();
                let mut run = new();
                for _ in 0..scans {
                    run.begin_scan().unwrap();
                    for first in (0..90u64).step_by(piece) {
                        let end = (first + piece as u64).min(90);
                        let part = (first..end).map(|j| (format!("f{j}"), column(j))).collect();
                        run.push(part, &mut Quiet).unwrap();
                        let state = run.save(&mut Quiet).unwrap();
                        run = new();
                        run.restore(&state).unwrap();
                    }
                    if run.end_scan(&mut Quiet).unwrap() {
                        break;
                    }
                }
                let got = run.finish(true).unwrap();
                assert_eq!(names(&got), names(&want), "{method} in pieces of {piece}");
                assert_eq!(got.lanes[0].dropped, want.lanes[0].dropped, "{method}");
                assert_eq!((got.features_seen, got.scans), (90, want.scans), "{method}");
            }
        }
    }

    #[test]
    fn a_block_that_is_refused_leaves_the_run_as_it_was() {
        let mut run = Pushed::new(vec![lane("os-plus")], RunOptions::default(), None).unwrap();
        run.begin_scan().unwrap();
        let part = |range: std::ops::Range<u64>| range.map(|j| (format!("f{j}"), column(j)));
        run.push(part(0..40).collect(), &mut Quiet).unwrap();
        let holes = ColumnData::dense(vec![f64::NAN; ROWS]);
        let error = run.push(vec![("hole", holes)], &mut Quiet).unwrap_err();
        assert!(error.to_string().contains("hole"), "{error}");
        run.push(part(40..90).collect(), &mut Quiet).unwrap();
        run.end_scan(&mut Quiet).unwrap();
        assert_eq!(names(&run.finish(true).unwrap()), names(&pulled("os-plus", 1)));
    }
}
