//! What fits: texts cut to the server's limits on character boundaries, and names that the server takes.

use std::borrow::Cow;

/// Stands where something was cut out. Three bytes in UTF-8.
pub(crate) const ELLIPSIS: &str = "…";

/// At most `limit` bytes, with the middle cut out: the beginning says what happened, and the end, where a chain of
/// errors names its root, says why.
pub(crate) fn cut_middle(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let Some(keep) = limit.checked_sub(ELLIPSIS.len()) else { return Cow::Borrowed(cut_end(text, limit)) };
    let head = floor_boundary(text, keep - keep / 2);
    let tail = ceil_boundary(text, text.len() - keep / 2);
    Cow::Owned([&text[..head], ELLIPSIS, &text[tail..]].concat())
}

/// At most `limit` bytes from its beginning.
pub(crate) fn cut_end(text: &str, limit: usize) -> &str {
    &text[..floor_boundary(text, limit)]
}

/// At most `limit` bytes of its end.
pub(crate) fn keep_end(text: &str, limit: usize) -> &str {
    &text[ceil_boundary(text, text.len().saturating_sub(limit))..]
}

/// The text without control characters: a line break or a tab becomes a space, terminal escapes and the rest go.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    // Looked at byte by byte first, which is many times faster: 0xc2 begins the controls beyond ASCII, and `é` does not.
    let may_be_control = |it: u8| it < 0x20 || it == 0x7f || it == 0xc2;
    if !text.bytes().any(may_be_control) || !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let keep = |it: char| match it {
        '\n' | '\r' | '\t' => Some(' '),
        it if it.is_control() => None,
        it => Some(it),
    };
    Cow::Owned(text.chars().filter_map(keep).collect())
}

/// An Event's name: the object's own as far as it is a DNS-1123 subdomain, a dot, and the serial in 16 hex digits.
///
/// client-go's shape, whose readers split at the last dot. What no subdomain holds becomes `-`; 253 bytes at most.
pub(crate) fn event_name(object: &str, serial: u64) -> Box<str> {
    const LIMIT: usize = 253 - 17;
    let mut name = String::with_capacity(object.len().min(LIMIT) + 17);
    for it in object.chars().map(|it| it.to_ascii_lowercase()) {
        // A label may neither begin nor end with `-`: `a.-b` is as wrong as `a-.b`.
        match it {
            _ if name.len() == LIMIT => break,
            'a'..='z' | '0'..='9' => name.push(it),
            '.' => {
                name.truncate(name.trim_end_matches(['-', '.']).len());
                if !name.is_empty() {
                    name.push('.');
                }
            }
            _ if name.is_empty() || name.ends_with('.') => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches(['-', '.']);
    let name = if name.is_empty() { "event" } else { name };
    format!("{name}.{serial:016x}").into()
}

/// Whether a text is a qualified name, as label and annotation keys and reporting controllers are; if not, why not.
///
/// apimachinery, `validate/content/kube.go`: an optional DNS-1123 subdomain of at most 253 bytes and `/`, then at most
/// 63 of `[A-Za-z0-9._-]` with a letter or digit at both ends.
pub(crate) fn qualified_name(text: &str) -> Result<(), &'static str> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let ends = |it: &str, good: fn(&u8) -> bool| {
        it.as_bytes().first().is_some_and(good) && it.as_bytes().last().is_some_and(good)
    };
    match name {
        "" => return Err("its name is empty"),
        it if it.contains('/') => return Err("it holds more than one slash"),
        it if it.contains(char::is_whitespace) => return Err("it holds a space"),
        it if it.len() > 63 => return Err("its name is longer than 63 bytes"),
        it if !it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it)) => {
            return Err("it holds other characters than letters, digits, `-`, `_` and `.`");
        }
        it if !ends(it, u8::is_ascii_alphanumeric) => return Err("it does not begin and end with a letter or a digit"),
        _ => {}
    }
    let lower = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let label = |it: &str| {
        ends(it, |it| it.is_ascii_lowercase() || it.is_ascii_digit()) && it.bytes().all(|it| lower(&it) || it == b'-')
    };
    match prefix {
        Some("") => Err("its prefix is empty"),
        Some(it) if it.len() > 253 => Err("its prefix is longer than 253 bytes"),
        Some(it) if !it.split('.').all(label) => Err("its prefix is not a lower-case DNS name"),
        _ => Ok(()),
    }
}

/// The nearest character boundary at or before a place. `str::floor_char_boundary` is younger than our MSRV.
fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
}

/// The nearest character boundary at or after a place.
fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_touched() {
        assert!(matches!(cut_middle("abc", 3), Cow::Borrowed("abc")));
    }

    #[test]
    fn the_middle_is_cut_out_on_character_boundaries() {
        let text = "é".repeat(600);
        let cut = cut_middle(&text, 1024);
        assert!(cut.len() <= 1024 && cut.len() > 1020, "{}", cut.len());
        assert!(cut.starts_with("éé") && cut.contains('…') && cut.ends_with("éé"));
    }

    #[test]
    fn the_end_is_cut_on_a_character_boundary() {
        assert_eq!(cut_end("aé", 2), "a");
        assert_eq!(cut_end("aé", 3), "aé");
    }

    #[test]
    fn terminal_escapes_are_taken_out() {
        assert_eq!(without_controls("a\u{1b}[31mred\u{7}\nb\u{0}"), "a[31mred b");
    }

    #[test]
    fn names_are_dns_subdomains() {
        for (object, name) in [
            ("foo", "foo.000000000000002a"),
            ("system:node", "system-node.000000000000002a"),
            ("Upper_Case", "upper-case.000000000000002a"),
            ("..a..b.-c-.d--", "a.b.c.d.000000000000002a"),
            ("é", "event.000000000000002a"),
            ("", "event.000000000000002a"),
        ] {
            assert_eq!(&*event_name(object, 42), name, "{object}");
        }
        assert_eq!(event_name(&"a".repeat(300), 1).len(), 253);
    }

    #[test]
    fn qualified_names_are_told_from_others_as_the_server_does() {
        let long = |n| "a".repeat(n);
        for good in ["simple", "my.io/controller", "foo_bar.baz-9", &long(63), &format!("example.com/{}", long(63))] {
            assert_eq!(qualified_name(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", "its name is empty"),
            ("foo bar", "it holds a space"),
            ("a/b/c", "it holds more than one slash"),
            ("My.IO/x", "its prefix is not a lower-case DNS name"),
            ("my_io/x", "its prefix is not a lower-case DNS name"),
            ("-foo", "it does not begin and end with a letter or a digit"),
            ("foo-", "it does not begin and end with a letter or a digit"),
            ("/foo", "its prefix is empty"),
            ("foo/", "its name is empty"),
            ("é", "it holds other characters than letters, digits, `-`, `_` and `.`"),
            ("my_app::reconciler", "it holds other characters than letters, digits, `-`, `_` and `.`"),
            (&long(64), "its name is longer than 63 bytes"),
            (&format!("{}/x", long(254)), "its prefix is longer than 253 bytes"),
        ] {
            assert_eq!(qualified_name(bad), Err(why), "{bad}");
        }
    }
}
