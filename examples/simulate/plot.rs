//! A day as a picture: what the API server has to write, and what a person sees, of all recorders at once.

use std::collections::VecDeque;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;

use super::day::{Report, Sample};
use super::scenario::{Fleet, Scenario};
use super::table::grouped;

const SIZE: (u32, u32) = (1_000, 660);

/// So many points of a line can be told apart at this size, and keep the file small.
const POINTS: u32 = 240;

/// How a line looks. In shades of grey, lightness and dashes tell them apart.
#[derive(Clone, Copy)]
struct Pen {
    name: &'static str,
    colour: RGBColor,
    width: u32,
    dashes: Option<&'static str>,
}

/// In the order of the reports.
const PENS: [Pen; 4] = [
    Pen { name: "this crate", colour: RGBColor(0x10, 0x2a, 0x6b), width: 3, dashes: None },
    Pen { name: "client-go record", colour: RGBColor(0xd5, 0x5e, 0x00), width: 2, dashes: Some("9 4") },
    Pen { name: "client-go events", colour: RGBColor(0x00, 0x9e, 0x73), width: 2, dashes: Some("2 4") },
    Pen { name: "kube Recorder", colour: RGBColor(0x56, 0xb4, 0xe9), width: 2, dashes: Some("14 3 3 3") },
];

const TRUTH: Pen = Pen { name: "what happened", colour: RGBColor(0xd0, 0xd0, 0xd0), width: 9, dashes: None };

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, LogCoord<f64>>>;

struct Line {
    pen: Pen,
    points: Vec<(Duration, f64)>,
}

/// The axis of time. Where a story is told by its first minutes it is logarithmic.
#[derive(Clone)]
struct Axis {
    time: Range<Duration>,
    is_log: bool,
}

impl Axis {
    fn of(scenario: Scenario, fleet: Fleet) -> Self {
        let second = Duration::from_secs(1);
        match (scenario, scenario.outage(fleet.day)) {
            (_, Some(outage)) => {
                let half = (outage.end - outage.start) / 2;
                Self {
                    time: outage.start - half.min(outage.start)..(outage.end + 3 * half).min(fleet.day),
                    is_log: false,
                }
            }
            (Scenario::Steady, _) => Self { time: Duration::ZERO..fleet.day, is_log: false },
            _ => Self { time: second..fleet.day, is_log: true },
        }
    }

    fn place(&self, at: Duration) -> f64 {
        if self.is_log { at.as_secs_f64().log10() } else { at.as_secs_f64() }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = Duration;

    fn map(&self, at: &Duration, (left, right): (i32, i32)) -> i32 {
        let Range { start, end } = self.range();
        let part = (self.place(*at) - self.place(start)) / (self.place(end) - self.place(start));
        left + (f64::from(right - left) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<Duration> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        let Range { start, end } = self.range();
        let minutes = match self.is_log {
            true => {
                return [1, 10, 60, 600, 3_600, 21_600, 86_400]
                    .map(Duration::from_secs)
                    .into_iter()
                    .filter(|it| *it <= end)
                    .collect();
            }
            false => (end - start).as_secs() / 60,
        };
        let ten = Duration::from_secs(600);
        let step = ten * minutes.div_ceil(120) as u32;
        let first = ten * start.div_duration_f64(ten).ceil() as u32;
        std::iter::successors(Some(first), |it| Some(*it + step)).take_while(|it| *it <= end).collect()
    }

    fn range(&self) -> Range<Duration> {
        self.time.clone()
    }
}

fn words(time: &Duration) -> String {
    match time.as_secs() {
        it if it >= 3_600 && it % 3_600 > 0 => format!("{}:{:02} h", it / 3_600, it % 3_600 / 60),
        it if it >= 3_600 => format!("{} h", it / 3_600),
        it if it >= 60 => format!("{} min", it / 60),
        it => format!("{it} s"),
    }
}

/// When the lines have their points.
pub(crate) fn looks(scenario: Scenario, fleet: Fleet) -> Vec<Duration> {
    let Axis { time: Range { start, end }, is_log } = Axis::of(scenario, fleet);
    if !is_log {
        return (0..=POINTS).map(|it| start + (end - start) * it / POINTS).collect();
    }
    let next = |it: &Duration| Some(it.mul_f64(1.04).max(*it + Duration::from_secs(1)));
    std::iter::successors(Some(start), next).take_while(|it| *it <= end).collect()
}

pub(crate) fn draw(folder: &Path, scenario: Scenario, fleet: Fleet, reports: &[Report; 4]) -> Result<(), String> {
    let path = folder.join(format!("{}-{}.svg", scenario.name(), fleet.objects));
    let picture = picture(scenario, fleet, reports).map_err(|it| it.to_string());
    let written = picture
        .and_then(|it| fs::create_dir_all(folder).and_then(|()| fs::write(&path, it)).map_err(|it| it.to_string()));
    written.map_err(|it| format!("cannot draw {}: {it}", path.display()))
}

fn picture(scenario: Scenario, fleet: Fleet, reports: &[Report; 4]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let title = format!("{}: {} objects", scenario.name(), grouped(fleet.objects.into()));
        let root = root.titled(&title, ("sans-serif", 22))?;
        let root = root.titled(scenario.story(), ("sans-serif", 15))?;
        let (above, below) = root.split_vertically(SIZE.1 * 44 / 100);
        let axis = Axis::of(scenario, fleet);
        // Ours last, so that it lies above.
        let all = || reports.iter().zip(PENS).rev();
        let writes: Vec<_> =
            all().map(|(it, pen)| Line { pen, points: writes_per_minute(&axis, &it.samples) }).collect();
        let mean = if axis.is_log { ", mean since half the time" } else { "" };
        panel(&above, &format!("Writes per minute, of all objects{mean}"), &axis, &writes)?;
        let points = |samples: &[Sample], value: fn(&Sample) -> u64| {
            samples.iter().map(|it| (it.at, value(it) as f64)).collect()
        };
        let whose = if scenario.watched().is_some() { "one object" } else { "all objects" };
        let mut counts = vec![Line { pen: TRUTH, points: points(&reports[0].samples, |it| it.records) }];
        counts.extend(all().map(|(it, pen)| Line { pen, points: points(&it.samples, |it| it.told) }));
        let mut chart =
            panel(&below, &format!("The count that a person sees on the server, of {whose}"), &axis, &counts)?;
        legend(&mut chart)?;
        root.present()?;
    }
    Ok(dashed(svg))
}

/// On a logarithmic axis of time a point is the mean since half its time, else since the point before.
fn writes_per_minute(axis: &Axis, samples: &[Sample]) -> Vec<(Duration, f64)> {
    let mut window = VecDeque::new();
    let mut writes = 0;
    let rate = |it: &Sample| {
        writes += it.writes;
        window.push_back((it.at, writes));
        let is_over = |next: &(Duration, u64)| if axis.is_log { next.0 <= it.at / 2 } else { next.0 < it.at };
        while window.get(1).is_some_and(is_over) {
            window.pop_front();
        }
        let (since, before) = window[0];
        (it.at, (writes - before) as f64 / (it.at - since).as_secs_f64() * 60.0)
    };
    // Nothing is known of the time before the first look.
    samples.iter().map(rate).filter(|(_, rate)| rate.is_finite()).collect()
}

/// One chart. Counts are on a logarithmic axis: the recorders differ by orders.
fn panel<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    title: &str,
    axis: &Axis,
    lines: &[Line],
) -> Result<Chart<'a>, Box<dyn Error>> {
    let values = || lines.iter().flat_map(|it| &it.points).map(|it| it.1);
    let least = values().filter(|it| *it > 0.0).fold(f64::INFINITY, f64::min).min(1e9);
    let most = values().fold(least, f64::max);
    // What is nothing lies on the axis, below all that is something.
    let bottom = 10f64.powf(least.log10().floor()) * 0.5;
    let top = 10f64.powf((most * 1.05).log10().ceil()).max(bottom * 250.0);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(30)
        .y_label_area_size(78)
        .build_cartesian_2d(axis.clone(), (bottom..top).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&words)
        .y_label_formatter(&|it| if *it < 1.0 { it.to_string() } else { grouped(*it as u64) })
        .label_style(("sans-serif", 14))
        .draw()?;
    for Line { pen, points } in lines {
        let style = pen.colour.stroke_width(pen.width);
        let points = points.iter().map(|(at, value)| (*at, value.max(bottom)));
        let drawn = chart.draw_series(LineSeries::new(points, style))?;
        drawn.label(pen.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 34, y)], style));
    }
    Ok(chart)
}

fn legend(chart: &mut Chart<'_>) -> Result<(), Box<dyn Error>> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .legend_area_size(40)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(0xb0, 0xb0, 0xb0))
        .label_font(("sans-serif", 14))
        .draw()?;
    Ok(())
}

/// plotters draws each dash by itself, which makes files large; SVG knows dashes of its own.
fn dashed(mut svg: String) -> String {
    for pen in PENS {
        if let Some(dashes) = pen.dashes {
            let RGBColor(red, green, blue) = pen.colour;
            let stroke = format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\"");
            svg = svg.replace(&stroke, &format!("{stroke} stroke-dasharray=\"{dashes}\""));
        }
    }
    svg
}
