//! Who speaks next, and what is under way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

use super::cache::Id;
use super::look_up::Asked;
use crate::message::EventType;

/// Names a request from when it is handed out until its reply is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The lines of objects that could speak now, and the requests without a reply.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// First Events of objects before the rest, in each warnings and normals apart.
    lines: [BinaryHeap<Reverse<(u64, Id)>>; 4],
    flights: Vec<Flight>,
    tickets: u64,
    /// Answers since the last failure.
    answered: usize,
}

/// So many requests are under way at once at first, and after each failure; with every answer it may be one more. A
/// server that is well gets a burst of 2,000 in a few round trips, and one that is not is not pressed.
const AT_FIRST: usize = 16;

/// Where an object stands: the line, and its turn in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    turn: u64,
}

/// A request that has no reply yet.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) ticket: Ticket,
    pub(super) issued: Duration,
    pub(super) cargo: Cargo,
}

#[derive(Clone, Debug)]
pub(super) enum Cargo {
    Event {
        object: Id,
        series: Id,
        create: bool,
        /// What the series was when it went, for the case that it comes back.
        turn: u64,
        held_since: Duration,
    },
    LookUp {
        object: Id,
        asked: Asked,
    },
    Discover {
        api_version: Arc<str>,
        /// Whose Event it is for, and maybe others'.
        object: Id,
    },
}

impl Place {
    pub(super) fn new(was_told: bool, kind: EventType, turn: u64) -> Self {
        let line = 2 * usize::from(was_told) + usize::from(kind == EventType::Normal);
        Self { line, turn }
    }
}

impl Cargo {
    pub(super) fn object(&self) -> Id {
        match self {
            Cargo::Event { object, .. } | Cargo::LookUp { object, .. } | Cargo::Discover { object, .. } => *object,
        }
    }
}

impl Outbox {
    pub(super) fn line_up(&mut self, object: Id, place: Place) {
        self.lines[place.line].push(Reverse((place.turn, object)));
    }

    /// Takes out the object whose turn it is.
    ///
    /// First Events go first, and the oldest of a sort before the younger. While the budget is scarce somebody else
    /// pays for each that speaks, so warnings go before normals.
    pub(super) fn next(&mut self, scarce: bool) -> Option<(Id, Place)> {
        let turn = |line: usize| Some((self.lines[line].peek()?.0.0, line));
        let pick = |pair: [usize; 2]| match scarce {
            true => pair.into_iter().find_map(turn),
            false => pair.into_iter().filter_map(turn).min(),
        };
        let (_, line) = pick([0, 1]).or_else(|| pick([2, 3]))?;
        let Reverse((turn, object)) = self.lines[line].pop()?;
        Some((object, Place { line, turn }))
    }

    /// Whether one more request may be under way, where so many may be at most.
    pub(super) fn has_room(&self, most: usize) -> bool {
        self.flights.len() < (AT_FIRST + self.answered).min(most)
    }

    pub(super) fn answered(&mut self) {
        self.answered = self.answered.saturating_add(1);
    }

    pub(super) fn failed(&mut self) {
        self.answered = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.iter().all(BinaryHeap::is_empty)
    }

    pub(super) fn send(&mut self, now: Duration, cargo: Cargo) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.flights.push(Flight { ticket, issued: now, cargo });
        ticket
    }

    /// The flight of a ticket; none if it has landed before.
    pub(super) fn land(&mut self, ticket: Ticket) -> Option<Flight> {
        let at = self.flights.iter().position(|it| it.ticket == ticket)?;
        Some(self.flights.swap_remove(at))
    }

    pub(super) fn flights(&self) -> &[Flight] {
        &self.flights
    }

    pub(super) fn abandon_flights(&mut self) -> Vec<Flight> {
        std::mem::take(&mut self.flights)
    }
}
