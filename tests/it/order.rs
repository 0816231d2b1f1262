//! Events of one object appear in the order of the log calls, whatever fails meanwhile.

use std::collections::BTreeMap;
use std::time::Duration;

use tracing::info;

use crate::kit::{Program, object};
use crate::support::apiserver::{ApiServer, Fault, When};

const RECORDS: usize = 10_000;
const OBJECTS: usize = 50;

#[test]
fn events_of_one_object_appear_in_the_order_of_the_log_calls() {
    let server = ApiServer::start();
    let faults = [
        Fault::reset(),
        Fault::cut(),
        Fault::internal_error(),
        Fault::timeout_after_write(),
        Fault::too_many_requests(None),
        Fault::garbage(),
    ];
    for (seed, fault) in (1..).zip(faults) {
        server.fail(When::write().chance(0.002, seed), fault);
    }
    let program = Program::on_a_thread(server.config(), |it| {
        it.object_budget(1_000, Duration::from_secs(1)).total_budget(100_000, Duration::from_millis(1))
    });
    let objects: Vec<_> = (0..OBJECTS).map(|it| object("Foo", &format!("a-{it}"))).collect();
    for it in 0..RECORDS {
        program.log_about(&objects[it % OBJECTS], || info!(k8s.reason = it, "done"));
    }
    assert!(program.handle().flush(Duration::from_secs(120)).wait().is_complete());

    let mut steps: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for write in server.requests().iter().filter(|it| it.is_create() && it.done) {
        let body = write.json();
        let name = body["involvedObject"]["name"].as_str().unwrap().to_owned();
        let step = body["reason"].as_str().unwrap().parse().unwrap();
        let steps = steps.entry(name).or_default();
        // A create whose answer was lost is sent again, and finds itself.
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    assert_eq!(steps.len(), OBJECTS);
    for (name, steps) in &steps {
        assert!(steps.is_sorted(), "{name}: {steps:?}");
        assert_eq!(steps.len(), RECORDS / OBJECTS);
    }
    assert_eq!(server.occurrences(), RECORDS as i64);
    program.assert_account_closes();
}
