//! References that records spell out in fields of their own: one that comes again is not pieced together again.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::cache::{Fingerprint, Printer};
use crate::message::Occurrence;
use crate::regarding::Regarding;

/// A reference, and the fingerprint of the words that it was pieced together from.
type Place = Option<(Fingerprint, Arc<Regarding>)>;

/// The last references, each in the place that its words' fingerprint points to; the next there takes its place.
#[derive(Debug)]
pub(super) struct Memo {
    places: Box<[Place]>,
}

/// The words of which a reference is pieced together: the record's own, and its scope's.
struct Words<'a>(&'a Occurrence);

/// More than the objects that a busy controller works on at once.
const PLACES: usize = 256;

/// Longer ones are not kept, so that all of them together are half a megabyte at most.
const LONGEST: usize = 2_048;

impl Memo {
    pub(super) fn new() -> Self {
        Self { places: vec![None; PLACES].into() }
    }

    /// The reference, and the fingerprint of its words; none if the scope says it all.
    pub(super) fn find(
        &self,
        printer: &Printer,
        occurrence: &Occurrence,
    ) -> Option<(Fingerprint, Option<Arc<Regarding>>)> {
        occurrence.own_reference().next()?;
        let print = printer.print(Words(occurrence));
        let place = self.places[print.place(PLACES)].as_ref();
        Some((print, place.filter(|it| it.0 == print).map(|it| it.1.clone())))
    }

    pub(super) fn keep(&mut self, print: Fingerprint, regarding: &Arc<Regarding>) {
        let it = regarding;
        let parts = [&it.api_version, &it.kind, &it.namespace, &it.name, &it.uid, &it.field_path];
        if parts.iter().map(|it| it.len()).sum::<usize>() > LONGEST {
            return;
        }
        self.places[print.place(PLACES)] = Some((print, regarding.clone()));
    }
}

impl Hash for Words<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (part, words) in self.0.own_reference() {
            state.write_u8(part as u8);
            words.hash(state);
        }
        // The mark that nothing of its own follows: parts are numbered below it.
        state.write_u8(u8::MAX);
        self.0.scope.as_ref().map(|it| &it.regarding).hash(state);
    }
}
