//! What the command line says.

use std::path::PathBuf;
use std::time::Duration;

use super::scenario::{Fleet, Scenario};

pub(crate) const USAGE: &str = "\
simulate [--objects N] [--hours H] [--scenario NAME] [--seed N] [--plot DIR] [--check]

  --objects N      a fleet of so many; without it fleets of 100, 10,000 and 100,000
  --hours H        how long the day is: 24, and 6 for a fleet of 100,000
  --scenario NAME  steady, crash-loop, outage, start-up, chatty or unique-text; without it all of them
  --seed N         another day of the same sort
  --plot DIR       draws each scenario as DIR/NAME-OBJECTS.svg
  --check          a small fleet; fails when a promise is broken";

#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) fleets: Vec<Fleet>,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) plot: Option<PathBuf>,
    pub(crate) check: bool,
}

impl Args {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut objects, mut hours, mut seed, mut scenario) = (None, None, 1, None);
        let (mut plot, mut check) = (None, false);
        while let Some(word) = words.next() {
            if word == "--check" {
                check = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("`{word}` is not known, or misses its value"))?;
            match &*word {
                "--objects" => objects = Some(number(&value)?),
                "--hours" => hours = Some(number(&value)?),
                "--seed" => seed = number(&value)?.into(),
                "--scenario" => scenario = Some(named(&value)?),
                "--plot" => plot = Some(PathBuf::from(value)),
                _ => return Err(format!("`{word}` is not known")),
            }
        }
        let sizes = match objects {
            Some(objects) => vec![objects],
            None if check => vec![200],
            None => vec![100, 10_000, 100_000],
        };
        let usual = |objects| match objects {
            _ if check => 3,
            100_000.. => 6,
            _ => 24,
        };
        let day = |objects| Duration::from_secs(3_600) * hours.unwrap_or(usual(objects));
        let fleets = sizes.into_iter().map(|objects| Fleet { objects, day: day(objects), seed }).collect();
        let scenarios = scenario.map_or(Scenario::ALL.to_vec(), |it| vec![it]);
        Ok(Self { fleets, scenarios, plot, check })
    }
}

/// From 1 on: there is no day without an hour, and no fleet without an object.
fn number(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|it| *it > 0).ok_or_else(|| format!("`{text}` is no number above 0"))
}

fn named(name: &str) -> Result<Scenario, String> {
    let found = Scenario::ALL.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| format!("there is no scenario `{name}`"))
}
