//! A program that cannot outlive us.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, thread};

/// Starts the program; kills it, and removes its folder, when the pipe that is our standard input closes.
///
/// `$1` is the folder, the rest the program and its arguments. The shell in the background waits for the pipe. The one
/// in front waits for the program, tells on standard output that it has ended, and waits for the pipe itself: while it
/// has not been told of the end the program's number belongs to the program. It ignores what a terminal sends on
/// Ctrl-C, for the pipe closes then as well.
const WATCHDOG: &str = r#"
home=$1; shift
exec 3<&0 </dev/null 2>"$home/log"
"$@" 3<&- >"$home/log" 2>&1 &
program=$!
trap '' INT HUP TERM PIPE
(while read -r _ <&3; do :; done; kill -KILL "$program") >/dev/null &
watch=$!
wait "$program"
code=$?
kill -KILL "$watch"
echo "ended with $code"
while read -r _ <&3; do :; done
rm -rf "$home"
rmdir "$(dirname "$home")"
"#;

/// The program, for as long as this lives.
#[derive(Debug)]
pub(super) struct Watched {
    name: String,
    shell: Child,
    /// Never written to. What counts is that it closes.
    pipe: Option<ChildStdin>,
    ended: Mutex<Receiver<String>>,
}

impl Watched {
    pub(super) fn start(program: &Path, arguments: &[String], home: &Path) -> io::Result<Watched> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(WATCHDOG).arg("watchdog").arg(home).arg(program).args(arguments);
        // Nothing of the test's own settings is for them.
        command.env_remove("RUST_LOG").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = command.spawn()?;
        let pipe = shell.stdin.take();
        let (tell, ended) = channel();
        if let Some(out) = shell.stdout.take() {
            thread::spawn(move || {
                let line = BufReader::new(out).lines().next();
                let _ = tell.send(line.and_then(Result::ok).unwrap_or_else(|| "lost its watchdog".to_owned()));
            });
        }
        let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        Ok(Watched { name, shell, pipe, ended: Mutex::new(ended) })
    }

    /// Waits so long for its end. An error when it comes.
    pub(super) fn alive_for(&self, time: Duration) -> Result<(), String> {
        let ended = self.ended.lock().map_err(|error| error.to_string())?;
        match ended.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(how) => Err(format!("{} {how}", self.name)),
            Err(RecvTimeoutError::Disconnected) => Err(format!("{} has ended", self.name)),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // The shell ends when the program has and its files are gone.
        let _ = self.shell.wait();
    }
}
