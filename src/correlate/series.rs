//! One Event and its count: what is told of it, what is not yet, and when that is due.

use std::sync::Arc;
use std::time::Duration;

use super::cache::Id;
use super::settings::Settings;
use crate::message::{EventType, KubeEvent, Telling, Wall, event_name};
use crate::regarding::Regarding;

/// Occurrences that are one Event.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) object: Id,
    pub(super) kind: EventType,
    pub(super) standing: Standing,
    /// Whether it stands for many notes, and shows the newest.
    pub(super) combined: bool,
    /// The number in its name. It rises with the first appearances.
    pub(super) serial: u64,
    pub(super) first: Wall,
    pub(super) last: Wall,
    /// The sum of what the server was told.
    pub(super) told: u64,
    /// Heard, and neither told nor under way.
    pub(super) held: u64,
    /// In a request without a reply.
    pub(super) under_way: u64,
    /// The least that a create without a clear reply may have told.
    pub(super) unsure: Option<u64>,
    pub(super) rhythm: Rhythm,
    /// Its turn among all that waits, from the moment it became due.
    pub(super) turn: Option<u64>,
    /// Whether its object's line holds it, or held it when it last fell out of turn.
    pub(super) queued: bool,
    pub(super) give_up: Duration,
    /// When the timer looks at it again.
    pub(super) timer: Option<Duration>,
    /// Needed only while there is something to tell; the next occurrence brings it again.
    pub(super) body: Option<Box<Body>>,
}

/// What the server knows of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing yet.
    New,
    /// An Event of its name exists.
    Known,
    /// It refused it for good.
    Refused,
}

/// The words of a series, made to fit.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) regarding: Arc<Regarding>,
    pub(super) related: Option<Arc<Regarding>>,
    pub(super) reason: Box<str>,
    pub(super) action: Box<str>,
    pub(super) note: String,
    pub(super) annotations: Vec<(Box<str>, Box<str>)>,
}

/// When the repeats of a series are written: at doubling distances, and soon after it falls silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rhythm {
    /// When the first of what is held was heard.
    pub(super) held_since: Duration,
    pub(super) heard: Duration,
    written: Duration,
    distance: Duration,
    /// The longest gap of late. It is halved at each write, so that neither one long pause nor one burst is taken for
    /// the usual: bursts of 30 every 10 s are as steady as one every 10 s.
    usual: Duration,
}

impl Series {
    pub(super) fn is_open(&self, now: Duration, settings: &Settings) -> bool {
        let silence = now.saturating_sub(self.rhythm.heard);
        self.held + self.under_way > 0 || silence < settings.close
    }

    /// When what is held is to be written, if nothing stands in its way.
    pub(super) fn due(&self, settings: &Settings, hurried: Option<Duration>) -> Duration {
        match self.standing {
            Standing::Known if hurried.is_none_or(|it| self.rhythm.held_since > it) => self.rhythm.due(settings),
            _ => self.rhythm.held_since,
        }
    }

    /// The Event as it stands, with everything told and held in its count.
    pub(super) fn telling(&self, body: &Body, regarding: Arc<Regarding>, settings: &Settings) -> Telling {
        let namespace = match &*regarding.namespace {
            "" => settings.cluster_namespace.clone(),
            it => it.into(),
        };
        let event = KubeEvent {
            name: event_name(&regarding.name, self.serial),
            namespace,
            regarding,
            related: body.related.clone(),
            kind: self.kind,
            reason: body.reason.clone(),
            action: body.action.clone(),
            note: body.note.as_str().into(),
            time: self.first,
            annotations: body.annotations.clone(),
            reporter: settings.reporter.clone(),
        };
        let renewed = self.combined && self.standing == Standing::Known && settings.notes_can_be_renewed;
        Telling {
            event: Arc::new(event),
            // The server's count is an int32.
            count: (self.told + self.held).min(i32::MAX as u64) as u32,
            last: self.last,
            note: renewed.then(|| body.note.as_str().into()),
            again: self.unsure.is_some(),
        }
    }
}

impl Body {
    pub(super) fn annotation_bytes(&self) -> usize {
        self.annotations.iter().map(|(key, value)| key.len() + value.len()).sum()
    }
}

impl Rhythm {
    pub(super) fn begun(now: Duration, settings: &Settings) -> Self {
        let distance = settings.first_distance;
        Self { held_since: now, heard: now, written: now, distance, usual: Duration::ZERO }
    }

    pub(super) fn hear(&mut self, now: Duration) {
        self.usual = self.usual.max(now.saturating_sub(self.heard));
        self.heard = self.heard.max(now);
    }

    /// A write told so many.
    pub(super) fn wrote(&mut self, at: Duration, told: u64, created: bool, settings: &Settings) {
        if !created {
            let mean = at.saturating_sub(self.written) / told.clamp(1, u64::from(u32::MAX)) as u32;
            self.usual = (self.usual / 2).max(mean);
            self.distance = (self.distance * 2).min(settings.longest_distance);
        }
        self.written = at;
    }

    fn due(&self, settings: &Settings) -> Duration {
        // Repeats are collected for a moment even when the distance is long past: a burst is one write, not two.
        let together = (self.written + self.distance).max(self.held_since + settings.first_distance);
        let silent = self.heard + (self.usual * settings.quiet_gaps).max(settings.quiet_least);
        together.min(silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// Hears at these moments and writes whenever due, until all is told; says when it wrote.
    fn writes(heard: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let settings = Settings::default();
        let mut heard = heard.into_iter().map(at);
        let mut rhythm = Rhythm::begun(heard.next().unwrap(), &settings);
        let (mut held, mut writes) = (0, Vec::new());
        let mut write = |rhythm: &mut Rhythm, held: &mut u64, until: Duration| {
            if *held > 0 && rhythm.due(&settings) <= until {
                let due = rhythm.due(&settings);
                rhythm.wrote(due, std::mem::take(held), false, &settings);
                writes.push((due.as_secs_f64() * 10.0).round() / 10.0);
            }
        };
        for now in heard {
            write(&mut rhythm, &mut held, now);
            rhythm.hear(now);
            if held == 0 {
                rhythm.held_since = now;
            }
            held += 1;
        }
        write(&mut rhythm, &mut held, Duration::MAX);
        writes
    }

    #[test]
    fn a_burst_is_written_once_a_second_after_its_first_repeat() {
        assert_eq!(writes((0..10_000).map(|it| f64::from(it) / 1e6)), [1.0]);
    }

    #[test]
    fn distances_double_and_silence_tells_the_rest() {
        assert_eq!(writes((0..900).map(|it| f64::from(it) / 10.0)), [1.1, 3.1, 7.1, 15.1, 31.1, 63.1, 91.9]);
    }

    #[test]
    fn a_slow_beat_is_not_taken_for_silence() {
        let writes = writes((0..360).map(|it| f64::from(it) * 10.0));
        assert_eq!(writes[..8], [11.0, 21.0, 31.0, 41.0, 57.0, 89.0, 153.0, 281.0]);
        assert!(writes.len() <= 20, "{writes:?}");
    }

    #[test]
    fn neither_are_bursts_that_come_in_a_slow_beat() {
        let writes =
            writes((0..360).flat_map(|beat| (0..30).map(move |it| f64::from(beat * 10) + f64::from(it) / 1e3)));
        assert!(writes.len() <= 21, "{writes:?}");
    }

    #[test]
    fn a_million_repeats_in_an_hour_are_twenty_writes() {
        let writes = writes((0..1_000_000).map(|it| f64::from(it) * 0.0036));
        assert!(writes.len() <= 20, "{writes:?}");
    }
}
