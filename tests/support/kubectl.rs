//! What kubectl would print of Events: the same columns, ages, sources and order, without kubectl.
//!
//! The functions that take a client read the Events back over HTTP, with the selectors that kubectl sends; those that
//! take Events and a time only print. kubectl 1.36: `describe.go` (`DescribeEvents`), `event_printer.go`, and the
//! server's `printers.go` (`printEvent`).

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Event, ObjectReference};
use kube::api::ListParams;
use kube::{Api, Client};

/// The columns of `kubectl get events`. Those of priority 1 are shown by `-o wide` only.
pub const COLUMNS: [(&str, i32); 10] = [
    ("Last Seen", 0),
    ("Type", 0),
    ("Reason", 0),
    ("Object", 0),
    ("Subobject", 1),
    ("Source", 1),
    ("Message", 0),
    ("First Seen", 1),
    ("Count", 1),
    ("Name", 1),
];

/// `kubectl --namespace NAMESPACE get events`; with no namespace, `--all-namespaces`.
pub async fn get_events(client: &Client, namespace: Option<&str>, wide: bool) -> Result<String, kube::Error> {
    let events = api(client, namespace).list(&ListParams::default()).await?.items;
    Ok(get(&events, Timestamp::now(), namespace.is_none(), wide))
}

/// `kubectl --namespace NAMESPACE events --for KIND/NAME`: by kind, API version and name, whatever the uid.
pub async fn events_for(client: &Client, namespace: &str, object: &ObjectReference) -> Result<String, kube::Error> {
    let [kind, version, name] =
        [&object.kind, &object.api_version, &object.name].map(|it| it.as_deref().unwrap_or_default());
    let selector = format!("involvedObject.kind={kind},involvedObject.apiVersion={version},involvedObject.name={name}");
    let events = api(client, Some(namespace)).list(&ListParams::default().fields(&selector)).await?.items;
    Ok(match events.is_empty() {
        true => format!("No events found in {namespace} namespace.\n"),
        false => events_command(&events, Timestamp::now()),
    })
}

/// What `kubectl describe` prints under "Events:" of an object: those with its name, namespace, kind **and uid**, of
/// its own namespace, or of all when it has none. Of a Node also those that give its name as uid, as kubelets do.
pub async fn describe_events(client: &Client, object: &ObjectReference) -> Result<String, kube::Error> {
    let [kind, name, namespace, uid] =
        [&object.kind, &object.name, &object.namespace, &object.uid].map(|it| it.as_deref().unwrap_or_default());
    let events = api(client, Some(namespace).filter(|it| !it.is_empty()));
    let uids = if kind == "Node" { vec![uid, name] } else { vec![uid] };
    let mut found = Vec::new();
    for uid in uids {
        let mut selector =
            format!("involvedObject.name={name},involvedObject.namespace={namespace},involvedObject.kind={kind}");
        // kubectl leaves out what it does not know; an object read from a server always has a uid.
        if !uid.is_empty() {
            selector += &format!(",involvedObject.uid={uid}");
        }
        found.extend(events.list(&ListParams::default().fields(&selector)).await?.items);
    }
    Ok(describe(&found, Timestamp::now()))
}

/// The table of `kubectl get events`, in the order of the server: by name.
pub fn get(events: &[Event], now: Timestamp, all_namespaces: bool, wide: bool) -> String {
    if events.is_empty() {
        return "No resources found\n".to_owned();
    }
    let shown = |priority: i32| wide || priority == 0;
    let namespace = |it: String| Some(it).filter(|_| all_namespaces);
    let mut rows = vec![Vec::from_iter(namespace("NAMESPACE".to_owned()))];
    rows[0].extend(COLUMNS.iter().filter(|(_, priority)| shown(*priority)).map(|(name, _)| name.to_uppercase()));
    for event in events {
        let mut row = Vec::from_iter(namespace(event.metadata.namespace.clone().unwrap_or_default()));
        let cells = cells(event, now).into_iter().zip(COLUMNS).filter(|(_, (_, priority))| shown(*priority));
        row.extend(cells.map(|(cell, _)| first_line(&cell)));
        push_lines(&mut rows, row);
    }
    table(&rows)
}

/// The table of `kubectl events`: the oldest first.
pub fn events_command(events: &[Event], now: Timestamp) -> String {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|it| last_time(it));
    let mut rows = vec![["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"].map(str::to_owned).to_vec()];
    for event in events {
        let [kind, name] =
            [&event.involved_object.kind, &event.involved_object.name].map(|it| it.clone().unwrap_or_default());
        let (sort, reason, message) = (text(&event.type_), text(&event.reason), text(&event.message));
        let object = format!("{}/{}", escaped(&kind), escaped(&name));
        let row = [age(event, now), escaped(sort), escaped(reason), object, escaped(message.trim())];
        push_lines(&mut rows, row.into());
    }
    table(&rows)
}

/// The Events of `kubectl describe`. It sorts by `lastTimestamp` alone: those without one come first, as the server
/// lists them.
pub fn describe(events: &[Event], now: Timestamp) -> String {
    if events.is_empty() {
        return "Events:  <none>\n".to_owned();
    }
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|it| it.last_timestamp.as_ref().map(|at| at.0));
    let mut rows = vec![
        ["  Type", "Reason", "Age", "From", "Message"].map(str::to_owned).to_vec(),
        ["  ----", "------", "----", "----", "-------"].map(str::to_owned).to_vec(),
    ];
    for event in events {
        let component = event.source.as_ref().and_then(|it| it.component.clone()).filter(|it| !it.is_empty());
        let from = component.or_else(|| event.reporting_component.clone()).unwrap_or_default();
        let message = match text(&event.involved_object.field_path) {
            "" => text(&event.message).trim().to_owned(),
            field => format!("{field}: {}", text(&event.message).trim()),
        };
        let sort = format!("  {}", text(&event.type_));
        let row = [escaped(&sort), escaped(text(&event.reason)), age(event, now), escaped(&from), escaped(&message)];
        push_lines(&mut rows, row.into());
    }
    format!("Events:\n{}", paragraph(&rows))
}

/// The cells of one Event, one for each of [`COLUMNS`].
pub fn cells(event: &Event, now: Timestamp) -> Vec<String> {
    let first_time = event.first_timestamp.as_ref().map(|it| it.0).or(event.event_time.as_ref().map(|it| it.0));
    let first = since(first_time, now);
    let mut last = since(event.last_timestamp.as_ref().map(|it| it.0).or(first_time), now);
    // A lone Event of the new API has no count.
    let mut count = event.count.filter(|it| *it != 0).unwrap_or(1);
    if let Some(series) = &event.series {
        last = since(series.last_observed_time.as_ref().map(|it| it.0), now);
        count = series.count.unwrap_or_default();
    }
    let object = &event.involved_object;
    let kind = text(&object.kind).to_lowercase();
    let target = if text(&object.name).is_empty() { kind } else { format!("{kind}/{}", text(&object.name)) };
    let either = |own: Option<&String>, other: &Option<String>| match own.filter(|it| !it.is_empty()) {
        Some(own) => own.clone(),
        None => text(other).to_owned(),
    };
    let source = event.source.as_ref();
    let component = either(source.and_then(|it| it.component.as_ref()), &event.reporting_component);
    let instance = either(source.and_then(|it| it.host.as_ref()), &event.reporting_instance);
    let source = if instance.is_empty() { component } else { format!("{component}, {instance}") };
    vec![
        last,
        text(&event.type_).to_owned(),
        text(&event.reason).to_owned(),
        target,
        text(&object.field_path).to_owned(),
        source,
        text(&event.message).trim().to_owned(),
        first,
        count.to_string(),
        event.metadata.name.clone().unwrap_or_default(),
    ]
}

/// A duration as kubectl shortens it: `5s`, `2m1s`, `3h`. apimachinery: `HumanDuration`.
pub fn human(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let pair = |big: i64, unit: &str, small: i64, part: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{part}"),
    };
    match seconds {
        // Two clocks that differ by less than two seconds are the same clock.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => pair(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => pair(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 192 => pair(hours / 24, "d", hours % 24, "h"),
        _ if hours < 24 * 365 * 2 => format!("{}d", hours / 24),
        _ if hours < 24 * 365 * 8 => pair(hours / 24 / 365, "y", hours / 24 % 365, "d"),
        _ => format!("{}y", hours / 24 / 365),
    }
}

/// Age, and for what was seen more than once how often in how long: `5s (x1000 over 6s)`.
fn age(event: &Event, now: Timestamp) -> String {
    let first = since(event.event_time.as_ref().map(|it| it.0).or(event.first_timestamp.as_ref().map(|it| it.0)), now);
    match (&event.series, event.count.unwrap_or_default()) {
        (Some(series), _) => {
            let last = since(series.last_observed_time.as_ref().map(|it| it.0), now);
            format!("{last} (x{} over {first})", series.count.unwrap_or_default())
        }
        (None, count) if count > 1 => {
            format!("{} (x{count} over {first})", since(event.last_timestamp.as_ref().map(|it| it.0), now))
        }
        _ => first,
    }
}

fn last_time(event: &Event) -> Option<Timestamp> {
    match (&event.series, &event.last_timestamp) {
        (Some(series), _) => series.last_observed_time.as_ref().map(|it| it.0),
        (None, Some(last)) => Some(last.0),
        (None, None) => event.event_time.as_ref().map(|it| it.0),
    }
}

fn since(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or("<unknown>".to_owned(), |at| human(now.duration_since(at)))
}

fn text(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or_default()
}

fn api(client: &Client, namespace: Option<&str>) -> Api<Event> {
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

/// What could drive a terminal is shown, not sent. cli-runtime: `EscapeTerminal`.
fn escaped(text: &str) -> String {
    text.replace('\x1b', "^[").replace('\r', "\\r")
}

/// `kubectl get` shows one line of a cell. cli-runtime: `printRows`.
fn first_line(cell: &str) -> String {
    match cell.find(['\x0c', '\n', '\r']) {
        Some(at) => format!("{}...", escaped(&cell[..at])),
        None => escaped(cell),
    }
}

/// Text with newlines and tabs makes rows and cells of its own, as it does in Go's tabwriter.
fn push_lines(rows: &mut Vec<Vec<String>>, row: Vec<String>) {
    let joined = row.join("\t");
    rows.extend(joined.split('\n').map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>()));
}

/// Go's `text/tabwriter`: a column is as wide as its widest cell in the rows around that have it too. The last cell of
/// a row belongs to no column. The fork of it that kubectl's tables use remembers how wide a column has been.
#[derive(Default)]
struct Tabs {
    least: usize,
    padding: usize,
    /// By column. Nothing where it is not remembered.
    widest: Option<Vec<usize>>,
    out: String,
}

/// As `kubectl get` and `kubectl events` align their tables.
fn table(rows: &[Vec<String>]) -> String {
    let mut tabs = Tabs { least: 6, padding: 3, widest: Some(Vec::new()), out: String::new() };
    tabs.align(rows, &mut Vec::new());
    tabs.out
}

/// As `kubectl describe` does.
fn paragraph(rows: &[Vec<String>]) -> String {
    let mut tabs = Tabs { padding: 2, ..Tabs::default() };
    tabs.align(rows, &mut Vec::new());
    tabs.out
}

impl Tabs {
    fn align(&mut self, rows: &[Vec<String>], widths: &mut Vec<usize>) {
        let column = widths.len();
        let has = |row: &Vec<String>| column + 1 < row.len();
        let mut rest = rows;
        while let Some(first) = rest.first() {
            let block = rest.iter().take_while(|it| has(it) == has(first)).count();
            let (now, later) = rest.split_at(block);
            rest = later;
            if has(first) {
                let width = now.iter().map(|it| it[column].chars().count() + self.padding).max().unwrap_or(0);
                widths.push(self.remembered(column, width.max(self.least)));
                self.align(now, widths);
                widths.pop();
            } else {
                now.iter().for_each(|row| self.write(row, widths));
            }
        }
    }

    fn remembered(&mut self, column: usize, width: usize) -> usize {
        let Some(widest) = &mut self.widest else { return width };
        if widest.len() <= column {
            widest.resize(column + 1, 0);
        }
        widest[column] = widest[column].max(width);
        widest[column]
    }

    fn write(&mut self, row: &[String], widths: &[usize]) {
        for (at, cell) in row.iter().enumerate() {
            match widths.get(at).filter(|_| at + 1 < row.len()) {
                Some(width) => self.out.push_str(&format!("{cell:width$}")),
                None => self.out.push_str(cell),
            }
        }
        self.out.push('\n');
    }
}
