//! Records of one line of code whose notes differ: a few are Events of their own, the rest one combined Event.

use std::time::Duration;

use super::cache::Fingerprint;
use super::settings::Settings;

/// What precedes the note of a combined Event. client-go's words, so that tools which know them know ours.
pub(super) const COMBINED: &str = "(combined from similar events): ";

/// The notes of one object, by type, reason and callsite.
#[derive(Debug, Default)]
pub(super) struct Similar(Vec<Kin>);

/// Those of one type, reason and callsite.
#[derive(Debug)]
struct Kin {
    print: Fingerprint,
    /// When the first Event of its own began, and the further ones, the oldest first.
    first: Duration,
    further: Vec<Duration>,
    newest: Duration,
    folds: bool,
}

/// What becomes of a note that was not heard before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is an Event of its own.
    Own,
    /// It is counted into the combined one, whose note it becomes.
    Fold,
}

/// So many kin of one object are remembered.
const MOST: usize = 64;

impl Similar {
    /// A note that was not heard before. Its kin is known by its fingerprint.
    pub(super) fn hear(&mut self, now: Duration, print: Fingerprint, settings: &Settings) -> Verdict {
        if let Some(kin) = self.0.iter_mut().find(|it| it.print == print) {
            return kin.hear(now, settings);
        }
        if self.0.len() >= MOST {
            let oldest = self.0.iter().enumerate().min_by_key(|it| it.1.newest).map_or(0, |it| it.0);
            self.0.swap_remove(oldest);
        }
        // Most objects have one line of code that speaks of them.
        self.0.reserve_exact(usize::from(self.0.is_empty()));
        self.0.push(Kin { print, first: now, further: Vec::new(), newest: now, folds: false });
        Verdict::Own
    }

    /// Until when it is worth remembering: what folds folds on.
    pub(super) fn matters_until(&self, settings: &Settings) -> Duration {
        let newest = self.0.iter().filter(|it| it.folds).map(|it| it.newest).max();
        newest.map_or(Duration::ZERO, |it| it.saturating_add(settings.similar_window))
    }
}

impl Kin {
    /// Once they fold they fold on, until a whole window brought no new note: a stream of unique texts would else make
    /// ten more Events in every window.
    fn hear(&mut self, now: Duration, settings: &Settings) -> Verdict {
        let is_past = |it: Duration| now.saturating_sub(it) >= settings.similar_window;
        if is_past(self.newest) {
            *self = Self { print: self.print, first: now, further: Vec::new(), newest: now, folds: false };
            return Verdict::Own;
        }
        self.newest = now;
        self.further.retain(|it| !is_past(*it));
        self.folds |= self.further.len() + usize::from(!is_past(self.first)) >= settings.similar_most;
        if self.folds {
            self.further = Vec::new();
            return Verdict::Fold;
        }
        self.further.push(now);
        Verdict::Own
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::Printer;
    use super::*;

    #[track_caller]
    fn verdicts(gap: u64, notes: u64, own: usize) {
        let (settings, mut similar, print) = (Settings::default(), Similar::default(), Printer::default().print(1));
        let verdicts = (0..notes).map(|it| similar.hear(Duration::from_secs(it * gap), print, &settings));
        assert_eq!(verdicts.filter(|it| *it == Verdict::Own).count(), own);
    }

    #[test]
    fn ten_notes_in_ten_minutes_stay_alone_and_the_rest_folds() {
        verdicts(0, 60, 10);
        verdicts(10, 60, 10);
    }

    #[test]
    fn a_note_a_minute_never_folds() {
        verdicts(60, 100, 100);
        verdicts(59, 100, 10);
    }

    #[test]
    fn ten_minutes_without_a_new_note_begin_anew() {
        let (settings, mut similar, print) = (Settings::default(), Similar::default(), Printer::default().print(1));
        for _ in 0..11 {
            similar.hear(Duration::from_secs(1), print, &settings);
        }
        assert_eq!(similar.hear(Duration::from_secs(600), print, &settings), Verdict::Fold);
        assert_eq!(similar.hear(Duration::from_secs(1_200), print, &settings), Verdict::Own);
    }
}
