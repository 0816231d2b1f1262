//! From a body to an object as Go's strict decoder does it: fields of the wrong type are an error, unknown ones a
//! warning, and what is empty is not there.
//!
//! Both groups' Events are decoded by a [`Shape`] into one form: core/v1's, without `kind` and `apiVersion`.

use serde_json::{Map, Value};

use super::message::{Kind, Request, lossy};
use super::moment::{self, Layout, quote};
use super::status::Refusal;

/// A Go type, as far as decoding tells it from others.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    /// The name is Go's: `string`, or `types.UID`.
    Text(&'static str),
    Int32,
    Int64,
    Time(Layout),
    /// `map[string]string`.
    Texts,
    /// `[]string`, `[]T`: kept as it stands.
    List,
    Struct(&'static Shape),
    /// There when written, even with nothing in it.
    Pointer(&'static Shape),
}

/// The fields of a struct: the name on the wire, the name that is kept, and the type.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) fields: &'static [(&'static str, &'static str, Type)],
}

const TEXT: Type = Type::Text("string");

const META: Shape = Shape {
    name: "ObjectMeta",
    fields: &[
        ("name", "name", TEXT),
        ("generateName", "generateName", TEXT),
        ("namespace", "namespace", TEXT),
        ("selfLink", "selfLink", TEXT),
        ("uid", "uid", Type::Text("types.UID")),
        ("resourceVersion", "resourceVersion", TEXT),
        ("generation", "generation", Type::Int64),
        ("creationTimestamp", "creationTimestamp", Type::Time(Layout::Seconds)),
        ("deletionTimestamp", "deletionTimestamp", Type::Time(Layout::Seconds)),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds", Type::Int64),
        ("labels", "labels", Type::Texts),
        ("annotations", "annotations", Type::Texts),
        ("ownerReferences", "ownerReferences", Type::List),
        ("finalizers", "finalizers", Type::List),
        ("managedFields", "managedFields", Type::List),
    ],
};

pub(super) const REFERENCE: Shape = Shape {
    name: "ObjectReference",
    fields: &[
        ("kind", "kind", TEXT),
        ("namespace", "namespace", TEXT),
        ("name", "name", TEXT),
        ("uid", "uid", Type::Text("types.UID")),
        ("apiVersion", "apiVersion", TEXT),
        ("resourceVersion", "resourceVersion", TEXT),
        ("fieldPath", "fieldPath", TEXT),
    ],
};

const SERIES: Shape = Shape {
    name: "EventSeries",
    fields: &[("count", "count", Type::Int32), ("lastObservedTime", "lastObservedTime", Type::Time(Layout::Micro))],
};

const SOURCE: Shape =
    Shape { name: "EventSource", fields: &[("component", "component", TEXT), ("host", "host", TEXT)] };

pub(super) const CORE: Shape = Shape {
    name: "Event",
    fields: &[
        ("kind", "", TEXT),
        ("apiVersion", "", TEXT),
        ("metadata", "metadata", Type::Struct(&META)),
        ("involvedObject", "involvedObject", Type::Struct(&REFERENCE)),
        ("reason", "reason", TEXT),
        ("message", "message", TEXT),
        ("source", "source", Type::Struct(&SOURCE)),
        ("firstTimestamp", "firstTimestamp", Type::Time(Layout::Seconds)),
        ("lastTimestamp", "lastTimestamp", Type::Time(Layout::Seconds)),
        ("count", "count", Type::Int32),
        ("type", "type", TEXT),
        ("eventTime", "eventTime", Type::Time(Layout::Micro)),
        ("series", "series", Type::Pointer(&SERIES)),
        ("action", "action", TEXT),
        ("related", "related", Type::Pointer(&REFERENCE)),
        ("reportingComponent", "reportingComponent", TEXT),
        ("reportingInstance", "reportingInstance", TEXT),
    ],
};

pub(super) const EVENTS: Shape = Shape {
    name: "Event",
    fields: &[
        ("kind", "", TEXT),
        ("apiVersion", "", TEXT),
        ("metadata", "metadata", Type::Struct(&META)),
        ("eventTime", "eventTime", Type::Time(Layout::Micro)),
        ("series", "series", Type::Pointer(&SERIES)),
        ("reportingController", "reportingComponent", TEXT),
        ("reportingInstance", "reportingInstance", TEXT),
        ("action", "action", TEXT),
        ("reason", "reason", TEXT),
        ("regarding", "involvedObject", Type::Struct(&REFERENCE)),
        ("related", "related", Type::Pointer(&REFERENCE)),
        ("note", "message", TEXT),
        ("type", "type", TEXT),
        ("deprecatedSource", "source", Type::Struct(&SOURCE)),
        ("deprecatedFirstTimestamp", "firstTimestamp", Type::Time(Layout::Seconds)),
        ("deprecatedLastTimestamp", "lastTimestamp", Type::Time(Layout::Seconds)),
        ("deprecatedCount", "count", Type::Int32),
    ],
};

/// What decoding found.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) object: Map<String, Value>,
    /// Fields that the type does not have, as paths.
    pub(super) unknown: Vec<String>,
    /// The first field of a wrong type. The others are not told.
    error: Option<String>,
}

/// Which shape a group's Events have.
pub(super) fn shape(group: &str) -> &'static Shape {
    if group.is_empty() { &CORE } else { &EVENTS }
}

/// An Event from the body of a create or a replace. Answers the object and what to warn about.
pub(super) fn event(kind: &Kind, request: &Request) -> Result<(Map<String, Value>, Vec<String>), Refusal> {
    let body = parse(request)?;
    let said = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let (sent_kind, sent_version) = (said("kind"), said("apiVersion"));
    let expected = kind.api_version();
    let known = sent_version.is_empty()
        || sent_version == expected
        || ["v1", "events.k8s.io/v1", "events.k8s.io/v1beta1"].contains(&sent_version);
    if (!sent_kind.is_empty() && sent_kind != kind.kind) || !known {
        let version = if sent_version.is_empty() { &expected } else { sent_version };
        let (bare, named) =
            (version.rsplit('/').next().unwrap_or_default(), if sent_kind.is_empty() { &kind.kind } else { sent_kind });
        let scheme = "in scheme \"pkg/api/legacyscheme/scheme.go:30\"";
        let why = format!("no kind {} is registered for version {} {scheme}", quote(named), quote(version));
        return Err(Refusal::bad_request(format!(
            "{named} in version {} cannot be handled as a Event: {why}",
            quote(bare)
        )));
    }
    // A body of the other group is read by its own shape before the mismatch is told.
    let sent_shape = match sent_version {
        "v1" => &CORE,
        "" => shape(&kind.group),
        _ => &EVENTS,
    };
    let decoded = read(sent_shape, &body);
    let object = decoded.verdict(request).map_err(|why| Refusal::undecodable(kind, &why))?;
    if !sent_version.is_empty() && sent_version != expected {
        let why = format!(
            "the API version in the data ({sent_version}) does not match the expected API version ({expected})"
        );
        return Err(Refusal::bad_request(why).warned(object.1));
    }
    Ok(object)
}

impl Decoded {
    /// The object and what to warn about, by what `fieldValidation` asks for; or why it cannot be.
    pub(super) fn verdict(self, request: &Request) -> Result<(Map<String, Value>, Vec<String>), String> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let warnings: Vec<String> = self.unknown.iter().map(|it| format!("unknown field {}", quote(it))).collect();
        match request.asked("fieldValidation") {
            Some("Ignore") => Ok((self.object, Vec::new())),
            Some("Strict") if !warnings.is_empty() => Err(format!("strict decoding error: {}", warnings.join(", "))),
            _ => Ok((self.object, warnings)),
        }
    }
}

/// The body as JSON, or the server's complaint about it.
pub(super) fn parse(request: &Request) -> Result<Value, Refusal> {
    let text = lossy(&request.body);
    let read = serde_json::from_str::<Value>(&text).map_err(|error| misread(&text, &error));
    // A list, a text or a number has no kind. (That they are not null is for the shape to find out.)
    let read = read.and_then(|value| match &value {
        Value::Object(_) | Value::Null => Ok(value),
        other => Err(format!("json: cannot unmarshal {} into Go value of type {VERSION_AND_KIND}", sort(other))),
    });
    read.map_err(|why| {
        let shown = match text.as_bytes() {
            [] => "<empty>".to_owned(),
            [b'{', ..] if text.chars().count() > 100 => format!("{} ...", text.chars().take(100).collect::<String>()),
            [b'{', ..] => text.clone(),
            bytes => bytes.iter().take(100).map(|it| format!("{it:02x}")).collect(),
        };
        let lead =
            "the object provided is unrecognized (must be of type Event): couldn't get version/kind; json parse error";
        Refusal::bad_request(format!("{lead}: {why} ({shown})"))
    })
}

/// Reads an object by its shape.
pub(super) fn read(shape: &'static Shape, body: &Value) -> Decoded {
    let mut decoded = Decoded::default();
    match body {
        Value::Object(fields) => decoded.object = decoded.fields(shape, "", fields),
        Value::Null => {}
        other => {
            decoded.fail(format!("json: cannot unmarshal {} into Go value of type v1.{}", sort(other), shape.name))
        }
    }
    decoded
}

impl Decoded {
    fn fail(&mut self, error: String) {
        self.error.get_or_insert(error);
    }

    fn fields(&mut self, shape: &'static Shape, at: &str, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (wire, value) in fields {
            let path = if at.is_empty() { wire.clone() } else { format!("{at}.{wire}") };
            let Some((_, kept, sort)) = shape.fields.iter().find(|(name, ..)| name == wire) else {
                self.unknown.push(path);
                continue;
            };
            if let Some(value) = self.value(shape, &path, *sort, value).filter(|_| !kept.is_empty()) {
                out.insert((*kept).to_owned(), value);
            }
        }
        out
    }

    /// Nothing for what Go would leave at its zero value.
    fn value(&mut self, shape: &'static Shape, path: &str, wanted: Type, value: &Value) -> Option<Value> {
        let misfit = |named: &str| {
            format!("json: cannot unmarshal {} into Go struct field {}.{path} of type {named}", sort(value), shape.name)
        };
        match (wanted, value) {
            (_, Value::Null) => None,
            (Type::Text(_), Value::String(text)) => (!text.is_empty()).then(|| value.clone()),
            (Type::Int32 | Type::Int64, Value::Number(number)) => {
                let (named, fits) = match wanted {
                    Type::Int32 => ("int32", number.as_i64().is_some_and(|it| i32::try_from(it).is_ok())),
                    _ => ("int64", number.as_i64().is_some()),
                };
                if !fits {
                    self.fail(format!(
                        "json: cannot unmarshal number {number} into Go struct field {}.{path} of type {named}",
                        shape.name
                    ));
                }
                (number.as_i64() != Some(0)).then(|| value.clone())
            }
            (Type::Time(layout), Value::String(text)) => match moment::normal(layout, text) {
                Ok(at) => Some(Value::String(at)),
                Err(error) => {
                    self.fail(error);
                    None
                }
            },
            (Type::Time(_), _) => {
                self.fail(misfit("string"));
                None
            }
            (Type::Texts, Value::Object(pairs)) => {
                if let Some(wrong) = pairs.values().find(|it| !it.is_string() && !it.is_null()) {
                    let error = format!(
                        "json: cannot unmarshal {} into Go struct field {}.{path} of type string",
                        sort(wrong),
                        shape.name
                    );
                    self.fail(error);
                }
                let text = |it: &Value| if it.is_null() { Value::from("") } else { it.clone() };
                let pairs: Map<String, Value> = pairs.iter().map(|(key, it)| (key.clone(), text(it))).collect();
                (!pairs.is_empty()).then_some(Value::Object(pairs))
            }
            (Type::List, Value::Array(items)) => (!items.is_empty()).then(|| value.clone()),
            (Type::Struct(inner), Value::Object(fields)) => {
                let fields = self.fields(inner, path, fields);
                (!fields.is_empty()).then_some(Value::Object(fields))
            }
            (Type::Pointer(inner), Value::Object(fields)) => Some(Value::Object(self.fields(inner, path, fields))),
            (Type::Text(named), _) => {
                self.fail(misfit(named));
                None
            }
            (Type::Struct(inner) | Type::Pointer(inner), _) => {
                self.fail(misfit(&format!("v1.{}", inner.name)));
                None
            }
            (other, _) => {
                self.fail(misfit(match other {
                    Type::Int32 => "int32",
                    Type::Int64 => "int64",
                    Type::Texts => "map[string]string",
                    _ => "[]string",
                }));
                None
            }
        }
    }
}

/// The type by which Go looks for these two, as it prints it.
const VERSION_AND_KIND: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

pub(super) fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Go's words for the commonest mistakes. Where its parser would say something finer this does not follow it.
pub(super) fn misread(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let at = line.as_bytes().get(error.column().saturating_sub(1)).copied().unwrap_or(b' ') as char;
    format!("invalid character '{at}' looking for beginning of value")
}
