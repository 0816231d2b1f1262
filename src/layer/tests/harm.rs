//! Whatever happens while a record is read, the thread that logs goes on.

use std::cell::RefCell;
use std::fmt;

use tracing::{Span, info, info_span, warn};

use super::*;

fn foo() -> Span {
    info_span!("s", k8s.kind = "Foo", k8s.name = "a")
}

/// Does something when it is shown.
struct Shown<F>(F);

impl<F: Fn()> fmt::Display for Shown<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)();
        f.write_str("shown")
    }
}

/// A panic that is looked for is not to fill the test's output.
fn panics() {
    std::panic::resume_unwind(Box::new("on purpose"));
}

#[test]
fn a_display_that_panics_costs_its_own_record_and_no_other() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| {
            info!(bad = %Shown(panics), "lost");
            info!("bad {}", Shown(panics));
            info!("heard");
        });
    });
    assert_eq!(ear.notes(), ["heard"]);
    assert_eq!(ear.lost(Loss::Malformed), 2);
}

#[test]
fn a_display_that_panics_in_a_span_harms_no_record_in_it() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        let span = info_span!("s", k8s.kind = "Foo", k8s.name = "a", k8s.uid = tracing::field::Empty);
        span.record("k8s.uid", tracing::field::display(Shown(panics)));
        span.in_scope(|| info!("heard"));
        let half = info_span!("s", k8s.kind = "Foo", k8s.name = %Shown(panics));
        half.in_scope(|| info!("half a reference"));
    });
    assert_eq!(ear.notes(), ["heard"]);
    assert_eq!(ear.lost(Loss::Malformed), 1);
}

#[test]
fn a_redaction_that_panics_costs_its_own_record() {
    let redact = |name: &str, _: &str| {
        if name == "bad" {
            panics();
        }
        crate::layer::Redaction::Keep
    };
    let (dispatch, ear) = listening_with(choices(|it| it.redact = Some(Arc::new(redact))));
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| {
            info!(bad = 1, "lost");
            info!(good = 1, "heard");
        });
    });
    assert_eq!(ear.notes(), ["heard good=1"]);
}

#[test]
fn two_layers_in_one_stack_hear_the_same_and_do_not_clash() {
    let (first, second) = (queue(64, false), queue(64, false));
    let one = crate::layer::new(first.0.clone(), Choices::default());
    let other =
        crate::layer::new(second.0.clone(), choices(|it| it.declared = tracing::level_filters::LevelFilter::WARN));
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(one).with(other));
    tracing::dispatcher::with_default(&dispatch, || {
        let span = info_span!("s", k8s.kind = "Foo", k8s.name = "a", k8s.uid = tracing::field::Empty);
        span.in_scope(|| info!("1"));
        span.record("k8s.uid", "u");
        span.in_scope(|| warn!("2"));
    });
    let ears = [first, second].map(|(sender, receiver)| Ear { sender, receiver });
    let heard = ears.map(|it| it.heard().into_iter().map(|it| (it.about, it.note)).collect::<Vec<_>>());
    let (a, b) = (("Foo a".into(), "1".into()), ("Foo a uid=u".into(), "2".into()));
    assert_eq!(heard, [vec![a, b.clone()], vec![b]]);
}

#[test]
fn the_layer_works_in_an_option_a_vector_and_a_box() {
    let ears = [(); 3].map(|()| queue(64, false));
    let layer = |ear: &(Sender, Receiver)| crate::layer::new(ear.0.clone(), Choices::default());
    let [option, vector, boxed] = [&ears[0], &ears[1], &ears[2]];
    let dispatches = [
        Dispatch::new(tracing_subscriber::registry().with(Some(layer(option)))),
        Dispatch::new(tracing_subscriber::registry().with(vec![layer(vector)])),
        Dispatch::new(tracing_subscriber::registry().with(layer(boxed).boxed())),
    ];
    for (dispatch, ear) in dispatches.iter().zip(&ears) {
        tracing::dispatcher::with_default(dispatch, || foo().in_scope(|| info!("heard")));
        let received = ear.1.try_recv().map(|it| Heard::of(&it).note);
        assert_eq!(received.as_deref(), Some("heard"));
    }
}

#[test]
fn a_filter_that_is_reloaded_goes_on_filtering() {
    let (sender, receiver) = queue(64, false);
    let layer = crate::layer::new(sender.clone(), Choices::default());
    let off = tracing::level_filters::LevelFilter::OFF;
    let (filter, handle) = tracing_subscriber::reload::Layer::new(off);
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer.with_filter(filter)));
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| info!("not heard"));
        handle.reload(tracing::level_filters::LevelFilter::INFO).unwrap();
        foo().in_scope(|| info!("heard"));
    });
    assert_eq!(Ear { sender, receiver }.notes(), ["heard"]);
}

#[test]
fn a_thread_that_logs_as_it_ends_is_not_aborted() {
    struct LogsAtTheEnd;
    impl Drop for LogsAtTheEnd {
        fn drop(&mut self) {
            foo().in_scope(|| info!("in a span at the end"));
            info!(k8s.kind = "Foo", k8s.name = "a", "at the end");
        }
    }
    thread_local! {
        static EARLY: RefCell<Option<LogsAtTheEnd>> = const { RefCell::new(None) };
        static LATE: RefCell<Option<LogsAtTheEnd>> = const { RefCell::new(None) };
    }
    let (dispatch, ear) = listening();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            EARLY.with_borrow_mut(|it| *it = Some(LogsAtTheEnd));
            let scoped = tracing::dispatcher::set_default(&dispatch);
            foo().in_scope(|| info!("heard"));
            std::mem::forget(scoped);
            LATE.with_borrow_mut(|it| *it = Some(LogsAtTheEnd));
        });
    });
    assert_eq!(ear.notes().first().map(String::as_str), Some("heard"));
}

#[test]
fn many_threads_in_one_span_are_all_heard() {
    let (sender, receiver) = queue(1024, false);
    let layer = crate::layer::new(sender.clone(), Choices::default());
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
    let span = tracing::dispatcher::with_default(&dispatch, foo);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                tracing::dispatcher::with_default(&dispatch, || {
                    (0..200).for_each(|number| span.in_scope(|| info!(number, "x")));
                });
            });
        }
    });
    let heard = Ear { sender, receiver }.heard();
    assert_eq!(heard.len(), 800);
    assert!(heard.iter().all(|it| it.about == "Foo a"));
}

#[test]
fn records_after_the_end_are_counted_drops() {
    let (dispatch, ear) = listening();
    ear.receiver.end();
    tracing::dispatcher::with_default(&dispatch, || foo().in_scope(|| info!("too late")));
    assert_eq!(ear.lost(Loss::Ended), 1);
    let Ear { sender, receiver } = ear;
    drop(receiver);
    tracing::dispatcher::with_default(&dispatch, || foo().in_scope(|| info!("much too late")));
    assert_eq!(sender.dropped()[Loss::Ended as usize], 2);
}

#[test]
fn the_posters_own_thread_is_not_heard() {
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| {
            {
                let _posting = crate::queue::PosterGuard::enter();
                let _deeper = crate::queue::PosterGuard::enter();
                info!("not heard");
            }
            info!("heard");
        });
    });
    assert_eq!(ear.notes(), ["heard"]);
}
