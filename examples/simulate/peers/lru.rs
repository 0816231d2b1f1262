//! What was used last is kept, up to a size: groupcache's `lru`, as client-go's correlator uses it.

use std::collections::VecDeque;
use std::hash::Hash;

use hashbrown::HashMap;

#[derive(Debug)]
pub(super) struct Lru<K, V> {
    most: usize,
    entries: HashMap<K, (V, u64)>,
    /// Every use, the oldest first. One that is not its entry's latest is stale.
    uses: VecDeque<(u64, K)>,
    clock: u64,
}

impl<K: Copy + Eq + Hash, V: Default> Lru<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, entries: HashMap::new(), uses: VecDeque::new(), clock: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Uses an entry, which is made when it is new; then the one unused for longest may fall out.
    pub(super) fn entry(&mut self, key: K) -> &mut V {
        self.clock += 1;
        self.uses.push_back((self.clock, key));
        self.entries.entry(key).or_default().1 = self.clock;
        while self.entries.len() > self.most {
            self.drop_oldest();
        }
        if self.uses.len() > 4 * self.most {
            let latest = |(at, key): &(u64, K)| self.entries.get(key).is_some_and(|it| it.1 == *at);
            self.uses.retain(latest);
        }
        &mut self.entries.get_mut(&key).expect("it was used last, so it is still there").0
    }

    fn drop_oldest(&mut self) {
        while let Some((at, key)) = self.uses.pop_front() {
            if self.entries.get(&key).is_some_and(|it| it.1 == at) {
                self.entries.remove(&key);
                return;
            }
        }
    }
}
