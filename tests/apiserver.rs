//! x
mod support;
use k8s_openapi::api::core::v1::ConfigMap;
use support::apiserver::ApiServer;
#[tokio::test]
async fn smoke() {
    let server = ApiServer::start();
    let api: kube::Api<ConfigMap> = kube::Api::default_namespaced(server.client());
    let cm = api
        .create(
            &Default::default(),
            &ConfigMap {
                metadata: kube::api::ObjectMeta { name: Some("x".into()), ..Default::default() },
                ..Default::default()
            },
        )
        .await
        .unwrap();
    assert!(cm.metadata.uid.is_some());
}
