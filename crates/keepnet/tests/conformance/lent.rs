//! Columns that are brought by a caller are lent for the call only: he may write over their memory
//! as soon as it returns.

use std::sync::Arc;

use keepnet::registry::{self, Stream};
use keepnet::{
    Budget, ColumnData, Groups, Lane, LossKind, MethodSpec, NumberKind, Numbers, Pushed, Quiet,
    SharedBytes, SparseEntries,
};

use crate::cases::cases;
use crate::common::{Data, width};

/// The memory of a column, dense or sparse.
enum Memory {
    Dense(SharedBytes),
    Sparse(Arc<SparseEntries>),
}

impl Memory {
    fn new(j: usize, x: &[f64]) -> Self {
        if j.is_multiple_of(2) {
            return Self::Dense(Arc::new(
                x.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>(),
            ));
        }
        let (index, value) = ((0..x.len() as u32).collect(), Numbers::F64(x.to_vec()));
        Self::Sparse(Arc::new(SparseEntries::Owned { index, value }))
    }

    fn lend(&self, rows: usize) -> ColumnData {
        match self {
            Self::Dense(bytes) => {
                let (bytes, kind) = (Arc::clone(bytes), NumberKind::F64);
                ColumnData::Shared { bytes, start: 0, rows, kind }
            }
            Self::Sparse(entries) => {
                let entries = Arc::clone(entries);
                ColumnData::SharedSparse { rows, entries, range: 0..rows }
            }
        }
    }

    fn is_held(&self) -> bool {
        match self {
            Self::Dense(bytes) => Arc::strong_count(bytes) > 1,
            Self::Sparse(entries) => Arc::strong_count(entries) > 1,
        }
    }
}

/// Brings all columns in one call; how many of them something refers to when it returns.
fn held(data: &Data, lane: Lane, groups: Option<Groups>) -> usize {
    let mut run = Pushed::new(vec![lane], width(16), groups).unwrap();
    run.begin_scan().unwrap();
    let memory: Vec<Memory> =
        data.columns.iter().enumerate().map(|(j, x)| Memory::new(j, x)).collect();
    let lent = memory.iter().enumerate().map(|(j, x)| (format!("f{j}"), x.lend(data.n)));
    run.push(lent.collect(), &mut Quiet).unwrap();
    let held = memory.iter().filter(|memory| memory.is_held()).count();
    run.end_scan(&mut Quiet).unwrap();
    run.finish(true).unwrap();
    held
}

#[test]
fn nothing_refers_to_a_callers_memory_after_the_call() {
    let data = Data::normal(60, 40, 31);
    for case in cases() {
        let grouped = case.method.stream == Stream::Groups;
        let groups = grouped.then(|| Groups::block(3).unwrap());
        let held = held(&data, case.lane(case.problem(&data)), groups);
        assert_eq!(held, 0, "{case} holds on to columns");
    }
}

/// Workers on threads have features to do when the call returns; the cases have none such.
#[test]
fn workers_on_threads_have_copies() {
    let data = Data::normal(5000, 100, 32);
    let problem = data.problem(LossKind::Squared);
    let spec = MethodSpec::k(30).set("workers", 3);
    let method = registry::find("asy-os").unwrap();
    let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
    assert_eq!(held(&data, Lane::new(problem, selector), None), 0);
}
