//! What stands in a note beside the message.

/// Which of a record's other fields follow the message in the note, as `key=value`.
///
/// Fields that say something to this crate (`k8s.reason` and the like, names of objects) never do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteFields {
    /// All of them. The default.
    #[default]
    All,
    /// None: the message alone.
    None,
    /// Only those of these names.
    Only(Vec<String>),
}

/// What becomes of a field's value in a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// It stays.
    Keep,
    /// `***` stands in its place.
    Mask,
    /// The field is left out.
    Drop,
}

/// Asked about every field of a note, by name and value.
pub(crate) type Redact = dyn Fn(&str, &str) -> Redaction + Send + Sync;

impl NoteFields {
    pub(super) fn take(&self, name: &str) -> bool {
        match self {
            NoteFields::All => true,
            NoteFields::None => false,
            NoteFields::Only(names) => names.iter().any(|it| it == name),
        }
    }
}
