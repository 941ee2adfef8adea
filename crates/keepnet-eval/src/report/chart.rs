//! Charts as SVG text, drawn with plotters; colours are CSS variables of the page.

use keepnet::{Error, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::comparison::Ranking;

/// Colours that the page's variables stand for; they are replaced in the text.
pub(super) const INK: RGBColor = RGBColor(1, 2, 3);
pub(super) const SOFT: RGBColor = RGBColor(1, 2, 4);
pub(super) const LINE: RGBColor = RGBColor(1, 2, 5);
const SERIES: usize = 8;

pub(super) const WIDTH: u32 = 900;
pub(super) const FONT: &str = "sans-serif";

pub(super) fn colour(series: usize) -> RGBColor {
    RGBColor(9, 9, (series % SERIES) as u8)
}

/// How the numbers of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points.
    Line,
    /// Dots.
    Dots,
}

/// Named numbers of one colour.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name, in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub mark: Mark,
    /// How far each point may be off, up and down; empty where that is not known.
    pub spread: Vec<f64>,
}

impl Series {
    /// A line.
    #[must_use]
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, mark: Mark::Line, spread: Vec::new() }
    }

    /// Dots.
    #[must_use]
    pub fn dots(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, mark: Mark::Dots, spread: Vec::new() }
    }

    /// The same with error bars of these half-lengths.
    #[must_use]
    pub fn with_spread(self, spread: Vec<f64>) -> Self {
        Self { spread, ..self }
    }
}

/// What the axes are.
#[derive(Clone, Debug)]
pub struct Axes {
    /// What runs to the right.
    pub x: String,
    /// What runs up.
    pub y: String,
    /// Places on the first axis where something begins, with its name.
    pub marks: Vec<(f64, String)>,
}

impl Axes {
    /// Names of both axes.
    #[must_use]
    pub fn new(x: &str, y: &str) -> Self {
        Self { x: x.into(), y: y.into(), marks: Vec::new() }
    }

    /// The same with marks on the first axis.
    #[must_use]
    pub fn marked(self, marks: Vec<(f64, String)>) -> Self {
        Self { marks, ..self }
    }
}

pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Data(format!("cannot draw a chart: {error}"))
}

/// Puts the page's variables in place of the colours.
pub(super) fn themed(svg: String) -> String {
    let mut svg = svg.replace("#010203", "currentColor").replace("#010204", "var(--soft)");
    svg = svg.replace("#010205", "var(--line)");
    for series in 0..SERIES {
        svg = svg.replace(&format!("#09090{series}"), &format!("var(--s{series})"));
    }
    svg
}

/// Least and largest number with some room; a constant gets room on both sides.
fn room(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return (0.0, 1.0);
    }
    let space = (high - low) * 0.05;
    let space = if space > 0.0 { space } else { 0.5 * high.abs().max(1.0) };
    // Counts and shares start at zero where they come near it.
    let floor = if low >= 0.0 && low < 0.3 * high { 0.0 } else { low - space };
    (floor, high + space)
}

pub(super) fn short(value: &f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".into(),
        s if s >= 1e6 => format!("{:.1}M", value / 1e6),
        s if s >= 1e4 => format!("{:.0}k", value / 1e3),
        s if s >= 100.0 => format!("{value:.0}"),
        s if s >= 1.0 => format!("{}", (value * 100.0).round() / 100.0),
        s if s >= 1e-3 => format!("{}", (value * 1e4).round() / 1e4),
        _ => format!("{value:.1e}"),
    }
}

/// Lines and dots over two axes, with a legend where there are several series.
pub fn plot(axes: &Axes, series: &[Series]) -> Result<String> {
    let finite: Vec<(f64, f64)> = series
        .iter()
        .flat_map(|s| s.points.iter().copied())
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    let (left, right) = room(finite.iter().map(|p| p.0));
    let ends = |s: &Series| -> Vec<f64> {
        let ends = s.points.iter().zip(&s.spread).flat_map(|(p, d)| [p.1 - d, p.1 + d]);
        ends.filter(|y| y.is_finite()).collect()
    };
    let ends: Vec<f64> = series.iter().flat_map(ends).collect();
    let (low, high) = room(finite.iter().map(|p| p.1).chain(ends));
    let legend = if series.len() > 1 { series.len().div_ceil(3) as u32 * 20 + 8 } else { 0 };
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, 320 + legend)).into_drawing_area();
        let (top, area) = root.split_vertically(legend);
        draw_legend(&top, series)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(left..right, low..high)
            .map_err(failed)?;
        let text = (FONT, 17).into_font().color(&INK);
        chart
            .configure_mesh()
            .bold_line_style(LINE.mix(1.0))
            .light_line_style(TRANSPARENT)
            .axis_style(SOFT)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(axes.x.clone())
            .y_desc(axes.y.clone())
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .x_labels(8)
            .y_labels(6)
            .draw()
            .map_err(failed)?;
        for (x, name) in axes.marks.iter().filter(|(x, _)| (left..right).contains(x)) {
            let line = PathElement::new(vec![(*x, low), (*x, high)], SOFT.stroke_width(1));
            chart.draw_series([line]).map_err(failed)?;
            let text = (FONT, 16).into_font().color(&SOFT);
            let label = EmptyElement::at((*x, high)) + Text::new(name.clone(), (5, 2), text);
            chart.draw_series([label]).map_err(failed)?;
        }
        for (at, one) in series.iter().enumerate() {
            let bars = one.points.iter().zip(&one.spread).map(|((x, y), d)| {
                PathElement::new(vec![(*x, y - d), (*x, y + d)], colour(at).stroke_width(2))
            });
            chart.draw_series(bars).map_err(failed)?;
            let points = one.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
            match one.mark {
                Mark::Line => {
                    let style = colour(at).stroke_width(2);
                    chart.draw_series(LineSeries::new(points, style)).map_err(failed)?;
                }
                Mark::Dots => {
                    let dot = |p| Circle::new(p, 5, colour(at).filled());
                    chart.draw_series(points.map(dot)).map_err(failed)?;
                }
            }
        }
        root.present().map_err(failed)?;
    }
    Ok(themed(svg))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_legend(area: &Area<'_>, series: &[Series]) -> Result<()> {
    if series.len() < 2 {
        return Ok(());
    }
    let style = (FONT, 17).into_font().color(&INK);
    for (at, one) in series.iter().enumerate() {
        let (x, y) = (70 + (at % 3) as i32 * 270, 6 + (at / 3) as i32 * 20);
        let box_ = Rectangle::new([(x, y), (x + 12, y + 12)], colour(at).filled());
        area.draw(&box_).map_err(failed)?;
        area.draw_text(&cut(&one.name, 26), &style, (x + 18, y)).map_err(failed)?;
    }
    Ok(())
}

/// A name that fits.
pub(super) fn cut(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most - 1).chain(['…']).collect(),
        false => name.into(),
    }
}

/// Named numbers as bars to the right, or to the left where they are negative.
pub fn bars(unit: &str, values: &[(String, f64)]) -> Result<String> {
    let (row, head, names) = (22, 26, 240);
    let finite = || values.iter().map(|v| v.1).filter(|v| v.is_finite());
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let scale = f64::from(WIDTH as i32 - names - 90) / (high - low).max(f64::MIN_POSITIVE);
    let zero = names + (-low * scale) as i32;
    let mut svg = String::new();
    {
        let size = (WIDTH, (head + row * values.len() as i32 + 6) as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let right = Pos::new(HPos::Right, VPos::Center);
        let name = (FONT, 17).into_font().color(&INK).pos(right);
        let left = Pos::new(HPos::Left, VPos::Center);
        let number = (FONT, 16).into_font().color(&SOFT).pos(left);
        root.draw_text(&cut(unit, 80), &number, (names, 12)).map_err(failed)?;
        for (at, (label, value)) in values.iter().enumerate() {
            let y = head + row * at as i32;
            root.draw_text(&cut(label, 25), &name, (names - 8, y + 9)).map_err(failed)?;
            let end = if value.is_finite() { zero + (value * scale) as i32 } else { zero };
            let corners = [(zero.min(end), y + 2), (zero.max(end).max(zero + 1), y + 17)];
            let bar = Rectangle::new(corners, colour(0).filled());
            root.draw(&bar).map_err(failed)?;
            let text = short(value);
            root.draw_text(&text, &number, (zero.max(end) + 6, y + 9)).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(themed(svg))
}

/// A critical-difference diagram: ranks on a line, best to the right, and bars over methods
/// that do not differ (Demsar 2006, figure 1).
pub fn critical_difference(ranking: &Ranking) -> Result<String> {
    let mut ranked: Vec<(&str, f64)> =
        ranking.methods.iter().map(String::as_str).zip(ranking.friedman.ranks.clone()).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let k = ranked.len();
    let half = k.div_ceil(2);
    let cliques = cliques(&ranked, ranking.difference);
    let (left, right) = (230, WIDTH as i32 - 230);
    let axis = 64;
    let body = axis + 20 + 12 * cliques.len() as i32;
    let height = body + 24 * half as i32 + 16;
    // Rank 1 stands to the right.
    let place =
        |rank: f64| right - ((rank - 1.0) / (k as f64 - 1.0) * f64::from(right - left)) as i32;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height as u32)).into_drawing_area();
        let line = |points: Vec<(i32, i32)>, width: u32, colour: RGBColor| {
            root.draw(&PathElement::new(points, colour.stroke_width(width))).map_err(failed)
        };
        let text = |at: HPos| (FONT, 17).into_font().color(&INK).pos(Pos::new(at, VPos::Center));
        line(vec![(left, axis), (right, axis)], 1, INK)?;
        for rank in 1..=k {
            let x = place(rank as f64);
            line(vec![(x, axis - 6), (x, axis)], 1, INK)?;
            root.draw_text(&rank.to_string(), &text(HPos::Center), (x, axis - 16))
                .map_err(failed)?;
        }
        let wide = (ranking.difference / (k as f64 - 1.0) * f64::from(right - left)) as i32;
        let from = (right - wide).max(6);
        line(vec![(from, 18), (right, 18)], 2, colour(1))?;
        for x in [from, right] {
            line(vec![(x, 13), (x, 23)], 2, colour(1))?;
        }
        let label = format!("critical difference {:.3}", ranking.difference);
        root.draw_text(&label, &text(HPos::Left), (right + 8, 18)).map_err(failed)?;
        for (at, (first, last)) in cliques.iter().enumerate() {
            let y = axis + 12 + 12 * at as i32;
            let (a, b) = (place(ranked[*first].1) + 4, place(ranked[*last].1) - 4);
            line(vec![(a, y), (b, y)], 4, colour(0))?;
        }
        for (at, (name, rank)) in ranked.iter().enumerate() {
            // The better half is written to the right, from the top.
            let (x, better) = (place(*rank), at < half);
            let y = body + 24 * if better { at } else { k - 1 - at } as i32;
            let (end, side) =
                if better { (right + 8, HPos::Left) } else { (left - 8, HPos::Right) };
            line(vec![(x, axis), (x, y), (end, y)], 1, SOFT)?;
            let label = format!("{} {rank:.2}", cut(name, 24));
            let at = if better { end + 4 } else { end - 4 };
            root.draw_text(&label, &text(side), (at, y)).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(themed(svg))
}

/// Longest runs of at least two methods whose ranks differ by less than the difference.
fn cliques(ranked: &[(&str, f64)], difference: f64) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranked.len() {
        let near = |last: &usize| ranked[*last].1 - ranked[first].1 < difference;
        let last = (first..ranked.len()).take_while(near).last().unwrap_or(first);
        if last > first && out.last().is_none_or(|(_, before)| last > *before) {
            out.push((first, last));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_do_not_differ_share_a_bar() {
        let ranked = [("a", 1.0), ("b", 1.8), ("c", 2.5), ("d", 4.0)];
        assert_eq!(cliques(&ranked, 1.0), [(0, 1), (1, 2)]);
        assert_eq!(cliques(&ranked, 5.0), [(0, 3)]);
        assert!(cliques(&ranked, 0.5).is_empty());
    }

    #[test]
    fn colours_follow_the_page() {
        let axes = Axes::new("features", "loss");
        let svg = plot(&axes, &[Series::line("a", vec![(0.0, 1.0), (5.0, 0.5)])]).unwrap();
        assert!(svg.contains("currentColor") && svg.contains("var(--s0)"), "{svg}");
        assert!(!svg.contains("#0"), "{svg}");
    }

    #[test]
    fn constants_and_nothing_have_axes_too() {
        let axes = Axes::new("x", "y");
        plot(&axes, &[]).unwrap();
        plot(&axes, &[Series::dots("a", vec![(1.0, 2.0), (f64::NAN, 1.0)])]).unwrap();
        bars("score", &[("a".into(), -1.0), ("b".into(), f64::INFINITY)]).unwrap();
        bars("score", &[]).unwrap();
    }

    #[test]
    fn scans_and_error_bars_are_drawn() {
        let axes = Axes::new("features", "error").marked(vec![(5.0, "scan 2".into())]);
        let one = Series::dots("a", vec![(1.0, 0.5), (9.0, 0.4)]);
        let bare = plot(&axes, std::slice::from_ref(&one)).unwrap();
        assert!(bare.contains("scan 2"), "{bare}");
        let bars = plot(&axes, &[one.with_spread(vec![0.1, 0.2])]).unwrap();
        // Of the series alone; the axes have other ticks with bars.
        let own = |line: &&str| line.contains("line ") && line.contains("var(--s0)");
        let lines = |svg: &str| svg.lines().filter(own).count();
        assert!(lines(&bars) >= lines(&bare) + 2, "{bars}");
    }
}
