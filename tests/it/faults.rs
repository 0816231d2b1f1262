//! The API server fails in every way it can, and in the end everything is told once, by a bounded number of requests.

use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::{info, warn};

use crate::kit::{PATIENCE, Program};
use crate::support::apiserver::{ApiServer, Fault, When};

/// No answer is waited for any longer: the machine may have other work, and a loopback answer takes a millisecond.
const ATTEMPT: Duration = Duration::from_millis(500);

fn program(server: &ApiServer) -> Program {
    Program::on_a_thread(server.config(), |it| it.attempt_timeout(ATTEMPT))
}

fn config_map(server: &ApiServer, name: &str) -> ObjectReference {
    server.add_object("v1", "ConfigMap", Some("default"), name)
}

/// Everything that is known of a program's Events is on the server, and nothing else.
#[track_caller]
fn assert_told(server: &ApiServer, program: &Program, events: usize, occurrences: i64) {
    assert_eq!((server.event_count(), server.occurrences()), (events, occurrences));
    let stats = program.handle().stats();
    assert_eq!((stats.told as i64, stats.dropped()), (occurrences, 0), "{stats:?}");
    program.assert_account_closes();
}

/// The first three writes fail in one way: twenty equal records about one object and one about each of three others are
/// told all the same, by at most three requests more than without the fault.
#[track_caller]
fn assert_overcomes(fault: Fault) {
    let server = ApiServer::start();
    let objects = ["a", "b", "c", "d"].map(|it| config_map(&server, it));
    let injection = server.fail(When::write().first(3), fault);
    let program = program(&server);
    program.log_about(&objects[0], || (0..20).for_each(|_| warn!("not ready")));
    objects[1..].iter().for_each(|it| program.log_about(it, || info!("scaled")));
    assert!(program.flush().is_complete());
    assert_told(&server, &program, 4, 23);
    assert_eq!(injection.hits(), 3);
    assert!(server.writes().len() <= 5 + 3 + 1, "{} writes", server.writes().len());
}

#[test]
fn a_reset_connection_costs_no_event() {
    assert_overcomes(Fault::reset());
}

#[test]
fn a_hung_request_costs_no_event() {
    assert_overcomes(Fault::hang());
}

#[test]
fn half_an_answer_to_what_was_done_is_told_once() {
    assert_overcomes(Fault::cut());
}

#[test]
fn garbage_costs_no_event() {
    assert_overcomes(Fault::garbage());
}

#[test]
fn garbage_in_answer_to_what_was_done_is_told_once() {
    assert_overcomes(Fault::garbage().after_doing());
}

#[test]
fn a_gateways_own_404_costs_no_event() {
    assert_overcomes(Fault::answer(404, "text/html", "<html>no such route</html>"));
}

#[test]
fn a_429_without_retry_after_costs_no_event() {
    assert_overcomes(Fault::too_many_requests(None));
}

#[test]
fn a_500_costs_no_event() {
    assert_overcomes(Fault::internal_error());
}

#[test]
fn a_503_costs_no_event() {
    assert_overcomes(Fault::unavailable());
}

#[test]
fn a_504_costs_no_event() {
    assert_overcomes(Fault::timeout());
}

#[test]
fn a_504_that_had_in_truth_succeeded_is_told_once() {
    assert_overcomes(Fault::timeout_after_write());
}

#[test]
fn a_401_costs_no_event() {
    assert_overcomes(Fault::unauthorized());
}

/// Also when asked to hurry: the server said so.
#[track_caller]
fn assert_waits(fault: Fault, at_least: Duration) {
    let server = ApiServer::start();
    let object = config_map(&server, "a");
    server.fail(When::write().first(1), fault);
    let program = program(&server);
    program.log_about(&object, || warn!("not ready"));
    assert!(program.flush().is_complete());
    let writes = server.writes();
    assert_eq!(writes.len(), 2);
    assert!(writes[1].at - writes[0].at >= at_least);
    assert_told(&server, &program, 1, 1);
}

#[test]
fn a_429_with_retry_after_is_obeyed() {
    assert_waits(Fault::too_many_requests(Some(Duration::from_secs(1))), Duration::from_secs(1));
}

#[test]
fn a_429_in_plain_text_is_obeyed() {
    assert_waits(Fault::overloaded(Duration::from_secs(1)), Duration::from_secs(1));
}

#[test]
fn an_api_server_that_is_away_at_the_start_is_told_everything_when_it_comes() {
    let mut server = ApiServer::start();
    let objects: Vec<ObjectReference> = (0..100).map(|it| config_map(&server, &format!("a-{it}"))).collect();
    server.go_away();
    let program = program(&server);
    program.log_about(&objects[0], || (0..100).for_each(|_| warn!("not ready")));
    objects.iter().for_each(|it| program.log_about(it, || info!("scaled")));
    let outcome = program.handle().flush(Duration::from_millis(200)).wait();
    assert_eq!((outcome.told, outcome.untold, outcome.dropped), (0, 200, 0));
    program.assert_account_closes();
    server.come_back();
    assert!(program.flush().is_complete());
    assert_told(&server, &program, 101, 200);
    assert!(server.writes().len() <= 105, "{} writes", server.writes().len());
}

#[test]
fn an_expired_event_is_made_anew_with_its_whole_count() {
    let server = ApiServer::start();
    let object = config_map(&server, "a");
    let program = program(&server);
    program.log_about(&object, || (0..10).for_each(|_| warn!("not ready")));
    assert!(program.flush().is_complete());
    assert_eq!(server.expire_all(), 1);
    program.log_about(&object, || (0..5).for_each(|_| warn!("not ready")));
    assert!(program.flush().is_complete());
    assert_told(&server, &program, 1, 15);
    assert!(server.writes().len() <= 4, "a create, its series, a patch that finds nothing, a create");
}

#[test]
fn what_the_server_refuses_for_good_is_sent_once_and_counted() {
    for (code, reason) in [(413, "RequestEntityTooLarge"), (422, "Invalid"), (400, "BadRequest")] {
        let server = ApiServer::start();
        let object = config_map(&server, "a");
        let body = serde_json::json!({ "kind": "Status", "status": "Failure", "reason": reason, "code": code });
        server.fail(When::write(), Fault::answer(code, "application/json", &body.to_string()));
        let program = program(&server);
        program.log_about(&object, || (0..20).for_each(|_| warn!("not ready")));
        let _ = program.flush();
        let stats = program.handle().stats();
        assert_eq!((stats.told, stats.held, stats.dropped_invalid), (0, 0, 20));
        assert_eq!(server.writes().len(), 1);
        program.assert_account_closes();
    }
}

#[test]
fn one_slow_object_holds_up_no_other() {
    let server = ApiServer::start();
    let (slow, others) = (config_map(&server, "slow"), ["a", "b", "c"].map(|it| config_map(&server, it)));
    let injection = server.fail(When::write().name("slow"), Fault::hold());
    let program = Program::on_a_thread(server.config(), |it| it);
    program.log_about(&slow, || warn!("not ready"));
    server.wait_until(|_| injection.hits() == 1);
    others.iter().for_each(|it| program.log_about(it, || (0..20).for_each(|_| warn!("not ready"))));
    server.wait_until(|it| it.occurrences() == 60);
    let outcome = program.handle().flush(Duration::from_millis(50)).wait();
    assert_eq!((outcome.untold, outcome.dropped), (1, 0));
    injection.end();
    assert!(program.flush().is_complete());
    assert_told(&server, &program, 4, 61);
}

#[test]
fn a_flush_waits_for_what_was_logged_before_it_and_for_nothing_else() {
    let server = ApiServer::start();
    let object = config_map(&server, "a");
    let program = program(&server);
    std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (program, object) = (&program, &object);
        scope.spawn(move || {
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                program.log_about(object, || warn!("not ready"));
                std::thread::yield_now();
            }
        });
        for _ in 0..10 {
            program.log_about(&config_map(&server, "b"), || info!("scaled"));
            let outcome = program.handle().flush(PATIENCE).wait();
            assert_eq!(outcome.dropped, 0);
        }
        drop(stop);
    });
    assert!(program.flush().is_complete());
    program.assert_account_closes();
}
