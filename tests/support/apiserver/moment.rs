//! Points in time as Go reads and writes them: which texts a server takes, and what it says about the others.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// How a field's time is written. The two differ in the fraction: six digits, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `metav1.MicroTime`: exactly six digits after the point.
    Micro,
    /// `metav1.Time`: a fraction is read and dropped.
    Seconds,
}

impl Layout {
    fn text(self) -> &'static str {
        match self {
            Layout::Micro => "2006-01-02T15:04:05.000000Z07:00",
            Layout::Seconds => "2006-01-02T15:04:05Z07:00",
        }
    }

    /// As the server writes it, in UTC.
    fn write(self, at: Timestamp) -> String {
        let layout = match self {
            Layout::Micro => "%Y-%m-%dT%H:%M:%S.%6fZ",
            Layout::Seconds => "%Y-%m-%dT%H:%M:%SZ",
        };
        at.strftime(layout).to_string()
    }
}

/// Reads a time and writes it again as the server does: in UTC.
/// The error is Go's, word for word: it names the part of the layout that did not fit.
pub(super) fn normal(layout: Layout, text: &str) -> Result<String, String> {
    let mut reader = Reader { whole: text, rest: text, layout };
    let year = reader.number("2006", 4)?;
    reader.literal("-")?;
    let month = reader.number("01", 2)?;
    reader.literal("-")?;
    let day = reader.number("02", 2)?;
    reader.literal("T")?;
    let hour = reader.number("15", 2)?;
    reader.literal(":")?;
    let minute = reader.number("04", 2)?;
    reader.literal(":")?;
    let second = reader.number("05", 2)?;
    let nanos = reader.fraction()?;
    let offset = reader.offset()?;
    if !reader.rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quote(text), quote(reader.rest)));
    }
    for (value, range, what) in
        [(month, 1..=12, "month"), (hour, 0..=23, "hour"), (minute, 0..=59, "minute"), (second, 0..=59, "second")]
    {
        if !range.contains(&value) {
            return Err(reader.out_of_range(what));
        }
    }
    // Every part is in its range by now, but for the day of the month and offsets of days: the calendar knows those.
    let civil = Date::new(year as i16, month as i8, day as i8)
        .map(|date| date.at(hour as i8, minute as i8, second as i8, nanos as i32))
        .map_err(|_| reader.out_of_range("day"))?;
    let utc = civil.to_zoned(TimeZone::UTC).map_err(|_| reader.out_of_range("day"))?.timestamp();
    let at = utc
        .checked_sub(jiff::SignedDuration::from_secs(offset))
        .map_err(|_| reader.out_of_range("time zone offset"))?;
    Ok(layout.write(at))
}

/// A moment as a server stamps it on what it stores.
pub(super) fn seconds(at: Timestamp) -> String {
    Layout::Seconds.write(at)
}

/// Go's zero time. It gets past the checks for a time that is there, and is then written as null.
pub(super) fn is_zero(text: &str) -> bool {
    text.starts_with("0001-01-01T00:00:00")
}

/// Text in double quotes, as Go's `%q` writes it.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 || control as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", control as u32))
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    layout: Layout,
}

impl Reader<'_> {
    fn number(&mut self, part: &str, digits: usize) -> Result<i64, String> {
        match self.rest.as_bytes().get(..digits) {
            Some(bytes) if bytes.iter().all(u8::is_ascii_digit) => {
                let value = bytes.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
                self.rest = &self.rest[digits..];
                Ok(value)
            }
            _ => Err(self.misfit(part)),
        }
    }

    fn literal(&mut self, part: &str) -> Result<(), String> {
        match self.rest.strip_prefix(part) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.misfit(part)),
        }
    }

    /// Nanoseconds. Where the layout has six digits exactly six are taken, else as many as there are.
    fn fraction(&mut self) -> Result<i64, String> {
        let bytes = self.rest.as_bytes();
        let point = matches!(bytes.first(), Some(b'.' | b','));
        let there = bytes.iter().skip(1).take_while(|it| it.is_ascii_digit()).count();
        let taken = match self.layout {
            Layout::Micro if point && there >= 6 => 6,
            Layout::Micro => return Err(self.misfit(".000000")),
            Layout::Seconds if point && there >= 1 => there,
            Layout::Seconds => return Ok(0),
        };
        let nanos =
            bytes[1..=taken].iter().chain([b'0'; 9].iter()).take(9).fold(0, |sum, it| sum * 10 + i64::from(it - b'0'));
        self.rest = &self.rest[taken + 1..];
        Ok(nanos)
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let digit =
            |at: usize| self.rest.as_bytes().get(at).filter(|it| it.is_ascii_digit()).map(|it| i64::from(it - b'0'));
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(self.misfit("Z07:00")),
        };
        let parts = (digit(1), digit(2), self.rest.as_bytes().get(3), digit(4), digit(5));
        let (Some(hour), Some(hours), Some(b':'), Some(minute), Some(minutes)) = parts else {
            return Err(self.misfit("Z07:00"));
        };
        let (hours, minutes) = (hour * 10 + hours, minute * 10 + minutes);
        self.rest = &self.rest[6..];
        match (hours, minutes) {
            (0..=24, 0..=60) => Ok(sign * (hours * 3600 + minutes * 60)),
            (0..=24, _) => Err(self.out_of_range("time zone offset minute")),
            _ => Err(self.out_of_range("time zone offset hour")),
        }
    }

    fn misfit(&self, part: &str) -> String {
        let (whole, layout) = (quote(self.whole), self.layout.text());
        format!("parsing time {whole} as \"{layout}\": cannot parse {} as \"{part}\"", quote(self.rest))
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quote(self.whole))
    }
}
