//! What is remembered: entries found by fingerprint, in slots that stay where they are, strung up in lists by age.
//!
//! A fingerprint stands for the words it was made of, so that a key costs eight bytes however long a note is, and a hit
//! allocates nothing. That a new key has the fingerprint of one of 16,384 others has a chance of 2⁻⁵⁰: a million new keys
//! a second would do it once in 36 years, and then one occurrence be counted into a wrong Event.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

/// Makes fingerprints; those of two printers have nothing to do with one another.
#[derive(Debug, Default)]
pub(super) struct Printer(DefaultHashBuilder);

/// An entry's place. It goes stale when the entry is removed, and finds nothing from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    index: u32,
    generation: u32,
}

/// Entries of one sort, in `LISTS` lists; each is in one of them or in none.
#[derive(Debug)]
pub(super) struct Cache<T, const LISTS: usize> {
    table: HashTable<u32>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    lists: [Ends; LISTS],
}

#[derive(Debug)]
struct Slot<T> {
    fingerprint: Fingerprint,
    generation: u32,
    list: Option<u8>,
    before: u32,
    after: u32,
    entry: Option<T>,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    front: u32,
    back: u32,
    len: usize,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl Printer {
    pub(super) fn print(&self, key: impl Hash) -> Fingerprint {
        Fingerprint(self.0.hash_one(key))
    }
}

impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

impl<T, const LISTS: usize> Cache<T, LISTS> {
    pub(super) fn new() -> Self {
        let lists = [Ends { front: NONE, back: NONE, len: 0 }; LISTS];
        Self { table: HashTable::new(), slots: Vec::new(), free: Vec::new(), lists }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn find(&self, fingerprint: Fingerprint) -> Option<Id> {
        let same = |index: &u32| self.slots[*index as usize].fingerprint == fingerprint;
        let index = *self.table.find(fingerprint.0, same)?;
        Some(Id { index, generation: self.slots[index as usize].generation })
    }

    pub(super) fn get(&self, id: Id) -> Option<&T> {
        let slot = self.slots.get(id.index as usize)?;
        if slot.generation == id.generation { slot.entry.as_ref() } else { None }
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.index as usize)?;
        if slot.generation == id.generation { slot.entry.as_mut() } else { None }
    }

    /// Adds an entry, in no list. The fingerprint must be new: ask [`Cache::find`] first.
    pub(super) fn insert(&mut self, fingerprint: Fingerprint, entry: T) -> Id {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let slot = Slot { fingerprint, generation: 0, list: None, before: NONE, after: NONE, entry: None };
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        let slot = &mut self.slots[index as usize];
        slot.fingerprint = fingerprint;
        slot.entry = Some(entry);
        let generation = slot.generation;
        let slots = &self.slots;
        self.table.insert_unique(fingerprint.0, index, |it| slots[*it as usize].fingerprint.0);
        Id { index, generation }
    }

    pub(super) fn remove(&mut self, id: Id) -> Option<T> {
        self.get(id)?;
        self.cut_out(id.index);
        let slot = &mut self.slots[id.index as usize];
        let (entry, hash) = (slot.entry.take(), slot.fingerprint.0);
        slot.generation = slot.generation.wrapping_add(1);
        if let Ok(found) = self.table.find_entry(hash, |it| *it == id.index) {
            found.remove();
        }
        self.free.push(id.index);
        entry
    }

    /// Puts it at the back of a list, wherever it was before.
    pub(super) fn enlist(&mut self, id: Id, list: usize) {
        if self.get(id).is_none() {
            return;
        }
        self.cut_out(id.index);
        let back = std::mem::replace(&mut self.lists[list].back, id.index);
        match back {
            NONE => self.lists[list].front = id.index,
            back => self.slots[back as usize].after = id.index,
        }
        let slot = &mut self.slots[id.index as usize];
        (slot.list, slot.before) = (Some(list as u8), back);
        self.lists[list].len += 1;
    }

    /// Takes it out of its list.
    pub(super) fn unlist(&mut self, id: Id) {
        if self.get(id).is_some() {
            self.cut_out(id.index);
        }
    }

    /// The one that has been in a list the longest.
    pub(super) fn front(&self, list: usize) -> Option<Id> {
        self.id_at(self.lists[list].front)
    }

    /// Those of a list, the youngest first.
    pub(super) fn from_the_back(&self, list: usize) -> impl Iterator<Item = Id> + '_ {
        let first = self.id_at(self.lists[list].back);
        std::iter::successors(first, |it| self.id_at(self.slots[it.index as usize].before))
    }

    /// Those of a list, the oldest first.
    pub(super) fn from_the_front(&self, list: usize) -> impl Iterator<Item = Id> + '_ {
        let first = self.id_at(self.lists[list].front);
        std::iter::successors(first, |it| self.id_at(self.slots[it.index as usize].after))
    }

    fn id_at(&self, index: u32) -> Option<Id> {
        let slot = self.slots.get(index as usize)?;
        Some(Id { index, generation: slot.generation })
    }

    fn cut_out(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let Some(list) = slot.list.take() else { return };
        let before = std::mem::replace(&mut slot.before, NONE);
        let after = std::mem::replace(&mut slot.after, NONE);
        let ends = &mut self.lists[usize::from(list)];
        ends.len -= 1;
        match before {
            NONE => ends.front = after,
            before => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.lists[usize::from(list)].back = before,
            after => self.slots[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_is_not_found_and_its_place_serves_again() {
        let (printer, mut cache) = (Printer::default(), Cache::<&str, 1>::new());
        let old = cache.insert(printer.print("a"), "first");
        assert_eq!(cache.remove(old), Some("first"));
        let new = cache.insert(printer.print("b"), "second");
        assert_eq!((cache.get(old), cache.get(new)), (None, Some(&"second")));
        assert_eq!((cache.find(printer.print("a")), cache.find(printer.print("b"))), (None, Some(new)));
        assert_eq!((cache.remove(old), cache.len()), (None, 1));
    }

    #[test]
    fn lists_keep_the_order_in_which_entries_came_to_them() {
        let (printer, mut cache) = (Printer::default(), Cache::<u8, 2>::new());
        let [a, b, c] = [1, 2, 3].map(|it| cache.insert(printer.print(it), it));
        for it in [a, b, c] {
            cache.enlist(it, 0);
        }
        cache.enlist(a, 0);
        assert_eq!(cache.from_the_front(0).collect::<Vec<_>>(), [b, c, a]);
        cache.enlist(c, 1);
        assert_eq!(cache.from_the_back(0).collect::<Vec<_>>(), [a, b]);
        assert_eq!((cache.front(0), cache.front(1)), (Some(b), Some(c)));
        cache.remove(b);
        assert_eq!(cache.from_the_front(0).collect::<Vec<_>>(), [a]);
    }
}
