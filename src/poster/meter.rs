//! The counters through the `metrics` facade, for whatever recorder the application has installed.

use std::time::Duration;

use metrics::{SharedString, Unit, counter, describe_counter, describe_gauge, gauge};

use super::{Handle, Stats};

/// Publishes are never closer than this: scrapers come every 15 s or so.
const APART: Duration = Duration::from_secs(1);

/// Publishes [`Stats`], once a second at most.
pub(super) struct Meter {
    handle: Handle,
    /// The reporting controller, as two posters of one process must not share their numbers.
    controller: SharedString,
    next: Duration,
}

impl Meter {
    pub(super) fn new(handle: Handle, controller: &str) -> Self {
        Self { handle, controller: controller.to_owned().into(), next: Duration::ZERO }
    }

    pub(super) fn publish(&mut self, now: Duration) {
        if now >= self.next {
            self.next = now + APART;
            self.publish_now();
        }
    }

    pub(super) fn publish_now(&self) {
        let stats = self.handle.stats();
        for (name, description, value) in counters(&stats) {
            describe_counter!(name, description);
            counter!(name, "controller" => self.controller.clone()).absolute(value);
        }
        describe_counter!(DROPPED, "What was seen and will never be told, by cause");
        for (cause, value) in causes(&stats) {
            counter!(DROPPED, "controller" => self.controller.clone(), "cause" => cause).absolute(value);
        }
        for (name, description, value) in gauges(&stats) {
            describe_gauge!(name, description);
            gauge!(name, "controller" => self.controller.clone()).set(value as f64);
        }
        let waiting = stats.oldest_waiting.unwrap_or_default();
        describe_gauge!(OLDEST_WAITING, Unit::Seconds, "How long the oldest of what is held has waited");
        gauge!(OLDEST_WAITING, "controller" => self.controller.clone()).set(waiting);
    }
}

const DROPPED: &str = "tracing_k8s_events_dropped_total";
const OLDEST_WAITING: &str = "tracing_k8s_events_oldest_waiting_seconds";

fn counters(stats: &Stats) -> [(&'static str, &'static str, u64); 9] {
    [
        ("tracing_k8s_events_seen_total", "Records and calls that were to become Events", stats.seen),
        ("tracing_k8s_events_told_total", "The sum of the counts that the sink is known to have taken", stats.told),
        ("tracing_k8s_events_folded_total", "Counted into an Event that was told before", stats.folded),
        ("tracing_k8s_events_created_total", "Events made", stats.created),
        ("tracing_k8s_events_patched_total", "Events told a new count", stats.patched),
        ("tracing_k8s_events_retried_total", "Requests sent again after they failed", stats.retried),
        ("tracing_k8s_events_look_ups_total", "Look-ups of a uid, and of the resources they need", stats.look_ups),
        ("tracing_k8s_events_restarts_total", "Times that the poster panicked and went on", stats.restarts),
        (
            "tracing_k8s_events_annotations_left_out_total",
            "Annotations that do not fit the server's limits",
            stats.annotations_left_out,
        ),
    ]
}

fn causes(stats: &Stats) -> [(&'static str, u64); 10] {
    [
        ("queue_full", stats.dropped_queue_full),
        ("after_end", stats.dropped_after_end),
        ("malformed", stats.dropped_malformed),
        ("no_object", stats.dropped_no_object),
        ("bounds", stats.dropped_bounds),
        ("too_old", stats.dropped_too_old),
        ("forbidden", stats.dropped_forbidden),
        ("namespace_gone", stats.dropped_namespace_gone),
        ("invalid", stats.dropped_invalid),
        ("at_shutdown", stats.dropped_at_shutdown),
    ]
}

fn gauges(stats: &Stats) -> [(&'static str, &'static str, u64); 5] {
    [
        ("tracing_k8s_events_queue_length", "Waiting in the queue for the poster", stats.queue_length),
        ("tracing_k8s_events_held", "Waiting for their time, their budget or their turn", stats.held),
        ("tracing_k8s_events_in_flight", "In requests that have no reply yet", stats.in_flight),
        ("tracing_k8s_events_series", "Series that are remembered", stats.series),
        ("tracing_k8s_events_requests_in_flight", "Requests that have no reply yet", stats.requests_in_flight),
    ]
}
