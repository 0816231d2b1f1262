//! The words of one occurrence: tagged pieces in one buffer that lies in the occurrence itself and spills to the heap.

use std::fmt;

use crate::regarding::Part;

/// How much fits without touching the heap: five fields of a reference, a reason, and a message of a line.
///
/// A uid has 36 bytes; a name, a namespace, a kind and a reason seldom more than 60 together; a note up to 100 bytes
/// must cost no allocation; a piece has a head of 5 bytes.
const INLINE: usize = 216;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A piece of the note; the pieces follow one another.
    Note,
    Reason,
    Action,
    Regarding(Part),
    Related(Part),
    /// Followed by its value.
    AnnotationKey,
    AnnotationValue,
}

/// Tagged pieces of text, in the order they were written.
#[derive(Clone)]
pub(crate) struct Text {
    len: usize,
    inline: [u8; INLINE],
    /// Holds everything once `inline` was too small.
    spill: Vec<u8>,
}

/// A piece that is being written. It ends when it is dropped.
pub(crate) struct Piece<'a> {
    text: &'a mut Text,
    /// Where its bytes begin; its length stands in the four bytes before.
    start: usize,
}

/// One byte of tag and four of length.
const HEAD: usize = 5;

impl Text {
    /// Begins a piece; whatever is written into it belongs to the tag.
    pub(crate) fn piece(&mut self, tag: Tag) -> Piece<'_> {
        self.write(&[tag.byte(), 0, 0, 0, 0]);
        let start = self.len();
        Piece { text: self, start }
    }

    pub(crate) fn push(&mut self, tag: Tag, words: &str) {
        self.piece(tag).push_str(words);
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = (Tag, &str)> {
        let mut rest = self.bytes();
        std::iter::from_fn(move || {
            let (head, after) = rest.split_at_checked(HEAD)?;
            let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let (words, after) = after.split_at(len);
            rest = after;
            let words = std::str::from_utf8(words).expect("a piece is written by whole strs only");
            Some((Tag::of(head[0]), words))
        })
    }

    fn len(&self) -> usize {
        if self.spill.is_empty() { self.len } else { self.spill.len() }
    }

    fn bytes(&self) -> &[u8] {
        if self.spill.is_empty() { &self.inline[..self.len] } else { &self.spill }
    }

    fn write(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.inline.get_mut(self.len..end) {
            Some(room) if self.spill.is_empty() => {
                room.copy_from_slice(bytes);
                self.len = end;
            }
            _ => self.write_to_the_heap(bytes),
        }
    }

    #[cold]
    fn write_to_the_heap(&mut self, bytes: &[u8]) {
        if self.spill.is_empty() {
            self.spill.reserve(2 * INLINE + bytes.len());
            self.spill.extend_from_slice(&self.inline[..self.len]);
        }
        self.spill.extend_from_slice(bytes);
    }
}

impl Default for Text {
    fn default() -> Self {
        Self { len: 0, inline: [0; INLINE], spill: Vec::new() }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts()).finish()
    }
}

impl Piece<'_> {
    pub(crate) fn push_str(&mut self, words: &str) {
        self.text.write(words.as_bytes());
    }
}

impl fmt::Write for Piece<'_> {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        self.push_str(words);
        Ok(())
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let end = self.text.len();
        let len = (end - self.start) as u32;
        let bytes = if self.text.spill.is_empty() { &mut self.text.inline[..] } else { &mut self.text.spill[..] };
        bytes[self.start - 4..self.start].copy_from_slice(&len.to_le_bytes());
    }
}

const PARTS: [Part; 6] = [Part::ApiVersion, Part::Kind, Part::Namespace, Part::Name, Part::Uid, Part::FieldPath];

impl Tag {
    fn byte(self) -> u8 {
        match self {
            Tag::Note => 0,
            Tag::Reason => 1,
            Tag::Action => 2,
            Tag::AnnotationKey => 3,
            Tag::AnnotationValue => 4,
            Tag::Regarding(part) => 8 + part as u8,
            Tag::Related(part) => 16 + part as u8,
        }
    }

    fn of(byte: u8) -> Self {
        match byte {
            0 => Tag::Note,
            1 => Tag::Reason,
            2 => Tag::Action,
            3 => Tag::AnnotationKey,
            4 => Tag::AnnotationValue,
            8..16 => Tag::Regarding(PARTS[usize::from(byte - 8)]),
            _ => Tag::Related(PARTS[usize::from(byte - 16)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_as_they_were_written() {
        let mut text = Text::default();
        text.push(Tag::Reason, "Scaled");
        text.push(Tag::Related(Part::FieldPath), "");
        text.push(Tag::Note, "zu drei Stück");
        let parts: Vec<_> = text.parts().collect();
        assert_eq!(parts, [(Tag::Reason, "Scaled"), (Tag::Related(Part::FieldPath), ""), (Tag::Note, "zu drei Stück")]);
    }

    #[test]
    fn a_piece_that_spills_half_way_stays_whole() {
        let mut text = Text::default();
        text.push(Tag::Regarding(Part::Name), "web");
        let long = "x".repeat(INLINE - 10);
        let mut piece = text.piece(Tag::Note);
        piece.push_str(&long);
        piece.push_str(&long);
        drop(piece);
        text.push(Tag::Action, "Scale");
        let parts: Vec<_> = text.parts().collect();
        assert_eq!(parts, [(Tag::Regarding(Part::Name), "web"), (Tag::Note, &*long.repeat(2)), (Tag::Action, "Scale")]);
    }

    #[test]
    fn every_tag_has_its_own_byte() {
        let single = [Tag::Note, Tag::Reason, Tag::Action, Tag::AnnotationKey, Tag::AnnotationValue];
        let tags = single.into_iter().chain(PARTS.map(Tag::Regarding)).chain(PARTS.map(Tag::Related));
        for tag in tags {
            assert_eq!(Tag::of(tag.byte()), tag);
        }
    }
}
