//! Every number that a decision rests on, and where it comes from.

use std::sync::Arc;
use std::time::Duration;

use crate::message::Reporter;

/// What the correlator goes by. The defaults are those of the documentation.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Who reports.
    pub(crate) reporter: Arc<Reporter>,
    /// Makes this process' Event names and retry distances its own. The only source of chance.
    pub(crate) seed: u64,
    /// The reason of a Normal record that names none. kopf's `Logging`.
    pub(crate) normal_reason: Box<str>,
    /// The reason of a Warning record that names none.
    pub(crate) warning_reason: Box<str>,
    /// Where the Events of cluster-scoped objects live. The server takes `default` and `kube-system`; client-go's choice.
    pub(crate) cluster_namespace: Box<str>,
    /// Which API group's Events are written, as an RBAC rule names it: the empty one, or `events.k8s.io`.
    pub(crate) api_group: Box<str>,
    /// Whether the API takes another note for an Event that exists: core/v1 does, events.k8s.io/v1 never.
    pub(crate) notes_can_be_renewed: bool,

    /// Repeats are collected for this long before their first write: long enough that 10,000 records in a burst are one
    /// write, short enough that a person who looks twice sees the count move.
    pub(crate) first_distance: Duration,
    /// Writes of one series are never farther apart. client-go's 30 min (`refreshTime`) leaves a count stale for that long;
    /// its spam filter gives one write per 5 min, and so do we.
    pub(crate) longest_distance: Duration,
    /// A series that is silent for so many of its usual gaps tells its true count.
    pub(crate) quiet_gaps: u32,
    /// And never sooner than this after its last occurrence.
    pub(crate) quiet_least: Duration,
    /// A series that was quiet for so long is closed: what comes then is a new Event. client-go: `finishTime`.
    pub(crate) close: Duration,

    /// So many notes of one callsite are Events of their own. client-go: `defaultAggregateMaxEvents`.
    pub(crate) similar_most: usize,
    /// Within this time. client-go: `defaultAggregateIntervalInSeconds`.
    pub(crate) similar_window: Duration,

    /// One object may write so often at once. client-go's 25 loses most of W3's 60 reasons.
    pub(crate) object_burst: u32,
    /// And once more after each of these.
    pub(crate) object_refill: Duration,
    /// All objects together may write so often at once: the start-up of a controller with 2,000 objects.
    pub(crate) total_burst: u32,
    /// And once more after each of these: 50 a second are 180,000 Events an hour, some 200 MB of etcd.
    pub(crate) total_refill: Duration,

    /// So many requests may be under way at once, while the server is well: as many as a program has that reconciles 64
    /// objects at a time and awaits each Event; with 16 a burst took a fifth longer than by it.
    pub(crate) in_flight: usize,
    /// The first retry comes after this long, each further one after twice as long.
    pub(crate) retry_first: Duration,
    /// Retries are never farther apart, unless the server asks for more.
    pub(crate) retry_most: Duration,
    /// A server's `Retry-After` is obeyed up to this. The API server's own longest is 32 s.
    pub(crate) retry_after_most: Duration,
    /// What could not be told is given up when its newest occurrence is so old.
    pub(crate) patience: Duration,
    /// A namespace that refuses us rests for this long, doubling.
    pub(crate) forbidden_first: Duration,
    /// Up to this.
    pub(crate) forbidden_most: Duration,
    /// A namespace that is gone is not asked again for this long.
    pub(crate) gone: Duration,

    /// Whether the uid of an object that was named without one is looked up.
    pub(crate) look_ups: bool,
    /// How long the answer to a look-up holds, whatever it was.
    pub(crate) look_up_holds: Duration,
    /// How long a look-up is let be that failed for no reason of its own.
    pub(crate) look_up_rest: Duration,
    /// How often a look-up is tried before the Event goes without.
    pub(crate) look_up_tries: u32,

    /// So many series are known at once: a start-up burst over 10,000 objects waits for its budget whole.
    pub(crate) series: usize,
    /// The server's limit of one object's annotations, keys and values together, in bytes.
    pub(crate) annotations: usize,
    /// The limit of all annotations that wait, in bytes.
    pub(crate) annotations_held: usize,
    /// The limit of one reference's parts together, in bytes: the longest that a server takes are a third of it.
    pub(crate) reference: usize,
    /// One cause is diagnosed once in this time.
    pub(crate) diagnosis: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            reporter: Arc::default(),
            seed: 0,
            normal_reason: "Logging".into(),
            warning_reason: "Logging".into(),
            cluster_namespace: "default".into(),
            api_group: "".into(),
            notes_can_be_renewed: true,
            first_distance: seconds(1),
            longest_distance: seconds(5 * 60),
            quiet_gaps: 5,
            quiet_least: seconds(2),
            close: seconds(6 * 60),
            similar_most: 10,
            similar_window: seconds(10 * 60),
            object_burst: 100,
            object_refill: seconds(5),
            total_burst: 2_000,
            total_refill: Duration::from_millis(20),
            in_flight: 64,
            retry_first: Duration::from_millis(500),
            retry_most: seconds(30),
            retry_after_most: seconds(5 * 60),
            patience: seconds(10 * 60),
            forbidden_first: seconds(60),
            forbidden_most: seconds(10 * 60),
            gone: seconds(10),
            look_ups: true,
            look_up_holds: seconds(5 * 60),
            look_up_rest: seconds(30),
            look_up_tries: 3,
            series: 16_384,
            annotations: 256 * 1024,
            annotations_held: 8 * 1024 * 1024,
            reference: 4 * 1024,
            diagnosis: seconds(60),
        }
    }
}
