//! Chromium without a screen, spoken to over two pipes (Chrome DevTools Protocol, "pipe" transport:
//! JSON messages that end with NUL, read at descriptor 3 and written at 4;
//! <https://chromedevtools.github.io/devtools-protocol/>).
//!
//! Its profile lies in a scratch directory, and it is gone with the test, failed or not.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::running_program::has_group_ended;
use testkit::{Scratch, scratch, tool};

/// Longest duration of an answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// Longest duration until it has to go by itself.
const FAREWELL: Duration = Duration::from_secs(5);
/// No sandbox: it is run by root in tests, on our own page. No network: nothing is to be fetched.
const SCRIPT: &str = "exec chromium --headless --no-sandbox --disable-gpu --disable-breakpad \
     --disable-dev-shm-usage --no-first-run --no-default-browser-check --hide-scrollbars \
     --disable-background-networking --disable-component-update --disable-sync \
     --disable-extensions \
     --remote-debugging-pipe --user-data-dir=\"$0/profile\" about:blank \
     3<\"$0/in\" 4>\"$0/out\" >\"$0/log\" 2>&1";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// Messages that it sent without being asked.
    events: Vec<Value>,
    scratch: Scratch,
}

impl Browser {
    /// A browser that shows `page`, with nothing of it missing.
    pub(crate) fn showing(page: &str) -> Browser {
        let mut browser = Browser::start();
        let path = browser.scratch.file("page.html", page.as_bytes());
        let made = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", &target);
        browser.session = Some(session["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        let url = format!("file://{}", scratch::text(&path));
        browser.ask("Page.navigate", &json!({ "url": url }));
        browser.until("Page.loadEventFired");
        browser
    }

    /// The directory that all it writes is in.
    pub(crate) fn home(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    fn start() -> Browser {
        let scratch = Scratch::new();
        let pipe = |name: &str| {
            let path = scratch.path().join(name);
            tool::run("mkfifo", &[scratch::text(&path)]);
            path
        };
        let (to, from) = (pipe("in"), pipe("out"));
        let mut command = tool::command("bash");
        command.args(["-c", SCRIPT, scratch::text(scratch.path())]);
        // What it starts dies with it.
        command.env("HOME", scratch.path()).stdin(Stdio::null()).process_group(0);
        let mut child = command.spawn().expect("bash starts");
        // The shell opens both in the same order, or dies and takes this test with it.
        let to = open(&mut child, &to, true);
        let from = open(&mut child, &from, false);
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(from).split(0);
            for message in messages.map_while(Result::ok) {
                let value = serde_json::from_slice(&message).expect("it speaks JSON");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Browser { child, to, from: receiver, session: None, number: 0, events: Vec::new(), scratch }
    }

    /// Returns what it answers to `method`.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let number = self.send(method, parameters);
        loop {
            let mut message = self.next(method);
            if message["id"] != json!(number) {
                self.events.push(message);
                continue;
            }
            assert!(message["error"].is_null(), "{method}: {}", message["error"]);
            return message["result"].take();
        }
    }

    fn send(&mut self, method: &str, parameters: &Value) -> u64 {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("it listens");
        self.number
    }

    fn next(&self, waiting: &str) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            let log = std::fs::read_to_string(self.scratch.path().join("log"));
            panic!("no answer to {waiting}: {error}; it said {log:?}")
        })
    }

    fn until(&mut self, event: &str) {
        let is = |message: &Value| message["method"] == json!(event);
        while !self.events.iter().any(is) {
            let message = self.next(event);
            self.events.push(message);
        }
    }

    /// Returns what `script`, a function's body, returns in the page.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        let expression = format!("JSON.stringify((() => {{ {script} }})())");
        let answer = json!({ "expression": expression, "returnByValue": true });
        let result = self.ask("Runtime.evaluate", &answer);
        assert!(result["exceptionDetails"].is_null(), "{}", result["exceptionDetails"]);
        let text = result["result"]["value"].as_str().expect("it returns something");
        serde_json::from_str(text).expect("it returns JSON")
    }

    /// Shows the page on a screen this wide.
    pub(crate) fn width(&mut self, width: u32) {
        let screen = json!({
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.ask("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Shows the page on paper or on a screen, and dark or light.
    pub(crate) fn media(&mut self, media: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
    }

    /// Returns what went wrong, ran or was fetched so far: messages, exceptions, dialogs, requests.
    pub(crate) fn trouble(&mut self) -> Vec<String> {
        // What was said before this answer has arrived.
        self.run("return 0");
        let own = |event: &Value| {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            url.ends_with("/page.html")
        };
        let bad = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Page.javascriptDialogOpening" => true,
            "Network.requestWillBeSent" => !own(event),
            _ => false,
        };
        self.events.iter().filter(bad).map(Value::to_string).collect()
    }
}

/// Opens a pipe that the child opens too.
fn open(child: &mut Child, path: &Path, write: bool) -> File {
    let file = if write { File::options().write(true).open(path) } else { File::open(path) };
    assert!(child.try_wait().expect("it is ours").is_none(), "bash ended at once");
    file.expect("the pipe can be opened")
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let bytes = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let asked = self.to.write_all(bytes).is_ok();
        // The pipe ends when it and all it started have ended.
        while asked && self.from.recv_timeout(FAREWELL).is_ok() {}
        // The group has no other name, and is there until it was waited for.
        let group = format!("-{}", self.child.id());
        let _ = tool::command("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
        // Those it started are gone a moment later; none may write to the profile as it goes.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && !has_group_ended(self.child.id()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
