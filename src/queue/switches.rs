//! What may be switched while the program runs: from which level on records post, and which targets.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// The switches of one layer. Any thread may turn them, and reading them waits for nobody that logs.
#[derive(Debug)]
pub(crate) struct Switches {
    declared: AtomicU8,
    ambient: AtomicU8,
    /// Read only when a callsite is asked about for the first time, and for records of the `log` crate.
    targets: RwLock<Option<Arc<Targets>>>,
}

impl Switches {
    /// As the builder has chosen, before any callsite was asked about.
    pub(crate) fn begin(&self, declared: LevelFilter, ambient: LevelFilter, targets: Option<Targets>) {
        self.declared.store(number(declared), Ordering::Relaxed);
        self.ambient.store(number(ambient), Ordering::Relaxed);
        *self.targets.write().unwrap_or_else(PoisonError::into_inner) = targets.map(Arc::new);
    }

    /// From which level on records post whose object somebody declared for Events.
    pub(crate) fn declared(&self) -> LevelFilter {
        level(self.declared.load(Ordering::Relaxed))
    }

    /// From which level on the others do.
    pub(crate) fn ambient(&self) -> LevelFilter {
        level(self.ambient.load(Ordering::Relaxed))
    }

    /// Which targets post at all, and from which level on.
    pub(crate) fn targets(&self) -> Option<Arc<Targets>> {
        self.targets.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_declared(&self, to: LevelFilter) {
        self.declared.store(number(to), Ordering::Relaxed);
        turned();
    }

    pub(crate) fn set_ambient(&self, to: LevelFilter) {
        self.ambient.store(number(to), Ordering::Relaxed);
        turned();
    }

    pub(crate) fn set_targets(&self, to: Option<Targets>) {
        *self.targets.write().unwrap_or_else(PoisonError::into_inner) = to.map(Arc::new);
        turned();
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            declared: AtomicU8::new(number(LevelFilter::INFO)),
            ambient: AtomicU8::new(number(LevelFilter::WARN)),
            targets: RwLock::new(None),
        }
    }
}

/// Every callsite is asked about again, by every layer: some microseconds per callsite, once per turn of a switch.
fn turned() {
    tracing::callsite::rebuild_interest_cache();
}

const LEVELS: [LevelFilter; 6] = [
    LevelFilter::OFF,
    LevelFilter::ERROR,
    LevelFilter::WARN,
    LevelFilter::INFO,
    LevelFilter::DEBUG,
    LevelFilter::TRACE,
];

fn number(level: LevelFilter) -> u8 {
    LEVELS.iter().position(|it| *it == level).unwrap_or_default() as u8
}

fn level(number: u8) -> LevelFilter {
    LEVELS.get(usize::from(number)).copied().unwrap_or(LevelFilter::OFF)
}
