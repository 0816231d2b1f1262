//! A reference in one piece of memory: what is kept of an object while nothing is to be told of it.

use crate::regarding::Regarding;

/// The parts of a reference but the field path, end to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    text: Box<str>,
    ends: [u32; 4],
}

impl Known {
    pub(super) fn api_version(&self) -> &str {
        self.part(0)
    }

    pub(super) fn kind(&self) -> &str {
        self.part(1)
    }

    pub(super) fn namespace(&self) -> &str {
        self.part(2)
    }

    pub(super) fn uid(&self) -> &str {
        self.part(4)
    }

    /// The reference, to this part of the object.
    pub(super) fn with(&self, field_path: &str) -> Regarding {
        let mut it = Regarding { field_path: field_path.into(), ..Regarding::default() };
        it.api_version = self.api_version().into();
        it.kind = self.kind().into();
        it.namespace = self.namespace().into();
        it.name = self.part(3).into();
        it.uid = self.uid().into();
        it
    }

    fn part(&self, which: usize) -> &str {
        let begin = which.checked_sub(1).map_or(0, |it| self.ends[it] as usize);
        let end = self.ends.get(which).map_or(self.text.len(), |it| *it as usize);
        &self.text[begin..end]
    }
}

impl From<&Regarding> for Known {
    fn from(it: &Regarding) -> Self {
        let parts: [&str; 5] = [&it.api_version, &it.kind, &it.namespace, &it.name, &it.uid];
        let mut ends = [0; 4];
        let mut end = 0;
        for (mark, part) in ends.iter_mut().zip(parts) {
            end += part.len() as u32;
            *mark = end;
        }
        Self { text: parts.concat().into(), ends }
    }
}
