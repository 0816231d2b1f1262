//! Which object a record is about.

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::field::Empty;
use tracing::{Span, info, info_span, warn};

use super::*;
use crate::layer::{SpanExt, object_span};

/// kube's own span, as its controller makes it.
fn kubes(text: &str) -> Span {
    info_span!(target: "kube_runtime::controller", "reconciling object", "object.ref" = %text, object.reason = "object updated")
}

pub(super) fn foo() -> Span {
    info_span!(
        "reconcile",
        k8s.kind = "Foo",
        k8s.api_version = "example.com/v1",
        k8s.namespace = "ns",
        k8s.name = "a",
        k8s.uid = "u1",
        k8s.field_path = "spec"
    )
}

pub(super) const FOO: &str = "example.com/v1 Foo ns/a uid=u1 path=spec";

#[track_caller]
pub(super) fn check(rows: &[(&str, &dyn Fn(), &str)]) {
    for (row, run, want) in rows {
        let all = heard(run);
        let about: Vec<_> = all.iter().map(|it| &*it.about).collect();
        let want: &[&str] = if want.is_empty() { &[] } else { &[want] };
        assert_eq!(about, want, "{row}");
    }
}

#[test]
fn fields_of_the_record_and_of_spans_merge_by_the_rules() {
    check(&[
        ("the record alone", &|| info!(k8s.kind = "Foo", k8s.name = "a", "x"), "Foo a"),
        (
            "the record alone, all parts",
            &|| {
                let (api, kind, ns, name, uid, path) = ("apps/v1", "Deployment", "ns", "web", "u", "spec.x");
                info!(
                    k8s.api_version = api,
                    k8s.kind = kind,
                    k8s.namespace = ns,
                    k8s.name = name,
                    k8s.uid = uid,
                    k8s.field_path = path,
                    "x"
                );
            },
            "apps/v1 Deployment ns/web uid=u path=spec.x",
        ),
        ("a span alone", &|| foo().in_scope(|| info!("x")), FOO),
        ("a span around another", &|| foo().in_scope(|| info_span!("step").in_scope(|| info!("x"))), FOO),
        (
            "parts spread over spans",
            &|| {
                let outer = info_span!("a", k8s.namespace = "ns", k8s.kind = "Foo");
                outer.in_scope(|| info_span!("b", k8s.name = "a").in_scope(|| info!(k8s.uid = "u", "x")));
            },
            "Foo ns/a uid=u",
        ),
        (
            "a new name forgets uid and field path",
            &|| foo().in_scope(|| info!(k8s.name = "b", "x")),
            "example.com/v1 Foo ns/b",
        ),
        ("the same name keeps them", &|| foo().in_scope(|| info!(k8s.name = "a", "x")), FOO),
        (
            "a new kind forgets api version, name, uid and field path, and keeps the namespace",
            &|| foo().in_scope(|| info!(k8s.kind = "Bar", k8s.name = "b", "x")),
            "Bar ns/b",
        ),
        ("a new kind without a name is no object", &|| foo().in_scope(|| info!(k8s.kind = "Bar", "x")), "Bar ns/"),
        ("the same kind keeps everything", &|| foo().in_scope(|| info!(k8s.kind = "Foo", "x")), FOO),
        (
            "a new namespace forgets uid and field path",
            &|| foo().in_scope(|| info!(k8s.namespace = "other", "x")),
            "example.com/v1 Foo other/a",
        ),
        (
            "an empty namespace says that there is none",
            &|| foo().in_scope(|| info!(k8s.kind = "Bar", k8s.name = "b", k8s.namespace = "", "x")),
            "Bar b",
        ),
        (
            "a kind of Kubernetes' own that has no namespace takes none",
            &|| foo().in_scope(|| info!(k8s.kind = "Node", k8s.name = "n1", "x")),
            "Node n1",
        ),
        (
            "the same kind of another group is another kind",
            &|| foo().in_scope(|| info!(k8s.kind = "Foo", k8s.api_version = "other.io/v1", k8s.name = "a", "x")),
            "other.io/v1 Foo ns/a",
        ),
        (
            "another version of the group is the same kind",
            &|| foo().in_scope(|| info!(k8s.kind = "Foo", k8s.api_version = "example.com/v2", "x")),
            "example.com/v2 Foo ns/a uid=u1 path=spec",
        ),
        ("an empty uid is none: it is completed", &|| foo().in_scope(|| info!(k8s.uid = "", "x")), FOO),
        (
            "a new field path of the same object",
            &|| foo().in_scope(|| info!(k8s.field_path = "status", "x")),
            "example.com/v1 Foo ns/a uid=u1 path=status",
        ),
        (
            "two objects in two spans are never mixed",
            &|| {
                foo().in_scope(|| info_span!("pod", k8s.kind = "Pod", k8s.name = "p").in_scope(|| info!("x")));
            },
            "Pod ns/p",
        ),
        (
            "the span whose fields are recorded late",
            &|| {
                let span = info_span!("late", k8s.kind = "Foo", k8s.name = Empty, k8s.uid = Empty);
                span.record("k8s.name", "a");
                span.record("k8s.uid", tracing::field::display("u9"));
                span.in_scope(|| info!("x"));
            },
            "Foo a uid=u9",
        ),
        (
            "recorded twice: the last counts",
            &|| {
                let span = info_span!("late", k8s.kind = "Foo", k8s.name = "a", k8s.uid = "u1");
                span.record("k8s.name", "b");
                span.record("k8s.uid", "u2");
                span.in_scope(|| info!("x"));
            },
            "Foo b uid=u2",
        ),
        (
            "an option that is none says nothing",
            &|| foo().in_scope(|| info!(k8s.uid = None::<&str>, k8s.reason = "R", "x")),
            FOO,
        ),
    ]);
}

#[test]
fn a_uid_alone_is_completed_by_the_spans_around_it() {
    check(&[
        (
            "under kube's span",
            &|| kubes("Foo.v1.example.com/a.ns").in_scope(|| info!(k8s.uid = "u1", "x")),
            "example.com/v1 Foo ns/a uid=u1",
        ),
        ("after a full reference with that uid", &|| foo().in_scope(|| info!(k8s.uid = "u1", "x")), FOO),
        ("another uid forgets the object", &|| foo().in_scope(|| info!(k8s.uid = "u2", "x")), "uid=u2"),
        ("out of the blue", &|| info!(k8s.uid = "u1", "x"), "uid=u1"),
    ]);
}

#[test]
fn kubes_own_span_names_an_object_but_not_for_info() {
    check(&[
        ("a warning", &|| kubes("Foo.v1.example.com/a.ns").in_scope(|| warn!("x")), "example.com/v1 Foo ns/a"),
        ("an info", &|| kubes("Foo.v1.example.com/a.ns").in_scope(|| info!("x")), ""),
        (
            "an info with a reason of its own",
            &|| kubes("Foo.v1.example.com/a.ns").in_scope(|| info!(k8s.reason = "R", "x")),
            "example.com/v1 Foo ns/a",
        ),
        (
            "a span of one's own between: kube's object",
            &|| kubes("Foo.v1.example.com/a.ns").in_scope(|| info_span!("mine").in_scope(|| warn!("x"))),
            "example.com/v1 Foo ns/a",
        ),
        (
            "a uid declared within it",
            &|| {
                let kubes = kubes("Foo.v1.example.com/a.ns");
                kubes.in_scope(|| info_span!("mine", k8s.uid = "u1").in_scope(|| info!("x")));
            },
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "it names its object whole: the outer namespace is not its own",
            &|| foo().in_scope(|| kubes("Gadget.v1.example.com/g").in_scope(|| warn!("x"))),
            "example.com/v1 Gadget g",
        ),
        (
            "the outer uid, where it is the same object",
            &|| foo().in_scope(|| kubes("Foo.v1.example.com/a.ns").in_scope(|| warn!("x"))),
            FOO,
        ),
        ("the same field on a record", &|| warn!("object.ref" = "Pod.v1./web.ns", "x"), "v1 Pod ns/web"),
        (
            "the same field with a uid on a user's span",
            &|| info_span!("mine", "object.ref" = %"Pod.v1./web.ns", k8s.uid = "u").in_scope(|| info!("x")),
            "v1 Pod ns/web uid=u",
        ),
        ("somebody else's object.ref", &|| info_span!("s3", object.r#ref = "bucket/key").in_scope(|| warn!("x")), ""),
    ]);
}

#[test]
fn opentelemetrys_names_are_known() {
    check(&[
        (
            "a pod",
            &|| warn!(k8s.pod.name = "p", k8s.namespace.name = "ns", k8s.pod.uid = "u", "x"),
            "v1 Pod ns/p uid=u",
        ),
        ("a node", &|| warn!(k8s.node.name = "n", k8s.namespace.name = "ns", "x"), "v1 Node n"),
        ("a namespace", &|| warn!(k8s.namespace.name = "ns", "x"), "v1 Namespace ns"),
        ("a deployment", &|| warn!(k8s.deployment.name = "d", "x"), "apps/v1 Deployment d"),
        ("a cron job's uid alone", &|| warn!(k8s.cronjob.uid = "u", "x"), "batch/v1 CronJob uid=u"),
        (
            "of several the nearest to what runs",
            &|| {
                warn!(
                    k8s.node.name = "n",
                    k8s.deployment.name = "d",
                    k8s.pod.name = "p",
                    k8s.namespace.name = "ns",
                    "x"
                );
            },
            "v1 Pod ns/p",
        ),
        (
            "on a span, a namespace around it",
            &|| {
                let outer = info_span!("o", k8s.namespace.name = "ns");
                outer.in_scope(|| info_span!("i", k8s.pod.name = "p").in_scope(|| warn!("x")));
            },
            "v1 Pod ns/p",
        ),
        ("not for info", &|| info_span!("i", k8s.pod.name = "p").in_scope(|| info!("x")), ""),
        (
            "a field of ours completes it and declares it",
            &|| info!(k8s.pod.name = "p", k8s.reason = "R", "x"),
            "v1 Pod p",
        ),
        ("our own name before theirs", &|| info!(k8s.pod.name = "p", k8s.kind = "Foo", k8s.name = "f", "x"), "Foo f"),
    ]);
}

#[test]
fn references_given_in_code_stand_for_the_whole_span() {
    let node = || ObjectReference { kind: Some("Gadget".into()), name: Some("g".into()), ..Default::default() };
    check(&[
        (
            "on a plain span",
            &|| {
                let span = info_span!("reconcile");
                span.set_regarding(&reference("Foo", Some("ns"), "a", "u1"));
                span.in_scope(|| info!("x"));
            },
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "on kube's own span, while in it",
            &|| {
                kubes("Foo.v1.example.com/a.ns").in_scope(|| {
                    warn!(k8s.skip = true, "remembered");
                    Span::current().set_regarding(&reference("Foo", Some("ns"), "a", "u1"));
                    info!("x");
                });
            },
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "it takes no namespace from around it",
            &|| {
                foo().in_scope(|| {
                    let span = info_span!("inner");
                    span.set_regarding(&node());
                    span.in_scope(|| info!("x"));
                });
            },
            "Gadget g",
        ),
        (
            "set again: the last counts",
            &|| {
                let span = info_span!("reconcile");
                span.set_regarding(&reference("Foo", Some("ns"), "a", "u1"));
                span.in_scope(|| info!(k8s.skip = true, "remembered"));
                span.set_regarding(&reference("Foo", Some("ns"), "b", "u2"));
                span.in_scope(|| info!("x"));
            },
            "example.com/v1 Foo ns/b uid=u2",
        ),
        (
            "a uid alone is completed by the span's own fields of others",
            &|| {
                let span = kubes("Foo.v1.example.com/a.ns");
                span.set_regarding(&ObjectReference { uid: Some("u1".into()), ..Default::default() });
                span.in_scope(|| info!("x"));
            },
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "children that logged before hear of it",
            &|| {
                let parent = info_span!("parent");
                let child = info_span!(parent: &parent, "child");
                child.in_scope(|| info!("about nothing yet"));
                parent.set_regarding(&reference("Foo", Some("ns"), "a", "u1"));
                child.in_scope(|| info!("x"));
            },
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "a ready span",
            &|| object_span(&reference("Foo", Some("ns"), "a", "u1")).in_scope(|| info!("x")),
            "example.com/v1 Foo ns/a uid=u1",
        ),
        (
            "a ready span of an object without a namespace",
            &|| foo().in_scope(|| object_span(&node()).in_scope(|| info!("x"))),
            "Gadget g",
        ),
    ]);
}

#[test]
fn the_related_object_enters_the_same_way() {
    let own =
        heard_once(|| info!(k8s.kind = "Foo", k8s.name = "a", k8s.related.kind = "Pod", k8s.related.name = "p", "x"));
    assert_eq!((own.about.as_str(), own.related.as_deref()), ("Foo a", Some("Pod p")));
    let merged = heard_once(|| {
        let span =
            info_span!("s", k8s.kind = "Foo", k8s.name = "a", k8s.related.kind = "Pod", k8s.related.namespace = "ns");
        span.in_scope(|| info!(k8s.related.name = "p", "x"));
    });
    assert_eq!((merged.about.as_str(), merged.related.as_deref()), ("Foo a", Some("Pod ns/p")));
}

#[test]
fn a_reference_of_the_wrong_shape_is_a_counted_drop() {
    for (row, run) in [
        ("a number for a name", &(|| info!(k8s.kind = "Foo", k8s.name = 5, "x")) as &dyn Fn()),
        ("a number for a uid", &|| foo().in_scope(|| info!(k8s.uid = 5, "x"))),
        ("an empty name", &|| info!(k8s.kind = "Foo", k8s.name = "", "x")),
        ("a kind without a name", &|| info!(k8s.kind = "Foo", "x")),
        ("a name without a kind", &|| info!(k8s.name = "a", "x")),
        ("a type that Kubernetes does not know", &|| {
            foo().in_scope(|| info!(k8s.kind = "Foo", k8s.r#type = "Error", "x"))
        }),
        ("a skip that is neither", &|| foo().in_scope(|| info!(k8s.skip = "perhaps", "x"))),
        ("a span with a number for a name", &|| {
            info_span!("s", k8s.kind = "Foo", k8s.name = 5).in_scope(|| info!("x"))
        }),
        ("a span with an empty name", &|| info_span!("s", k8s.kind = "Foo", k8s.name = "").in_scope(|| info!("x"))),
        ("a span with half a reference", &|| info_span!("s", k8s.kind = "Foo").in_scope(|| info!("x"))),
        ("a name of 2,000 bytes", &|| info!(k8s.kind = "Foo", k8s.name = %"x".repeat(2000), "x")),
    ] {
        assert_eq!(malformed(run), 1, "{row}");
    }
}

#[test]
fn what_was_written_for_events_but_is_about_no_object_is_counted_apart() {
    let bare = || info!(k8s.reason = "Scaled", "x");
    let in_a_namespace = || info_span!("worker", k8s.namespace = "ns").in_scope(bare);
    for run in [&bare as &dyn Fn(), &in_a_namespace] {
        let (dispatch, ear) = listening();
        tracing::dispatcher::with_default(&dispatch, run);
        assert_eq!((ear.lost(Loss::NoObject), ear.lost(Loss::Malformed)), (1, 0));
    }
}

#[test]
fn a_namespace_alone_is_about_nothing_and_nothing_is_wrong_with_it() {
    assert_eq!(malformed(|| info_span!("worker", k8s.namespace = "ns").in_scope(|| info!("x"))), 0);
}

#[test]
fn names_come_by_every_way_of_writing_a_field() {
    let name = "a";
    let owned = String::from("a");
    const KEY: &str = "k8s.name";
    let about: Vec<_> = heard(|| {
        info!(k8s.kind = "Foo", k8s.name = name, "x");
        info!(k8s.kind = "Foo", k8s.name = %name, "x");
        info!(k8s.kind = "Foo", k8s.name = ?name, "x");
        info!(k8s.kind = "Foo", k8s.name = owned, "x");
        info!(k8s.kind = "Foo", k8s.name = Some("a"), "x");
        info!(k8s.kind = "Foo", "k8s.name" = name, "x");
        info!(k8s.kind = "Foo", { KEY } = name, "x");
        info!(k8s.kind = %format_args!("F{}", "oo"), k8s.name = format_args!("{}", name), "x");
    })
    .into_iter()
    .map(|it| it.about)
    .collect();
    assert_eq!(about, ["Foo a"; 8]);
}
