//! What happens in a day: six stories, each a stream of records of a whole fleet, the same for every recorder.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use super::dice::Dice;
use super::recorder::{Line, Record};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    Steady,
    CrashLoop,
    Outage,
    StartUp,
    Chatty,
    Unique,
}

/// So many objects for so long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fleet {
    pub(crate) objects: u32,
    pub(crate) day: Duration,
    pub(crate) seed: u64,
}

/// The records of a day, in the order of time.
#[derive(Debug)]
pub(crate) struct Records {
    scenario: Scenario,
    fleet: Fleet,
    dice: Dice,
    turns: BinaryHeap<Reverse<(Duration, u32)>>,
    objects: Vec<Object>,
    ready: VecDeque<(Duration, Record)>,
    notes: u64,
}

/// What an object remembers between its turns.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// How often it failed in a row.
    failures: u32,
    restart_at: Duration,
}

const fn seconds(it: u64) -> Duration {
    Duration::from_secs(it)
}

/// How often a healthy object is reconciled.
const RECONCILE: Duration = seconds(5 * 60);
/// How often one whose story is told elsewhere is.
const SELDOM: Duration = seconds(60 * 60);
/// The kubelet's back-off of a container that crashes.
const CRASH: (Duration, Duration) = (seconds(10), seconds(300));
/// How often it says that it is backing off.
const BACK_OFF: Duration = seconds(12);
/// The usual back-off of a reconciler that fails.
const RETRY: (Duration, Duration) = (seconds(5), seconds(300));
const OUTAGE: Duration = seconds(30 * 60);
/// How often the controller is started anew, and how long it takes to see all objects.
const START: (Duration, Duration) = (seconds(6 * 60 * 60), seconds(10));
const CHATTER: Duration = Duration::from_millis(50);
const UNIQUE: Duration = seconds(30);

impl Scenario {
    pub(crate) const ALL: [Self; 6] =
        [Self::Steady, Self::CrashLoop, Self::Outage, Self::StartUp, Self::Chatty, Self::Unique];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::CrashLoop => "crash-loop",
            Self::Outage => "outage",
            Self::StartUp => "start-up",
            Self::Chatty => "chatty",
            Self::Unique => "unique-text",
        }
    }

    pub(crate) fn story(self) -> &'static str {
        match self {
            Self::Steady => "every object is reconciled every 5 minutes and says the same each time",
            Self::CrashLoop => {
                "one object in 20 crashes: 2 records per restart, \"backing off\" every 12 s; the rest is seen hourly"
            }
            Self::Outage => "as steady, and the API server is away for 30 minutes: all objects fail and back off",
            Self::StartUp => "every 6 hours all objects are seen anew within 10 s, with 3 reasons each",
            Self::Chatty => "one object says the same 20 times a second, all day; the rest is seen hourly",
            Self::Unique => "one object in 10 warns every 30 s, each time with another request id in the text",
        }
    }

    /// The line that a person watches, of the first object; `None` where the story is about all of them.
    pub(crate) fn watched(self) -> Option<Line> {
        let reason = match self {
            Self::StartUp => return None,
            Self::CrashLoop => 2,
            Self::Outage => 1,
            Self::Steady | Self::Chatty | Self::Unique => 0,
        };
        Some(Line { object: 0, reason })
    }

    pub(crate) fn outage(self, day: Duration) -> Option<Range<Duration>> {
        (self == Self::Outage).then(|| day.mul_f64(0.4)..day.mul_f64(0.4) + OUTAGE)
    }
}

impl Records {
    pub(crate) fn new(scenario: Scenario, fleet: Fleet) -> Self {
        let mut dice = Dice::new(fleet.seed);
        let spread = match scenario {
            Scenario::StartUp => START.1,
            _ => RECONCILE,
        };
        // The one that is watched begins the day.
        let first = |object| Reverse((if object == 0 { Duration::ZERO } else { dice.within(spread) }, object));
        let turns = (0..fleet.objects).map(first).collect();
        let objects = vec![Object::default(); fleet.objects as usize];
        Self { scenario, fleet, dice, turns, objects, ready: VecDeque::new(), notes: 0 }
    }

    /// An object has its turn. Says when the next is.
    fn turn(&mut self, now: Duration, object: u32) -> Duration {
        match self.scenario {
            Scenario::Steady => self.reconcile(now, object, RECONCILE),
            Scenario::CrashLoop if object.is_multiple_of(20) => self.crash(now, object),
            Scenario::Outage if self.is_away(now) => self.fail(now, object),
            Scenario::Outage => self.reconcile(now, object, RECONCILE),
            Scenario::StartUp => self.start(now, object),
            Scenario::Chatty if object == 0 => self.reconcile(now, object, CHATTER),
            Scenario::Unique if object.is_multiple_of(10) => self.warn_uniquely(now, object),
            Scenario::CrashLoop | Scenario::Chatty | Scenario::Unique => self.reconcile(now, object, SELDOM),
        }
    }

    fn is_away(&self, now: Duration) -> bool {
        self.scenario.outage(self.fleet.day).is_some_and(|it| it.contains(&now))
    }

    fn say(&mut self, at: Duration, object: u32, reason: u16, warning: bool) {
        let line = Line { object, reason };
        self.ready.push_back((at, Record { line, warning, note: self.notes }));
    }

    fn reconcile(&mut self, now: Duration, object: u32, interval: Duration) -> Duration {
        self.objects[object as usize].failures = 0;
        self.say(now, object, 0, false);
        now + self.dice.about(interval)
    }

    fn fail(&mut self, now: Duration, object: u32) -> Duration {
        self.say(now, object, 1, true);
        let wait = self.back_off(object, RETRY);
        now + self.dice.about(wait)
    }

    /// It restarts, or says that it will not yet.
    fn crash(&mut self, now: Duration, object: u32) -> Duration {
        if now < self.objects[object as usize].restart_at {
            self.say(now, object, 2, true);
        } else {
            self.say(now, object, 0, false);
            self.say(now, object, 1, false);
            self.objects[object as usize].restart_at = now + self.back_off(object, CRASH);
        }
        let restart = self.objects[object as usize].restart_at;
        let next = now + self.dice.about(BACK_OFF);
        if now < restart { next.min(restart) } else { next }
    }

    fn start(&mut self, now: Duration, object: u32) -> Duration {
        for reason in 0..3 {
            self.say(now, object, reason, false);
        }
        now + START.0
    }

    fn warn_uniquely(&mut self, now: Duration, object: u32) -> Duration {
        self.notes += 1;
        self.say(now, object, 0, true);
        now + self.dice.about(UNIQUE)
    }

    fn back_off(&mut self, object: u32, (first, most): (Duration, Duration)) -> Duration {
        let failures = &mut self.objects[object as usize].failures;
        *failures += 1;
        (first * 2u32.pow((*failures - 1).min(10))).min(most)
    }
}

impl Iterator for Records {
    type Item = (Duration, Record);

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            let Reverse((now, object)) = self.turns.pop()?;
            if now >= self.fleet.day {
                return None;
            }
            let next = self.turn(now, object);
            self.turns.push(Reverse((next, object)));
        }
        self.ready.pop_front()
    }
}
