//! The relations, a function each: whether a case keeps what its method promises.

use keepnet::registry::{MethodInfo, Relation};
use keepnet_run::Runner;

use crate::answer::{Answer, Chosen};
use crate::case::{Case, by_rows};
use crate::random::Random;
use crate::table::{Kind, Table, deviation, power};
use crate::write::{Form, Part, Text};
use crate::{counts, model, options, resume};

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The relation holds.
    Held,
    /// The program refused the question, in both forms: nothing was learnt.
    Refused,
    /// It cannot be asked of this case.
    Beside,
}

pub type Check = Result<Checked, String>;

/// Two answers to one question.
fn both(case: &Case, a: Result<Answer, String>, b: Result<Answer, String>, what: &str) -> Check {
    match (a, b) {
        (Ok(a), Ok(b)) => {
            a.same(&b, &case.hand()).map(|()| Checked::Held).map_err(|why| format!("{what}: {why}"))
        }
        (Err(a), Err(b)) if a.contains("PANIC") || b.contains("PANIC") => Err(a),
        (Err(_), Err(_)) => Ok(Checked::Refused),
        (Ok(_), Err(b)) => Err(format!("{what}: refused ({b}) and was not before")),
        (Err(a), Ok(_)) => Err(format!("{what}: not refused, and was before ({a})")),
    }
}

/// The form that others are compared with.
pub fn plain(case: &Case) -> Form {
    let rows = by_rows(case.method);
    let npy = if rows { Form::NpyC } else { Form::NpyF };
    if case.table.fits(npy, case.text, rows) { npy } else { Form::Csv }
}

/// The same values in another form.
pub fn format(case: &Case, form: Form) -> Check {
    if !case.table.fits(form, case.text, by_rows(case.method)) {
        return Ok(Checked::Beside);
    }
    both(case, case.answer(plain(case), &[]), case.answer(form, &[]), &format!("{form:?}"))
}

/// Checks one relation.
pub fn relation(case: &Case, relation: Relation) -> Check {
    let random = &mut Random::part(case.seed, relation.name());
    match relation {
        Relation::Formats => format(case, *random.pick(&Form::ALL)),
        Relation::Files => files(&narrow(case, random), random),
        Relation::Threads => threads(&narrow(case, random), random),
        Relation::Resume => resume::check(&narrow(case, random), random),
        Relation::RowOrder => row_order(&ordered(case), random),
        Relation::Doubled => {
            let mut case = ordered(case);
            if !promised(case.method, relation) {
                case.flags.extend(["--set".to_string(), "ridge=0.1".into()]);
            }
            doubled(&case, random)
        }
        Relation::Columns => columns(case, random),
        Relation::Target => target(case, random),
        Relation::Loss => model::loss(case),
        Relation::Fit => model::fit(case),
        Relation::Counts => counts::check(case, *random.pick(&Form::ALL)),
    }
}

/// Whether a method promises a relation without further settings.
fn promised(method: &MethodInfo, relation: Relation) -> bool {
    method.promises.why_not(relation).is_none()
}

/// Whether a relation is asked of a method: where it is promised, and where the reason why it is
/// not names the setting with which it holds.
pub fn asked(method: &MethodInfo, relation: Relation) -> bool {
    method.promises.why_not(relation).is_none_or(|why| why.contains("holds"))
}

/// With further settings, and half of the time with the default products of f32: relations that
/// keep every digit keep those of f32 products too.
fn narrow(case: &Case, random: &mut Random) -> Case {
    let mut case = case.clone();
    let classes = case.table.target.classes.len();
    case.flags.extend(options::in_place(random, case.method, classes));
    if random.chance(0.5)
        && let Some(at) = case.flags.iter().position(|flag| flag == "products=f64")
    {
        case.flags.drain(at - 1..=at);
    }
    case
}

/// On a stream of rows `mean` is that of the rows before, so it goes by their order.
fn ordered(case: &Case) -> Case {
    let mut case = case.clone();
    if by_rows(case.method) && case.missing == "mean" {
        case.missing = "zero";
    }
    case
}

/// The same rows, or columns, in several files.
fn files(case: &Case, random: &mut Random) -> Check {
    let rows = by_rows(case.method);
    let forms: Vec<Form> =
        Form::ALL.into_iter().filter(|form| case.table.fits(*form, case.text, rows)).collect();
    let form = *random.pick(&forms);
    let columns = !rows && form != Form::Svm && case.table.columns.len() > 2 && random.chance(0.5);
    let length = if columns { case.table.columns.len() } else { case.table.rows() };
    let count = random.between(2, 4).min(length);
    let mut cuts: Vec<usize> =
        random.order(length - 1)[..count - 1].iter().map(|c| c + 1).collect();
    cuts.extend([0, length]);
    cuts.sort_unstable();
    let folder = tempfile::tempdir().unwrap();
    let (mut inputs, mut last) = (Vec::new(), None);
    for (at, cut) in cuts.windows(2).enumerate() {
        let whole = Part::whole(&case.table);
        let part = match columns {
            true => Part { columns: cut[0]..cut[1], carries: at == count - 1, ..whole },
            false => Part { rows: cut[0]..cut[1], ..whole },
        };
        let text = |j: usize| case.table.columns[j].kind.is_text() && case.text == Text::Skip;
        if form.bare() && columns && part.columns.clone().all(text) {
            return Ok(Checked::Beside);
        }
        let stem = format!("part{at}");
        let (path, places) = case.table.write(folder.path(), &stem, form, case.text, &part);
        inputs.push(path.to_str().unwrap().to_string());
        last = Some(places);
    }
    let places = last.expect("two parts at least");
    let mut words = case.words_in(form, &inputs, &places);
    let way = if columns { "columns" } else { "rows" };
    if form.bare() {
        // Without names of their own, columns of one number look like more rows.
        words.extend(["--stack".to_string(), way.into()]);
    }
    let split = case.run(&words, folder.path(), form, &Inside);
    both(case, case.answer(form, &[]), split, &format!("{count} files of {way}, {form:?}"))
}

/// This process, without signals and probes.
pub struct Inside;

impl Runner for Inside {
    fn leads(&self) -> bool {
        false
    }
}

/// Any number of threads: every digit.
fn threads(case: &Case, random: &mut Random) -> Check {
    let form = plain(case);
    let many = random.between(2, 5).to_string();
    let (a, b) = (case.answer(form, &["--threads", "1"]), case.answer(form, &["--threads", &many]));
    let digits = match (&a, &b) {
        (Ok(a), Ok(b)) => a.digits() == b.digits(),
        _ => true,
    };
    both(case, a, b, &format!("{many} threads")).and_then(|checked| match digits {
        true => Ok(checked),
        false => Err(format!("{many} threads: other digits")),
    })
}

/// The same rows in another order.
fn row_order(case: &Case, random: &mut Random) -> Check {
    let form = plain(case);
    let order = random.order(case.table.rows());
    let other = Case { table: case.table.take(&order), ..case.clone() };
    both(case, case.answer(form, &[]), other.answer(form, &[]), "rows in another order")
}

/// Rows twice against rows of weight 2.
fn doubled(case: &Case, random: &mut Random) -> Check {
    let n = case.table.rows();
    let twice: Vec<bool> = (0..n).map(|_| random.chance(0.4)).collect();
    let mut take: Vec<usize> = (0..n).collect();
    take.extend((0..n).filter(|row| twice[*row]));
    let long = Case { table: case.table.take(&take), ..case.clone() };
    let weight = |row: usize| {
        let one = case.table.weight.as_ref().map_or(1.0, |w| w[row]);
        if twice[row] { 2.0 * one } else { one }
    };
    let mut heavy = case.clone();
    heavy.table.weight = Some((0..n).map(weight).collect());
    let form = plain(case);
    both(&heavy, heavy.answer(form, &[]), long.answer(form, &[]), "rows twice, against weight 2")
}

/// A shift that is exact on the grid of a column, and a scale.
fn change(random: &mut Random, values: &[f64], narrow: bool, may_shift: bool) -> (f64, f64) {
    let spread = deviation(values).max(1e-300);
    let mean = values.iter().filter(|v| v.is_finite()).fold(0.0_f64, |m, v| m.max(v.abs()));
    let sign = *random.pick(&[-1.0, 1.0]);
    if mean < 1e3 * spread && random.chance(0.4) {
        return (sign * 10f64.powf(random.uniform(-6.0, 6.0)), 0.0);
    }
    let scale = sign * 2f64.powi(random.between(0, 40) as i32 - 20);
    let most = if narrow { 3.0 } else { 8.0 };
    let steps = 10f64.powf(random.uniform(0.0, most)).round() * random.pick(&[-1.0, 1.0]);
    (scale, if may_shift { steps * power(spread) * scale } else { 0.0 })
}

/// Columns shifted and scaled.
fn columns(case: &Case, random: &mut Random) -> Check {
    let mut other = case.clone();
    let mut changes = Vec::new();
    for column in &mut other.table.columns {
        if column.kind.is_text() || deviation(&column.values) == 0.0 {
            continue;
        }
        let holes = column.values.iter().any(|v| v.is_nan());
        // Of rows the mean is 0 before the first value has come.
        let zero = case.missing == "zero" || (by_rows(case.method) && case.missing == "mean");
        let may_shift = !(holes && zero);
        let (scale, shift) = match case.discrete {
            // Codes stay codes: whole numbers in the same order.
            true if column.kind == Kind::Int => (3.0, if may_shift { 5.0 } else { 0.0 }),
            true => continue,
            false => change(random, &column.values, column.kind == Kind::F32, may_shift),
        };
        column.values.iter_mut().for_each(|v| *v = *v * scale + shift);
        if !case.discrete {
            column.kind = Kind::F64;
        }
        changes.push((column.name.clone(), scale, shift));
    }
    let form = plain(case);
    let back = other.answer(form, &[]).map(|answer| returned(answer, &changes));
    both(case, case.answer(form, &[]), back, "columns shifted and scaled")
}

/// An answer for changed columns, in the units of the columns before.
fn returned(mut answer: Answer, changes: &[(String, f64, f64)]) -> Answer {
    let Answer { chosen, intercept, level, .. } = &mut answer;
    for (name, scale, shift) in changes {
        let Some(Chosen { coefficient, .. }) = chosen.get_mut(name) else { continue };
        for (c, w) in coefficient.iter_mut().enumerate() {
            *level = level.max((*w * shift).abs());
            intercept[c] += *w * shift;
            *w *= scale;
        }
    }
    answer
}

/// A target of numbers shifted and scaled.
fn target(case: &Case, random: &mut Random) -> Check {
    if !case.table.target.classes.is_empty() {
        return Ok(Checked::Beside);
    }
    let (scale, shift) = change(random, &case.table.target.values, false, true);
    let mut other = case.clone();
    other.table.target.values.iter_mut().for_each(|v| *v = *v * scale + shift);
    let form = plain(case);
    let back = other.answer(form, &[]).map(|mut answer| {
        answer.level = answer.level.max(shift.abs()) / scale.abs();
        answer.intercept.iter_mut().for_each(|b| *b = (*b - shift) / scale);
        answer.loss = answer.loss.map(|loss| loss / (scale * scale));
        for f in answer.chosen.values_mut() {
            f.coefficient.iter_mut().for_each(|w| *w /= scale);
            // What a score is of: a loss, which goes with the square, or something without units.
            f.score /= if answer.loss.is_some() { scale * scale } else { 1.0 };
        }
        answer
    });
    both(case, case.answer(form, &[]), back, "target shifted and scaled")
}

/// A case on fewer rows and columns, for the shrinking.
pub fn with(case: &Case, table: Table) -> Case {
    let most = table.columns.len().min(table.rows().saturating_sub(2)).max(1);
    let there = |name: &String| table.columns.iter().any(|c| c.name == *name);
    let pinned = case.pinned.clone().filter(there);
    Case { k: case.k.map(|k| k.min(most)), pinned, table, ..case.clone() }
}
