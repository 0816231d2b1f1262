//! What the fields of records and spans mean to us, by their names.

use crate::regarding::Part;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Message,
    /// Stands in the note as `key=value`.
    Note,
    /// Stands nowhere.
    LeftOut,
    Regarding(Part),
    Related(Part),
    Reason,
    Action,
    Type,
    Skip,
    Annotation,
    /// Kube's `object.ref`.
    ObjectRef,
    /// OpenTelemetry's `k8s.<kind>.name` and `.uid`; a place in [`KINDS`].
    OtelName(u8),
    OtelUid(u8),
    /// OpenTelemetry's `k8s.namespace.name`: the namespace of another kind's object, else an object itself.
    OtelNamespace,
}

pub(super) const ANNOTATION: &str = "k8s.annotation.";

/// A kind that OpenTelemetry's semantic conventions name.
pub(super) struct OtelKind {
    word: &'static str,
    pub(super) kind: &'static str,
    pub(super) api_version: &'static str,
}

/// The nearest to what runs first: where a span names several, as resource attributes do, it is about the first of these.
pub(super) const KINDS: &[OtelKind] = &[
    kind("pod", "Pod", "v1"),
    kind("replicaset", "ReplicaSet", "apps/v1"),
    kind("job", "Job", "batch/v1"),
    kind("statefulset", "StatefulSet", "apps/v1"),
    kind("daemonset", "DaemonSet", "apps/v1"),
    kind("deployment", "Deployment", "apps/v1"),
    kind("cronjob", "CronJob", "batch/v1"),
    kind("replicationcontroller", "ReplicationController", "v1"),
    kind("hpa", "HorizontalPodAutoscaler", "autoscaling/v2"),
    kind("service", "Service", "v1"),
    kind("persistentvolumeclaim", "PersistentVolumeClaim", "v1"),
    kind("resourcequota", "ResourceQuota", "v1"),
    kind("storageclass", "StorageClass", "storage.k8s.io/v1"),
    kind("persistentvolume", "PersistentVolume", "v1"),
    kind("node", "Node", "v1"),
];

const fn kind(word: &'static str, kind: &'static str, api_version: &'static str) -> OtelKind {
    OtelKind { word, kind, api_version }
}

impl Role {
    /// What a field of this name is. Names that begin with `k8s.` and mean nothing to us are fields like any other.
    pub(super) fn of(name: &str) -> Self {
        match name.strip_prefix("k8s.") {
            Some(rest) => Self::of_ours(rest).or_else(|| Self::of_otel(rest)).unwrap_or(Role::Note),
            None if name == "message" => Role::Message,
            None if name == "object.ref" => Role::ObjectRef,
            None => Role::Note,
        }
    }

    fn of_ours(name: &str) -> Option<Self> {
        if name.starts_with("annotation.") && name.len() > "annotation.".len() {
            return Some(Role::Annotation);
        }
        let (name, of): (_, fn(Part) -> Role) = match name.strip_prefix("related.") {
            Some(name) => (name, Role::Related),
            None => (name, Role::Regarding),
        };
        let role = match name {
            "api_version" => of(Part::ApiVersion),
            "kind" => of(Part::Kind),
            "namespace" => of(Part::Namespace),
            "name" => of(Part::Name),
            "uid" => of(Part::Uid),
            "field_path" => of(Part::FieldPath),
            "reason" => Role::Reason,
            "action" => Role::Action,
            "type" => Role::Type,
            "skip" => Role::Skip,
            _ => return None,
        };
        let is_related = of(Part::Name) == Role::Related(Part::Name);
        (!is_related || matches!(role, Role::Related(_))).then_some(role)
    }

    fn of_otel(name: &str) -> Option<Self> {
        let (word, what) = name.split_once('.')?;
        let place = || KINDS.iter().position(|it| it.word == word).map(|it| it as u8);
        match (word, what) {
            ("namespace", "name") => Some(Role::OtelNamespace),
            (_, "name") => place().map(Role::OtelName),
            (_, "uid") => place().map(Role::OtelUid),
            _ => None,
        }
    }

    /// Whether somebody who writes such a field writes it for Events.
    pub(super) fn is_declared(self) -> bool {
        match self {
            Role::Regarding(_) | Role::Related(_) | Role::Reason | Role::Action => true,
            Role::Type | Role::Skip | Role::Annotation => true,
            Role::Message | Role::Note | Role::LeftOut => false,
            Role::ObjectRef | Role::OtelName(_) | Role::OtelUid(_) | Role::OtelNamespace => false,
        }
    }

    /// Whether it names an object by somebody else's words.
    pub(super) fn is_ambient(self) -> bool {
        matches!(self, Role::ObjectRef | Role::OtelName(_) | Role::OtelUid(_) | Role::OtelNamespace)
    }

    /// Whether spans remember it.
    pub(super) fn is_of_an_object(self) -> bool {
        self.is_ambient() || matches!(self, Role::Regarding(_) | Role::Related(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_the_manual_says() {
        let otel = |word: &str| KINDS.iter().position(|it| it.word == word).map(|it| it as u8).unwrap();
        for (name, role) in [
            ("message", Role::Message),
            ("k8s.kind", Role::Regarding(Part::Kind)),
            ("k8s.name", Role::Regarding(Part::Name)),
            ("k8s.namespace", Role::Regarding(Part::Namespace)),
            ("k8s.uid", Role::Regarding(Part::Uid)),
            ("k8s.api_version", Role::Regarding(Part::ApiVersion)),
            ("k8s.field_path", Role::Regarding(Part::FieldPath)),
            ("k8s.related.kind", Role::Related(Part::Kind)),
            ("k8s.related.uid", Role::Related(Part::Uid)),
            ("k8s.reason", Role::Reason),
            ("k8s.action", Role::Action),
            ("k8s.type", Role::Type),
            ("k8s.skip", Role::Skip),
            ("k8s.annotation.example.com/x", Role::Annotation),
            ("k8s.pod.name", Role::OtelName(otel("pod"))),
            ("k8s.node.uid", Role::OtelUid(otel("node"))),
            ("k8s.cronjob.name", Role::OtelName(otel("cronjob"))),
            ("k8s.namespace.name", Role::OtelNamespace),
            ("object.ref", Role::ObjectRef),
        ] {
            assert_eq!(Role::of(name), role, "{name}");
        }
    }

    #[test]
    fn other_names_are_fields_like_any_other() {
        for name in [
            "replicas",
            "name",
            "k8s",
            "k8s.",
            "k8s.foo",
            "k8s.container.name",
            "k8s.pod.labels",
            "k8s.related.reason",
            "k8s.annotation.",
            "object.reason",
        ] {
            assert_eq!(Role::of(name), Role::Note, "{name}");
        }
    }
}
