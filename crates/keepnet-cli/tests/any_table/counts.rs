//! Every count of a result against one made by hand.

use serde_json::Value;

use crate::case::{Case, by_rows};
use crate::hand::{Fate, Hand};
use crate::relations::{Check, Checked, plain};
use crate::write::Form;

/// The counts of the case in a form, or in the plain one where the form cannot hold it.
pub fn check(case: &Case, form: Form) -> Check {
    let rows = by_rows(case.method);
    let form = if case.table.fits(form, case.text, rows) { form } else { plain(case) };
    let answer = match case.answer(form, &[]) {
        Ok(answer) => answer,
        Err(why) if why.contains("PANIC") => return Err(why),
        Err(_) => return Ok(Checked::Refused),
    };
    let (json, hand) = (&answer.json, case.hand());
    let number = |value: &Value| value.as_u64().map_or(usize::MAX, |v| v as usize);
    let mut wrong = Vec::new();
    let mut equal = |what: &str, got: usize, want: usize| {
        if got != want {
            wrong.push(format!("{what} is {got}, by hand {want}"));
        }
    };
    equal("rows.input", number(&json["rows"]["input"]), case.table.rows());
    equal("rows.used", number(&json["rows"]["used"]), hand.weight.len());
    equal("rows.masked_target", number(&json["rows"]["masked_target"]), hand.masked);
    equal("rows.unmatched", number(&json["rows"]["unmatched"]), 0);
    let columns = crate::hand::features(&case.table, case.text).len();
    equal("features_seen", number(&json["features_seen"]), columns);
    let selected = json["selected"].as_array().unwrap();
    if let Some(k) = case.k {
        equal("selected beyond k", selected.len().saturating_sub(k), 0);
    }
    if !hand.class_counts.is_empty() {
        let counts: Vec<usize> =
            json["class_counts"].as_array().into_iter().flatten().map(number).collect();
        if counts != hand.class_counts {
            wrong.push(format!("class_counts {counts:?}, by hand {:?}", hand.class_counts));
        }
    } else if !json["class_counts"].is_null() {
        wrong.push(format!("class_counts of numbers is {}", json["class_counts"]));
    }
    fates(case, json, &hand, &mut wrong);
    features(case, json, &hand, form, &mut wrong);
    match wrong.is_empty() {
        true => Ok(Checked::Held),
        false => Err(format!("{form:?}: {}", wrong.join("; "))),
    }
}

/// What became of the features: each is selected or counted once among the dropped.
fn fates(case: &Case, json: &Value, hand: &Hand, wrong: &mut Vec<String>) {
    let of = |fate: Fate| hand.features.iter().filter(|f| f.fate == fate).count() as u64;
    let dropped = |name: &str| json["dropped"][name].as_u64().unwrap_or(u64::MAX);
    if dropped("constant") != of(Fate::Constant) {
        let want = of(Fate::Constant);
        wrong.push(format!("dropped.constant is {}, by hand {want}", dropped("constant")));
    }
    let count = |name: &str| json[name].as_array().unwrap().len() as u64;
    let kept = count("selected") + count("always");
    if by_rows(case.method) {
        // Features are not decided on one by one: what is not kept and varies is weak.
        let want = hand.features.len() as u64 - of(Fate::Constant) - kept;
        let others =
            ["redundant", "missing", "evicted"].iter().all(|n| json["dropped"][n].is_null());
        if dropped("weak") != want || !others {
            wrong.push(format!("dropped is {}, by hand {want} weak", json["dropped"]));
        }
        return;
    }
    if dropped("missing") != of(Fate::Missing) {
        let want = of(Fate::Missing);
        wrong.push(format!("dropped.missing is {}, by hand {want}", dropped("missing")));
    }
    let sum: u64 =
        ["weak", "redundant", "constant", "missing", "evicted"].iter().map(|n| dropped(n)).sum();
    let all = hand.features.len() as u64;
    if sum + kept != all {
        wrong.push(format!("{sum} dropped and {kept} selected, of {all} features"));
    }
}

/// Place, mean and missing values of each selected feature, and the order of scores.
fn features(case: &Case, json: &Value, hand: &Hand, form: Form, wrong: &mut Vec<String>) {
    let names: Vec<String> =
        crate::hand::features(&case.table, case.text).into_iter().map(|(name, _)| name).collect();
    let mut last = f64::INFINITY;
    for shown in json["selected"].as_array().unwrap() {
        let name = shown["name"].as_str().unwrap_or_default();
        let name = case.table.bare_name(form, case.text, name);
        let Some(feature) = hand.feature(&name) else {
            wrong.push(format!("{name} is no feature"));
            continue;
        };
        if feature.fate != Fate::Offered {
            wrong.push(format!("{name} was selected and is {:?}", feature.fate));
        }
        if shown["missing"].as_u64() != Some(feature.missing as u64) {
            wrong
                .push(format!("{name}: missing {}, by hand {}", shown["missing"], feature.missing));
        }
        let (mean, spread) = (hand.mean(&feature.values), hand.deviation(&feature.values));
        let got = shown["mean"].as_f64().unwrap_or(f64::NAN);
        let near = (got - mean).abs() <= 1e-9 * spread + 1e-12 * mean.abs();
        if !near {
            wrong.push(format!("{name}: mean {got}, by hand {mean}"));
        }
        let plain = !name.contains(':') && !name.contains('=');
        let place = names.iter().position(|n| *n == name);
        if plain && case.text != crate::write::Text::OneHot && case.text != crate::write::Text::Skip
        {
            let index = shown["index"].as_u64().map(|v| v as usize);
            if index != place {
                wrong.push(format!("{name}: index {index:?}, by hand {place:?}"));
            }
        }
        let score = shown["score"].as_f64().unwrap_or(f64::NAN);
        let falls = score <= last;
        if !falls {
            wrong.push(format!("{name}: score {score} after {last}"));
        }
        last = score;
    }
}
