//! The house's own promises, read off its source.

use std::fs;
use std::path::{Path, PathBuf};

/// A file may name, after `crate::`, only what stands before it. `lib.rs` opens the doors and is exempt.
const ORDER: &[&str] = &["regarding", "message", "correlate", "queue", "wire", "sink", "poster", "layer", "builder"];

/// About where a file begins to hold two nouns.
const LONGEST: usize = 420;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below a folder, at any depth.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path());
    let below = |it: PathBuf| if it.is_dir() { files(&it) } else { vec![it] };
    entries.flat_map(below).filter(|it| it.extension().is_some_and(|it| it == "rs")).collect()
}

fn is_test(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// The source without what stands in comments and, where the file ends in them, without its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().filter(|it| !it.trim_start().starts_with("//")).map(|it| format!("{it}\n")).collect()
}

/// The modules that a text names after `crate::`, also inside braces.
fn crate_paths(text: &str) -> Vec<String> {
    let name =
        |it: &str| it.trim_start().chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect::<String>();
    let mut found = Vec::new();
    for after in text.split("crate::").skip(1) {
        let Some(braces) = after.strip_prefix('{') else {
            found.push(name(after));
            continue;
        };
        let mut depth = 1;
        let mut item = String::new();
        for it in braces.chars() {
            match it {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => found.push(name(&std::mem::take(&mut item))),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if it != ',' || depth > 1 {
                item.push(it);
            }
        }
        found.push(name(&item));
    }
    found.retain(|it| !it.is_empty());
    found
}

#[test]
fn crate_paths_are_read_from_plain_and_braced_uses() {
    assert_eq!(crate_paths("crate::{message::{Write as W, Now}, wire as _}"), ["message", "wire"]);
    assert_eq!(crate_paths("use crate::sink::Sink;"), ["sink"]);
}

#[test]
fn arrows_point_one_way() {
    for (place, module) in ORDER.iter().enumerate() {
        let mut rooms = files(&src().join(module));
        rooms.push(src().join(format!("{module}.rs")));
        for path in rooms.iter().filter(|it| !is_test(it)) {
            for used in crate_paths(&code(path)).into_iter().filter(|it| it != module) {
                let Some(seen) = ORDER.iter().position(|it| *it == used) else {
                    assert!(used.starts_with(char::is_uppercase), "{} names {used}", path.display());
                    continue;
                };
                assert!(seen < place, "{} points back at {used}", path.display());
            }
        }
    }
}

#[test]
fn every_file_belongs_to_a_room_of_the_house() {
    for path in files(&src()) {
        let inside = path.strip_prefix(src()).unwrap();
        let room = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        assert!(room == "lib" || ORDER.contains(&room), "{}", path.display());
    }
}

#[test]
fn only_poster_and_layer_read_a_clock() {
    for path in files(&src()).into_iter().filter(|it| !is_test(it)) {
        let inside = path.strip_prefix(src()).unwrap().to_owned();
        if inside.starts_with("poster") || inside.starts_with("layer") || inside.starts_with("poster.rs") {
            continue;
        }
        if inside.starts_with("layer.rs") {
            continue;
        }
        for clock in ["::now()", "clock_gettime", ".elapsed()"] {
            assert!(!code(&path).contains(clock), "{} reads a clock: {clock}", path.display());
        }
    }
}

#[test]
fn the_library_never_prints() {
    for path in files(&src()) {
        for print in ["println!(", "print!(", "eprintln!(", "dbg!("] {
            assert!(!code(&path).contains(print), "{} prints", path.display());
        }
    }
}

#[test]
fn the_readme_and_the_manual_have_the_same_measurements() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [readme, measured] = ["README.md", "docs/workloads.md"].map(|it| fs::read_to_string(root.join(it)).unwrap());
    assert!(readme.contains(measured.trim()), "docs/workloads.md was measured anew, and README.md has the old table");
}

#[test]
fn nothing_is_left_for_later() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Written in two halves, so that this file does not find itself.
    let marks =
        ["to".to_owned() + "do!(", "unimple".to_owned() + "mented!(", "TO".to_owned() + "DO", "FIX".to_owned() + "ME"];
    for path in ["src", "tests", "benches", "examples"].iter().flat_map(|it| files(&root.join(it))) {
        let text = fs::read_to_string(&path).unwrap();
        for mark in &marks {
            assert!(!text.contains(mark), "{} holds {mark}", path.display());
        }
        assert!(!text.contains(&("#[ig".to_owned() + "nore")), "{} switches a test off", path.display());
    }
}

#[test]
fn no_test_sleeps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sleeps = ["thread::".to_owned() + "sleep", "time::".to_owned() + "sleep("];
    for path in files(&root.join("tests")) {
        // The servers that tests are given hold a deadline with it, for a condition that never comes.
        if path.starts_with(root.join("tests/support")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for sleep in &sleeps {
            assert!(!text.contains(sleep), "{} sleeps", path.display());
        }
    }
}

#[test]
fn no_file_holds_two_nouns() {
    for path in files(&src()).into_iter().filter(|it| !is_test(it)) {
        let lines = code(&path).lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines of code", path.display());
    }
}
