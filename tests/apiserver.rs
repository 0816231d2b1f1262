//! The in-process API server is held to what a real one answers: one table of requests and answers, asked of both.
//!
//! Every row was first asked of a live server, and its answer written down whole: status, reason, message, warnings.
//! The letters are those of that protocol's sections.

#[path = "apiserver/access.rs"]
mod access;
#[path = "apiserver/case.rs"]
mod case;
#[path = "apiserver/change.rs"]
mod change;
#[path = "apiserver/create.rs"]
mod create;
#[path = "apiserver/decode.rs"]
mod decode;
#[path = "apiserver/failure.rs"]
mod failure;
#[path = "apiserver/legacy.rs"]
mod legacy;
#[path = "apiserver/names.rs"]
mod names;
#[path = "apiserver/objects.rs"]
mod objects;
#[path = "apiserver/read.rs"]
mod read;
#[path = "apiserver/storage.rs"]
mod storage;
mod support;

use case::Case;
use support::server::Server;

/// The table. The order counts: some rows are about what others have made.
fn table() -> Vec<Case> {
    let sections = [
        create::fields(),
        create::references(),
        names::strict_rows(),
        names::legacy_rows(),
        create::series_rows(),
        legacy::old_style(),
        legacy::new_style(),
        change::strict(),
        change::core(),
        storage::apply_and_replace(),
        decode::bodies(),
        access::users(),
        read::lists(),
        read::bodies(),
        objects::rows(),
    ];
    sections.into_iter().flatten().collect()
}

async fn differences(server: &Server) -> Vec<String> {
    let desk = case::Desk::new(server).await;
    let mut said = Vec::new();
    for case in table() {
        said.extend(desk.ask(&case).await.err().map(|why| format!("{}: {why}", case.title)));
    }
    said
}

#[tokio::test]
async fn the_in_process_server_answers_the_table() {
    let said = differences(&Server::in_process()).await;
    assert!(said.is_empty(), "{} rows differ:\n{}", said.len(), said.join("\n"));
}

#[tokio::test]
async fn the_real_server_answers_the_table() {
    let Some(server) = Server::real() else { return };
    let said = differences(&server).await;
    assert!(said.is_empty(), "{} rows differ:\n{}", said.len(), said.join("\n"));
}

#[test]
fn the_table_is_whole() {
    // So that no row is lost by a slip of the pen. Who adds one counts on.
    assert_eq!(table().len(), 394);
}
