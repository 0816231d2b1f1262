//! What the server has: its version, its groups and its resources, for clients that ask before they act.

use serde_json::{Value, json};

use super::message::{Answer, Kind};

/// The kinds that every server here has. Tests add their own.
pub(super) fn built_in() -> Vec<Kind> {
    [
        ("", "v1", "Namespace", "namespaces", "ns", false),
        ("", "v1", "Node", "nodes", "no", false),
        ("", "v1", "PersistentVolume", "persistentvolumes", "pv", false),
        ("", "v1", "ConfigMap", "configmaps", "cm", true),
        ("", "v1", "Event", "events", "ev", true),
        ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", true),
        ("", "v1", "Pod", "pods", "po", true),
        ("", "v1", "Secret", "secrets", "", true),
        ("", "v1", "Service", "services", "svc", true),
        ("", "v1", "ServiceAccount", "serviceaccounts", "sa", true),
        ("apps", "v1", "DaemonSet", "daemonsets", "ds", true),
        ("apps", "v1", "Deployment", "deployments", "deploy", true),
        ("apps", "v1", "ReplicaSet", "replicasets", "rs", true),
        ("apps", "v1", "StatefulSet", "statefulsets", "sts", true),
        ("batch", "v1", "CronJob", "cronjobs", "cj", true),
        ("batch", "v1", "Job", "jobs", "", true),
        ("coordination.k8s.io", "v1", "Lease", "leases", "", true),
        ("events.k8s.io", "v1", "Event", "events", "ev", true),
    ]
    .map(|(group, version, kind, plural, short, namespaced)| Kind::new(group, version, kind, plural, short, namespaced))
    .to_vec()
}

/// Nothing when the path is not one of discovery or health.
pub(super) fn answer(kinds: &[Kind], path: &str) -> Option<Answer> {
    let body = match path.trim_matches('/').split('/').collect::<Vec<_>>().as_slice() {
        ["healthz" | "livez" | "readyz"] => return Some(Answer::text(200, "ok")),
        ["version"] => json!({
            "major": "1", "minor": "36", "gitVersion": "v1.36.3", "gitCommit": "", "gitTreeState": "", "buildDate": "",
            "goVersion": "", "compiler": "", "platform": "linux/amd64",
        }),
        ["api"] => json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }),
        ["apis"] => {
            let mut groups: Vec<&str> = kinds.iter().map(|it| it.group.as_str()).filter(|it| !it.is_empty()).collect();
            groups.sort_unstable();
            groups.dedup();
            let groups: Vec<Value> = groups.iter().map(|it| group(kinds, it)).collect();
            json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
        }
        ["apis", name] if kinds.iter().any(|it| it.group == *name) => {
            let mut group = group(kinds, name);
            group["kind"] = json!("APIGroup");
            group["apiVersion"] = json!("v1");
            group
        }
        ["api", version] => resources(kinds, "", version)?,
        ["apis", group, version] => resources(kinds, group, version)?,
        _ => return None,
    };
    Some(Answer::json(200, &body))
}

fn group(kinds: &[Kind], name: &str) -> Value {
    let mut versions: Vec<&str> = kinds.iter().filter(|it| it.group == name).map(|it| it.version.as_str()).collect();
    versions.dedup();
    let versions: Vec<Value> =
        versions.iter().map(|it| json!({ "groupVersion": format!("{name}/{it}"), "version": it })).collect();
    json!({ "name": name, "versions": versions, "preferredVersion": versions.first() })
}

fn resources(kinds: &[Kind], group: &str, version: &str) -> Option<Value> {
    let own: Vec<&Kind> = kinds.iter().filter(|it| it.group == group && it.version == version).collect();
    let version = own.first()?.api_version();
    let resources: Vec<Value> = own
        .iter()
        .map(|it| {
            let short: Vec<&str> = Some(it.short.as_str()).filter(|it| !it.is_empty()).into_iter().collect();
            json!({
                "name": it.plural, "singularName": it.kind.to_lowercase(), "namespaced": it.namespaced, "kind": it.kind,
                "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
                "shortNames": short,
            })
        })
        .collect();
    Some(json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources }))
}
