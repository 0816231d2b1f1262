//! Which annotations the server takes.

use crate::message::qualified_name;

/// Key and value.
type Annotation = (Box<str>, Box<str>);

/// Those of an Event that fit: keys that are qualified names, each once with its last value, `most` bytes together.
/// Says how many were left out as well.
pub(super) fn fitting(given: &[(&str, &str)], most: usize) -> (Vec<Annotation>, usize) {
    let mut kept: Vec<Annotation> = Vec::new();
    let (mut left_out, mut room) = (0, most);
    for (at, (key, value)) in given.iter().enumerate() {
        if given[at + 1..].iter().any(|later| later.0 == *key) {
            // Its last value wins; nothing is lost that was not overwritten by the caller.
            continue;
        }
        match room.checked_sub(key.len() + value.len()) {
            Some(rest) if is_key(key) => {
                room = rest;
                kept.push(((*key).into(), (*value).into()));
            }
            _ => left_out += 1,
        }
    }
    (kept, left_out)
}

/// The server reads keys in lower case. apimachinery `ValidateAnnotations`.
fn is_key(key: &str) -> bool {
    qualified_name(&key.to_ascii_lowercase()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_qualified_names() {
        for good in ["a", "trace-id", "example.com/Trace_id.1", "0/0"] {
            assert!(is_key(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in ["", "/", "a/", "/a", "a/b/c", "-a", "a b", "a..b/c", "é", "my_io/x", &long] {
            assert!(!is_key(bad), "{bad}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_stays() {
        let (kept, left_out) = fitting(&[("a", "12345"), ("b c", ""), ("d", "123456789"), ("e", "1")], 9);
        assert_eq!(kept, [("a".into(), "12345".into()), ("e".into(), "1".into())]);
        assert_eq!(left_out, 2);
    }

    #[test]
    fn a_key_given_twice_has_its_last_value() {
        let (kept, left_out) = fitting(&[("a", "1"), ("a", "2")], 9);
        assert_eq!((kept, left_out), (vec![("a".into(), "2".into())], 0));
    }
}
