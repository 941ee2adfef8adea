//! Random small data sets full of ties, and their columns in every storage.

use keepnet::data::generator;
use keepnet::{
    Budget, ColumnData, Driver, Generated, Groups, Lane, MethodSpec, Numbers, Problem, Quiet,
    RunOptions, Selection, registry,
};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Columns of whole numbers and two classes.
pub struct Data {
    pub x: Vec<Vec<f64>>,
    pub y: Vec<f64>,
}

/// A data set by seed: noisy copies of the classes, copies of columns, relabelled copies,
/// constants and empty columns among them.
pub fn random(seed: u64) -> Data {
    let mut r = generator(seed, 77);
    let n = r.random_range(6..48);
    let p = r.random_range(2..18);
    let mut y: Vec<f64> = (0..n).map(|_| f64::from(r.random_range(0..2))).collect();
    (y[0], y[1]) = (0.0, 1.0);
    let mut x: Vec<Vec<f64>> = Vec::new();
    for _ in 0..p {
        let column = match r.random_range(0..10) {
            0 => vec![0.0; n],
            1 => vec![f64::from(r.random_range(1..3)); n],
            2 | 3 if !x.is_empty() => copied(&x[r.random_range(0..x.len())], &mut r),
            4 => y.clone(),
            5 => (0..n).map(|_| f64::from(u8::from(r.random_range(0..6) == 0))).collect(),
            6 => (0..n).map(|_| f64::from(r.random_range(-1..3))).collect(),
            _ => noisy(&y, &mut r),
        };
        x.push(column);
    }
    Data { x, y }
}

fn noisy(y: &[f64], r: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let (levels, odds) = (r.random_range(2..4), r.random_range(1..6));
    let flip = |y: &f64, r: &mut Xoshiro256PlusPlus| match r.random_range(0..6) < odds {
        true => f64::from(r.random_range(0..levels)),
        false => *y,
    };
    y.iter().map(|y| flip(y, r)).collect()
}

fn copied(column: &[f64], r: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    match r.random_range(0..4) {
        0 => column.to_vec(),
        1 => column.iter().map(|v| 1.0 - v).collect(),
        2 => column.iter().map(|v| 3.0 * v).collect(),
        _ => {
            let mut column = column.to_vec();
            let at = r.random_range(0..column.len());
            column[at] = f64::from(r.random_range(0..3));
            column
        }
    }
}

/// How columns are stored.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    Dense64,
    Dense32,
    Sparse,
    Codes,
    Bits,
    Mixed,
}

pub const STORAGES: [Storage; 6] = [
    Storage::Dense64,
    Storage::Dense32,
    Storage::Sparse,
    Storage::Codes,
    Storage::Bits,
    Storage::Mixed,
];

/// One column in a storage; bits where the values allow, codes otherwise.
pub fn store(x: &[f64], storage: Storage, place: usize) -> ColumnData {
    match storage {
        Storage::Dense64 => ColumnData::Dense(Numbers::F64(x.to_vec())),
        Storage::Dense32 => ColumnData::f32(x.iter().map(|v| *v as f32).collect()),
        Storage::Sparse => {
            let index: Vec<u32> = (0..x.len() as u32).filter(|i| x[*i as usize] != 0.0).collect();
            let value = Numbers::F32(index.iter().map(|i| x[*i as usize] as f32).collect());
            ColumnData::Sparse { rows: x.len(), index, value }
        }
        Storage::Codes => {
            let mut levels = x.to_vec();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            let code = |v: &f64| levels.iter().position(|l| l == v).unwrap() as u8;
            ColumnData::Codes { codes: x.iter().map(code).collect(), levels }
        }
        Storage::Bits if x.iter().all(|v| *v == 0.0 || *v == 1.0) => {
            let mut words = vec![0u64; x.len().div_ceil(64)];
            (0..x.len()).filter(|i| x[*i] == 1.0).for_each(|i| words[i / 64] |= 1 << (i % 64));
            ColumnData::Bits { rows: x.len(), words }
        }
        Storage::Bits => store(x, Storage::Codes, place),
        Storage::Mixed => store(x, STORAGES[place * 7 % 5], place),
    }
}

pub fn source(data: &Data, storage: Storage) -> Generated {
    let columns = data.x.iter().enumerate().map(|(j, x)| store(x, storage, j)).collect();
    Generated::columns(data.y.len(), columns)
}

/// A whole run through the driver.
pub fn run(
    data: &Data,
    storage: Storage,
    method: &str,
    spec: &MethodSpec,
    problem: Problem,
    group: Option<u64>,
) -> Selection {
    let info = registry::find(method).unwrap();
    let selector = registry::make(info, spec, &problem, Budget::unlimited()).unwrap();
    let mut source = source(data, storage);
    let options = RunOptions { scans: 1, width: 3, ..RunOptions::default() };
    let mut driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options).unwrap();
    if let Some(size) = group {
        driver = driver.with_groups(Groups::block(size).unwrap());
    }
    driver.run(&mut Quiet).unwrap().lanes.remove(0).selection
}

/// Indices in the order of the method's own list.
pub fn listed(selection: &Selection) -> Vec<usize> {
    let mut selected: Vec<_> = selection.selected.iter().collect();
    selected.sort_by_key(|s| s.order);
    selected.iter().map(|s| s.id.index as usize).collect()
}
