//! Which callsites are listened to: asked once per callsite, so that the others cost nothing.

use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::layer::{Context, Filter};

use super::plan::Wanted;
use super::{OWN, Shared};

/// The filter of a [`Layer`](super::Layer): it wants every span, and the records that level and target let through.
///
/// Every span, since one that it did not see would hide the object of the spans around it. Of records it never says
/// `always`: a layer whose filter does loses the record after an `enabled!` or `log_enabled!` on the same thread
/// (tokio-rs/tracing#2519).
#[derive(Debug)]
pub struct ListenFilter {
    pub(super) shared: Arc<Shared>,
}

/// Spans are seen down to this level at least, also where records post from a higher one.
const SPANS: LevelFilter = LevelFilter::INFO;

impl<S> Filter<S> for ListenFilter {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        if metadata.is_span() {
            return true;
        }
        match self.shared.plans.find(metadata) {
            Some(plan) => plan.wanted().at_all(),
            None => self.shared.wants(metadata.target(), metadata.level()).at_all(),
        }
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        let plan = self.shared.plan(metadata);
        plan.set_wanted(self.shared.wants_callsite(plan));
        match metadata.is_span() || plan.wanted().at_all() {
            true => Interest::sometimes(),
            false => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let switches = self.shared.sender.switches();
        Some(switches.declared().max(switches.ambient()).max(SPANS))
    }
}

impl Shared {
    /// Whether records of this target and level are wanted.
    pub(super) fn wants(&self, target: &str, level: &Level) -> Wanted {
        let switches = self.sender.switches();
        let targets = switches.targets();
        let denied = || target == OWN || self.denied.iter().any(|it| is_below(target, it));
        let listens = |from: LevelFilter| *level <= from;
        let (declared, ambient) = (listens(switches.declared()), listens(switches.ambient()));
        if (!declared && !ambient) || denied() || targets.is_some_and(|it| !it.would_enable(target, level)) {
            return Wanted::default();
        }
        Wanted { declared, ambient }
    }
}

/// Whether a target is a module or one below it: `hyper::client` is below `hyper`, `hyperion` is not.
pub(super) fn is_below(target: &str, module: &str) -> bool {
    target.strip_prefix(module).is_some_and(|it| it.is_empty() || it.starts_with("::"))
}
