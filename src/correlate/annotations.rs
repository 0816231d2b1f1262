//! Which annotations the server takes.

/// Those of an Event that fit: keys that are qualified names, each once with its last value, `most` bytes together.
/// Says how many were left out as well.
pub(super) fn fitting(given: &[(&str, &str)], most: usize) -> (Vec<(Box<str>, Box<str>)>, usize) {
    let mut kept: Vec<(Box<str>, Box<str>)> = Vec::new();
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

/// `[prefix/]name`: the prefix a DNS-1123 subdomain of 253 bytes at most, the name 63 of letters, digits, `-`, `_`, `.`
/// with a letter or digit at both ends. The server reads keys in lower case. apimachinery `validation.IsQualifiedName`.
fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => prefix.len() <= 253 && prefix.split('.').all(is_label) && is_name(name),
        None => is_name(key),
    }
}

fn is_label(label: &str) -> bool {
    let inner = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
    ends_well(label) && label.bytes().all(inner)
}

fn is_name(name: &str) -> bool {
    let inner = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    name.len() <= 63 && ends_well(name) && name.bytes().all(inner)
}

fn ends_well(text: &str) -> bool {
    let ends = |it: Option<&u8>| it.is_some_and(u8::is_ascii_alphanumeric);
    ends(text.as_bytes().first()) && ends(text.as_bytes().last())
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
