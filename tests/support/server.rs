//! One test, two servers: what the contract suite asks of either.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use k8s_openapi::api::core::v1::{Event, Namespace, ObjectReference, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, ListParams, ObjectMeta, PostParams, WatchParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions::is_crd_established};
use kube::{Api, Client};
use serde_json::json;

use super::apiserver::{ApiServer, Rule};
use super::envtest::EnvTest;

/// How long a test waits for something that will not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Either server.
#[derive(Debug)]
pub enum Server {
    InProcess(ApiServer),
    /// The one that all tests of the binary share: each works in a namespace of its own.
    Real(&'static EnvTest),
}

impl Server {
    pub fn in_process() -> Server {
        Server::InProcess(ApiServer::start())
    }

    /// Nothing, told once in a line, where there is none.
    pub fn real() -> Option<Server> {
        EnvTest::shared().map(Server::Real)
    }

    /// Every server that can be asked here.
    pub fn all() -> Vec<Server> {
        let mut all = vec![Server::in_process()];
        all.extend(Server::real());
        all
    }

    /// For messages.
    pub fn name(&self) -> &'static str {
        match self {
            Server::InProcess(_) => "the in-process server",
            Server::Real(_) => "the real server",
        }
    }

    /// May do everything.
    pub fn config(&self) -> kube::Config {
        match self {
            Server::InProcess(server) => server.config(),
            Server::Real(server) => server.config(),
        }
    }

    /// Carries this bearer token, known to the server or not.
    pub fn config_with(&self, token: &str) -> kube::Config {
        match self {
            Server::InProcess(server) => server.config_with(token),
            Server::Real(server) => server.config_with(token),
        }
    }

    /// The anonymous user.
    pub fn config_without_token(&self) -> kube::Config {
        match self {
            Server::InProcess(server) => server.config_without_token(),
            Server::Real(server) => server.config_without_token(),
        }
    }

    /// May do everything. Lives on the caller's runtime.
    pub fn client(&self) -> Client {
        match self {
            Server::InProcess(server) => server.client(),
            Server::Real(server) => server.client(),
        }
    }

    /// A namespace that nobody else uses.
    pub async fn fresh_namespace(&self) -> String {
        let name = fresh("test");
        self.add_namespace(&name).await;
        name
    }

    pub async fn add_namespace(&self, name: &str) {
        let namespace = Namespace { metadata: named(name), ..Namespace::default() };
        let api: Api<Namespace> = Api::all(self.client());
        told(api.create(&PostParams::default(), &namespace).await);
    }

    /// From now on nothing can be created in it. No controller runs, so that it stays like this on either server.
    pub async fn terminate_namespace(&self, name: &str) {
        let api: Api<Namespace> = Api::all(self.client());
        told(api.delete(name, &Default::default()).await);
    }

    /// The Events of a namespace, as core/v1 shows them, by name.
    pub async fn events(&self, namespace: &str) -> Vec<Event> {
        let api: Api<Event> = Api::namespaced(self.client(), namespace);
        told(api.list(&ListParams::default()).await).items
    }

    /// Waits until the Events of a namespace are so, and answers them. Asked anew at every change, without sleeping.
    ///
    /// After a minute it panics, and tells what is there.
    pub async fn until(&self, namespace: &str, so: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        let api: Api<Event> = Api::namespaced(self.client(), namespace);
        let mut last = Vec::new();
        let waiting = async {
            loop {
                let list = told(api.list(&ListParams::default()).await);
                last = list.items;
                if so(&last) {
                    return;
                }
                let version = list.metadata.resource_version.unwrap_or_default();
                let mut changes = told(api.watch(&WatchParams::default(), &version).await).boxed();
                // Whatever comes, an end of the watch included, is a reason to look again.
                let _ = changes.next().await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, waiting).await.is_ok();
        let lines: Vec<String> = last.iter().map(line).collect();
        assert!(in_time, "waited in vain on {}; it holds:\n{}", self.name(), lines.join("\n"));
        last
    }

    /// A ConfigMap, and the reference to it.
    pub async fn config_map(&self, namespace: &str, name: &str) -> ObjectReference {
        self.object("", "v1", "ConfigMap", Some(namespace), name).await
    }

    /// A Node: it has no namespace.
    pub async fn node(&self, name: &str) -> ObjectReference {
        self.object("", "v1", "Node", None, name).await
    }

    /// A `Foo` of `example.com/v1`, whose definition is made when it is not there.
    pub async fn custom_resource(&self, namespace: &str, name: &str) -> ObjectReference {
        self.define("example.com", "v1", "Foo", "foos", true).await;
        self.object("example.com", "v1", "Foo", Some(namespace), name).await
    }

    /// Makes a kind of custom resource known to the server.
    pub async fn define(&self, group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) {
        let server = match self {
            Server::InProcess(server) => return server.add_kind(group, version, kind, plural, namespaced),
            Server::Real(server) => server,
        };
        let name = format!("{plural}.{group}");
        let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
        let definition: CustomResourceDefinition = read(json!({
            "metadata": { "name": name },
            "spec": {
                "group": group,
                "names": { "kind": kind, "plural": plural, "singular": kind.to_lowercase() },
                "scope": if namespaced { "Namespaced" } else { "Cluster" },
                "versions": [{ "name": version, "served": true, "storage": true, "schema": schema }],
            },
        }));
        let api: Api<CustomResourceDefinition> = Api::all(server.client());
        match api.create(&PostParams::default(), &definition).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            other => drop(told(other)),
        }
        if let Err(error) = await_condition(api, &name, is_crd_established()).await {
            panic!("{name} is not established: {error}");
        }
    }

    /// An object of any kind that the server knows, and the reference to it, with its uid.
    pub async fn object(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> ObjectReference {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(self.client(), namespace, &resource),
            None => Api::all_with(self.client(), &resource),
        };
        let object = DynamicObject::new(name, &resource);
        let made = loop {
            match api.create(&PostParams::default(), &object).await {
                // A definition is established a moment before its objects are served.
                Err(kube::Error::Api(status)) if status.code == 404 && status.message.contains("could not find") => {}
                other => break told(other),
            }
        };
        ObjectReference {
            api_version: Some(resource.api_version),
            kind: Some(resource.kind),
            namespace: namespace.map(str::to_owned),
            name: Some(name.to_owned()),
            uid: made.metadata.uid,
            ..ObjectReference::default()
        }
    }

    /// A user who may do just this, and whose rights are in force; answers its configuration.
    pub async fn grant(&self, rules: &[Rule]) -> kube::Config {
        self.grant_as(&fresh("user"), rules).await
    }

    /// The same, by this name: `system:serviceaccount:default:NAME` to the server.
    pub async fn grant_as(&self, name: &str, rules: &[Rule]) -> kube::Config {
        let server = match self {
            Server::InProcess(server) => return server.grant(name, rules.iter().cloned()),
            Server::Real(server) => server,
        };
        let client = server.client();
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
        let account = ServiceAccount { metadata: named(name), ..ServiceAccount::default() };
        told(accounts.create(&PostParams::default(), &account).await);
        let request = TokenRequest { spec: Some(TokenRequestSpec::default()), ..TokenRequest::default() };
        let answered = told(accounts.create_token_request(name, &PostParams::default(), &request).await);
        let config = server.config_with(&answered.status.and_then(|it| it.token).unwrap_or_default());
        for (at, rule) in rules.iter().enumerate() {
            bind(&client, name, &format!("{name}-{at}"), rule).await;
        }
        // The server learns of a new rule from a watch of its own.
        let own: Api<SelfSubjectAccessReview> = Api::all(told(Client::try_from(config.clone())));
        for (rule, verb) in rules.iter().flat_map(|rule| rule.verbs.iter().map(move |verb| (rule, verb))) {
            let asked = ResourceAttributes {
                group: Some(rule.group.clone()),
                resource: Some(rule.resource.clone()),
                namespace: rule.namespace.clone(),
                verb: Some(verb.clone()),
                ..ResourceAttributes::default()
            };
            let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(asked), ..Default::default() };
            let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
            while !told(own.create(&PostParams::default(), &review).await).status.is_some_and(|it| it.allowed) {}
        }
        config
    }
}

/// One rule as a Role or a ClusterRole, bound to one account.
async fn bind(client: &Client, account: &str, name: &str, rule: &Rule) {
    let rules = Some(vec![PolicyRule {
        api_groups: Some(vec![rule.group.clone()]),
        resources: Some(vec![rule.resource.clone()]),
        verbs: rule.verbs.clone(),
        ..PolicyRule::default()
    }]);
    let subjects = Some(vec![Subject {
        kind: "ServiceAccount".to_owned(),
        name: account.to_owned(),
        namespace: Some("default".to_owned()),
        ..Subject::default()
    }]);
    let to = |kind: &str| RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    let (metadata, post) = (named(name), PostParams::default());
    match &rule.namespace {
        Some(namespace) => {
            let role = Role { metadata: metadata.clone(), rules };
            told(Api::namespaced(client.clone(), namespace).create(&post, &role).await);
            let binding = RoleBinding { metadata, role_ref: to("Role"), subjects };
            told(Api::namespaced(client.clone(), namespace).create(&post, &binding).await);
        }
        None => {
            let role = ClusterRole { metadata: metadata.clone(), rules, ..ClusterRole::default() };
            told(Api::all(client.clone()).create(&post, &role).await);
            let binding = ClusterRoleBinding { metadata, role_ref: to("ClusterRole"), subjects };
            told(Api::all(client.clone()).create(&post, &binding).await);
        }
    }
}

/// A name that no other test of this process has.
pub fn fresh(base: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("{base}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An Event in one line, for messages.
pub fn line(event: &Event) -> String {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let count = event.series.as_ref().and_then(|it| it.count).or(event.count).unwrap_or(1);
    let [name, sort, reason, message] = [&event.metadata.name, &event.type_, &event.reason, &event.message].map(text);
    format!("{name}: {sort} {reason} x{count} {message}")
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), labels: Some(BTreeMap::new()), ..ObjectMeta::default() }
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap_or_else(|error| panic!("not what it should be: {error}"))
}

#[track_caller]
fn told<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("the server refused what a test needs: {error}"))
}
