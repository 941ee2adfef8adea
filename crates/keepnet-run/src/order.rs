//! `--order`: given, shuffled, or a file with a feature a line.

use std::collections::HashMap;
use std::sync::Arc;

use keepnet::{ColumnBlock, Error, FeatureSource, Order, Result};

use crate::request::OrderSpec;
use crate::request::text::lines;

/// The order that was asked for. A file of names costs one pass over the features.
pub fn order(spec: &OrderSpec, source: &mut dyn FeatureSource) -> Result<Order> {
    match spec {
        OrderSpec::File(path) => fixed(path, source),
        known => known.in_memory(),
    }
}

fn fixed(path: &str, source: &mut dyn FeatureSource) -> Result<Order> {
    let lines = lines(path)?;
    let numbers: Option<Vec<u64>> = lines.iter().map(|line| line.parse().ok()).collect();
    let indices = match numbers {
        Some(numbers) => numbers,
        None => by_name(path, &lines, source)?,
    };
    let features = source.features();
    let mut seen = std::collections::HashSet::new();
    for (line, index) in indices.iter().enumerate() {
        let place = format!("{path}, line {}", line + 1);
        if features.is_some_and(|features| *index >= features) || *index >= u64::from(u32::MAX) {
            let last = features.unwrap_or(u64::from(u32::MAX)).saturating_sub(1);
            let text = format!("there is no feature {index}; the last is {last}");
            return Err(Error::Data(text).at(place));
        }
        if !seen.insert(*index) {
            return Err(Error::Data(format!("feature {:?} comes twice", lines[line])).at(place));
        }
    }
    Ok(Order::Fixed(indices.into_iter().map(|index| index as u32).collect::<Arc<[u32]>>()))
}

fn by_name(path: &str, lines: &[String], source: &mut dyn FeatureSource) -> Result<Vec<u64>> {
    let (mut places, mut place) = (HashMap::new(), 0);
    let mut block = ColumnBlock::new(128);
    while source.next_block(&mut block)? {
        // The levels of a text column are features of their own, each with its place.
        for column in block.columns() {
            places.insert(column.name.to_string(), place);
            place += 1;
        }
        block.reset(128);
    }
    source.rewind()?;
    let find = |(line, name): (usize, &String)| {
        places.get(name).copied().ok_or_else(|| {
            Error::Data(format!("there is no feature {name:?}"))
                .at(format!("{path}, line {}", line + 1))
        })
    };
    lines.iter().enumerate().map(find).collect()
}
