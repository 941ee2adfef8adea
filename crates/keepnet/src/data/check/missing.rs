//! Missing values meet the policy: an error, a dropped feature, a filled one, an indicator.

use std::borrow::Cow;

use super::{CheckPolicy, Feature, Missing, statistics};
use crate::data::block::RawColumn;
use crate::data::column::{Column, ColumnData};
use crate::data::target::{Problem, RowMap};
use crate::error::{Error, Result};
use crate::select::Reason;

/// Applies the missing policy; `Some` is the reason to drop the feature.
pub(super) fn repair(
    feature: &mut Feature<'_>,
    problem: &Problem,
    policy: &CheckPolicy,
) -> Result<Option<Reason>> {
    let (missing, first) = absent(feature.column());
    let Some(first) = first else {
        return Err(Error::Data(format!(
            "feature {:?} has values too large to square; scale the column down",
            feature.name
        )));
    };
    let share = f64::from(missing) / problem.n() as f64;
    if policy.missing == Missing::DropFeature || policy.max_missing.is_some_and(|max| share > max) {
        return Ok(Some(Reason::Missing));
    }
    let fill = match policy.missing {
        Missing::Error => {
            let row = problem.rows.source_row(first);
            return Err(Error::Missing { name: feature.name.to_string(), row });
        }
        Missing::Zero => 0.0,
        _ => finite_mean(feature.column(), problem.weight.as_deref()),
    };
    feature.values = Cow::Owned(match feature.values.as_ref() {
        ColumnData::Genotypes(x) => ColumnData::Genotypes(x.filled(fill)),
        _ => filled(feature.column(), fill),
    });
    let weights = problem.weight.as_deref();
    (feature.stats, _) = statistics(feature.column(), weights, problem.weight_sum());
    feature.stats.missing = missing;
    Ok(None)
}

/// How many values are missing, and the first row of them.
fn absent(x: Column<'_>) -> (u32, Option<usize>) {
    if let Column::Genotypes(x) = x {
        let first = || (0..x.rows()).find(|row| x.levels()[usize::from(x.code(*row))].is_nan());
        let missing = x.counts().missing as u32;
        return (missing, (missing > 0).then(first).flatten());
    }
    let (mut missing, mut first) = (0u32, None);
    x.each(|i, x| {
        if !x.is_finite() {
            missing += 1;
            first.get_or_insert(i);
        }
    });
    (missing, first)
}

/// The mean of the values that are there, zeros that are not stored among them; 0 of none.
///
/// It is taken about one of the values, so that a column of one value is filled with that value.
fn finite_mean(x: Column<'_>, weight: Option<&[f64]>) -> f64 {
    if let (Column::Genotypes(x), None) = (x, weight) {
        return x.counts().mean();
    }
    let mut values = vec![0.0; x.rows()];
    x.fill(&mut values);
    let Some(about) = values.iter().copied().find(|x| x.is_finite()) else { return 0.0 };
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, x) in values.iter().enumerate().filter(|(_, x)| x.is_finite()) {
        let v = weight.map_or(1.0, |v| v[i]);
        (sum, total) = (v.mul_add(x - about, sum), total + v);
    }
    if total > 0.0 { about + sum / total } else { 0.0 }
}

fn filled(x: Column<'_>, fill: f64) -> ColumnData {
    use crate::data::column::Numbers;
    let patch = |numbers: Numbers| match numbers {
        Numbers::F32(mut v) if f64::from(fill as f32) == fill => {
            v.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = fill as f32);
            Numbers::F32(v)
        }
        Numbers::F32(v) => {
            let wide = |v: f32| if v.is_finite() { f64::from(v) } else { fill };
            Numbers::F64(v.into_iter().map(wide).collect())
        }
        Numbers::F64(mut v) => {
            v.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = fill);
            Numbers::F64(v)
        }
    };
    match x.to_data() {
        ColumnData::Dense(numbers) => ColumnData::Dense(patch(numbers)),
        ColumnData::Sparse { rows, index, value } => {
            ColumnData::Sparse { rows, index, value: patch(value) }
        }
        other => other,
    }
}

/// The extra feature that is 1 where a value was missing, if the policy asks for it.
pub(super) fn missing_indicator<'a>(
    raw: &'a RawColumn,
    arrival: u64,
    problem: &Problem,
    policy: &CheckPolicy,
) -> Option<Feature<'a>> {
    if policy.missing != Missing::Indicator {
        return None;
    }
    let n = problem.n();
    let mut words = vec![0u64; n.div_ceil(64)];
    let data = match &problem.rows {
        RowMap::All(_) => raw.data.clone(),
        RowMap::Some { take, place } => raw.data.view().gather(take, place),
    };
    data.view().each(|i, x| {
        if !x.is_finite() {
            words[i / 64] |= 1 << (i % 64);
        }
    });
    let bits = ColumnData::Bits { rows: n, words };
    let (stats, _) = statistics(bits.view(), problem.weight.as_deref(), problem.weight_sum());
    (stats.variance > 0.0).then(|| Feature {
        id: raw.id.indicator(),
        name: Cow::Owned(format!("{}:missing", raw.name).into()),
        source: raw.source,
        arrival,
        pinned: false,
        group: None,
        stats,
        glance: None,
        values: Cow::Owned(bits),
        pool: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::data::check::check_block;
    use crate::{
        CheckPolicy, ColumnBlock, ColumnData, FeatureId, Missing, Problem, RawColumn, Reason,
    };

    #[test]
    fn where_values_are_missing_may_tell_when_the_values_do_not() {
        // The values that are there are all 3: nothing to learn from them, but from the gaps.
        let mut block = ColumnBlock::new(1);
        let data = ColumnData::dense(vec![3.0, f64::NAN, 3.0]);
        block.push(RawColumn { id: FeatureId::new(3), name: "x".into(), source: 0, data });
        let policy = CheckPolicy { missing: Missing::Indicator, ..CheckPolicy::default() };
        let problem = Problem::regression(vec![1.0, 5.0, 1.5]);
        let checked = check_block(&block, 0, &problem, &policy).unwrap();
        assert_eq!(checked.dropped[0].3, Reason::Constant);
        let names: Vec<_> = checked.features.iter().map(|f| f.name.text()).collect();
        assert_eq!(names, ["x:missing"]);
    }
}
