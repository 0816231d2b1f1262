//! What a reference lacks, asked of the server: the uid, and whether its kind lives in namespaces.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;

use super::backoff::{Backoff, Dice};
use super::cache::Id;
use super::known::Known;
use super::object::Identity;
use super::settings::Settings;
use crate::message::Resource;
use crate::regarding::Regarding;

/// Which resources the API versions have, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    known: HashMap<Arc<str>, Kind>,
}

#[derive(Debug)]
enum Kind {
    /// The answer is under way; these objects wait for it.
    Asked { waiting: Vec<Id>, backoff: Backoff },
    /// It failed, and is asked again.
    Failed(Backoff),
    /// Nothing, where no answer came (`is_given_up`) or it was none.
    Known { resources: Vec<Resource>, until: Duration, is_given_up: bool },
}

/// What is to be done before an Event of an object is written.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing: all that can be known is known.
    Ready,
    NotUntil(Duration),
    /// Another object has asked the same.
    Wait,
    Discover(Arc<str>),
    LookUp(Asked),
    /// It cannot be looked up before then, for want of an API that serves the kind.
    Unknown(Duration),
}

/// An object as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) regarding: Arc<Regarding>,
    pub(super) plural: Arc<str>,
}

/// So many API versions are remembered, and so many of one's resources.
const MOST: usize = 256;
const MOST_RESOURCES: usize = 1_024;

/// Kinds of Kubernetes' own whose objects live in no namespace, with the group that has them.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
];

/// The API version of a reference that names none, for the kinds that everybody writes so.
const ASSUMED: &[(&str, &[&str])] = &[
    (
        "v1",
        &[
            "ConfigMap",
            "Endpoints",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    ("apps/v1", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("batch/v1", &["CronJob", "Job"]),
];

impl Kinds {
    /// What an object's Event waits for, if its reference was heard without a uid.
    pub(super) fn step(&self, now: Duration, heard: &Regarding, identity: &Identity, settings: &Settings) -> Step {
        let is_named = !heard.kind.is_empty() && !heard.name.is_empty();
        if !settings.look_ups || !heard.uid.is_empty() || !is_named || now < identity.holds_until {
            return Step::Ready;
        }
        let Some(api_version) = api_version_of(&heard.api_version, &heard.kind) else { return Step::Ready };
        match self.known.get(api_version) {
            None => Step::Discover(api_version.into()),
            Some(Kind::Asked { .. }) => Step::Wait,
            Some(Kind::Failed(backoff)) if now < backoff.not_before => Step::NotUntil(backoff.not_before),
            Some(Kind::Failed(_)) => Step::Discover(api_version.into()),
            Some(Kind::Known { until, .. }) if now >= *until => Step::Discover(api_version.into()),
            Some(Kind::Known { resources, until, .. }) => match resources.iter().find(|it| it.kind == heard.kind) {
                Some(resource) => {
                    let regarding = Arc::new(scoped(heard, api_version, resource.namespaced));
                    Step::LookUp(Asked { regarding, plural: resource.plural.as_ref().into() })
                }
                None => Step::Unknown(*until),
            },
        }
    }

    pub(super) fn ask(&mut self, now: Duration, api_version: &Arc<str>) {
        if self.known.len() >= MOST && !self.known.contains_key(api_version) {
            self.known.retain(|_, it| !matches!(it, Kind::Known { until, .. } if *until <= now));
            let some = self.known.iter().find(|it| !matches!(it.1, Kind::Asked { .. })).map(|it| it.0.clone());
            some.filter(|_| self.known.len() >= MOST).map(|it| self.known.remove(&it));
        }
        let backoff = match self.known.get(api_version) {
            Some(Kind::Failed(backoff)) => *backoff,
            _ => Backoff::default(),
        };
        self.known.insert(api_version.clone(), Kind::Asked { waiting: Vec::new(), backoff });
    }

    pub(super) fn wait(&mut self, heard: &Regarding, object: Id) {
        if let Some(Kind::Asked { waiting, .. }) =
            api_version_of(&heard.api_version, &heard.kind).and_then(|it| self.known.get_mut(it))
        {
            waiting.push(object);
        }
    }

    /// The server said, or will not say, what there is. Returns who waited for that.
    pub(super) fn answered(
        &mut self,
        api_version: &Arc<str>,
        mut resources: Vec<Resource>,
        until: Duration,
    ) -> Vec<Id> {
        resources.truncate(MOST_RESOURCES);
        let known = Kind::Known { resources, until, is_given_up: false };
        self.known.insert(api_version.clone(), known).map_or_else(Vec::new, Kind::into_waiting)
    }

    /// There was no answer, and there will be none before then.
    pub(super) fn give_up(&mut self, api_version: &Arc<str>, until: Duration) {
        self.known.insert(api_version.clone(), Kind::Known { resources: Vec::new(), until, is_given_up: true });
    }

    /// The Events did not go either: there is time for another look. Says whether there was none before.
    pub(super) fn try_again(&mut self, known: &Known) -> bool {
        let Some(api_version) = api_version_of(known.api_version(), known.kind()) else { return false };
        let is_given_up = matches!(self.known.get(api_version), Some(Kind::Known { is_given_up: true, .. }));
        if is_given_up {
            self.known.remove(api_version);
        }
        is_given_up
    }

    /// The question came to nothing. Returns who waited for it, and how often it has failed by now.
    pub(super) fn failed(
        &mut self,
        now: Duration,
        api_version: &Arc<str>,
        retry_after: Option<Duration>,
        dice: &mut Dice,
        settings: &Settings,
    ) -> (Vec<Id>, u32) {
        let mut backoff = match self.known.get(api_version) {
            Some(Kind::Asked { backoff, .. }) => *backoff,
            _ => Backoff::default(),
        };
        backoff.fail(now, retry_after, dice, settings);
        let before = self.known.insert(api_version.clone(), Kind::Failed(backoff));
        (before.map_or_else(Vec::new, Kind::into_waiting), backoff.failures)
    }

    /// Nobody waits for a reply any longer. Returns who did.
    pub(super) fn forget_questions(&mut self) -> Vec<Id> {
        let asked = self.known.extract_if(|_, it| matches!(it, Kind::Asked { .. }));
        asked.flat_map(|it| it.1.into_waiting()).collect()
    }
}

impl Asked {
    pub(super) fn forbidden(&self, words: &str) -> String {
        let group = group_of(&self.regarding.api_version);
        format!(
            "not allowed to look up the uid of {}; its Events go without, and `kubectl describe` does not show them; the \
             missing RBAC rule is {{apiGroups: [\"{group}\"], resources: [\"{}\"], verbs: [\"get\"]}} ({words})",
            self.regarding, self.plural
        )
    }
}

impl Kind {
    fn into_waiting(self) -> Vec<Id> {
        match self {
            Kind::Asked { waiting, .. } => waiting,
            _ => Vec::new(),
        }
    }
}

/// The reference with its API version, and with name and namespace as the scope of its kind has them.
fn scoped(heard: &Regarding, api_version: &str, namespaced: bool) -> Regarding {
    let mut it = Regarding { api_version: api_version.into(), field_path: "".into(), ..heard.clone() };
    if !namespaced {
        rejoin(&mut it);
    }
    it
}

/// Undoes the guess of a text that does not say where the name ends: a cluster-scoped object has no namespace.
fn rejoin(it: &mut Regarding) {
    if it.split_at_a_guess && !it.namespace.is_empty() {
        it.name = [&*it.name, ".", &*it.namespace].concat().into();
        it.namespace = "".into();
    }
    it.split_at_a_guess = false;
}

/// The reference without a guess, where the kind is one of Kubernetes' own and no server need be asked.
pub(super) fn without_a_guess(heard: &Regarding) -> Option<Regarding> {
    let known = heard.split_at_a_guess && CLUSTER_SCOPED.contains(&(group_of(&heard.api_version), &*heard.kind));
    known.then(|| {
        let mut it = heard.clone();
        rejoin(&mut it);
        it
    })
}

fn api_version_of<'a>(named: &'a str, kind: &str) -> Option<&'a str> {
    if !named.is_empty() {
        return Some(named);
    }
    ASSUMED.iter().find(|it| it.1.contains(&kind)).map(|it| it.0)
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |it| it.0)
}
