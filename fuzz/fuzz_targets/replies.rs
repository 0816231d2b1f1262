//! Whatever a server answers, and whenever, the account closes and the correlator comes to rest.

#![no_main]

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../src"]
mod house {
    pub(crate) mod correlate;
    pub(crate) mod message;
    pub(crate) mod regarding;
}

#[allow(dead_code, unreachable_pub)]
#[path = "../../src/sink/answer.rs"]
mod answer;

use std::sync::Arc;
use std::time::Duration;

use answer::{Answer, reply};
use arbitrary::Arbitrary;
use correlate::{Correlator, Settings, Ticket};
use house::{correlate, message, regarding};
use libfuzzer_sys::fuzz_target;
use message::{EventType, Now, Occurrence, Reply, Request, Resource, Tag, Wall};
use regarding::Regarding;

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Observe { object: u8, note: u8, callsite: u8, warning: bool, with_uid: bool },
    Pass { milliseconds: u32 },
    Send,
    /// As bytes from the network.
    Answer { which: u8, status: u16, retry_after: Option<u16>, body: &'a [u8] },
    /// As a sink of one's own may answer, right or wrong.
    Settle { which: u8, reply: u8, retry_after: Option<u16> },
    Hurry,
}

struct House {
    correlator: Correlator,
    now: Duration,
    under_way: Vec<(Ticket, Request)>,
}

fuzz_target!(|steps: Vec<Step<'_>>| {
    let settings = Settings { series: 16, in_flight: 4, ..Settings::default() };
    let mut house = House { correlator: Correlator::new(settings), now: Duration::ZERO, under_way: Vec::new() };
    for step in &steps {
        house.take(step);
        house.check();
    }
    house.correlator.give_up();
    house.check();
    let account = house.correlator.account();
    assert_eq!((account.held, account.in_flight), (0, 0));
});

impl House {
    fn take(&mut self, step: &Step<'_>) {
        let now = Now { mono: self.now, wall: Wall(0) };
        match *step {
            Step::Observe { object, note, callsite, warning, with_uid } => {
                self.correlator.observe(now, &occurrence(object, note, callsite, warning, with_uid));
            }
            Step::Pass { milliseconds } => self.now += Duration::from_millis(milliseconds.into()),
            Step::Send => self.under_way.extend(self.correlator.next_request(now)),
            Step::Answer { which, status, retry_after, body } => {
                let Some((ticket, request)) = self.land(which) else { return };
                let retry_after = retry_after.map(|it| Duration::from_secs(it.into()));
                let reply = reply(&request, &Answer { status, retry_after, body: body.to_vec() });
                self.correlator.settle(now, ticket, reply);
            }
            Step::Settle { which, reply, retry_after } => {
                let Some((ticket, _)) = self.land(which) else { return };
                self.correlator.settle(now, ticket, staged(reply, retry_after));
                // Twice changes nothing.
                self.correlator.settle(now, ticket, Reply::Done);
            }
            Step::Hurry => self.correlator.hurry(now),
        }
        while self.correlator.next_diagnosis(now).is_some() {}
    }

    fn land(&mut self, which: u8) -> Option<(Ticket, Request)> {
        let places = self.under_way.len();
        (places > 0).then(|| self.under_way.swap_remove(usize::from(which) % places))
    }

    fn check(&self) {
        let it = self.correlator.account();
        let parts = it.told + it.held + it.in_flight + it.dropped.iter().sum::<u64>();
        assert_eq!(it.seen, parts, "{it:?}");
        assert!(self.under_way.len() <= 4);
        let waits = self.correlator.wake_at().is_some() || !self.under_way.is_empty();
        assert!(it.held == 0 || waits, "something is held and nobody will wake it: {it:?}");
    }
}

fn occurrence(object: u8, note: u8, callsite: u8, warning: bool, with_uid: bool) -> Occurrence {
    let regarding = Regarding {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: format!("ns-{}", object % 3).into(),
        name: format!("a-{}", object % 8).into(),
        uid: if with_uid { "5ee9a1f4".into() } else { Box::default() },
        ..Regarding::default()
    };
    let kind = if warning { EventType::Warning } else { EventType::Normal };
    let mut it = Occurrence::about(Wall(i64::from(note)), kind, Arc::new(regarding));
    it.callsite = usize::from(callsite % 4);
    it.text.push(Tag::Reason, "Scaled");
    it.text.push(Tag::Note, &format!("scaled to {note}"));
    it
}

fn staged(reply: u8, retry_after: Option<u16>) -> Reply {
    let retry_after = retry_after.map(|it| Duration::from_secs(it.into()));
    match reply % 13 {
        0 => Reply::AlreadyExists,
        1 => Reply::NotFound,
        2 => Reply::NamespaceMissing,
        3 => Reply::NamespaceTerminating,
        4 => Reply::Forbidden("no".into()),
        5 => Reply::Unauthorized,
        6 => Reply::Throttled(retry_after),
        7 => Reply::Unavailable { retry_after, why: "away".into() },
        8 => Reply::Invalid("never".into()),
        9 => Reply::Found { uid: "5ee9a1f5".into() },
        10 => Reply::Resources(vec![Resource {
            kind: "ConfigMap".into(),
            plural: "configmaps".into(),
            namespaced: true,
        }]),
        _ => Reply::Done,
    }
}
