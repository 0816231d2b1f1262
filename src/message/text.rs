//! The words of one occurrence: tagged pieces in one buffer that lies in the occurrence itself and spills to the heap.

use std::fmt;

use crate::regarding::Part;

/// How much fits without touching the heap: five fields of a reference, a reason, and a message of a line.
///
/// A uid has 36 bytes; a name, a namespace, a kind and a reason seldom more than 60 together; a note up to 100 bytes
/// must cost no allocation; a piece has a head of 2 bytes.
const INLINE: usize = 216;

/// How much of a note's beginning and of its end is kept when it is long, so that a message of a megabyte does not lie
/// in the queue. The server takes 1,024 bytes in all: what is cut out here never shows.
const NOTE_END: usize = 1024;

/// How long a piece that is no note may grow. Names, kinds and uids are far shorter, and annotations may have 256 KiB
/// together: what is longer fits nowhere, and is told by its length.
const WORDS_LIMIT: usize = 1024;
const ANNOTATION_LIMIT: usize = 256 * 1024;

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
///
/// A piece begins with [`begin`](Self::begin), and whatever is written from then on is the piece's.
#[derive(Clone)]
pub(crate) struct Text {
    /// How much of `inline` is taken; [`SPILLED`] when everything is in `spill`.
    len: usize,
    /// Where the newest piece has its head.
    newest: usize,
    inline: [u8; INLINE],
    spill: Vec<u8>,
}

/// So long that nothing more fits: one comparison tells on every write both whether there is room and where.
const SPILLED: usize = usize::MAX / 2;

/// A piece begins with a byte that UTF-8 never has, and its tag: so its length need not be known when it begins.
const MARK: u8 = 0xff;
const HEAD: usize = 2;

impl Text {
    /// Begins a piece.
    #[inline]
    pub(crate) fn begin(&mut self, tag: Tag) {
        let head = [MARK, tag.byte()];
        match self.inline.get_mut(self.len..self.len + HEAD) {
            Some(room) => {
                room.copy_from_slice(&head);
                self.newest = self.len;
                self.len += HEAD;
            }
            None => {
                self.spill(HEAD);
                self.newest = self.spill.len();
                self.spill.extend_from_slice(&head);
            }
        }
    }

    /// Makes it empty, and frees what it spilled.
    pub(crate) fn blank(&mut self) {
        (self.len, self.newest) = (0, 0);
        if self.spill.capacity() > 0 {
            self.spill = Vec::new();
        }
    }

    /// A whole piece.
    #[inline]
    pub(crate) fn push(&mut self, tag: Tag, words: &str) {
        self.begin(tag);
        self.write(words);
    }

    /// Where the newest piece has its head.
    #[inline]
    pub(crate) fn newest(&self) -> usize {
        self.newest
    }

    /// More of the newest piece.
    #[inline]
    pub(crate) fn write(&mut self, words: &str) {
        let end = self.len + words.len();
        match self.inline.get_mut(self.len..end) {
            Some(room) => {
                room.copy_from_slice(words.as_bytes());
                self.len = end;
            }
            None => self.write_to_the_heap(words),
        }
    }

    /// How long it is by now: a place to come back to.
    pub(crate) fn len(&self) -> usize {
        if self.len == SPILLED { self.spill.len() } else { self.len }
    }

    /// What was written since.
    pub(crate) fn since(&self, place: usize) -> &str {
        // A long note may have been cut before the place.
        let words = self.bytes().get(place..).unwrap_or_default();
        std::str::from_utf8(words).unwrap_or_default()
    }

    /// Takes back what was written since.
    pub(crate) fn take_back(&mut self, place: usize) {
        match self.len {
            SPILLED => self.spill.truncate(place),
            _ => self.len = self.len.min(place),
        }
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = (Tag, &str)> {
        // What stands before the first mark is nothing.
        self.bytes().split(|it| *it == MARK).skip(1).filter_map(|piece| {
            let (tag, words) = piece.split_first()?;
            Some((Tag::of(*tag), std::str::from_utf8(words).expect("a piece is written by whole strs only")))
        })
    }

    fn bytes(&self) -> &[u8] {
        if self.len == SPILLED { &self.spill } else { &self.inline[..self.len] }
    }

    #[cold]
    fn spill(&mut self, more: usize) {
        if self.len != SPILLED {
            self.spill.reserve(2 * INLINE + more);
            self.spill.extend_from_slice(&self.inline[..self.len]);
            self.len = SPILLED;
        }
    }

    #[cold]
    fn write_to_the_heap(&mut self, words: &str) {
        let limit = match self.newest_tag() {
            Tag::Note => return self.write_a_long_note(words),
            Tag::AnnotationValue => ANNOTATION_LIMIT,
            _ => WORDS_LIMIT,
        };
        // One byte more than the limit stays, to tell that it was passed.
        let room = (self.newest + HEAD + limit + 1).saturating_sub(self.len());
        let words = super::cut_end(words, room);
        self.spill(words.len());
        self.spill.extend_from_slice(words.as_bytes());
    }

    /// Keeps a long note's beginning and its end, whatever its length.
    fn write_a_long_note(&mut self, mut words: &str) {
        if words.len() > 2 * NOTE_END {
            let head = super::cut_end(words, NOTE_END);
            self.write_a_long_note(head);
            self.write_a_long_note(super::ELLIPSIS);
            words = super::keep_end(words, NOTE_END);
        }
        self.spill(words.len());
        self.spill.extend_from_slice(words.as_bytes());
        let begin = self.newest + HEAD;
        let note = std::str::from_utf8(&self.spill[begin..]).expect("a piece is written by whole strs only");
        if note.len() > 3 * NOTE_END {
            let head = begin + super::cut_end(note, NOTE_END).len();
            let tail = self.spill.len() - super::keep_end(note, NOTE_END).len();
            self.spill.splice(head..tail, super::ELLIPSIS.bytes());
        }
    }

    /// Whether a part of a reference is longer than any name, kind or uid.
    #[inline]
    pub(crate) fn is_overlong(&self) -> bool {
        self.len == SPILLED && self.any_is_overlong()
    }

    #[cold]
    fn any_is_overlong(&self) -> bool {
        let is_overlong = |tag, words: &str| match tag {
            Tag::Regarding(_) | Tag::Related(_) => words.len() > WORDS_LIMIT,
            Tag::Note | Tag::Reason | Tag::Action | Tag::AnnotationKey | Tag::AnnotationValue => false,
        };
        self.parts().any(|(tag, words)| is_overlong(tag, words))
    }

    fn newest_tag(&self) -> Tag {
        self.bytes().get(self.newest + 1).map_or(Tag::Note, |it| Tag::of(*it))
    }
}

impl Default for Text {
    fn default() -> Self {
        Self { len: 0, newest: 0, inline: [0; INLINE], spill: Vec::new() }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts()).finish()
    }
}

impl fmt::Write for Text {
    #[inline]
    fn write_str(&mut self, words: &str) -> fmt::Result {
        self.write(words);
        Ok(())
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

    fn parts(text: &Text) -> Vec<(Tag, &str)> {
        text.parts().collect()
    }

    #[test]
    fn pieces_come_back_as_they_were_written() {
        let mut text = Text::default();
        text.push(Tag::Reason, "Scaled");
        text.push(Tag::Related(Part::FieldPath), "");
        text.push(Tag::Note, "zu drei Stück");
        text.write(" und mehr");
        let want =
            [(Tag::Reason, "Scaled"), (Tag::Related(Part::FieldPath), ""), (Tag::Note, "zu drei Stück und mehr")];
        assert_eq!(parts(&text), want);
    }

    #[test]
    fn nothing_written_is_no_piece() {
        assert_eq!(parts(&Text::default()), []);
    }

    #[test]
    fn a_piece_that_spills_half_way_stays_whole() {
        let mut text = Text::default();
        text.push(Tag::Regarding(Part::Name), "web");
        let long = "x".repeat(INLINE - 10);
        text.push(Tag::Note, &long);
        text.write(&long);
        text.push(Tag::Action, "Scale");
        let want = [(Tag::Regarding(Part::Name), "web"), (Tag::Note, &*long.repeat(2)), (Tag::Action, "Scale")];
        assert_eq!(parts(&text), want);
    }

    #[test]
    fn every_length_around_the_inline_buffers_end_comes_back() {
        for length in INLINE - 30..INLINE + 10 {
            let mut text = Text::default();
            let long = "x".repeat(length);
            text.push(Tag::Reason, "r");
            text.push(Tag::Note, &long);
            text.push(Tag::Action, "a");
            assert_eq!(parts(&text), [(Tag::Reason, "r"), (Tag::Note, &*long), (Tag::Action, "a")]);
        }
    }

    #[test]
    fn what_is_taken_back_was_never_written() {
        for first in ["short".to_owned(), "x".repeat(2 * INLINE)] {
            let mut text = Text::default();
            text.push(Tag::Note, &first);
            let place = text.len();
            text.write(" secret=1");
            assert_eq!(text.since(place), " secret=1");
            text.take_back(place);
            assert_eq!(parts(&text), [(Tag::Note, &*first)]);
        }
    }

    #[test]
    fn a_megabyte_is_kept_as_its_beginning_and_its_end() {
        let long = format!("<begin>{}<end>", "é".repeat(1 << 19));
        for chunk in [1, 7, 1000, 1 << 19] {
            let mut text = Text::default();
            text.begin(Tag::Note);
            let mut rest = &*long;
            while !rest.is_empty() {
                let words = super::super::cut_end(rest, chunk.max(2));
                text.write(words);
                rest = &rest[words.len()..];
            }
            let parts = parts(&text);
            let (_, note) = parts[0];
            assert!(note.len() <= 3 * NOTE_END && note.len() > 2 * NOTE_END - 10, "{}", note.len());
            assert!(note.starts_with("<begin>é") && note.contains('…') && note.ends_with("é<end>"));
            assert!(text.spill.capacity() < 16 * 1024, "{}", text.spill.capacity());
        }
    }

    #[test]
    fn a_name_of_a_megabyte_is_overlong_and_not_kept() {
        let mut text = Text::default();
        text.push(Tag::Regarding(Part::Name), &"x".repeat(1 << 20));
        assert!(text.is_overlong());
        assert!(text.spill.len() < 2048);
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
