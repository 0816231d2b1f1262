//! Steps from a fuzzer's bytes, and the laws after each.

use std::time::Duration;

use super::server::{Fault, Step, World};
use crate::correlate::Settings;

/// Runs whatever steps the bytes say; panics where a law is broken.
pub(crate) fn run(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let Some(settings) = settings(&mut bytes) else { return };
    let mut world = World::new(settings);
    while let Some(step) = step(&mut bytes) {
        world.step(&step);
    }
    world.all_goes_well();
    world.check_budgets();
}

/// Small numbers, so that few steps reach every bound; the first byte may leave the defaults.
fn settings(bytes: &mut impl Iterator<Item = u8>) -> Option<Settings> {
    let settings = Settings::default();
    let tight = bytes.next()? % 2 == 1;
    if !tight {
        return Some(settings);
    }
    let mut number = |most: u8| Some(u64::from(bytes.next()? % most) + 1);
    Some(Settings {
        series: number(12)? as usize,
        object_burst: number(4)? as u32,
        total_burst: number(8)? as u32,
        in_flight: number(4)? as usize,
        similar_most: number(4)? as usize,
        similar_window: Duration::from_secs(number(40)?),
        object_refill: Duration::from_millis(number(250)? * 10),
        total_refill: Duration::from_millis(number(250)?),
        patience: Duration::from_secs(number(250)? * 3),
        look_ups: number(2)? == 1,
        ..settings
    })
}

fn step(bytes: &mut impl Iterator<Item = u8>) -> Option<Step> {
    let (what, number) = (bytes.next()?, bytes.next()?);
    Some(match what % 16 {
        0..4 => Step::Hear {
            object: number % 5,
            warning: number & 0x80 != 0,
            reason: bytes.next()? % 3,
            note: bytes.next()? % 12,
            callsite: what / 16 % 3,
            times: 1 + number / 8 % 4,
            patience: (what > 0xf0).then_some(number),
        },
        4..6 => Step::Wait { milliseconds: u32::from(number) * 16 },
        6 => Step::Wait { milliseconds: u32::from(number) * 3_000 },
        7..9 => Step::Send { most: 1 + number % 4 },
        9..12 => Step::Answer { which: number, fault: None },
        12 => Step::Answer { which: number, fault: Some(fault(bytes.next()?)) },
        13 => Step::Again { which: number },
        14 => Step::ClockSet { seconds: i16::from(number) - 128 },
        _ if number < 8 => Step::GiveUp,
        _ => Step::Hurry,
    })
}

fn fault(byte: u8) -> Fault {
    match byte % 11 {
        0 => Fault::Away,
        1 => Fault::Lost,
        2 => Fault::Throttled((byte > 100).then_some(byte)),
        3 => Fault::Unauthorized,
        4 => Fault::Forbidden,
        5 => Fault::Invalid,
        6 => Fault::Terminating,
        7 => Fault::Missing,
        8 => Fault::Expired,
        9 => Fault::NameTaken,
        _ => Fault::Nonsense,
    }
}
