//! A `tracing` layer that turns an operator's log records into Kubernetes Events.
//!
//! You write `info!`, `warn!` and `error!`. Whoever runs `kubectl describe` on the object sees what happened: in order,
//! once, counted, with the newest text, soon after it happened. The thread that logs pays nanoseconds, never waits and
//! never fails; one background poster does the rest. Nothing is lost in silence.
//!
//! ```
//! # use k8s_openapi::api::core::v1::ObjectReference;
//! use tracing::{info, warn};
//! use tracing_k8s_events::{MemorySink, object_span};
//! use tracing_subscriber::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let reference = ObjectReference { kind: Some("Foo".into()), name: Some("web".into()), ..Default::default() };
//! let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build()?;
//! tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(layer).init();
//! let sink = MemorySink::new();
//! let guard = poster.spawn_sink(sink.clone())?; // in a cluster: poster.spawn(config)?
//!
//! object_span(&reference).in_scope(|| {
//!     info!(k8s.reason = "Scaled", replicas = 3, "scaled up");
//!     (0..1000).for_each(|_| warn!(k8s.reason = "NotReady", "waiting for the database"));
//! });
//!
//! assert!(guard.shutdown(std::time::Duration::from_secs(5)).is_complete());
//! sink.event("Scaled").about(&reference).with_note("scaled up replicas=3").once();
//! sink.event("NotReady").about(&reference).times(1000); // one Event that counts
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//! [Install](#install) · [Naming objects](#naming-objects) · [What a record becomes](#what-a-record-becomes) ·
//! [Repeats and floods](#repeats-and-floods) · [When things go badly](#when-things-go-badly) · [Rights](#rights) ·
//! [Filters](#filters) · [Costs](#costs) · [Testing](#testing) ·
//! [Coming from kube's `Recorder`](#coming-from-kubes-recorder) · [Coming from kopf](#coming-from-kopf)
//!
//! # Install
//! [`builder`] gives a [`Layer`] for the subscriber, and a [`Poster`] that wants a home. The layer listens at once; until
//! the poster has its home, records wait in the queue.
//!
//! | home | for |
//! |---|---|
//! | [`poster.spawn(config)`](Poster::spawn) | most programs: a thread with its own runtime and client, which nothing the application does can starve |
//! | [`poster.spawn_inferred()`](Poster::spawn_inferred) | programs without `async`, and those on another version of kube: it finds the cluster by itself, and goes on looking |
//! | [`poster.run(client)`](Poster::run) | the application's own tokio runtime: a plain future |
//! | [`poster.spawn_sink(sink)`](Poster::spawn_sink), [`run_sink`](Poster::run_sink) | tests, and Events that go elsewhere |
//!
//! The first, second and last answer a [`Guard`]: hold it, by a name, until the end of `main`. The version of the
//! Kubernetes API and TLS are the program's choice, by the features of its own `k8s-openapi` and `kube`; no type of the
//! program's kube need be of the version that this crate uses, except where one is given to it.
//!
//! # Naming objects
//! | door | how | posts from |
//! |---|---|---|
//! | a span of yours | [`span.set_regarding(&reference)`](SpanExt::set_regarding), or [`object_span(&reference)`](object_span) | `INFO` |
//! | fields of any enclosing span | `info_span!("reconcile", k8s.kind = "Foo", k8s.name = name, ..)`, also those recorded later | `INFO` |
//! | fields of the record | `info!(k8s.kind = "Foo", k8s.name = %name, k8s.namespace = %namespace, k8s.uid = %uid, "scaled")` | `INFO` |
//! | any thread, without a record | [`handle.publish(&reference, Publish::normal("Scaled", "to 3"))`](Handle::publish) | always |
//! | kube's "reconciling object" span | nothing to do: its `object.ref` names the object, and `error_policy` runs in it; what is logged in the `for_each` after `Controller::run` does not | `WARN` |
//! | OpenTelemetry's names | `k8s.pod.name`, `k8s.node.name`, `k8s.deployment.name`, .. with `k8s.namespace.name` | `WARN` |
//!
//! The first four are **declared**: somebody wrote them for Events. The last two are **ambient**: nobody did, and such
//! lines may hold what Events should not. A record with a field of ours of its own (`k8s.reason`, say) is declared
//! wherever its object came from. Both levels are the [builder's](Builder::level), and can be
//! [switched](Handle::set_level) while the program runs: off while another replica leads, say.
//!
//! `set_regarding` needs a span that is there and that no filter switched off. A record may be about an object in an
//! `async fn` too: `reconcile(foo).instrument(object_span(&reference)).await`.
//!
//! The fields are `k8s.api_version`, `k8s.kind`, `k8s.namespace`, `k8s.name`, `k8s.uid` and `k8s.field_path`. They are
//! merged field by field, the innermost scope wins, and two objects are never mixed: a new name forgets the outer uid, a
//! new kind all but the namespace. `k8s.related.*` names the secondary object in the same way.
//!
//! `kubectl describe` shows only Events with the object's uid, so give it where you have it. Where it is missing, as in
//! kube's own span, it is looked up: one discovery per kind, one `GET` per object, remembered for 5 min.
//!
//! # What a record becomes
//! | part | from |
//! |---|---|
//! | whether it posts | an object in scope, a level at or above that sort of scope's, a target that is not denied, `k8s.skip` not true |
//! | type | `k8s.type`; else `WARN` and `ERROR` are Warnings, the rest Normal |
//! | reason | `k8s.reason`; else the record's own `name:`, as in `info!(name: "ScaledUp", ..)`; else the [default](Builder::default_reason), `Logging` |
//! | action | `k8s.action`; else the innermost span's name in PascalCase; else the reason |
//! | note | the message, then the other fields as `key=value`, an error with its sources; see [`NoteFields`] and [`Builder::redact`] |
//! | time | of the log call, not of the posting |
//! | annotations | `k8s.annotation.KEY = ..` |
//! | reporting controller, instance | [`builder`], [`Builder::reporting_instance`]: by default `POD_NAME`, else the host name |
//! | namespace of the Event | the object's; `default` for cluster-scoped ones, or [`kube-system`](Builder::cluster_events_in_kube_system) |
//!
//! Everything is made to fit the server's limits, which are bytes: the middle of a note is cut out at 1,024, reason and
//! action end at 128. Control characters are taken out of notes. Which of its two APIs is written to is [`Api`]'s matter.
//!
//! # Repeats and floods
//! The first occurrence is told at once. Equal ones after it (same object, type, reason, action, note) are counted into
//! its **series**, and the count is written at distances that double, from 1 s to 5 min:
//!
//! ```text
//! logged     |||||||||||||||||||||||||||||||||||||||||||||||                        |  time ──▶
//! written    ▲    ▲        ▲                 ▲                        ▲              ▲
//!            │    │        │                 │                        │              │
//!            new  1 s      2 s later         4 s later                silent: the    more than 6 min
//!            x1   after    x..               x..                      true count     later: a new Event
//!                 a repeat                                            x47            x1
//! ```
//!
//! So a line in a loop, 10⁶ times an hour, is one Event and some 20 writes. Records of one line of code whose **notes
//! differ** (same object, type and reason) have 10 Events of their own within 10 min; from then on one combined Event,
//! `(combined from similar events): ` and the newest note, counts them all. Above both stand two budgets, one
//! [per object](Builder::object_budget) and one [in all](Builder::total_budget). What may not speak now is held and
//! counted on, and where something must give way, Normal gives way before Warning.
//!
//! # When things go badly
//! | what | what happens |
//! |---|---|
//! | the queue is full | the newest record is dropped and counted; the last eighth is kept for warnings |
//! | the API server is away, slow or refuses (429, 5xx, 401) | held, counted on, tried again with back-off (`Retry-After` is obeyed), told once it is back; [given up](Builder::give_up_after) after 10 min, and counted |
//! | the server never answers | an attempt ends after [10 s](Builder::attempt_timeout) and is tried again; other objects are not held up |
//! | a right is missing (403) | one diagnostic that prints the missing rule; that namespace rests for 1 to 10 min, then it is tried again |
//! | the namespace is missing or is being deleted | dropped quietly, and counted |
//! | an Event expired on the server | made anew with the whole count |
//! | a reference of the wrong shape, a `Display` that panics | a counted drop; one diagnostic names the place in the code; the thread that logs goes on |
//! | a record with a `k8s.*` field, but about no object | the same, [counted apart](Stats::dropped_no_object): its span is missing, or a [global filter](#filters) switched it off |
//! | the guard is dropped as soon as it is made (`let _ = ..`) | a diagnostic says so |
//! | the program ends | a dropped [`Guard`] flushes for 5 s at most; [`Guard::shutdown`] and [`Handle::flush`] say what was told and what was not |
//! | a record after the end | a counted drop |
//!
//! Every number is in [`Handle::stats`], where `seen = told + held + in_flight + queue_length + dropped()`, and with the
//! feature `metrics` in whatever recorder of the `metrics` facade is installed. Diagnostics are log records of target
//! `tracing_k8s_events`: one per cause and minute, and never Events themselves.
//!
//! # Rights
//! In every namespace of the objects, and in `default` for cluster-scoped ones. `examples/manifests/` has whole files.
//!
//! ```yaml
//! rules:
//! - apiGroups: [""]             # "events.k8s.io" with Api::EventsV1: the two are separate
//!   resources: ["events"]
//!   verbs: ["create", "patch"]
//! - apiGroups: ["example.com"]  # only for objects that are named without a uid
//!   resources: ["foos"]
//!   verbs: ["get"]
//! ```
//!
//! Without the second rule such Events are posted without a uid: `kubectl events --for` shows them, `kubectl describe`
//! does not.
//!
//! # Filters
//! The layer has a filter of its own, and needs no other. A **global** filter stands above all layers: an `EnvFilter` of
//! `warn,my_app=info` put on the registry switches off kube's own span, which is of level `INFO`, and with it the object
//! of every failing reconcile. Give each filter to the layer that it is meant for:
//!
//! ```
//! use tracing_subscriber::{EnvFilter, fmt, prelude::*};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (layer, poster) = tracing_k8s_events::builder("foo-operator.example.com").build()?;
//! // Not `registry().with(EnvFilter::from_default_env())`, but:
//! let subscriber = tracing_subscriber::registry()
//!     .with(fmt::layer().with_filter(EnvFilter::new("warn,my_app=info")))
//!     .with(layer);
//! # drop((subscriber, poster));
//! # Ok(())
//! # }
//! ```
//!
//! Where it must be global, let it pass kube's span: `warn,my_app=info,kube_runtime::controller=info`. For Events alone
//! there are [`Builder::targets`] and [`Builder::deny_target`]; the Kubernetes client's own targets are denied from the
//! start, as what it logs inside an object's span is about its requests.
//!
//! # Costs
//! On the thread that logs, medians of one run on two shared cores (2026-12-02; `benches/README.md` says what each row
//! means and how to run it anew):
//!
//! | a record | in a burst | one per ms | instructions | allocations |
//! |---|--:|--:|--:|--:|
//! | in an object's span, a message with a number in it | 86 ns | 0.5 µs | 1,163 | 0 |
//! | the object in five fields of its own | 90 ns | 0.6 µs | 1,535 | 0 |
//! | the same two by `fmt` and tracing-appender to nowhere | 675, 930 ns | 2.0, 2.3 µs | 7,777, 14,110 | |
//! | the queue is full | 43 ns | | 537 | 0 |
//! | a callsite that nobody wants, with this layer or without | 2 ns | | 21 | 0 |
//!
//! | what | how much | where from |
//! |---|---|---|
//! | a record that becomes an Event, on the thread that logs | one pass over its fields, one write into the queue; no lock is taken, nobody is woken | `benches/cost.rs`, by instructions and allocations |
//! | a record that does not post | its callsite's plan, found by the address of its metadata | the same |
//! | from the log call to the request | 5 to 100 ms: the poster looks by itself, after a twentieth of the silence so far | [`Builder::wake_at_every_record`] |
//! | to be woken at every record instead | a system call, some 2.6 µs | the same |
//! | memory | [16,384](Builder::queue_capacity) places of some 350 bytes in the queue, and as many series | the builder |
//! | requests | 16 at once, rising to [64](Builder::requests_in_flight) while the server is well, and [50 a second](Builder::total_budget) after a burst of 2,000 | the builder |
//!
//! ## Beside other recorders
#![doc = include_str!("../docs/workloads.md")]
//!
//! # Testing
//! [`MemorySink`] holds Events as the server would show them, and is asked in plain words. Its page shows how to test what
//! a reconcile tells people, also an `async` one; `examples/testing.rs` is whole.
//!
//! # Coming from kube's `Recorder`
//! | with `kube::runtime::events` | here |
//! |---|---|
//! | `Reporter { controller, instance }` | [`builder(controller)`](builder), [`reporting_instance`](Builder::reporting_instance) |
//! | `Recorder::new(client, reporter)`, carried in the context | the layer and [`Poster::spawn`], once, in `main` |
//! | `recorder.publish(&Event { type_, reason, note, action, secondary }, &reference).await?` | `info!(k8s.reason = "Scaled", "scaled to 3")`, or [`handle.publish(&reference, Publish::normal(reason, note).action(..).related(..))`](Handle::publish) |
//! | `.await`, one or more requests in the reconcile's own time | neither: it is queued |
//! | `Err` to be handled | none; [`Stats`] and a diagnostic |
//! | `EventType::Warning` | `warn!`, or [`Publish::warning`] |
//! | a note that changed is discarded while the Event repeats | an Event of its own, later combined with the newest note |
//! | an expired Event is an error until 6 min of silence | made anew with the whole count |
//! | a PATCH at every repeat | at doubling distances |
//! | a failing reconcile: publish in `error_policy`, which cannot await | `warn!` in `error_policy`, which runs in kube's span |
//! | rights to `events.k8s.io` | to `""`; with [`Api::EventsV1`] as before |
//!
//! # Coming from kopf
//! | with kopf | here |
//! |---|---|
//! | the `logger` argument, one per object | the span: [`SpanExt::set_regarding`], or kube's own |
//! | `settings.posting.loggers = True` | the layer is installed, or it is not |
//! | `settings.posting.level` | [`Builder::level`], [`Builder::ambient_level`]; apart from what the terminal shows |
//! | `settings.posting.enabled` | [`Handle::set_level`] with `LevelFilter::OFF` |
//! | `settings.posting.reporting_component`, `reporting_instance` | [`builder`], [`Builder::reporting_instance`] |
//! | `kopf.event(obj, type=, reason=, message=)`, `kopf.info`, `kopf.warn` | [`Handle::publish`] with [`Publish::normal`], [`Publish::warning`] |
//! | `kopf.exception(obj, exc=)` | `error!(error = &err as &dyn Error, "..")` in the object's span; the type is Warning, as the API knows no Error |
//! | `extra={"k8s_skip": True}` | `k8s.skip = true` |
//! | reason `Logging` | the same, unless the record or the builder names another |
//! | every record is an Event of its own | repeats count, similar notes are combined |
//! | the time of the posting | the time of the log call |
//! | what fails is logged and lost | tried again for 10 min, then counted |

mod builder;
mod correlate;
mod layer;
mod message;
mod poster;
mod queue;
mod regarding;
pub mod sink;
mod wire;

pub use builder::{BuildError, Builder, builder};
pub use layer::{Layer, ListenFilter, Listener, NoteFields, Redaction, SpanExt, object_span};
pub use message::EventType;
pub use poster::{Flush, Guard, Handle, Outcome, Poster, Publish, SpawnError, Stats};
#[doc(no_inline)]
pub use sink::{MemorySink, Reply, Request, Sink};
pub use wire::Api;

/// The README's code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
