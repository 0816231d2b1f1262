//! How the text of kube's `object.ref` is read: `Kind.version.group/name.namespace`.

use super::Regarding;

/// Kubernetes' own kinds that live in namespaces, and those that do not, by group. Of all others only the API server
/// knows. `kubectl api-resources` of v1.36.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("", &NAMESPACED_OF_CORE, &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    ("admissionregistration.k8s.io", &[], &ADMISSION),
    ("apiextensions.k8s.io", &[], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &[], &["APIService"]),
    ("apps", &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"], &[]),
    ("autoscaling", &["HorizontalPodAutoscaler"], &[]),
    ("batch", &["CronJob", "Job"], &[]),
    ("certificates.k8s.io", &[], &["CertificateSigningRequest"]),
    ("coordination.k8s.io", &["Lease"], &[]),
    ("discovery.k8s.io", &["EndpointSlice"], &[]),
    ("events.k8s.io", &["Event"], &[]),
    ("flowcontrol.apiserver.k8s.io", &[], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["Ingress", "NetworkPolicy"], &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &[], &["RuntimeClass"]),
    ("policy", &["PodDisruptionBudget"], &[]),
    ("rbac.authorization.k8s.io", &["Role", "RoleBinding"], &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &[], &["PriorityClass"]),
    ("storage.k8s.io", &["CSIStorageCapacity"], &STORAGE),
];

const NAMESPACED_OF_CORE: [&str; 12] = [
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
];

const ADMISSION: [&str; 6] = [
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

const STORAGE: [&str; 5] = ["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"];

/// Whether objects of a kind live in namespaces, where that is known. A group that is not known may be any.
pub(super) fn lives_in_a_namespace(group: Option<&str>, kind: &str) -> Option<bool> {
    let groups = KINDS.iter().filter(|(it, ..)| group.is_none_or(|group| group == *it));
    groups.into_iter().find_map(|(_, namespaced, cluster)| {
        let in_one = namespaced.contains(&kind);
        (in_one || cluster.contains(&kind)).then_some(in_one)
    })
}

impl Regarding {
    /// Reads what kube writes into the field `object.ref` of its controller's span; `None` where it is something else.
    ///
    /// A namespace has no dots, so name and namespace part at the last one. Whether there is a namespace at all the
    /// text does not say: of Kubernetes' own kinds it is known, of others a text with a dot is split at a guess.
    pub(crate) fn from_object_ref(text: &str) -> Option<Self> {
        let (kind_version_group, name) = text.split_once('/')?;
        let mut parts = kind_version_group.splitn(3, '.');
        let (kind, version, group) = (parts.next()?, parts.next()?, parts.next()?);
        let is_version = version.strip_prefix('v').is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()));
        if kind.is_empty() || !is_version || name.is_empty() {
            return None;
        }
        let known = lives_in_a_namespace(Some(group), kind);
        let (name, namespace, split_at_a_guess) = match name.rsplit_once('.') {
            Some((name, namespace)) if known != Some(false) => (name, namespace, known.is_none()),
            _ => (name, "", false),
        };
        if name.is_empty() || (namespace.is_empty() && known == Some(true)) {
            return None;
        }
        let api_version = if group.is_empty() { version.into() } else { format!("{group}/{version}").into() };
        let (kind, namespace, name) = (kind.into(), namespace.into(), name.into());
        Some(Self { api_version, kind, namespace, name, split_at_a_guess, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(text: &str) -> (String, String, String, String, bool) {
        let it = Regarding::from_object_ref(text).expect("it is a text of kube's");
        let [api_version, kind, namespace, name] = [it.api_version, it.kind, it.namespace, it.name].map(String::from);
        (api_version, kind, namespace, name, it.split_at_a_guess)
    }

    /// Found by fuzzing: a reference without a name is none.
    #[test]
    fn a_text_without_a_name_is_none_of_kubes() {
        for text in ["Foo.v1.example.com/.", "Foo.v1.example.com/.ns", "Pod.v1./.ns", "Pod.v1./web", "Pod.v1./web."] {
            assert_eq!(Regarding::from_object_ref(text), None, "{text}");
        }
    }

    #[test]
    fn every_form_that_kube_writes_is_read() {
        for (text, api_version, kind, namespace, name, guess) in [
            ("Pod.v1./my-pod.my-namespace", "v1", "Pod", "my-namespace", "my-pod", false),
            ("Pod.v1./my.dotted.pod.ns", "v1", "Pod", "ns", "my.dotted.pod", false),
            ("Deployment.v1.apps/my-deploy.ns", "apps/v1", "Deployment", "ns", "my-deploy", false),
            ("Node.v1./my-node", "v1", "Node", "", "my-node", false),
            ("Node.v1./ip-10-0-0-1.ec2.internal", "v1", "Node", "", "ip-10-0-0-1.ec2.internal", false),
            ("Foo.v1alpha1.example.com/foo", "example.com/v1alpha1", "Foo", "", "foo", false),
            ("Foo.v1.a.b.example.com/foo.ns", "a.b.example.com/v1", "Foo", "ns", "foo", true),
            ("Foo.v1.example.com/a.b.ns", "example.com/v1", "Foo", "ns", "a.b", true),
            ("Node.v1.example.com/a.b", "example.com/v1", "Node", "b", "a", true),
            (
                "ClusterRole.v1.rbac.authorization.k8s.io/system:a.b",
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                "",
                "system:a.b",
                false,
            ),
            (
                "CustomResourceDefinition.v1.apiextensions.k8s.io/foos.example.com",
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "",
                "foos.example.com",
                false,
            ),
        ] {
            let want = (api_version.into(), kind.into(), namespace.into(), name.into(), guess);
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_of_kubes_is_no_reference() {
        for text in [
            "",
            "/",
            "foo",
            "Pod",
            "Pod.v1",
            "Pod.v1.",
            "Pod.v1./",
            "Pod/web",
            "Pod.v1/web",
            ".v1./web",
            "s3.bucket.eu/key",
        ] {
            assert_eq!(Regarding::from_object_ref(text), None, "{text}");
        }
    }
}
