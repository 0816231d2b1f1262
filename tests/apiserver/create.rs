//! A, B and E: what an Event must hold to be created through events.k8s.io/v1.

use serde_json::{Value, json};

use crate::case::{CORE, Case, NAME_PART, STRICT, modern, old, strict};

/// A. One field at a time.
pub(crate) fn fields() -> Vec<Case> {
    let mut rows = vec![strict("A baseline, all fields valid").gives(201)];
    rows.extend(times());
    rows.extend(texts());
    rows.extend(controllers());
    rows.extend(types_and_deprecated());
    rows
}

fn times() -> Vec<Case> {
    let layout = "2006-01-02T15:04:05.000000Z07:00";
    let at = |text: &str| strict(format!("A eventTime {text:?}")).with(json!({ "eventTime": text }));
    let fails = |text: &str, rest: &str, part: &str| {
        at(text).undecodable(format!("parsing time {text:?} as \"{layout}\": cannot parse {rest:?} as \"{part}\""))
    };
    let kept = |text: &str, value: Value| at(text).gives(201).stored("/eventTime", value);
    vec![
        strict("A eventTime missing").with(json!({ "eventTime": null })).invalid("eventTime: Required value"),
        strict("A eventTime null").set("eventTime", Value::Null).invalid("eventTime: Required value"),
        fails("", "", "2006"),
        fails("2026-12-02T06:00:00Z", "Z", ".000000"),
        fails("2026-12-02T06:00:00.123Z", ".123Z", ".000000"),
        kept("2026-12-02T06:00:00.123456Z", json!("2026-12-02T06:00:00.123456Z")),
        fails("2026-12-02T06:00:00.123456789Z", "789Z", "Z07:00"),
        kept("2026-12-02T06:00:00.123456+02:00", json!("2026-12-02T04:00:00.123456Z")),
        kept("2026-12-02T06:00:00.123456+00:00", json!("2026-12-02T06:00:00.123456Z")),
        fails("2026-12-02 06:00:00.123456Z", " 06:00:00.123456Z", "T"),
        kept("0001-01-01T00:00:00.000000Z", Value::Null),
        kept("2099-01-01T00:00:00.000000Z", json!("2099-01-01T00:00:00.000000Z")),
        kept("1970-01-01T00:00:00.000000Z", json!("1970-01-01T00:00:00.000000Z")),
    ]
}

fn texts() -> Vec<Case> {
    let (note, word) = (
        "message: Invalid value: \"\": can have at most 1024 characters",
        "Invalid value: \"\": can have at most 128 characters",
    );
    let field = |title: &str, field: &str, value: &str| strict(format!("A {title}")).with(json!({ field: value }));
    let absent = |name: &str| strict(format!("A {name} absent")).with(json!({ name: null }));
    let a = |count: usize| "a".repeat(count);
    let e = |count: usize| "é".repeat(count);
    let odd = "l1\nl2\t\u{0}\u{ffff}\u{1f600}";
    let body = r#"{"metadata":{"name":"invalid-utf8"},"eventTime":"2026-12-02T06:51:29.003852Z",
        "reportingController":"a","reportingInstance":"b","action":"c","reason":"d","type":"Normal","note":"bad "#;
    let bad = [body.as_bytes(), b"\xc3\xff utf8\"}"].concat();
    vec![
        absent("note").gives(201),
        field("note empty", "note", "").gives(201),
        field("note 1024 bytes", "note", &a(1024)).gives(201),
        field("note 1025 bytes", "note", &a(1025)).invalid(note),
        field("note 512 × é", "note", &e(512)).gives(201),
        field("note 513 × é", "note", &e(513)).invalid(note),
        field("note 1024 × é", "note", &e(1024)).invalid(note),
        field("note with newline, tab, NUL, U+FFFF, emoji", "note", odd).gives(201).stored("/note", json!(odd)),
        strict("A note with bytes that are no UTF-8")
            .raw(bad)
            .gives(201)
            .stored("/note", json!("bad \u{fffd}\u{fffd} utf8")),
        field("reason 128 chars", "reason", &a(128)).gives(201),
        field("reason 129 chars", "reason", &a(129)).invalid(format!("reason: {word}")),
        field("reason 64 × é", "reason", &e(64)).gives(201),
        field("reason 65 × é", "reason", &e(65)).invalid(format!("reason: {word}")),
        field("reason empty", "reason", "").invalid("reason: Required value"),
        absent("reason").invalid("reason: Required value"),
        field("reason with spaces", "reason", "has space, 1st! ünï").gives(201),
        absent("action").invalid("action: Required value"),
        field("action empty", "action", "").invalid("action: Required value"),
        field("action 128 chars", "action", &a(128)).gives(201),
        field("action 129 chars", "action", &a(129)).invalid(format!("action: {word}")),
        field("action of any text", "action", "any text at all/é").gives(201),
        absent("reportingInstance").invalid("reportingInstance: Required value"),
        field("reportingInstance empty", "reportingInstance", "").invalid("reportingInstance: Required value"),
        field("reportingInstance 128 chars", "reportingInstance", &a(128)).gives(201),
        field("reportingInstance 129 chars", "reportingInstance", &a(129))
            .invalid(format!("reportingInstance: {word}")),
        field("reportingInstance of any text", "reportingInstance", "any text /é").gives(201),
    ]
}

fn controllers() -> Vec<Case> {
    let a = |count: usize| "a".repeat(count);
    let of =
        |value: &str| strict(format!("A reportingController {value:?}")).with(json!({ "reportingController": value }));
    let fails =
        |value: &str, why: &str| of(value).invalid(format!("reportingController: Invalid value: {value:?}: {why}"));
    let empty = format!(
        "[reportingController: Required value, reportingController: Invalid value: \"\": name part must be non-empty, \
         reportingController: Invalid value: \"\": name part {NAME_PART}]"
    );
    let no_name = format!(
        "[reportingController: Invalid value: \"foo/\": name part must be non-empty, \
         reportingController: Invalid value: \"foo/\": name part {NAME_PART}]"
    );
    let too_many = format!(
        "a valid label key {NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    );
    let (part, prefix) = (format!("name part {NAME_PART}"), format!("prefix part {}", crate::case::DNS));
    let long = |last: usize| format!("{}.{}.{}.{}/x", a(63), a(63), a(63), a(last));
    vec![
        strict("A reportingController absent").with(json!({ "reportingController": null })).invalid(&empty),
        of("").invalid(&empty),
        of("simple").gives(201),
        of("my.io/controller").gives(201),
        fails("foo bar", &part),
        fails("my.io/controller/x", &too_many),
        fails("My.IO/controller", &prefix),
        fails("my_io/controller", &prefix),
        fails("-foo", &part),
        fails("foo-", &part),
        of("foo_bar.baz-9").gives(201),
        fails("/foo", "prefix part must be non-empty"),
        of("foo/").invalid(no_name),
        fails("é", &part),
        of(&a(63)).gives(201),
        fails(&a(64), "name part must be no more than 63 bytes"),
        of(&format!("example.com/{}", a(63))).gives(201),
        fails(&format!("example.com/{}", a(64)), "name part must be no more than 63 bytes"),
        of(&long(61)).gives(201),
        fails(&long(62), "prefix part must be no more than 253 bytes"),
    ]
}

fn types_and_deprecated() -> Vec<Case> {
    let of = |value: &str| strict(format!("A type {value:?}")).with(json!({ "type": value }));
    let wrong = |value: &str| of(value).invalid(format!("type: Invalid value: \"\": has invalid value: {value}"));
    let unset = |field: &str, value: Value, named: &str| {
        strict(format!("A {field} set"))
            .with(json!({ field: value }))
            .invalid(format!("{named}: Invalid value: \"\": needs to be unset"))
    };
    let long = json!({
        "reportingInstance": "a".repeat(129), "action": "a".repeat(129), "reason": "a".repeat(129),
        "note": "a".repeat(1025), "type": "x",
    });
    let limit = |field: &str, limit: u32| format!("{field}: Invalid value: \"\": can have at most {limit} characters");
    let all = [limit("reportingInstance", 128), limit("action", 128), limit("reason", 128), limit("message", 1024)]
        .join(", ");
    vec![
        strict("A type absent").with(json!({ "type": null })).invalid("type: Invalid value: \"\": has invalid value: "),
        wrong(""),
        of("Warning").gives(201),
        wrong("Error"),
        wrong("normal"),
        wrong("warning"),
        strict("A everything missing")
            .json(json!({ "metadata": { "name": "{name}" } }))
            .invalid("[eventTime: Required value, type: Invalid value: \"\": has invalid value: ]")
            .into_namespace("default"),
        strict("A all limits exceeded at once")
            .with(long)
            .invalid(format!("[{all}, type: Invalid value: \"\": has invalid value: x]")),
        unset("deprecatedCount", json!(1), "count"),
        unset("deprecatedFirstTimestamp", json!("2026-12-02T06:51:29Z"), "firstTimestamp"),
        unset("deprecatedLastTimestamp", json!("2026-12-02T06:51:29Z"), "lastTimestamp"),
        unset("deprecatedSource", json!({ "component": "probe" }), "source"),
        strict("A deprecatedCount 0, deprecatedSource {}")
            .with(json!({ "deprecatedCount": 0, "deprecatedSource": {} }))
            .gives(201),
    ]
}

/// B. What it is about, and where it stands.
pub(crate) fn references() -> Vec<Case> {
    let mismatch = "involvedObject.namespace: Invalid value: \"\": does not match event.namespace";
    let cluster =
        |title: &str| strict(format!("B {title}")).with(json!({ "regarding": { "namespace": null, "kind": "Node" } }));
    let in_other = json!({ "regarding": { "namespace": "other" } });
    let without = |title: &str, fields: Value| strict(format!("B {title}")).with(json!({ "regarding": fields }));
    let no_method = "the server does not allow this method on the requested resource";
    let terminating = "is forbidden: unable to create new content in namespace dying because it is being terminated";
    vec![
        strict("B regarding absent").with(json!({ "regarding": null })).gives(201),
        strict("B regarding {}").set("regarding", json!({})).gives(201),
        strict("B regarding in other, event in default").with(in_other.clone()).gives(201),
        strict("B regarding in default, event in other").into_namespace("other").gives(201),
        strict("B regarding in default, event in kube-system").into_namespace("kube-system").gives(201),
        without("regarding in a namespace that does not exist", json!({ "namespace": "no-such-ns" })).gives(201),
        cluster("cluster-scoped, event in default").gives(201),
        cluster("cluster-scoped, event in kube-system").into_namespace("kube-system").gives(201),
        cluster("cluster-scoped, event in other").into_namespace("other").invalid(mismatch),
        without("namespace \"\", event in other", json!({ "namespace": "" })).into_namespace("other").invalid(mismatch),
        cluster(
            "cluster-scoped, but namespace other, event \
             in other",
        )
        .with(in_other)
        .into_namespace("other")
        .gives(201),
        cluster("cluster-scoped, event in kube-public").into_namespace("kube-public").invalid(mismatch),
        without("without uid", json!({ "uid": null })).gives(201),
        without("without name", json!({ "name": null })).gives(201),
        without("without kind and apiVersion", json!({ "kind": null, "apiVersion": null })).gives(201),
        without("of an object that does not exist", json!({ "name": "nope" })).gives(201),
        without("of an unknown kind", json!({ "kind": "Foo", "apiVersion": "foo.example.com/v1" })).gives(201),
        strict("B related in another namespace")
            .with(json!({ "related": { "apiVersion": "v1", "kind": "Pod", "namespace": "other", "name": "p" } }))
            .gives(201),
        strict("B related {}").set("related", json!({})).gives(201),
        strict("B namespace of the body other").with(json!({ "metadata": { "namespace": "other" } })).fails(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        strict("B namespace does not exist")
            .into_namespace("no-such-ns")
            .fails(404, "NotFound", "namespaces \"no-such-ns\" not found")
            .stored("/details", json!({ "name": "no-such-ns", "kind": "namespaces" })),
        old("B core: namespace does not exist").into_namespace("no-such-ns").fails(
            404,
            "NotFound",
            "namespaces \"no-such-ns\" not found",
        ),
        strict("B POST without a namespace").at("/apis/events.k8s.io/v1/events").fails(
            405,
            "MethodNotAllowed",
            no_method,
        ),
        old("B core: POST without a namespace").at("/api/v1/events").fails(405, "MethodNotAllowed", no_method),
        strict("B an event before")
            .named("before")
            .into_namespace("dying")
            .with(json!({ "regarding": { "namespace": "dying" } }))
            .gives(201),
        Case::new("B DELETE namespace dying", "DELETE", "/api/v1/namespaces/dying").gives(200),
        strict("B create in the Terminating namespace")
            .into_namespace("dying")
            .fails(403, "Forbidden", format!("events.events.k8s.io \"{{name}}\" {terminating}"))
            .stored(
                "/details/causes",
                json!([{
                    "reason": "NamespaceTerminating", "message": "namespace dying is being terminated",
                    "field": "metadata.namespace",
                }]),
            ),
        old("B core: create in the Terminating namespace").into_namespace("dying").fails(
            403,
            "Forbidden",
            format!("events \"{{name}}\" {terminating}"),
        ),
        Case::merge("B PATCH in the Terminating namespace", STRICT, "before", series(2))
            .into_namespace("dying")
            .gives(200),
        strict(
            "B about an object in the Terminating \
             namespace",
        )
        .with(json!({ "regarding": { "namespace": "dying" } }))
        .gives(201),
        strict("B several faults, each a cause")
            .into_namespace("kube-public")
            .with(json!({ "regarding": { "namespace": null }, "note": "a".repeat(1025), "deprecatedCount": 1 }))
            .invalid(format!(
                "[{mismatch}, message: Invalid value: \"\": can have at most 1024 characters, count: Invalid \
                     value: \"\": needs to be unset]"
            ))
            .stored("/details/kind", json!("Event"))
            .without("/details/group")
            .stored(
                "/details/causes",
                json!([
                    cause("involvedObject.namespace", "does not match event.namespace"),
                    cause("message", "can have at most 1024 characters"),
                    cause("count", "needs to be unset"),
                ]),
            ),
    ]
}

/// E. Series.
pub(crate) fn series_of(count: Value, last: Value) -> Value {
    json!({ "series": { "count": count, "lastObservedTime": last } })
}

/// The same, with a good time.
pub(crate) fn series(count: u32) -> Value {
    series_of(json!(count), json!("2026-12-02T06:51:28.236458Z"))
}

pub(crate) fn series_rows() -> Vec<Case> {
    let few = "series.count: Invalid value: \"\": should be at least 2";
    let time = json!("2026-12-02T06:51:28.236458Z");
    let of = |count: i64| strict(format!("E count {count}")).with(series_of(json!(count), time.clone()));
    let short = "parsing time \"2026-12-02T06:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \
         \"Z\" as \".000000\"";
    let huge = "json: cannot unmarshal number 2147483648 into Go struct field EventSeries.series.count of type int32";
    vec![
        of(-1).invalid(few),
        of(0).invalid(few),
        of(1).invalid(few),
        of(2).gives(201),
        of(2_147_483_647).gives(201),
        of(2_147_483_648).undecodable(huge),
        strict("E no lastObservedTime")
            .with(json!({ "series": { "count": 2 } }))
            .invalid("series.lastObservedTime: Required value"),
        strict("E series {}")
            .set("series", json!({}))
            .invalid(format!("[{few}, series.lastObservedTime: Required value]")),
        strict("E series null").set("series", Value::Null).gives(201),
        strict("E lastObservedTime before eventTime")
            .with(series_of(json!(2), json!("2020-01-01T00:00:00.000000Z")))
            .gives(201),
        strict("E lastObservedTime without fraction")
            .with(series_of(json!(2), json!("2026-12-02T06:00:00Z")))
            .undecodable(short),
        old("E core, no eventTime: count 1, no lastObservedTime")
            .with(json!({ "series": { "count": 1 } }))
            .at(CORE)
            .gives(201),
        modern("E core with eventTime: count 1").with(json!({ "series": { "count": 1 } })).gives(201),
    ]
}

fn cause(field: &str, why: &str) -> Value {
    json!({ "reason": "FieldValueInvalid", "message": format!("Invalid value: \"\": {why}"), "field": field })
}
