//! Records of one line of code whose notes differ: a few are Events of their own, the rest one combined Event.

use std::time::Duration;

use super::settings::Settings;

/// What precedes the note of a combined Event. client-go's words, so that tools which know them know ours.
pub(super) const COMBINED: &str = "(combined from similar events): ";

/// The notes of one object, type, reason and callsite.
#[derive(Debug, Default)]
pub(super) struct Similar {
    /// When the Events of their own began, the oldest first.
    own: Vec<Duration>,
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

impl Similar {
    /// Once they fold they fold on, until a whole window brought no new note: a stream of unique texts would else make
    /// ten more Events in every window.
    pub(super) fn hear(&mut self, now: Duration, settings: &Settings) -> Verdict {
        if self.is_over(now, settings) {
            *self = Self::default();
        }
        self.newest = now;
        self.own.retain(|it| now.saturating_sub(*it) < settings.similar_window);
        self.folds |= self.own.len() >= settings.similar_most;
        if self.folds {
            self.own = Vec::new();
            return Verdict::Fold;
        }
        self.own.push(now);
        Verdict::Own
    }

    /// Whether it may be forgotten.
    pub(super) fn is_over(&self, now: Duration, settings: &Settings) -> bool {
        now.saturating_sub(self.newest) >= settings.similar_window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn verdicts(gap: u64, notes: u64, own: usize) {
        let (settings, mut similar) = (Settings::default(), Similar::default());
        let verdicts = (0..notes).map(|it| similar.hear(Duration::from_secs(it * gap), &settings));
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
        let (settings, mut similar) = (Settings::default(), Similar::default());
        for _ in 0..11 {
            similar.hear(Duration::from_secs(1), &settings);
        }
        assert_eq!(similar.hear(Duration::from_secs(600), &settings), Verdict::Fold);
        assert_eq!(similar.hear(Duration::from_secs(1_200), &settings), Verdict::Own);
    }
}
