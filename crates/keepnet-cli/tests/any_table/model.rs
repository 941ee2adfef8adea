//! The model of a result against fits made without the engine.

use crate::answer::{Answer, Chosen};
use crate::case::{Case, by_rows};
use crate::fits::{self, Loss};
use crate::hand::Hand;
use crate::relations::{Check, Checked, plain};

/// The ridge of a refit, on columns of unit variance, as docs/methods.md states it. On rows it
/// has none, unless the columns depend on each other and one must choose among many fits.
fn ridge(case: &Case, hand: &Hand, columns: &[&[f64]], loss: Loss) -> f64 {
    match loss {
        Loss::Squared if by_rows(case.method) && fits::condition(hand, columns, 0.0) < 1e8 => 0.0,
        Loss::Squared => 1e-10,
        _ => 1e-3,
    }
}

fn answered(case: &Case) -> Result<Option<Answer>, String> {
    match case.answer(plain(case), &[]) {
        Ok(answer) => Ok(Some(answer)),
        Err(why) if why.contains("PANIC") => Err(why),
        Err(_) => Ok(None),
    }
}

/// The loss of the best constant, over all outputs.
fn constant(hand: &Hand, loss: Loss) -> f64 {
    hand.y.iter().map(|y| fits::fit(hand, loss, &[], y, 0.0).loss).sum()
}

/// The loss is not above that of the constant model.
pub fn loss(case: &Case) -> Check {
    let Some(answer) = answered(case)? else { return Ok(Checked::Refused) };
    let hand = case.hand();
    let loss = case.expected_loss(&hand);
    let none = constant(&hand, loss);
    let got = answer.loss.ok_or("a method with a model has no loss")?;
    match got <= none * (1.0 + 1e-9) {
        true => Ok(Checked::Held),
        false => Err(format!("loss {got} above that of the constant model, {none} ({loss:?})")),
    }
}

/// Coefficients, intercept and loss are those of an independent fit of the selected features.
pub fn fit(case: &Case) -> Check {
    let Some(answer) = answered(case)? else { return Ok(Checked::Refused) };
    let hand = case.hand();
    let loss = case.expected_loss(&hand);
    let mut columns: Vec<&[f64]> = Vec::new();
    for name in answer.chosen.keys() {
        let found = hand.feature(name).ok_or_else(|| format!("{name} is no feature"))?;
        columns.push(&found.values);
    }
    if by_rows(case.method) && case.pinned.is_some() && fits::condition(&hand, &columns, 0.0) >= 1e8
    {
        // Of many fits it is the shortest in the features that may go; pinned ones do not count.
        return Ok(Checked::Beside);
    }
    let ridge = ridge(case, &hand, &columns, loss);
    let fits: Vec<_> = hand.y.iter().map(|y| fits::fit(&hand, loss, &columns, y, ridge)).collect();
    let mut ours = answer.clone();
    ours.loss = Some(fits.iter().map(|fit| fit.loss).sum());
    for (j, (name, f)) in ours.chosen.iter_mut().enumerate() {
        let coefficient = fits.iter().map(|fit| fit.coefficient[j]).collect();
        let there = answer.chosen[name].coefficient.len();
        if there != fits.len() {
            return Err(format!("{name} has {there} coefficients, expected {}", fits.len()));
        }
        *f = Chosen { coefficient, score: f.score };
    }
    for (c, intercept) in ours.intercept.iter_mut().enumerate() {
        let part = |(name, f): (&String, &Chosen)| {
            f.coefficient[c] * hand.feature(name).map_or(0.0, |x| hand.mean(&x.values))
        };
        *intercept = fits[c].centre - ours.chosen.iter().map(part).sum::<f64>();
    }
    let same = answer.same(&ours, &hand);
    same.map(|()| Checked::Held).map_err(|why| format!("not the {loss:?} fit: {why}"))
}
