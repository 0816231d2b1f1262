//! What a name may look like: the validators that every kind of object shares, with their words.

/// One fault each; none when the name is good. apimachinery: `IsDNS1123Subdomain`.
pub(super) fn dns_subdomain(value: &str) -> Vec<String> {
    subdomain(value, "must be no more than 253 characters")
}

/// A name that a storage may keep as it stands, or what is wrong with it. apimachinery: `IsPathSegmentName`.
pub(super) fn path_segment(value: &str) -> Vec<String> {
    if value == "." || value == ".." {
        return vec![format!("may not be '{value}'")];
    }
    ["/", "%"].iter().filter(|it| value.contains(**it)).map(|it| format!("may not contain '{it}'")).collect()
}

/// A base for generated names: one dash at the end is forgiven. apimachinery: `maskTrailingDash`.
pub(super) fn generate_name(base: &str) -> Vec<String> {
    match base.strip_suffix('-') {
        // The character before the dash goes with it, as the server does it.
        Some(before) if !before.is_empty() => {
            let mut masked: String = before.chars().take(before.chars().count() - 1).collect();
            masked.push('a');
            dns_subdomain(&masked)
        }
        _ => dns_subdomain(base),
    }
}

/// Label and annotation keys, and reporting controllers: `[prefix/]name`. apimachinery: `IsLabelKey`.
pub(super) fn qualified(value: &str) -> Vec<String> {
    let parts: Vec<&str> = value.split('/').collect();
    let mut faults = Vec::new();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else {
                let said = subdomain(prefix, "must be no more than 253 bytes");
                faults.extend(said.into_iter().map(|it| format!("prefix part {it}")));
            }
            name
        }
        _ => {
            let tail = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {LABEL_KEY} {tail}")];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_label_name(name) {
        faults.push(format!("name part {LABEL_KEY}"));
    }
    faults
}

/// The value of a label. apimachinery: `IsLabelValue`.
pub(super) fn label_value(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > 63 {
        faults.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_label_name(value) {
        faults.push(LABEL_VALUE.to_owned());
    }
    faults
}

fn subdomain(value: &str, too_long: &str) -> Vec<String> {
    let inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let label = |it: &str| edges_and_middle(it, inner, |it| inner(it) || it == b'-');
    let mut faults = Vec::new();
    if value.len() > 253 {
        faults.push(too_long.to_owned());
    }
    if !value.split('.').all(label) {
        faults.push(SUBDOMAIN.to_owned());
    }
    faults
}

fn is_label_name(value: &str) -> bool {
    edges_and_middle(value, |it| it.is_ascii_alphanumeric(), |it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
}

fn edges_and_middle(value: &str, edge: impl Fn(u8) -> bool, middle: impl Fn(u8) -> bool) -> bool {
    match value.as_bytes() {
        [] => false,
        bytes @ [first, .., last] => edge(*first) && edge(*last) && bytes.iter().all(|it| middle(*it)),
        [only] => edge(*only),
    }
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
     or '.', and must start and end \
     with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL_KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
     an alphanumeric character \
     (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', \
     '_' or '.', and must start and end \
     with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
