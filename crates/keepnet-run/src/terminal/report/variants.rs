//! The part of a report on genotypes: where on the genome the kept variants are.

use std::collections::BTreeMap;

use keepnet::Result;
use keepnet_eval::report::chart::{Axes, Series, plot};
use keepnet_eval::report::{Section, Table};
use keepnet_io::Variant;

use crate::result::{Outcome, table::short};

/// Room between two chromosomes, as a share of the whole axis.
const GAP: f64 = 0.01;

/// Position against score of every kept variant, chromosome after chromosome; nothing where none
/// has a position.
pub(super) fn positions(outcome: &Outcome) -> Result<Option<Section>> {
    let selection = &outcome.selection;
    let placed = selection.selected.iter().filter_map(|feature| {
        let variant = outcome.variants.get(&feature.id)?;
        Some((feature, variant))
    });
    let placed: Vec<_> = placed.collect();
    if placed.is_empty() {
        return Ok(None);
    }
    let starts = starts(placed.iter().map(|(_, variant)| *variant));
    let mut table = Table::new(&["variant", "chromosome", "position", "A1", "weight", "score"]);
    let mut points = Vec::new();
    for (feature, variant) in &placed {
        let start = starts.get(&rank(&variant.chromosome)).copied().unwrap_or(0.0);
        points.push((start + variant.position as f64, feature.score));
        let weight: Vec<String> = feature.coefficient.iter().map(|w| short(*w)).collect();
        table.push(vec![
            feature.name.clone(),
            variant.chromosome.clone(),
            variant.position.to_string(),
            variant.a1.clone(),
            if weight.is_empty() { "-".into() } else { weight.join(" ") },
            short(feature.score),
        ]);
    }
    let (x, marks) = match starts.len() {
        1 => (format!("position on chromosome {}", placed[0].1.chromosome), Vec::new()),
        _ => {
            let mark = |(rank, start): (&Rank, &f64)| (*start, rank.1.clone());
            ("chromosome and position".into(), starts.iter().map(mark).collect())
        }
    };
    let y = format!("score: {}", selection.score_kind);
    let svg = plot(&Axes::new(&x, &y).marked(marks), &[Series::dots("kept", points)])?;
    let note = "Every kept variant at its place. A score is joint: what the model loses without \
                the variant, given the others. Variants that are not kept have none.";
    Ok(Some(Section::chart("Kept variants on the genome", note, svg, table)))
}

/// The order of chromosomes: by number, then by name.
type Rank = (u32, String);

fn rank(chromosome: &str) -> Rank {
    let plain = chromosome.trim_start_matches("chr");
    (plain.parse().unwrap_or(u32::MAX), plain.into())
}

/// Where each chromosome starts on the axis: behind the last kept variant of the one before.
fn starts<'a>(variants: impl Iterator<Item = &'a Variant>) -> BTreeMap<Rank, f64> {
    let mut last: BTreeMap<Rank, f64> = BTreeMap::new();
    for variant in variants {
        let end = last.entry(rank(&variant.chromosome)).or_default();
        *end = end.max(variant.position as f64);
    }
    let gap = GAP * last.values().sum::<f64>();
    let mut start = 0.0;
    for end in last.values_mut() {
        (*end, start) = (start, start + *end + gap);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chromosomes_follow_each_other_by_number_and_then_by_name() {
        let variant = |chromosome: &str, position| Variant {
            chromosome: chromosome.into(),
            position,
            a1: "A".into(),
            a2: "G".into(),
        };
        let of = [("10", 300), ("2", 100), ("X", 50), ("chr2", 200), ("10", 40)];
        let of: Vec<Variant> = of.iter().map(|(name, at)| variant(name, *at)).collect();
        let starts: Vec<(String, f64)> =
            starts(of.iter()).into_iter().map(|((_, name), start)| (name, start)).collect();
        // The last positions are 200, 300 and 50; a hundredth of their sum, 5.5, is between two.
        let want = [("2", 0.0), ("10", 205.5), ("X", 511.0)];
        assert_eq!(starts, want.map(|(name, start)| (name.to_string(), start)));
    }
}
