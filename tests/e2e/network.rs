//! What a network does to a model's answers, and what a bundle would do to the network.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::bundle;
use super::support::command::{run, wikiwright};
use super::support::pty::{DOWN, ENTER, F6, Start};
use super::support::server::{delta, finish};

/// The address of a server that answers each request with what this writes.
fn answering(write: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let write = Arc::new(write);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let (Ok(mut connection), write) = (connection, write.clone()) else { continue };
            std::thread::spawn(move || {
                let _ = connection.read(&mut [0; 64 * 1024]);
                // An error: the other side has had enough.
                let _ = write(&mut connection);
            });
        }
    });
    address.to_string()
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn event(chunk: &serde_json::Value) -> Vec<u8> {
    format!("data: {chunk}\n\n").into_bytes()
}

/// Asks on the command line; gives exit code, standard error and the most memory that was in use, in MiB.
fn ask(base_url: &str) -> (Option<i32>, String, u64) {
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_wikiwright"))
        .env_clear()
        .env("HOME", home.path())
        .args(["ask", "--base-url", base_url, "--model", "m"])
        .arg(folder.path())
        .arg("What is a sail?")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut most, started) = (0, Instant::now());
    let code = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = peak.and_then(|kib| kib.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(most);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        assert!(started.elapsed() < Duration::from_secs(300), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (code, said, most / 1024)
}

#[test]
fn n04_answers_of_many_megabytes_stay_within_300_mib() {
    let mebibyte = Arc::new("x".repeat(1 << 20));
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ls", "arguments": arguments}}]});
    let x = || mebibyte.clone();
    let (refusal, line, one, pieces) = (x(), x(), x(), x());
    let answers: [(&str, Answer); 5] = [
        (
            "a refusal of 100 MiB",
            Box::new(move |to| {
                to.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"error\":\"")?;
                (0..100).try_for_each(|_| to.write_all(refusal.as_bytes()))
            }),
        ),
        (
            "20 MiB without a line end",
            Box::new(move |to| {
                to.write_all(HEAD)?;
                (0..20).try_for_each(|_| to.write_all(line.as_bytes()))
            }),
        ),
        (
            "an event of 8 MiB",
            Box::new(move |to| {
                to.write_all(HEAD)?;
                to.write_all(&event(&delta(json!({"content": one.repeat(7)}))))?;
                to.write_all(&event(&finish("stop")))
            }),
        ),
        (
            "arguments of 5 MiB, then more than any answer has",
            Box::new(move |to| {
                to.write_all(HEAD)?;
                to.write_all(&event(&delta(call(""))))?;
                (0..100).try_for_each(|_| {
                    to.write_all(&event(&delta(
                        json!({"tool_calls": [{"index": 0, "function": {"arguments": *pieces}}]}),
                    )))
                })?;
                to.write_all(&event(&finish("tool_calls")))
            }),
        ),
        ("a hundred thousand events", Box::new(|to| many(to, 100))),
    ];
    for (what, answer) in answers {
        assert_bounded(what, answer);
    }
}

#[test]
#[ignore = "a minute or two; the faults profile runs it"]
fn n04_a_million_events_stay_within_300_mib() {
    assert_bounded("a million events", Box::new(|to| many(to, 1000)));
}

type Answer = Box<dyn Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync>;

fn many(to: &mut TcpStream, thousands: usize) -> std::io::Result<()> {
    to.write_all(HEAD)?;
    let thousand = event(&delta(json!({"content": ""}))).repeat(1000);
    (0..thousands).try_for_each(|_| to.write_all(&thousand))?;
    to.write_all(&event(&finish("stop")))
}

fn assert_bounded(what: &str, answer: Answer) {
    let started = Instant::now();
    let (code, said, peak) = ask(&format!("http://{}/v1", answering(answer)));
    eprintln!("{what}: {peak} MiB, {:?}, exit code {code:?}", started.elapsed());
    assert!(peak > 0 && peak < 300, "{what}: {peak} MiB");
    assert!(code.is_some() && !said.contains("panicked") && said.len() < 5000, "{what}: {said}");
}

#[test]
fn n06_a_proxy_that_wants_a_password_is_named() {
    let proxy = answering(|to| {
        to.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    });
    let (folder, home) = (bundle::small(), tempfile::tempdir().unwrap());
    for scheme in ["http", "https"] {
        let said = run(wikiwright(home.path())
            .env("HTTP_PROXY", format!("http://{proxy}"))
            .env("HTTPS_PROXY", format!("http://{proxy}"))
            .env("WIKIWRIGHT_API_KEY", "sk-secret")
            .args(["ask", "--base-url", &format!("{scheme}://model.test/v1"), "--model", "m"])
            .arg(folder.path())
            .arg("What is a sail?"));
        assert_eq!(said.code, Some(2), "{scheme}: {}", said.err);
        assert!(said.err.contains("proxy") && said.err.contains("password"), "{scheme}: {}", said.err);
        assert!(!said.err.contains("sk-secret") && said.err.lines().count() < 4, "{scheme}: {}", said.err);
    }
}

#[test]
fn c13_no_picture_and_no_link_is_ever_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("http://{}/d?SECRET", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let forms = [
        format!("![x]({at})"),
        format!("[x]({at})"),
        format!("![x][r]\n\n[r]: {at}"),
        format!("[x][r]\n\n[r]: {at}"),
        format!("<{at}>"),
        at.clone(),
        format!("<img src=\"{at}\">"),
        format!("<a href=\"{at}\">x</a>"),
        format!("[[{at}]]"),
        format!("Text[^1]\n\n[^1]: ![x]({at})"),
        format!("[![x]({at})]({at})"),
        format!("| a |\n|---|\n| ![x]({at}) |"),
        format!(
            "<link rel=\"stylesheet\" href=\"{at}\"><script src=\"{at}\"></script><iframe src=\"{at}\"></iframe>"
        ),
    ];
    let pages: Vec<(String, String)> = forms.iter().enumerate().map(|(nth, form)| {
        let text = format!("---\ntype: Note\ntitle: Page {nth}\ndescription: {nth}\nresource: {at}\n---\n\n# Page {nth}\n\nbody-{nth}\n\n{form}\n");
        (format!("p{nth:02}.md"), text)
    }).collect();
    let files: Vec<(&str, &str)> = pages.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = bundle::with(&files);
    let path = folder.path().to_str().unwrap();
    let mut screen = Start::new(&[path, "--base-url", "http://127.0.0.1:9/v1", "--model", "m"]).spawn();
    screen.wait_for("p00.md");
    for nth in 0..forms.len() {
        if nth > 0 {
            // Past the conversation, back to the tree.
            screen.send(F6);
            screen.send(F6);
            screen.send(DOWN);
        }
        screen.send(ENTER);
        screen.wait_for(&format!("body-{nth}"));
    }
    screen.send("\x11");
    screen.wait_exit();
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["lint", path][..], &["lint", path, "--diff", "--unsafe-fixes"]] {
        run(wikiwright(home.path()).args(arguments));
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}
