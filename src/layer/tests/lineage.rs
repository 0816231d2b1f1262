//! Which spans a record stands in: by thread, by parent, after their end.

use tracing::{Level, debug_span, error, info, info_span, span, warn};

use super::merge::{FOO, check, foo};
use super::*;

#[test]
fn the_lineage_of_spans_is_followed_wherever_it_leads() {
    check(&[
        (
            "a parent that is named",
            &|| {
                let object = foo();
                info_span!("elsewhere", k8s.kind = "Bar", k8s.name = "b").in_scope(|| info!(parent: &object, "x"));
            },
            FOO,
        ),
        ("no parent", &|| foo().in_scope(|| info!(parent: None, "x")), ""),
        (
            "no parent, but an object of its own",
            &|| foo().in_scope(|| info!(parent: None, k8s.kind = "Bar", k8s.name = "b", "x")),
            "Bar b",
        ),
        (
            "a parent by its id",
            &|| {
                let object = foo();
                info!(parent: object.id(), "x");
            },
            FOO,
        ),
        (
            "a span that was made with a parent, and entered elsewhere",
            &|| {
                let object = foo();
                let child = info_span!(parent: &object, "child");
                info_span!("elsewhere", k8s.kind = "Bar", k8s.name = "b").in_scope(|| child.in_scope(|| info!("x")));
            },
            FOO,
        ),
        (
            "a child that outlives its parent's last handle",
            &|| {
                let child = foo().in_scope(|| info_span!("child"));
                child.in_scope(|| info!("x"));
            },
            FOO,
        ),
        (
            "a child that is entered on another thread",
            &|| {
                let child = foo().in_scope(|| info_span!("child"));
                let dispatch = tracing::dispatcher::get_default(Clone::clone);
                std::thread::scope(|threads| {
                    threads.spawn(|| tracing::dispatcher::with_default(&dispatch, || child.in_scope(|| info!("x"))));
                });
            },
            FOO,
        ),
        (
            "a span of a level that nobody logs at",
            &|| foo().in_scope(|| debug_span!("detail").in_scope(|| info!("x"))),
            FOO,
        ),
        (
            "depth 50",
            &|| {
                let spans: Vec<_> = (0..50).fold(vec![foo()], |mut spans, _| {
                    let child = info_span!(parent: spans.last().unwrap(), "deep");
                    spans.push(child);
                    spans
                });
                spans.last().unwrap().in_scope(|| info!("x"));
            },
            FOO,
        ),
        (
            "a cause is no parent",
            &|| {
                let span = info_span!("follows");
                span.follows_from(foo().id());
                span.in_scope(|| info!("x"));
            },
            "",
        ),
        (
            "back in the outer span",
            &|| {
                let object = foo();
                object.in_scope(|| info_span!("inner", k8s.name = "b").in_scope(|| info!(k8s.skip = true, "x")));
                object.in_scope(|| info!("x"));
            },
            FOO,
        ),
        (
            "outside of any span",
            &|| {
                foo().in_scope(|| info!(k8s.skip = true, "x"));
                info!("x");
            },
            "",
        ),
    ]);
}

#[test]
fn a_span_under_the_posters_is_about_nothing() {
    let poster = || span!(target: "tracing_k8s_events", parent: None, Level::INFO, "poster");
    check(&[
        (
            "a record with an object of its own",
            &|| poster().in_scope(|| warn!(k8s.kind = "Foo", k8s.name = "a", "x")),
            "",
        ),
        ("a span with an object", &|| poster().in_scope(|| foo().in_scope(|| error!("x"))), ""),
    ]);
}

#[test]
fn a_reused_span_id_is_not_taken_for_the_old_span() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        let first = foo();
        let id = first.id();
        first.in_scope(|| info!("first"));
        drop(first);
        // The registry's slab tells 8,192 spans in one place apart; then the id comes back.
        let again = (0..20_000).find_map(|_| {
            let span = info_span!("plain");
            (span.id() == id).then_some(span)
        });
        again.expect("the id comes back").in_scope(|| info!("of nothing"));
    });
    assert_eq!(ear.notes(), ["first"]);
}
