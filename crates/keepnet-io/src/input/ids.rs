//! People by FID and IID, as the tables beside genotypes name them.
//!
//! A table that has these columns is joined by them without `--key`. FID `0` stands for none: such a
//! person is found by IID alone, as are all people of a table without FID.

use std::collections::HashMap;

use keepnet::{Error, Result};

use crate::formats::table::Table;
use crate::input::join::row_keys;
use crate::input::schema::ColumnInfo;

/// What the ids are called in the input.
pub(crate) const IDS: [&str; 2] = ["FID", "IID"];

/// Whether a column of a table identifies people.
pub(crate) fn is_id(name: &str) -> bool {
    matches!(name.strip_prefix('#').unwrap_or(name), "FID" | "IID" | "SID")
}

/// The ids as a key of the input.
pub(crate) fn key() -> Vec<String> {
    IDS.map(String::from).to_vec()
}

/// Whether an input has people with ids: they are no features by the format's own rules.
pub(crate) fn has_people(columns: &[ColumnInfo], labels: &[usize]) -> bool {
    let is_label = |name: &str| labels.iter().any(|at| columns[*at].name == name);
    IDS.into_iter().all(is_label)
}

/// The rows of a table by the ids of its people.
pub(crate) struct Ids {
    both: HashMap<String, u32>,
    // The row of each IID, `None` where several have it, and whether its FID is none.
    by_iid: HashMap<String, Option<(u32, bool)>>,
}

impl Ids {
    /// `None` for a table without IID.
    pub(crate) fn of(table: &dyn Table) -> Result<Option<Self>> {
        let column = |id: &str| {
            let is = |c: &&ColumnInfo| c.name == id || c.name.strip_prefix('#') == Some(id);
            table.columns().iter().find(is).map(|c| c.name.clone())
        };
        let Some(iid) = column("IID") else { return Ok(None) };
        let iids = row_keys(table, &[iid])?;
        let fids = match column("FID") {
            Some(fid) => row_keys(table, &[fid])?,
            None => vec![None; iids.len()],
        };
        let mut ids = Self { both: HashMap::new(), by_iid: HashMap::new() };
        for (row, (fid, iid)) in fids.into_iter().zip(iids).enumerate() {
            let Some(iid) = iid else { continue };
            let fid = fid.filter(|fid| fid != "0");
            let place = (row as u32, fid.is_none());
            if let Some(fid) = fid {
                let person = format!("{fid}\u{1f}{iid}");
                if let Some(first) = ids.both.insert(person, row as u32) {
                    return Err(twice(&fid, &iid, first, row));
                }
            } else if let Some(Some((first, true))) = ids.by_iid.get(&iid) {
                return Err(twice("0", &iid, *first, row));
            }
            ids.by_iid.entry(iid).and_modify(|place| *place = None).or_insert(Some(place));
        }
        Ok(Some(ids))
    }

    /// The row of a person, by FID and IID as a key of the input has them.
    pub(crate) fn row(&self, key: &str) -> Option<usize> {
        if let Some(row) = self.both.get(key) {
            return Some(*row as usize);
        }
        let (fid, iid) = key.split_once('\u{1f}')?;
        let (row, no_fid) = (*self.by_iid.get(iid)?)?;
        (no_fid || fid == "0").then_some(row as usize)
    }
}

fn twice(fid: &str, iid: &str, first: u32, row: usize) -> Error {
    Error::Data(format!(
        "the key FID,IID is \"{fid},{iid}\" in rows {first} and {row}; keys must not repeat"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fid_zero_is_none_on_either_side() {
        let both = HashMap::from([("F1\u{1f}a".to_string(), 0)]);
        let by_iid = HashMap::from([
            ("a".to_string(), Some((0, false))),
            ("b".to_string(), Some((1, true))),
            ("c".to_string(), None),
        ]);
        let ids = Ids { both, by_iid };
        let row = |fid: &str, iid: &str| ids.row(&format!("{fid}\u{1f}{iid}"));
        assert_eq!((row("F1", "a"), row("F2", "a"), row("0", "a")), (Some(0), None, Some(0)));
        assert_eq!((row("F9", "b"), row("0", "b"), row("0", "c")), (Some(1), Some(1), None));
    }
}
