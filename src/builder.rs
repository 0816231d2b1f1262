//! Choices and their defaults.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use crate::correlate::Settings;
use crate::layer::{self, Choices, Layer, NoteFields, Redaction};
use crate::message::{EventType, Reporter, WORD_LIMIT, qualified_name};
use crate::poster::Poster;
use crate::queue::queue;
use crate::wire::Api;

/// Begins a layer and its poster, which report under this name: `kubectl describe` shows it under `From`.
///
/// The name is a qualified name, as label keys are: up to 63 of `[A-Za-z0-9._-]`, beginning and ending with a letter or
/// digit, with an optional lower-case DNS prefix and `/` before it. Use one that nobody else has, such as
/// `foo-operator.example.com`. It is checked by [`Builder::build`].
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build()?;
/// let subscriber = tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(layer);
/// # drop((subscriber, poster));
/// # Ok(())
/// # }
/// ```
pub fn builder(reporting_controller: impl Into<String>) -> Builder {
    Builder {
        controller: reporting_controller.into(),
        instance: None,
        api: Api::default(),
        choices: Choices::default(),
        settings: Settings::default(),
        queue_capacity: QUEUE_CAPACITY,
        wake_at_every_record: false,
        attempt: ATTEMPT,
    }
}

/// How many records may wait for the poster: 10,000 logged flat out from four threads find room, with some to spare for
/// what waits before the poster has a home.
const QUEUE_CAPACITY: usize = 16_384;

/// How long one request may take: kube's client has no read timeout of its own, so that a hung API server would keep an
/// object's place for ever.
const ATTEMPT: Duration = Duration::from_secs(10);

/// Sums and products of what was chosen must not leave the range of a `Duration`.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Choices for a layer and its poster. Every one has a default; [`builder`] begins it.
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    controller: String,
    instance: Option<String>,
    api: Api,
    choices: Choices,
    settings: Settings,
    queue_capacity: usize,
    wake_at_every_record: bool,
    attempt: Duration,
}

/// Why a builder was refused.
#[non_exhaustive]
pub struct BuildError(BuildErrorKind);

enum BuildErrorKind {
    Controller { name: String, why: &'static str },
    Zero(&'static str),
    TooLong(&'static str),
    Empty(&'static str),
}

impl Builder {
    /// Which instance reports: a pod, usually. Default: the environment's `POD_NAME`, else the host name.
    ///
    /// At most 128 bytes; more is cut off. `kubectl get events -o wide` shows it.
    pub fn reporting_instance(mut self, instance: impl Into<String>) -> Self {
        self.instance = Some(instance.into());
        self
    }

    /// Through which API group Events are written. Default: [`Api::CoreV1`].
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// From which level on records post whose object somebody declared for Events: by `k8s.*` fields on the record or a
    /// span, by `object_span`, by `set_regarding`. Default: `INFO`.
    pub fn level(mut self, level: impl Into<LevelFilter>) -> Self {
        self.choices.declared = level.into();
        self
    }

    /// From which level on records post whose object nobody declared for Events: under kube's own "reconciling object"
    /// span, or by OpenTelemetry's field names. Default: `WARN`, as such lines may hold what Events should not.
    pub fn ambient_level(mut self, level: impl Into<LevelFilter>) -> Self {
        self.choices.ambient = level.into();
        self
    }

    /// Which targets post, and from which level on, beside the two levels above. Default: all.
    pub fn targets(mut self, targets: Targets) -> Self {
        self.choices.targets = Some(targets);
        self
    }

    /// A target that never posts, with everything below it. Some never do by default: the Kubernetes client's own
    /// (`kube_client`, `kube_runtime`, `tower`, `tower_http`, `hyper`, `hyper_util`, `h2`, `rustls`, `hyper_rustls`,
    /// `reqwest`), whose lines would be about the wrong thing, and this crate's.
    pub fn deny_target(mut self, target: impl Into<String>) -> Self {
        self.choices.denied.push(target.into());
        self
    }

    /// Which of a record's other fields follow the message in the note, as `key=value`. Default: [`NoteFields::All`].
    pub fn note_fields(mut self, fields: NoteFields) -> Self {
        self.choices.note_fields = fields;
        self
    }

    /// Is asked about every field that would stand in a note, by name and value: keep it, mask it, or drop it. Default:
    /// all are kept.
    ///
    /// It runs on the thread that logs, and only where there is a field to ask about. If it panics, so does that record.
    pub fn redact(mut self, ask: impl Fn(&str, &str) -> Redaction + Send + Sync + 'static) -> Self {
        self.choices.redact = Some(Arc::new(ask));
        self
    }

    /// The reason of records that name none. Default: `Logging` for both types, as kopf has it.
    pub fn default_reason(mut self, kind: EventType, reason: impl Into<Box<str>>) -> Self {
        match kind {
            EventType::Normal => self.settings.normal_reason = reason.into(),
            EventType::Warning => self.settings.warning_reason = reason.into(),
        }
        self
    }

    /// Writes Events about cluster-scoped objects to `kube-system`, not `default`. No other namespace is taken.
    pub fn cluster_events_in_kube_system(mut self) -> Self {
        self.settings.cluster_namespace = "kube-system".into();
        self
    }

    /// How many records may wait for the poster. Default: 16,384, of some 350 bytes each.
    ///
    /// When they are all taken the newest record is dropped and counted in
    /// [`Stats::dropped_queue_full`](crate::Stats::dropped_queue_full); the last eighth is kept for warnings. The thread
    /// that logs never waits.
    pub fn queue_capacity(mut self, records: usize) -> Self {
        self.queue_capacity = records;
        self
    }

    /// Wakes the poster at every record, so that an Event is visible in the server's own 5 ms. It costs the thread that
    /// logs a system call, some 2.6 µs a record. Default: it is not woken, and looks by itself every 5 to 100 ms.
    pub fn wake_at_every_record(mut self) -> Self {
        self.wake_at_every_record = true;
        self
    }

    /// How old an Event may grow before it is given up, when the API server does not take it. Default: 10 min.
    pub fn give_up_after(mut self, age: Duration) -> Self {
        self.settings.patience = age;
        self
    }

    /// How long one request may take. Default: 10 s.
    pub fn attempt_timeout(mut self, limit: Duration) -> Self {
        self.attempt = limit;
        self
    }

    /// How many requests may be under way at once, each for another object. Default: 64.
    ///
    /// It begins with 16, if so many are allowed; with every answer it may be one more, and after each failure it begins
    /// anew.
    pub fn requests_in_flight(mut self, requests: usize) -> Self {
        self.settings.in_flight = requests;
        self
    }

    /// How many Events one object may have: so many at once, and one more each time this span of time has passed.
    /// Default: 100, and one every 5 s. What may not speak now is counted on, and told later.
    pub fn object_budget(mut self, burst: u32, one_more_every: Duration) -> Self {
        self.settings.object_burst = burst;
        self.settings.object_refill = one_more_every;
        self
    }

    /// How many Events and new counts may be written in all: so many at once, and one more each time this span of time has
    /// passed. Default: 2,000, and one every 20 ms, which is 50 a second.
    ///
    /// An hour of the default is 180,000 Events, some 200 MB of etcd: as much as a cluster bears from one program.
    pub fn total_budget(mut self, burst: u32, one_more_every: Duration) -> Self {
        self.settings.total_burst = burst;
        self.settings.total_refill = one_more_every;
        self
    }

    /// How many different Events are remembered and held at once. Default: 16,384, so that a start-up burst over 10,000
    /// objects waits for its budget whole; some 1.4 KiB each while they wait, a fraction of it once they are told.
    ///
    /// What is beyond it is dropped and counted in [`Stats::dropped_bounds`](crate::Stats::dropped_bounds), Normal before
    /// Warning; what was told is only forgotten, so that its next repeat is a new Event. Set it above the number of
    /// objects times the Events that each repeats within 6 min.
    pub fn series_capacity(mut self, series: usize) -> Self {
        self.settings.series = series;
        self
    }

    /// How far apart the writes of one counting Event are: the first comes this long after the first repeat, then each
    /// at twice the distance, up to the longest. Default: 1 s, and 5 min, which is client-go's refill of one object.
    pub fn series_distances(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.first_distance = first;
        self.settings.longest_distance = longest;
        self
    }

    /// How long a counting Event may be silent before what comes next is a new Event. Default: 6 min, client-go's
    /// `finishTime`.
    pub fn series_closes_after(mut self, silence: Duration) -> Self {
        self.settings.close = silence;
        self
    }

    /// How many notes of one line of code, about one object and with one reason, are Events of their own within this
    /// time; further ones share one combined Event. Default: 10 in 10 min, client-go's `defaultAggregateMaxEvents` and
    /// `defaultAggregateIntervalInSeconds`.
    pub fn similar_notes(mut self, most: usize, within: Duration) -> Self {
        self.settings.similar_most = most;
        self.settings.similar_window = within;
        self
    }

    /// How long after a failure a request is sent again: the first time, then each time twice as long, up to the longest,
    /// unless the server asks for more. Default: 0.5 s, and 30 s.
    pub fn retry_distances(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.retry_first = first;
        self.settings.retry_most = longest;
        self
    }

    /// Posts references without a uid as they are. Default: the uid is looked up, since `kubectl describe` shows no
    /// Event without it; that needs the right to `get` the object.
    pub fn without_look_ups(mut self) -> Self {
        self.settings.look_ups = false;
        self
    }

    /// The layer, for any `tracing_subscriber` stack on a `Registry`, and its poster, which wants a home.
    ///
    /// # Errors
    /// When the reporting controller is not a qualified name, or a choice is one that could never work: no place in the
    /// queue, no request in flight, an empty reason, a distance of zero or of more than a year.
    pub fn build<S>(self) -> Result<(Layer<S>, Poster), BuildError>
    where
        S: tracing::Subscriber + for<'a> LookupSpan<'a>,
    {
        self.check()?;
        let instance = self.instance.filter(|it| !it.is_empty()).unwrap_or_else(default_instance);
        let instance = crate::message::cut_end(&instance, WORD_LIMIT).into();
        let reporter = Reporter { controller: self.controller.into(), instance };
        let (sender, receiver) = queue(self.queue_capacity, self.wake_at_every_record);
        let settings = Settings {
            reporter: Arc::new(reporter),
            api_group: self.api.group().into(),
            notes_can_be_renewed: self.api == Api::CoreV1,
            seed: seed(),
            ..self.settings
        };
        let layer = layer::new(sender.clone(), self.choices);
        Ok((layer, Poster::new(sender, receiver, settings, self.api, self.attempt)))
    }

    fn check(&self) -> Result<(), BuildErrorKind> {
        let name = &self.controller;
        qualified_name(name).map_err(|why| BuildErrorKind::Controller { name: name.clone(), why })?;
        let settings = &self.settings;
        let numbers = [
            ("the queue's capacity", self.queue_capacity),
            ("the number of requests in flight", settings.in_flight),
            ("an object's burst", settings.object_burst as usize),
            ("the total burst", settings.total_burst as usize),
            ("the series' capacity", settings.series),
            ("the number of similar notes", settings.similar_most),
        ];
        if let Some((what, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(BuildErrorKind::Zero(what));
        }
        let durations = [
            ("an attempt's time", self.attempt),
            ("an object's refill", settings.object_refill),
            ("the total refill", settings.total_refill),
            ("the first distance of a series", settings.first_distance),
            ("the longest distance of a series", settings.longest_distance),
            ("the silence that closes a series", settings.close),
            ("the window of similar notes", settings.similar_window),
            ("the first distance of retries", settings.retry_first),
            ("the longest distance of retries", settings.retry_most),
        ];
        if let Some((what, _)) = durations.into_iter().find(|(_, it)| it.is_zero()) {
            return Err(BuildErrorKind::Zero(what));
        }
        if let Some((what, _)) = durations.into_iter().find(|(_, it)| *it > LONGEST) {
            return Err(BuildErrorKind::TooLong(what));
        }
        match settings.normal_reason.is_empty() || settings.warning_reason.is_empty() {
            true => Err(BuildErrorKind::Empty("the default reason")),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("reporting_controller", &self.controller).finish_non_exhaustive()
    }
}

impl From<BuildErrorKind> for BuildError {
    fn from(kind: BuildErrorKind) -> Self {
        Self(kind)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildErrorKind::Controller { name, why } => {
                write!(f, "reporting controller `{name}` is not a qualified name: {why}")
            }
            BuildErrorKind::Zero(what) => write!(f, "{what} is zero"),
            BuildErrorKind::TooLong(what) => write!(f, "{what} is longer than a year"),
            BuildErrorKind::Empty(what) => write!(f, "{what} is empty"),
        }
    }
}

/// In the same words: it is what a `main` prints that returns it.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for BuildError {}

/// The pod's name as the downward API gives it, else the host's, which in a pod is the pod's name too.
fn default_instance() -> String {
    let pod = std::env::var("POD_NAME").ok().filter(|it| !it.is_empty());
    let host = || gethostname::gethostname().to_string_lossy().into_owned();
    pod.or_else(|| Some(host()).filter(|it| !it.is_empty())).unwrap_or_else(|| "unknown".into())
}

/// Differs between processes, so that two replicas neither share names nor retry in step.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
