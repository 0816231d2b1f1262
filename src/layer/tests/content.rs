//! What a record becomes.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tracing::{Span, debug, error, info, info_span, trace, warn};

use super::*;
use crate::layer::{NoteFields, Redaction};

fn foo() -> Span {
    info_span!("scale up", k8s.kind = "Foo", k8s.name = "a")
}

#[track_caller]
fn note(run: impl FnOnce()) -> String {
    heard_once(|| foo().in_scope(run)).note
}

/// An error, and what caused it.
#[derive(Debug)]
struct Failed(&'static str, Option<Box<Failed>>);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|it| it as _)
    }
}

#[test]
fn the_note_is_the_message_and_then_the_other_fields() {
    let (replicas, path) = (3, std::path::Path::new("/tmp"));
    let bytes: &[u8] = b"raw";
    for (row, note, want) in [
        ("a literal", note(|| info!("scaled up")), "scaled up"),
        ("a formatted message", note(|| info!("scaled to {replicas}")), "scaled to 3"),
        ("a message given as a string", note(|| info!(message = "scaled", replicas)), "scaled replicas=3"),
        ("a number after it", note(|| info!(replicas = 3, "scaled up")), "scaled up replicas=3"),
        (
            "numbers of all sorts",
            note(|| info!(a = -1, b = 1.5, c = true, d = u128::MAX, "x")),
            "x a=-1 b=1.5 c=true d=340282366920938463463374607431768211455",
        ),
        (
            "strings plain, displayed and debugged",
            note(|| info!(a = "s", b = %"s", c = ?"s", "x")),
            "x a=s b=s c=\"s\"",
        ),
        ("an option", note(|| info!(a = Some(1), b = None::<u8>, "x")), "x a=1"),
        ("a dotted and a raw name", note(|| info!(http.status = 200, r#type = "t", "x")), "x http.status=200 type=t"),
        ("a name of any characters", note(|| info!("my name" = 1, "x")), "x my name=1"),
        ("bytes that are text", note(|| info!(bytes, "x")), "x bytes=raw"),
        ("bytes that are none", note(|| info!(bytes = &[255u8, 0][..], "x")), "x bytes=[255, 0]"),
        ("a value of one's own", note(|| info!(path = %path.display(), "x")), "x path=/tmp"),
        ("no message", note(|| info!(a = 1, b = 2)), "a=1 b=2"),
        ("nothing at all", note(|| info!(k8s.reason = "R")), ""),
        ("the message last, as written", note(|| info!(a = 1, message = "x", b = 2)), "x a=1 b=2"),
        (
            "our own fields are no part of it",
            note(|| info!(k8s.reason = "R", a = 1, k8s.action = "A", b = 2, "x")),
            "x a=1 b=2",
        ),
        ("a field like ours that is not", note(|| info!(k8s.container.name = "c", "x")), "x k8s.container.name=c"),
    ] {
        assert_eq!(note, want, "{row}");
    }
}

#[test]
fn an_error_is_told_with_all_that_caused_it() {
    let root = Failed("no route", None);
    let chain = Failed("cannot pull", Some(Box::new(Failed("timed out", Some(Box::new(root))))));
    let error = note(|| warn!(error = &chain as &dyn Error, "failed"));
    assert_eq!(error, "failed error=cannot pull: timed out: no route");
}

#[test]
fn a_cause_that_the_error_tells_itself_is_not_told_twice() {
    let chain = Failed("cannot pull: timed out", Some(Box::new(Failed("timed out", None))));
    assert_eq!(note(|| warn!(error = &chain as &dyn Error, "failed")), "failed error=cannot pull: timed out");
}

#[test]
fn an_error_that_causes_itself_comes_to_an_end() {
    #[derive(Debug)]
    struct Endless;
    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(if f.alternate() { "?" } else { "again" })
        }
    }
    impl Error for Endless {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&Endless)
        }
    }
    assert_eq!(note(|| warn!(error = &Endless as &dyn Error, "failed")), "failed error=again");
}

#[test]
fn only_the_chosen_fields_stand_in_the_note() {
    let log = || foo().in_scope(|| info!(a = 1, b = 2, k8s.reason = "R", "x"));
    for (fields, want) in [
        (NoteFields::All, "x a=1 b=2"),
        (NoteFields::None, "x"),
        (NoteFields::Only(vec!["b".into(), "k8s.reason".into()]), "x b=2"),
    ] {
        let (dispatch, ear) = listening_with(choices(|it| it.note_fields = fields));
        tracing::dispatcher::with_default(&dispatch, log);
        assert_eq!(ear.notes(), [want]);
    }
}

#[test]
fn redaction_keeps_masks_and_drops_by_name_and_value() {
    let redact = |name: &str, value: &str| match name {
        "password" => Redaction::Drop,
        "k8s.annotation.example.com/token" => Redaction::Mask,
        _ if value.contains("secret") => Redaction::Mask,
        _ => Redaction::Keep,
    };
    let (dispatch, ear) = listening_with(choices(|it| it.redact = Some(Arc::new(redact))));
    tracing::dispatcher::with_default(&dispatch, || {
        foo().in_scope(|| info!(password = "p", a = "a secret", b = 1, "k8s.annotation.example.com/token" = "t", "x"));
        foo().in_scope(|| info!(password = 1, k8s.annotation.y = "z"));
    });
    let [first, second] = ear.heard().try_into().expect("two records");
    assert_eq!(first.note, "x a=*** b=1");
    assert_eq!(first.annotations, [("example.com/token".into(), "***".into())]);
    assert_eq!(second.note, "");
    assert_eq!(second.annotations, [("y".into(), "z".into())]);
}

#[test]
fn the_type_is_the_levels_unless_a_field_says_otherwise() {
    use EventType::{Normal, Warning};
    let kinds: Vec<_> = heard(|| {
        foo().in_scope(|| {
            error!("x");
            warn!("x");
            info!("x");
            debug!("not heard");
            trace!("not heard");
            info!(k8s.r#type = "Warning", "x");
            error!(k8s.r#type = %"Normal", "x");
        });
    })
    .into_iter()
    .map(|it| it.kind)
    .collect();
    assert_eq!(kinds, [Warning, Warning, Normal, Warning, Normal]);
}

#[test]
fn the_reason_is_the_fields_or_the_records_own_name() {
    let reasons: Vec<_> = heard(|| {
        foo().in_scope(|| {
            info!(k8s.reason = "Scaled", "x");
            info!(name: "ScaledUp", "x");
            info!(name: "ScaledUp", { k8s.reason = %"Scaled" }, "x");
            info!(k8s.reason = 404, "x");
            info!(k8s.reason = ?"Quoted", "x");
            info!("x");
        });
    })
    .into_iter()
    .map(|it| it.reason)
    .collect();
    let some = |it: &str| Some(it.to_owned());
    assert_eq!(reasons, [some("Scaled"), some("ScaledUp"), some("Scaled"), some("404"), some("Quoted"), None]);
}

#[test]
fn the_action_is_the_fields_or_the_innermost_spans_name() {
    let actions: Vec<_> = heard(|| {
        foo().in_scope(|| {
            info!(k8s.action = "Scale", "x");
            info!("x");
            info_span!("pull").in_scope(|| info!("x"));
        });
        info!(k8s.kind = "Foo", k8s.name = "a", "x");
        let ready = || crate::layer::object_span(&reference("Foo", None, "a", "u"));
        ready().in_scope(|| info!("x"));
        info_span!("outer").in_scope(|| ready().in_scope(|| info!("x")));
    })
    .into_iter()
    .map(|it| it.action)
    .collect();
    let some = |it: &str| Some(it.to_owned());
    assert_eq!(actions, [some("Scale"), some("scale up"), some("pull"), None, None, some("outer")]);
}

#[test]
fn annotations_are_the_records_own() {
    let heard = heard_once(|| {
        foo().in_scope(|| {
            info!(k8s.annotation.a = 1, "k8s.annotation.example.com/b" = %"two", "x");
        });
    });
    assert_eq!(heard.annotations, [("a".into(), "1".into()), ("example.com/b".into(), "two".into())]);
    assert_eq!(heard.note, "x");
}

#[test]
fn a_record_that_says_skip_is_not_heard() {
    let notes: Vec<_> = heard(|| {
        foo().in_scope(|| {
            info!(k8s.skip = true, "no");
            info!(k8s.skip = false, "yes");
            info!(k8s.skip = "true", "no");
            info!(k8s.skip = None::<bool>, "yes");
        });
    })
    .into_iter()
    .map(|it| it.note)
    .collect();
    assert_eq!(notes, ["yes", "yes"]);
}

#[test]
fn the_middle_of_a_long_note_is_cut_out_and_its_end_is_kept() {
    let long = "é".repeat(1 << 19);
    for note in [
        note(|| info!("begin {long} end")),
        note(|| info!(long, end = "end", "begin")),
        note(|| info!(long = %format_args!("{}{}", &long[..4000], &long), k8s.reason = "R", end = "end", "begin")),
    ] {
        assert!(note.len() <= 1024 && note.len() > 1000, "{}", note.len());
        assert!(note.starts_with("begin ") && note.contains('…') && note.ends_with("end"), "{note}");
    }
}

#[test]
fn control_characters_are_taken_out() {
    assert_eq!(note(|| info!(a = "tab\tline\n", "\u{1b}[31mred\u{7}")), "[31mred a=tab line ");
}

#[test]
fn the_time_is_that_of_the_log_call() {
    let before = std::time::SystemTime::now();
    let (dispatch, ear) = listening();
    tracing::dispatcher::with_default(&dispatch, || foo().in_scope(|| info!("x")));
    let time: std::time::SystemTime = ear.receiver.try_recv().expect("it was heard").time.into();
    // The coarse clock stands still for some milliseconds; no kernel ticks slower than 100 times a second.
    let grain = std::time::Duration::from_millis(20);
    assert!(time > before - grain && time < std::time::SystemTime::now() + grain);
}

#[test]
fn sixty_four_fields_are_told() {
    let note = note(|| {
        info!(
            f00 = 0,
            f01 = 1,
            f02 = 2,
            f03 = 3,
            f04 = 4,
            f05 = 5,
            f06 = 6,
            f07 = 7,
            f08 = 8,
            f09 = 9,
            f10 = 10,
            f11 = 11,
            f12 = 12,
            f13 = 13,
            f14 = 14,
            f15 = 15,
            f16 = 16,
            f17 = 17,
            f18 = 18,
            f19 = 19,
            f20 = 20,
            f21 = 21,
            f22 = 22,
            f23 = 23,
            f24 = 24,
            f25 = 25,
            f26 = 26,
            f27 = 27,
            f28 = 28,
            f29 = 29,
            f30 = 30,
            f31 = 31,
            f32 = 32,
            f33 = 33,
            f34 = 34,
            f35 = 35,
            f36 = 36,
            f37 = 37,
            f38 = 38,
            f39 = 39,
            f40 = 40,
            f41 = 41,
            f42 = 42,
            f43 = 43,
            f44 = 44,
            f45 = 45,
            f46 = 46,
            f47 = 47,
            f48 = 48,
            f49 = 49,
            f50 = 50,
            f51 = 51,
            f52 = 52,
            f53 = 53,
            f54 = 54,
            f55 = 55,
            f56 = 56,
            f57 = 57,
            f58 = 58,
            f59 = 59,
            f60 = 60,
            f61 = 61,
            f62 = 62,
            f63 = 63,
            "all"
        );
    });
    assert!(note.starts_with("all f00=0 f01=1 ") && note.ends_with(" f62=62 f63=63"), "{note}");
}
