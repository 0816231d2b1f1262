//! Which object an occurrence is about, and when two references mean the same object.

mod object_ref;

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ObjectReference;

/// A reference to the Kubernetes object that an Event is about, or is related to.
///
/// The parts are those of Kubernetes' own `ObjectReference`, less `resourceVersion`: an object that was updated is
/// still the same object, and recorders that compare the version count every repeat as news. An empty part is absent.
///
/// ```
/// use k8s_openapi::api::core::v1::ObjectReference;
/// use tracing_k8s_events::sink::Regarding;
///
/// let reference = ObjectReference { kind: Some("Node".into()), name: Some("n1".into()), ..Default::default() };
/// let node = Regarding::from(&reference);
/// assert_eq!(node.to_string(), "Node/n1");
/// assert!(node.namespace.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Regarding {
    /// Group and version, `apps/v1`, or `v1` alone for the core group.
    pub api_version: Box<str>,
    /// The kind as its `kind` field says it: `ConfigMap`.
    pub kind: Box<str>,
    /// The namespace that the object lives in; empty for a cluster-scoped object.
    pub namespace: Box<str>,
    /// The object's name.
    pub name: Box<str>,
    /// The object's uid. `kubectl describe` shows only Events that have it.
    pub uid: Box<str>,
    /// The part of the object that is meant, such as `spec.containers{web}`.
    pub field_path: Box<str>,
    /// Whether name and namespace were split at a guess: the text of kube's `object.ref` does not say where.
    pub(crate) split_at_a_guess: bool,
}

/// One part of a reference, as the fields of a record or a span name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    ApiVersion,
    Kind,
    Namespace,
    Name,
    Uid,
    FieldPath,
}

/// What one record or one span says itself of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Own {
    /// Shared with whatever is about it, where nothing around it has to complete it.
    pub(crate) parts: Arc<Regarding>,
    /// Whether its namespace was named; an empty one says that the object lives in none.
    pub(crate) namespace_is_said: bool,
}

impl Own {
    pub(crate) fn say(&mut self, part: Part, text: &str) {
        self.namespace_is_said |= part == Part::Namespace;
        *Arc::make_mut(&mut self.parts).part_mut(part) = text.into();
    }

    pub(crate) fn within(self, outer: &Regarding) -> Regarding {
        Arc::unwrap_or_clone(self.parts).completed(outer, self.namespace_is_said)
    }
}

/// A reference that says everything, and so its namespace too, also where it says none.
impl From<Regarding> for Own {
    fn from(parts: Regarding) -> Self {
        Self { namespace_is_said: parts.is_whole(), parts: Arc::new(parts) }
    }
}

impl Regarding {
    /// Whether an Event can be posted about it: it has a kind and a name, or a uid by which both may be found.
    pub(crate) fn is_enough(&self) -> bool {
        (!self.kind.is_empty() && !self.name.is_empty()) || !self.uid.is_empty()
    }

    /// Whether it names its object whole, so that nothing of another object may complete it.
    pub(crate) fn is_whole(&self) -> bool {
        !self.kind.is_empty() && !self.name.is_empty()
    }

    /// Whether it names an object by half: a kind without a name, or a name without a kind.
    pub(crate) fn is_half(&self) -> bool {
        self.uid.is_empty() && self.kind.is_empty() != self.name.is_empty()
    }

    /// This reference, completed by that of the scope around it, part by part: the innermost wins.
    ///
    /// Two objects are never mixed: another kind forgets everything of the outer object but its namespace, another
    /// name or namespace forgets its uid and field path, and another uid with no name of its own forgets all of it.
    /// Where it is said that there is no namespace, it is not in the outer's either.
    pub(crate) fn completed(mut self, outer: &Regarding, namespace_is_said: bool) -> Self {
        let differs = |own: &str, outer: &str| !own.is_empty() && own != outer;
        let other_uid = !outer.uid.is_empty() && differs(&self.uid, &outer.uid);
        if other_uid && self.name.is_empty() {
            return self;
        }
        let other_kind = differs(&self.kind, &outer.kind) || self.is_of_another_group(outer);
        let namespace_is_said = namespace_is_said || !self.namespace.is_empty() || self.is_cluster_scoped();
        let other_namespace = namespace_is_said && self.namespace != outer.namespace;
        let other_object = other_kind || differs(&self.name, &outer.name) || other_namespace;
        let inherit = |own: &mut Box<str>, outer: &str| {
            if own.is_empty() {
                *own = outer.into();
            }
        };
        inherit(&mut self.kind, &outer.kind);
        if !namespace_is_said {
            inherit(&mut self.namespace, &outer.namespace);
        }
        if !other_kind {
            inherit(&mut self.api_version, &outer.api_version);
            inherit(&mut self.name, &outer.name);
        }
        if !other_object {
            inherit(&mut self.uid, &outer.uid);
            inherit(&mut self.field_path, &outer.field_path);
            self.split_at_a_guess |= outer.split_at_a_guess;
        }
        self
    }

    /// One kind of two groups is two kinds: an `Ingress` of `networking.k8s.io` is not one of somebody else's.
    fn is_of_another_group(&self, outer: &Regarding) -> bool {
        let both_say = !self.api_version.is_empty() && !outer.api_version.is_empty();
        !self.kind.is_empty() && both_say && group(&self.api_version) != group(&outer.api_version)
    }

    /// Whether it is of a kind of Kubernetes' own that lives in no namespace.
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        let group = Some(&*self.api_version).filter(|it| !it.is_empty()).map(group);
        object_ref::lives_in_a_namespace(group, &self.kind) == Some(false)
    }

    /// Every part, in the order of the API's own.
    pub(crate) fn parts(&self) -> [(Part, &str); 6] {
        [
            (Part::ApiVersion, &*self.api_version),
            (Part::Kind, &*self.kind),
            (Part::Namespace, &*self.namespace),
            (Part::Name, &*self.name),
            (Part::Uid, &*self.uid),
            (Part::FieldPath, &*self.field_path),
        ]
    }

    pub(crate) fn part_mut(&mut self, part: Part) -> &mut Box<str> {
        match part {
            Part::ApiVersion => &mut self.api_version,
            Part::Kind => &mut self.kind,
            Part::Namespace => &mut self.namespace,
            Part::Name => &mut self.name,
            Part::Uid => &mut self.uid,
            Part::FieldPath => &mut self.field_path,
        }
    }
}

/// The group of an API version; the core group is empty.
fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

impl From<&ObjectReference> for Regarding {
    fn from(it: &ObjectReference) -> Self {
        let part = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
        Self {
            api_version: part(&it.api_version),
            kind: part(&it.kind),
            namespace: part(&it.namespace),
            name: part(&it.name),
            uid: part(&it.uid),
            field_path: part(&it.field_path),
            split_at_a_guess: false,
        }
    }
}

/// Short, for people: `Kind/name`, `Kind/namespace/name`, or the uid where there is nothing else.
impl fmt::Display for Regarding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.name, &*self.namespace) {
            ("", _) => write!(f, "uid {}", self.uid),
            (name, "") => write!(f, "{}/{name}", self.kind),
            (name, namespace) => write!(f, "{}/{namespace}/{name}", self.kind),
        }
    }
}
