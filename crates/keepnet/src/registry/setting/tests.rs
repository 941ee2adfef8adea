//! Every kind of setting: what it reads, what it refuses, and how it says so.

use super::*;

const FLAG: Setting = Setting::flag("flag", true, "");
const COUNT: Setting = Setting::whole("count", (2, 8), 3, "");
const SHARE: Setting = Setting::number("share", Bounds::from_below(0.0, 1.0), 0.5, "");
const OPEN: Setting = Setting::number("open", Bounds::between(0.0, 1.0), 0.5, "");
const CLOSED: Setting = Setting::number("closed", Bounds::from_to(0.0, 1.0), 0.5, "");
const RATE: Setting = Setting::number("rate", Bounds::above(0.0), 1e-8, "").published(2.0);
const LAMBDA: Setting = Setting::number("lambda", Bounds::at_least(0.0), 1.0, "").or(&["auto"]);
const BINS: Setting = Setting::whole("bins", (2, u64::MAX), 2, "").or(&["none"]);
const SHAPE: Setting = Setting::choice("shape", &["round", "flat", "odd"], "");
const STEP: Setting = Setting::step("step", &["L", "Lf"], Given::Over(1.0, "L"), "");
const TUBE: Setting = Setting::number("tube", Bounds::at_least(0.0), 0.0, "").derived("0.1 sd(y)");

fn read(setting: &Setting, value: impl Into<Value>) -> Given {
    setting.read(&value.into()).unwrap()
}

/// The text of the refusal of each value.
fn refused<const N: usize>(setting: &Setting, values: [Value; N]) -> Vec<String> {
    let text = |value: Value| setting.check(value).unwrap_err().to_string();
    values.into_iter().map(text).collect()
}

#[test]
fn a_flag_is_true_or_false() {
    assert_eq!(read(&FLAG, "false"), Given::Flag(false));
    assert_eq!(read(&FLAG, true), Given::Flag(true));
    let wrong = refused(&FLAG, ["yes".into(), 1.into(), 0.0.into(), "".into()]);
    assert_eq!(wrong[0], "flag is yes, expected true or false");
    assert_eq!(wrong[1], "flag is 1, expected true or false");
}

#[test]
fn a_whole_number_has_both_bounds() {
    for value in [Value::from("2"), 2.into(), 2.0.into(), "2.0".into()] {
        assert_eq!(read(&COUNT, value), Given::Whole(2));
    }
    assert_eq!(read(&COUNT, 8), Given::Whole(8));
    let outside = [1.into(), 9.into(), "1".into(), "9".into(), (-3).into(), 1e300.into()];
    assert!(
        refused(&COUNT, outside)[1].contains("count is 9, expected a whole number from 2 to 8")
    );
    let no_number = [2.5.into(), "2.5".into(), "few".into(), true.into(), f64::NAN.into()];
    assert!(refused(&COUNT, no_number)[2].contains("count is few"));
    let large = u64::MAX.to_string();
    assert_eq!(read(&BINS, large.as_str()), Given::Whole(u64::MAX));
}

#[test]
fn a_number_has_bounds_that_are_open_or_closed() {
    let inside = |setting: &Setting, value: f64| setting.check(value).is_ok();
    let just = |value: f64| (value.next_down(), value.next_up());
    for (setting, zero, one) in
        [(&SHARE, true, false), (&OPEN, false, false), (&CLOSED, true, true)]
    {
        assert_eq!((inside(setting, 0.0), inside(setting, 1.0)), (zero, one), "{}", setting.name);
        assert!(inside(setting, just(0.0).1) && inside(setting, just(1.0).0));
        assert!(!inside(setting, just(0.0).0) && !inside(setting, just(1.0).1));
        assert!(!inside(setting, f64::NAN) && !inside(setting, f64::INFINITY));
    }
    assert_eq!(read(&CLOSED, 1), Given::Number(1.0));
    assert_eq!(read(&CLOSED, "0.25"), Given::Number(0.25));
    let wrong = refused(&SHARE, ["1".into(), "half".into(), true.into(), vec![0.5].into()]);
    assert_eq!(wrong[0], "share is 1, expected a number from 0 to below 1");
    assert_eq!(wrong[1], "share is half, expected a number from 0 to below 1");
    assert_eq!(OPEN.wanted(), "a number between 0 and 1");
    assert_eq!(CLOSED.wanted(), "a number from 0 to 1");
    assert_eq!(RATE.wanted(), "a number above 0");
    assert!(!inside(&RATE, 0.0) && !inside(&RATE, f64::INFINITY) && inside(&RATE, f64::MAX));
    let infinite = Setting::number("far", Bounds::above(0.0).or_infinity(), f64::INFINITY, "");
    assert_eq!(read(&infinite, "inf"), Given::Number(f64::INFINITY));
    assert!(infinite.check(f64::NAN).is_err() && infinite.check(-f64::INFINITY).is_err());
}

#[test]
fn a_word_stands_beside_numbers() {
    assert_eq!(read(&LAMBDA, "auto"), Given::Word("auto"));
    assert_eq!(read(&LAMBDA, "0"), Given::Number(0.0));
    assert_eq!(read(&BINS, "none"), Given::Word("none"));
    assert_eq!(read(&BINS, 4), Given::Whole(4));
    let wrong = refused(&LAMBDA, ["Auto".into(), (-1).into(), "none".into()]);
    assert_eq!(wrong[0], "lambda is Auto, expected auto or a number of at least 0");
    assert_eq!(wrong[1], "lambda is -1, expected auto or a number of at least 0");
    refused(&BINS, ["1".into(), 1.into(), "auto".into(), 2.5.into()]);
}

#[test]
fn a_choice_is_one_of_its_names() {
    for name in SHAPE.words {
        assert_eq!(read(&SHAPE, *name), Given::Word(name));
    }
    let wrong = refused(&SHAPE, ["square".into(), "".into(), "Round".into(), 0.into()]);
    assert_eq!(wrong[0], "shape is square, expected round, flat or odd");
}

#[test]
fn a_step_is_a_number_or_something_over_a_constant() {
    assert_eq!(read(&STEP, "0.5/L"), Given::Over(0.5, "L"));
    assert_eq!(read(&STEP, "2/Lf"), Given::Over(2.0, "Lf"));
    assert_eq!(read(&STEP, "0.5"), Given::Number(0.5));
    assert_eq!(read(&STEP, 2), Given::Number(2.0));
    let wrong = ["L".into(), "/L".into(), "0/L".into(), "-1/L".into(), "1/M".into(), "inf".into()];
    assert_eq!(refused(&STEP, wrong)[0], "step is L, expected a number above 0, c/L or c/Lf");
    refused(&STEP, [0.into(), (-0.5).into(), f64::INFINITY.into(), false.into()]);
}

#[test]
fn defaults_are_shown_as_the_user_would_write_them() {
    let shown = [FLAG, COUNT, SHARE, RATE, LAMBDA, SHAPE, STEP, TUBE].map(|s| s.default());
    assert_eq!(shown, ["true", "3", "0.5", "1e-8", "auto", "round", "1/L", "0.1 sd(y)"]);
    assert_eq!((SHARE.usual_number(), COUNT.usual_whole(), FLAG.usual_flag()), (0.5, 3, true));
    assert_eq!(RATE.usual, Usual::Preset { tuned: 1e-8, published: 2.0 });
}
