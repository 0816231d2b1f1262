//! What nobody wants costs nothing. In a process of its own: callsites are shared by all subscribers of a process, and
//! one of another test that wants everything would have every value made.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::{debug, error};
use tracing_subscriber::prelude::*;

#[test]
fn values_of_unwanted_callsites_are_not_even_made() {
    let (layer, _poster) = tracing_k8s_events::builder("unwanted.example.com").build().unwrap();
    tracing_subscriber::registry().with(layer).init();
    let made = AtomicUsize::new(0);
    debug!(value = made.fetch_add(1, Ordering::SeqCst), "unwanted");
    error!(target: "kube_client", value = made.fetch_add(1, Ordering::SeqCst), "unwanted");
    assert_eq!(made.into_inner(), 0);
}
