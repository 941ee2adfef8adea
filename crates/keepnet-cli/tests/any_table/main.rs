//! Random tables through every method, in every format, against what the methods promise.
//!
//! Each table is asked through some formats and some relations, in turn, so that every pair of
//! method and format and of method and relation occurs; a pair that did not is a failure. The
//! seed of a failure is printed with the table, made smaller while it still fails:
//!
//! ```text
//! ANY_TABLE_SEED=7 ANY_TABLE_METHOD=os cargo test --release -p keepnet-cli --test any_table
//! ANY_TABLE_SECONDS=3600 ...     goes on with further seeds for an hour; scripts/soak.sh
//! ```

mod answer;
mod case;
mod counts;
mod fits;
mod hand;
mod model;
mod options;
mod random;
mod relations;
mod resume;
mod shrink;
mod table;
mod write;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use case::{Case, by_rows};
use keepnet::registry::{MethodInfo, Relation, methods};
use relations::{Check, Checked, asked};
use write::{Form, Places};

/// Tables of each method in the test command.
const ROUNDS: u64 = 24;
/// Formats and relations that a table is asked through.
const FORMS: usize = 3;
const RELATIONS: usize = 4;

/// Seeds beyond those of the test command that once failed, with the defaults.
const FAILED: [(&str, u64); 17] = [
    ("l1-cd", 1_200_035),
    ("l1-cd", 5_000_020),
    ("l1-hinge", 990_004),
    ("l1-hinge", 1_400_015),
    ("l1-hinge", 5_000_047),
    ("l1-hinge", 5_000_178),
    ("oalasso", 990_003),
    ("oalasso", 1_200_071),
    ("ogfs", 990_039),
    ("os", 8_000_368),
    ("os-plus", 5_000_288),
    ("proj-gd", 11_000_056),
    ("rda", 1_200_030),
    ("rda", 5_000_010),
    ("rda-sadmm", 1_200_015),
    ("saola", 990_040),
    ("siht", 9_000_103),
];

/// A question to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Form(Form),
    Relation(Relation),
}

impl Question {
    fn ask(self, case: &Case) -> Check {
        match self {
            Self::Form(form) => relations::format(case, form),
            Self::Relation(relation) => relations::relation(case, relation),
        }
    }
}

/// The questions of a seed: with the next seeds come the next ones, until all were asked.
fn questions(method: &MethodInfo, seed: u64) -> Vec<Question> {
    let promised: Vec<Relation> = Relation::ALL
        .into_iter()
        .filter(|relation| *relation != Relation::Formats && asked(method, *relation))
        .collect();
    let at = |place: usize, of: usize, all: usize| (seed as usize * of + place) % all;
    let forms = (0..FORMS).map(|place| Form::ALL[at(place, FORMS, Form::ALL.len())]);
    let relations = (0..RELATIONS).map(|place| promised[at(place, RELATIONS, promised.len())]);
    forms.map(Question::Form).chain(relations.map(Question::Relation)).collect()
}

#[derive(Default)]
struct Tally {
    held: BTreeSet<(&'static str, Question)>,
    checks: usize,
    refused: usize,
    tables: usize,
    failures: Vec<String>,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// One table of a method.
fn round(case: &Case, tally: &Mutex<Tally>) {
    let (method, seed) = (case.method, case.seed);
    tally.lock().unwrap().tables += 1;
    for question in questions(method, seed) {
        let checked = question.ask(case);
        let mut told = None;
        if let Err(why) = &checked {
            let report = report(case, question, why);
            println!("{report}\n");
            told = Some(report);
        }
        let mut tally = tally.lock().unwrap();
        tally.checks += 1;
        match checked {
            Ok(Checked::Held) => {
                tally.held.insert((method.name, question));
            }
            Ok(Checked::Refused) => tally.refused += 1,
            Ok(Checked::Beside) => {}
            Err(_) => tally.failures.extend(told),
        }
    }
}

/// What is wrong, and how to see it again.
fn report(case: &Case, question: Question, why: &str) -> String {
    let (name, seed) = (case.method.name, case.seed);
    let head = format!("{name} {question:?} seed {seed}: {why}");
    if std::env::var_os("ANY_TABLE_BRIEF").is_some() {
        return format!("{head}\n    {}", call(case));
    }
    let fails = |case: &Case| question.ask(case).err();
    let (small, why) = shrink::shrink(case, &fails);
    format!("{head}\n  shrunk: {why}\n    {}\n{}", call(&small), shrink::shown(&small.table))
}

/// The command of a case.
fn call(case: &Case) -> String {
    let weight = case.table.weight.as_ref().map(|_| "weight".to_string());
    let places = Places { target: Some("target".into()), weight };
    case.words_in(Form::Csv, &["x".into()], &places).join(" ")
}

#[test]
fn every_method_keeps_its_promises_on_random_tables() {
    let start = Instant::now();
    let only = std::env::var("ANY_TABLE_METHOD").ok();
    let wanted = |m: &&&'static MethodInfo| only.as_deref().is_none_or(|name| m.name == name);
    let methods: Vec<&'static MethodInfo> = methods().iter().filter(wanted).copied().collect();
    let first = number("ANY_TABLE_SEED").unwrap_or(0);
    let seconds = number("ANY_TABLE_SECONDS").map(Duration::from_secs);
    let rounds = number("ANY_TABLE_ROUNDS").unwrap_or(ROUNDS);
    let tally = Mutex::new(Tally::default());
    if first == 0 {
        for (name, seed) in FAILED {
            let named = methods.iter().filter(|m| m.name == name);
            named.for_each(|m| round(&Case::new(seed, m), &tally));
        }
    }
    let mut at = 0;
    loop {
        let jobs = Mutex::new(methods.clone());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(method) = { jobs.lock().unwrap().pop() } {
                        round(&Case::new(first + at, method).varied(), &tally);
                    }
                });
            }
        });
        at += 1;
        let more = seconds.map_or(at < rounds, |limit| start.elapsed() < limit);
        if !more {
            break;
        }
    }
    let tally = tally.into_inner().unwrap();
    println!(
        "{} tables, {} runs, {} checks, {} refused by the program, {:.0} s",
        tally.tables,
        case::runs(),
        tally.checks,
        tally.refused,
        start.elapsed().as_secs_f64()
    );
    let failures = &tally.failures;
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
    covered(&tally, &methods, at);
}

/// Every pair of method and form and of method and relation was asked and answered.
fn covered(tally: &Tally, methods: &[&'static MethodInfo], rounds: u64) {
    if rounds < ROUNDS {
        return;
    }
    let mut missing = Vec::new();
    for method in methods {
        // Rows do not come from an array in Fortran order.
        let holds = |form: &Form| !(by_rows(method) && *form == Form::NpyF);
        let forms = Form::ALL.into_iter().filter(holds).map(Question::Form);
        let relations = Relation::ALL.into_iter().filter(|r| asked(method, *r));
        let relations = relations.filter(|r| *r != Relation::Formats).map(Question::Relation);
        for question in forms.chain(relations) {
            if !tally.held.contains(&(method.name, question)) {
                missing.push(format!("{} {question:?}", method.name));
            }
        }
    }
    assert!(missing.is_empty(), "pairs that no table answered:\n{}", missing.join("\n"));
}
