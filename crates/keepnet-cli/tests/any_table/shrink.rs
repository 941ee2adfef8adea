//! A failing case made smaller while it still fails.

use crate::case::Case;
use crate::relations::with;
use crate::table::{Kind, Table};

/// Most cases that are tried.
const TRIES: usize = 400;

/// The smallest failing case that was found, and what is wrong with it.
pub fn shrink(case: &Case, fails: &dyn Fn(&Case) -> Option<String>) -> (Case, String) {
    let mut best = case.clone();
    let mut why = fails(case).unwrap_or_else(|| "it does not fail a second time".into());
    let mut tries = 0;
    loop {
        let mut better = None;
        for table in smaller(&best.table) {
            tries += 1;
            let next = with(&best, table);
            if let Some(found) = fails(&next) {
                better = Some((next, found));
                break;
            }
            if tries > TRIES {
                break;
            }
        }
        match better {
            Some((next, found)) if tries <= TRIES => (best, why) = (next, found),
            _ => return (best, why),
        }
    }
}

/// Tables with less in them, the boldest first.
fn smaller(table: &Table) -> Vec<Table> {
    let (n, p) = (table.rows(), table.columns.len());
    let mut out = Vec::new();
    for part in [2, 4, 8] {
        let step = (n / part).max(1);
        for at in (0..n).step_by(step) {
            let rows: Vec<usize> = (0..n).filter(|row| !(at..at + step).contains(row)).collect();
            if rows.len() >= 4 {
                out.push(table.take(&rows));
            }
        }
    }
    for j in 0..p {
        let mut less = table.clone();
        less.columns.remove(j);
        if p > 1 {
            out.push(less);
        }
    }
    if table.weight.is_some() {
        out.push(Table { weight: None, ..table.clone() });
    }
    for j in 0..p {
        let mut plain = table.clone();
        let column = &mut plain.columns[j];
        let there = column.values.iter().copied().find(|v| !v.is_nan()).unwrap_or(0.0);
        if column.values.iter().any(|v| v.is_nan()) {
            column.values.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = there);
            out.push(plain.clone());
        }
        let column = &mut plain.columns[j];
        if !matches!(column.kind, Kind::F64) && !column.kind.is_text() {
            column.kind = Kind::F64;
            out.push(plain);
        }
    }
    out
}

/// A table as CSV, with the kinds of its columns.
pub fn shown(table: &Table) -> String {
    let kinds: Vec<String> =
        table.columns.iter().map(|c| format!("{}: {:?}", c.name, c.kind)).collect();
    let mut out = format!("# {}\n", kinds.join(", "));
    out += "target,weight";
    table.columns.iter().for_each(|c| out += &format!(",{}", c.name));
    for row in 0..table.rows() {
        let weight = table.weight.as_ref().map_or(1.0, |w| w[row]);
        out += &format!("\n{:?},{weight:?}", table.target.values[row]);
        table.columns.iter().for_each(|c| out += &format!(",{:?}", c.values[row]));
        if row == 60 {
            out += &format!("\n... {} rows", table.rows());
            break;
        }
    }
    out
}
