//! Settings of `iamb` and its forms, and their entries in the registry.

use super::{Iamb, Progress, Steps};
use crate::data::target::Problem;
use crate::error::Result;
use crate::measure::newcomer::Newcomer;
use crate::measure::{ALPHA, BINS, MeasureKind};
use crate::registry::setting::Given;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::filters::hold::HOLD;
use crate::select::filters::markov::{
    Asked, FEW_ROWS, Held, MEASURE, RULES, STRONGEST, WithTests, no_offset,
};
use crate::select::filters::pool::Pool;
use crate::selection::Value;

const MAX_CONDITION: Setting = Setting::whole(
    "max-condition",
    (0, 1 << 20),
    1,
    "most features in a conditioning set, so that growth ends with one more; auto is a tenth of \
     the rows with fisher-z, and unlimited with g2 or rules=bnlearn",
)
.or(&["auto", "unlimited"]);

/// All that the method needs but its tests.
struct Making {
    steps: Steps,
    asked: Asked,
    most: Option<usize>,
    settings: Vec<(&'static str, Value)>,
    rows: usize,
    budget: Budget,
}

impl WithTests for Making {
    fn with<T: Newcomer + 'static>(self, tests: T) -> Box<dyn ColumnSelector> {
        let Self { steps, asked, most, settings, rows, budget } = self;
        Box::new(Iamb {
            steps,
            asked,
            most,
            settings,
            rows,
            budget,
            held: Held::new(tests),
            pool: Pool::default(),
            at: Progress::default(),
            ready: false,
        })
    }
}

fn make(
    spec: &MethodSpec,
    problem: &Problem,
    budget: Budget,
    steps: Steps,
) -> Result<Box<dyn ColumnSelector>> {
    no_offset(problem, steps.name())?;
    let asked = Asked::of(spec, &FEW_ROWS)?;
    let rows = problem.n();
    let most = match spec.value(&MAX_CONDITION)? {
        Some(Given::Whole(most)) => Some(most as usize),
        Some(Given::Word("unlimited")) => None,
        // Rows that the tests count: sample weights are numbers of rows.
        _ => (asked.kind == MeasureKind::FisherZ && !asked.bnlearn)
            .then(|| ((problem.weight_sum() / 10.0) as usize).max(1)),
    };
    let mut own: Vec<(&'static str, Value)> =
        vec![(MAX_CONDITION.name, most.map_or("unlimited".into(), Value::from))];
    own.extend(asked.shown_few(&FEW_ROWS));
    let settings = asked.shown(own);
    let making = Making { steps, asked: asked.clone(), most, settings, rows, budget };
    asked.make(problem, making)
}

macro_rules! iamb_info {
    ($name:literal, $summary:literal, $paper:literal, $steps:expr) => {
        MethodInfo {
            name: $name,
            stream: Stream::Features,
            summary: $summary,
            tasks: "classification; regression with fisher-z",
            cost: "a pass a step of growth; a table, or a product a member, a feature",
            memory: "the blanket and hold columns as stored",
            paper: $paper,
            scans: 0,
            needs_k: false,
            has_loss: false,
            settings: &[MEASURE, RULES, STRONGEST, ALPHA, BINS, FEW_ROWS, MAX_CONDITION, HOLD],
            promises: Promises::STATISTICAL,
            make: Maker::Columns(|spec, problem, budget| make(spec, problem, budget, $steps)),
        }
    };
}

/// The registry's entry of `iamb`.
pub const IAMB: MethodInfo = iamb_info!(
    "iamb",
    "a Markov blanket by its strongest links: grows by tests, then shrinks; exact out of core",
    "Tsamardinos, Aliferis, Statnikov, FLAIRS 2003",
    Steps::Plain
);

/// The registry's entry of `inter-iamb`.
pub const INTER_IAMB: MethodInfo = iamb_info!(
    "inter-iamb",
    "iamb that shrinks after every addition",
    "Tsamardinos, Aliferis, Statnikov, FLAIRS 2003",
    Steps::Inter
);

/// The registry's entry of `fast-iamb`.
pub const FAST_IAMB: MethodInfo = iamb_info!(
    "fast-iamb",
    "iamb that adds as many features a scan as the rows allow",
    "Yaramakala, Margaritis, ICDM 2005",
    Steps::Fast
);
