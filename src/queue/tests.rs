//! The queue's promises to either end.

use std::sync::Arc;

use futures_util::FutureExt;

use super::*;
use crate::message::{Tag, Wall};
use crate::regarding::Regarding;

fn occurrence(kind: EventType) -> Occurrence {
    Occurrence::about(Wall(0), kind, Arc::new(Regarding::default()))
}

fn fill(sender: &Sender, kind: EventType, records: usize) {
    (0..records).for_each(|_| sender.send(occurrence(kind)));
}

fn was_woken(receiver: &Receiver) -> bool {
    receiver.woken().now_or_never().is_some()
}

#[test]
fn nobody_is_woken_until_the_queue_is_half_full_and_then_once() {
    let (sender, receiver) = queue(16, false);
    fill(&sender, EventType::Normal, 7);
    assert!(!was_woken(&receiver));
    fill(&sender, EventType::Normal, 1);
    assert!(was_woken(&receiver));
    fill(&sender, EventType::Normal, 4);
    assert!(!was_woken(&receiver));
    while receiver.try_recv().is_some() {}
    fill(&sender, EventType::Normal, 8);
    assert!(was_woken(&receiver));
}

#[test]
fn every_record_wakes_where_that_was_chosen() {
    let (sender, receiver) = queue(16, true);
    for _ in 0..3 {
        fill(&sender, EventType::Normal, 1);
        assert!(was_woken(&receiver));
    }
}

#[test]
fn the_last_eighth_is_kept_for_warnings() {
    let (sender, _receiver) = queue(16, false);
    fill(&sender, EventType::Normal, 20);
    assert_eq!(sender.len(), 14);
    assert!(sender.is_full_for(EventType::Normal) && !sender.is_full_for(EventType::Warning));
    fill(&sender, EventType::Warning, 20);
    assert_eq!(sender.len(), 16);
    assert_eq!(sender.dropped()[Loss::QueueFull as usize], 6 + 18);
}

#[test]
fn a_queue_of_one_place_takes_one() {
    let (sender, receiver) = queue(1, false);
    fill(&sender, EventType::Normal, 2);
    assert_eq!(sender.len(), 1);
    assert!(receiver.try_recv().is_some() && receiver.try_recv().is_none());
}

#[test]
fn a_box_that_was_read_comes_back_blank() {
    let (sender, receiver) = queue(1, false);
    let mut full = sender.blank();
    full.scope = occurrence(EventType::Normal).scope;
    full.text.push(Tag::Note, &"long".repeat(200));
    let place = sender.place_for(EventType::Normal).expect("it is empty");
    sender.send_to(place, full);
    drop(receiver.try_recv());
    let blank = sender.blank();
    assert!(blank.scope.is_none() && blank.text.parts().next().is_none());
}

#[test]
fn what_is_sent_after_the_end_or_waits_at_the_end_is_counted_once() {
    let (sender, receiver) = queue(16, false);
    fill(&sender, EventType::Normal, 3);
    receiver.end();
    fill(&sender, EventType::Normal, 2);
    drop(receiver);
    fill(&sender, EventType::Normal, 1);
    let dropped = sender.dropped();
    assert_eq!((dropped[Loss::Shutdown as usize], dropped[Loss::Ended as usize]), (3, 3));
}

#[test]
fn nothing_is_lost_uncounted_while_threads_send_and_the_end_comes() {
    for _ in 0..50 {
        let (sender, receiver) = queue(64, false);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| fill(&sender, EventType::Warning, 40));
            }
            threads.spawn(move || {
                let heard = std::iter::from_fn(|| receiver.try_recv()).count();
                receiver.shared.dropped[Loss::Invalid as usize].fetch_add(heard as u64, Ordering::Relaxed);
            });
        });
        // What was heard was counted as `Invalid` above, for want of a counter of its own.
        assert_eq!(sender.dropped().iter().sum::<u64>(), 120);
    }
}
