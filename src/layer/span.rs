//! What a span says of objects: by its fields, recorded at once or later, or by [`SpanExt::set_regarding`].

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::field::{Field, Visit};
use tracing::{Span, info_span};
use tracing_subscriber::Registry;
use tracing_subscriber::registry::{ExtensionsMut, LookupSpan};

use super::names::{KINDS, Role};
use super::plan::Plan;
use super::scope::{self, Around};
use crate::message::Scope;
use crate::regarding::{Own, Part, Regarding};

/// Says in code which object a span is about.
///
/// Implemented for [`tracing::Span`]. Nothing need be declared on the span, and nothing is formatted.
pub trait SpanExt {
    /// From now on what is logged in this span, and in the spans within it, is about this object.
    ///
    /// It stands in for whatever the span said before, by fields or by an earlier call; under kube's controller it adds
    /// the uid that kube's own span does not have. It counts as declared for Events: records post from `INFO` on.
    ///
    /// A span that is switched off, or a subscriber without `tracing_subscriber`'s `Registry` at its bottom, makes it do
    /// nothing. A reference with neither kind and name nor uid is completed from the spans around it, as fields are.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ObjectReference;
    /// use tracing::{Span, info, info_span};
    /// use tracing_k8s_events::SpanExt;
    ///
    /// # let reference = ObjectReference { kind: Some("Foo".into()), name: Some("a".into()), ..Default::default() };
    /// let span = info_span!("reconcile");
    /// span.set_regarding(&reference);
    /// span.in_scope(|| info!("scaled to 3")); // about Foo/a
    /// ```
    fn set_regarding(&self, reference: impl Into<Regarding>);
}

impl SpanExt for Span {
    fn set_regarding(&self, reference: impl Into<Regarding>) {
        let own = Own::from(reference.into());
        self.with_subscriber(|(id, dispatch)| {
            let span = dispatch.downcast_ref::<Registry>().and_then(|registry| registry.span(id));
            if let Some(span) = span {
                Told::change(&mut span.extensions_mut(), |told| told.say(own));
            }
        });
    }
}

/// A ready span about an object, with all its `k8s.*` fields, so that every other layer's lines carry the object too.
///
/// It is of level `INFO` and target `tracing_k8s_events::object`: a filter that lets through only the
/// application's own targets hides it from its layer, but not from this one. The action of Events is never made from
/// its name, but from that of the span around it.
///
/// ```
/// use k8s_openapi::api::core::v1::ObjectReference;
/// use tracing::info;
/// use tracing_k8s_events::object_span;
///
/// # let reference = ObjectReference { kind: Some("Foo".into()), name: Some("a".into()), ..Default::default() };
/// let span = object_span(&reference);
/// span.in_scope(|| info!(k8s.reason = "Scaled", "scaled to 3")); // about Foo/a
/// ```
pub fn object_span(reference: &ObjectReference) -> Span {
    let span = info_span!(
        target: "tracing_k8s_events::object",
        "object",
        k8s.api_version = reference.api_version.as_deref(),
        k8s.kind = reference.kind.as_deref(),
        k8s.namespace = reference.namespace.as_deref(),
        k8s.name = reference.name.as_deref(),
        k8s.uid = reference.uid.as_deref(),
        k8s.field_path = reference.field_path.as_deref(),
    );
    // The fields cannot say that there is no namespace.
    span.set_regarding(reference);
    span
}

/// The target of [`object_span`]'s spans.
pub(super) const OBJECT_TARGET: &str = "tracing_k8s_events::object";

/// What one span says. It lies in the span's extensions, and says the same to every layer of ours.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By our own fields, or in code.
    own: Option<Own>,
    related: Option<Own>,
    /// By kube's `object.ref`.
    object_ref: Option<Regarding>,
    /// By OpenTelemetry's names: name and uid by kind, and the namespace.
    otel: Vec<(u8, Part, Box<str>)>,
    otel_namespace: Option<Box<str>>,
    is_malformed: bool,
    /// What it comes to, with the spans around it: made when first asked for, and anew when they say something else.
    merged: Mutex<Option<(Around, Around)>>,
}

/// A value that a span's field was given.
#[derive(Debug)]
pub(super) struct Said {
    role: Role,
    /// `None` is a value of the wrong shape.
    words: Option<Box<str>>,
}

impl Told {
    /// Changes what a span says, or begins it. Nothing of the user's runs while its extensions are locked.
    pub(super) fn change(extensions: &mut ExtensionsMut<'_>, by: impl FnOnce(&mut Told)) {
        match extensions.get_mut::<Told>() {
            Some(told) => {
                by(told);
                *told.merged.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
            }
            None => {
                let mut told = Told::default();
                by(&mut told);
                extensions.insert(told);
            }
        }
        // Whoever logged in the span before, or in one within it, remembers what it said then.
        scope::forget();
    }

    /// A reference given in code stands in for all that fields of ours said.
    fn say(&mut self, own: Own) {
        self.own = Some(own);
        self.is_malformed = false;
    }

    /// Takes in what fields say. What was said before by the same fields is forgotten.
    pub(super) fn take(&mut self, said: Vec<Said>) {
        for Said { role, words } in said {
            match (role, words) {
                (Role::ObjectRef, words) => {
                    self.object_ref = words.and_then(|it| Regarding::from_object_ref(&it));
                }
                (Role::OtelNamespace, words) => self.otel_namespace = words.filter(|it| !it.is_empty()),
                (Role::OtelName(kind), words) => self.take_otel(kind, Part::Name, words),
                (Role::OtelUid(kind), words) => self.take_otel(kind, Part::Uid, words),
                (Role::Regarding(part), Some(words)) if may_be(part, &words) => {
                    self.own.get_or_insert_default().say(part, &words);
                }
                (Role::Related(part), Some(words)) if may_be(part, &words) => {
                    self.related.get_or_insert_default().say(part, &words);
                }
                (Role::Regarding(_) | Role::Related(_), _) => self.is_malformed = true,
                _ => {}
            }
        }
    }

    fn take_otel(&mut self, kind: u8, part: Part, words: Option<Box<str>>) {
        self.otel.retain(|it| (it.0, it.1) != (kind, part));
        if let Some(words) = words.filter(|it| !it.is_empty()) {
            self.otel.push((kind, part, words));
        }
    }

    /// What it comes to, within what the spans around it say.
    pub(super) fn within(&self, outer: &Around) -> Around {
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        match &*merged {
            Some((before, inner)) if before.is_same(outer) => inner.clone(),
            _ => {
                let inner = self.merge(outer);
                *merged = Some((outer.clone(), inner.clone()));
                inner
            }
        }
    }

    fn merge(&self, outer: &Around) -> Around {
        let names_all = self.own.as_ref().is_some_and(|it| it.parts.is_whole());
        let outer = match outer {
            Around::Barrier => return Around::Barrier,
            Around::Malformed if !names_all => return Around::Malformed,
            _ if self.is_malformed => return Around::Malformed,
            Around::Said(scope) => Some(scope),
            Around::Nothing | Around::Malformed => None,
        };
        let outer_regarding = outer.map(|it| &it.regarding);
        let regarding = match self.regarding(outer_regarding) {
            Some(own) => match outer_regarding {
                Some(outer) => Arc::new(own.within(outer)),
                None => own.parts,
            },
            None => outer_regarding.cloned().unwrap_or_default(),
        };
        let outer_related = outer.and_then(|it| it.related.as_ref());
        let related = match (&self.related, outer_related) {
            (Some(own), Some(outer)) => Some(Arc::new(own.clone().within(outer))),
            (Some(own), None) => Some(own.parts.clone()),
            (None, outer) => outer.cloned(),
        };
        let declared = self.own.is_some() || self.related.is_some() || outer.is_some_and(|it| it.declared);
        Around::Said(Arc::new(Scope { regarding, related, declared }))
    }

    /// What it says itself. Our own fields are completed by the others', as by those of a span around it.
    pub(super) fn regarding(&self, outer: Option<&Arc<Regarding>>) -> Option<Own> {
        let ambient = match (&self.object_ref, self.by_otel(outer)) {
            (Some(object), None) => Some(Own::from(object.clone())),
            (Some(object), Some(otel)) => Some(Own::from(Own::from(object.clone()).within(&otel.parts))),
            (None, otel) => otel,
        };
        match (&self.own, ambient) {
            (Some(own), Some(ambient)) => {
                let namespace_is_said = own.namespace_is_said || ambient.namespace_is_said;
                Some(Own { parts: Arc::new(own.clone().within(&ambient.parts)), namespace_is_said })
            }
            (Some(own), None) => Some(own.clone()),
            (None, ambient) => ambient,
        }
    }

    fn by_otel(&self, outer: Option<&Arc<Regarding>>) -> Option<Own> {
        let namespace = self.otel_namespace.clone();
        let Some((kind, ..)) = self.otel.iter().min_by_key(|(kind, part, _)| (*part != Part::Name, *kind)) else {
            let parts = Regarding {
                api_version: "v1".into(),
                kind: "Namespace".into(),
                name: namespace?,
                ..Default::default()
            };
            return Some(Own::from(parts));
        };
        let value = |part| self.otel.iter().find(|it| (it.0, it.1) == (*kind, part)).map(|it| it.2.clone());
        let known = &KINDS[usize::from(*kind)];
        let mut parts = Regarding {
            api_version: known.api_version.into(),
            kind: known.kind.into(),
            name: value(Part::Name).unwrap_or_default(),
            uid: value(Part::Uid).unwrap_or_default(),
            ..Default::default()
        };
        // A span around it that names nothing but a namespace names this object's.
        let around = outer.filter(|it| &*it.kind == "Namespace" && &*it.api_version == "v1").map(|it| it.name.clone());
        if !parts.is_cluster_scoped() {
            parts.namespace = namespace.or(around).unwrap_or_default();
        }
        Some(Own { namespace_is_said: false, parts: Arc::new(parts) })
    }

    pub(super) fn related(&self) -> Option<&Own> {
        self.related.as_ref()
    }

    pub(super) fn is_malformed(&self) -> bool {
        self.is_malformed
    }
}

/// Whether a part of a reference may be so. An object has a name and a kind, if it is named at all; other parts it may
/// lack, and an empty one says so, as `obj.uid().unwrap_or_default()` does.
pub(super) fn may_be(part: Part, words: &str) -> bool {
    words.len() <= 1024 && !(words.is_empty() && matches!(part, Part::Name | Part::Kind))
}

/// Hears what a span's fields say of objects; nothing else is formatted.
pub(super) struct Listening<'a> {
    pub(super) plan: &'a Plan,
    pub(super) said: Vec<Said>,
}

impl Listening<'_> {
    fn role(&self, field: &Field) -> Option<Role> {
        self.plan.roles().get(field.index()).copied().filter(|it| it.is_of_an_object())
    }

    fn say(&mut self, field: &Field, words: Option<&str>) {
        if let Some(role) = self.role(field) {
            self.said.push(Said { role, words: words.map(Into::into) });
        }
    }
}

impl Visit for Listening<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.say(field, Some(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if let Some(role) = self.role(field) {
            let words = format!("{value:?}");
            self.said.push(Said { role, words: Some(unquoted(&words).into()) });
        }
    }

    fn record_i64(&mut self, field: &Field, _: i64) {
        self.say(field, None);
    }

    fn record_u64(&mut self, field: &Field, _: u64) {
        self.say(field, None);
    }

    fn record_i128(&mut self, field: &Field, _: i128) {
        self.say(field, None);
    }

    fn record_u128(&mut self, field: &Field, _: u128) {
        self.say(field, None);
    }

    fn record_f64(&mut self, field: &Field, _: f64) {
        self.say(field, None);
    }

    fn record_bool(&mut self, field: &Field, _: bool) {
        self.say(field, None);
    }

    fn record_bytes(&mut self, field: &Field, _: &[u8]) {
        self.say(field, None);
    }
}

/// `?name` of a string comes in quotes, which no name has.
pub(super) fn unquoted(words: &str) -> &str {
    words.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(words)
}
