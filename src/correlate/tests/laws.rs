//! What holds whatever happens.

use std::collections::HashMap;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::server::{Fault, Step, World, object_of};
use super::story::Story;
use crate::correlate::Settings;
use crate::message::Request;

/// Bounds, budgets and times so small that a few steps reach them.
fn tight() -> impl Strategy<Value = Settings> {
    let times = (1..40u64, 1..3_000u64, 1..200u64, 5..700u64);
    let numbers = (1..12usize, 1..5u32, 1..8u32, 1..5usize, 1..4usize, any::<u64>());
    (times, numbers, any::<bool>()).prop_map(|(times, numbers, look_ups)| Settings {
        similar_window: Duration::from_secs(times.0),
        object_refill: Duration::from_millis(times.1),
        total_refill: Duration::from_millis(times.2),
        patience: Duration::from_secs(times.3),
        series: numbers.0,
        object_burst: numbers.1,
        total_burst: numbers.2,
        in_flight: numbers.3,
        similar_most: numbers.4,
        seed: numbers.5,
        look_ups,
        ..Settings::default()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    prop_oneof![tight(), Just(Settings::default())]
}

fn hear() -> impl Strategy<Value = Step> {
    (0..5u8, any::<bool>(), 0..3u8, 0..6u8, 0..3u8, 1..4u8, proptest::option::weighted(0.1, 0..30u8)).prop_map(
        |(object, warning, reason, note, callsite, times, patience)| Step::Hear {
            object,
            warning,
            reason,
            note,
            callsite,
            times,
            patience,
        },
    )
}

fn wait() -> impl Strategy<Value = Step> {
    prop_oneof![6 => 0..3_000u32, 2 => 0..60_000u32, 1 => 0..700_000u32]
        .prop_map(|milliseconds| Step::Wait { milliseconds })
}

/// Faults that delay, and that lose nothing.
fn passing() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::Away),
        Just(Fault::Lost),
        proptest::option::of(0..40u8).prop_map(Fault::Throttled),
        Just(Fault::Unauthorized),
        Just(Fault::Forbidden),
        Just(Fault::Nonsense),
        Just(Fault::NameTaken),
    ]
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let fatal =
        prop_oneof![Just(Fault::Invalid), Just(Fault::Terminating), Just(Fault::Missing), Just(Fault::Expired),];
    prop_oneof![2 => passing(), 1 => fatal]
}

fn steps(faults: impl Strategy<Value = Fault> + 'static) -> impl Strategy<Value = Vec<Step>> {
    let answer = (any::<u8>(), proptest::option::of(faults)).prop_map(|(which, fault)| Step::Answer { which, fault });
    let step = prop_oneof![
        8 => hear(),
        4 => wait(),
        6 => (1..4u8).prop_map(|most| Step::Send { most }),
        6 => answer,
        1 => any::<u8>().prop_map(|which| Step::Again { which }),
        1 => (-30..30i16).prop_map(|seconds| Step::ClockSet { seconds }),
        1 => Just(Step::Hurry),
    ];
    vec(step, 1..120)
}

proptest! {
    /// Whatever is heard, sent, answered, lost and doubled: the books are right after every step, the bounds hold, one
    /// object has one request, nothing waits without a moment at which it will be looked at, no window of time holds
    /// more writes than the budgets allow, and when all goes well again everything is told or counted as lost.
    #[test]
    fn the_books_are_right_at_every_moment(settings in settings(), steps in steps(any_fault()), ends in any::<bool>()) {
        let mut world = World::new(settings);
        for step in &steps {
            world.step(step);
        }
        if ends {
            world.step(&Step::GiveUp);
        }
        world.all_goes_well();
        world.check_budgets();
    }

    /// A fault that passes loses no count: in the end the server shows every occurrence that was not given up, and none
    /// twice.
    #[test]
    fn a_lost_or_doubled_reply_loses_no_count(steps in steps(passing())) {
        let mut world = World::new(Settings { patience: Duration::from_secs(1_000_000), ..Settings::default() });
        for mut step in steps {
            if let Step::Hear { patience, .. } = &mut step {
                *patience = None;
            }
            world.step(&step);
        }
        world.all_goes_well();
        let account = world.correlator.account();
        prop_assert_eq!(account.dropped.iter().sum::<u64>(), 0);
        prop_assert_eq!(account.told, account.seen);
        prop_assert_eq!(world.events.values().sum::<u64>(), account.seen);
    }

    /// Events of one object appear in the order in which they were first heard.
    #[test]
    fn an_object_keeps_the_order_of_its_first_appearances(settings in settings(), steps in steps(passing())) {
        let steps = steps.iter().filter(|it| !matches!(it, Step::Answer { fault: Some(Fault::NameTaken), .. }));
        let mut world = World::new(settings);
        for step in steps {
            world.step(step);
        }
        world.all_goes_well();
        let mut newest: HashMap<String, Box<str>> = HashMap::new();
        for (_, _, request) in &world.requests {
            if let Request::Create(it) = request {
                let newest = newest.entry(object_of(request)).or_default();
                prop_assert!(*newest <= it.event.name, "{newest} was made before {}", it.event.name);
                *newest = it.event.name.clone();
            }
        }
    }

    /// What happens to other objects changes nothing in the story of one.
    #[test]
    fn objects_do_not_meddle(heard in vec((0..3usize, 0..2usize, 0..14usize, 0..20_000u64), 1..80)) {
        let story = |only: Option<usize>| {
            let mut story = Story::new();
            let mut now = 0;
            for (object, reason, note, gap) in &heard {
                now += gap;
                story.at(now as f64 / 1_000.0);
                if only.is_none_or(|it| it == *object) {
                    story.about(&format!("object-{object}"));
                    story.info(&format!("Reason{reason}"), &format!("note {note}"));
                }
            }
            story.at(now as f64 / 1_000.0 + 3_600.0);
            story.lines()
        };
        let together = story(None);
        for object in 0..3 {
            let name = format!(" object-{object} ");
            let of_it: Vec<_> = together.iter().filter(|it| it.contains(&name)).cloned().collect();
            prop_assert_eq!(of_it, story(Some(object)));
        }
    }
}
