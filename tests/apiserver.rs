//! x
mod support;
use support::server::Server;
#[tokio::test]
async fn smoke() {
    for server in Server::all() {
        let ns = server.fresh_namespace().await;
        let a = server.config_map(&ns, "cm").await;
        let b = server.node("n1").await;
        let c = server.custom_resource(&ns, "foo").await;
        println!("{a:?} {b:?} {c:?}");
        let user = server.grant(&[support::apiserver::Rule::new("", "events", &["create"]).in_namespace(&ns)]).await;
        println!("{:?} {:?}", user.cluster_url, server.events(&ns).await);
        server.terminate_namespace(&ns).await;
        if let Server::Real(it) = &server {
            println!("{}", it.kubectl(&["get", "events", "-A"]));
            println!("{}", it.audit().len())
        }
    }
}
