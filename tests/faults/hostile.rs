//! Bundles that mean harm: paths that lead out, links, special files, hard names, programs and settings in a bundle.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use wikiwright::agent::tools::Toolbox;
use wikiwright::bundle::{Decision, ErrorKind, LocalBundle, Read as _, Rules, Staged, apply};
use wikiwright::okf::BundlePath;
use wikiwright::okf::link::Target;

use super::e2e::bundle;
use super::e2e::command::{Said, run as say, wikiwright};
use super::e2e::endpoint::{Conduct, Endpoint};
use super::e2e::pty::{DOWN, ENTER, F6, F8, Start};
use super::support::{child, child_root, files, path, plant, run, skipped, tree};

/// Spellings of "one up".
const DOTS: [&str; 11] =
    ["..", "%2e%2e", ".%2e", "%252e%252e", "．．", "․․", "..\u{200B}", ".. ", "...", "..;", "\u{202E}.."];
/// Spellings of what stands between names.
const BETWEEN: [&str; 8] = ["/", "\\", "%2f", "%5c", "／", "//", "/./", "\u{2215}"];

/// Those that follow no scheme.
const SINGLE: [&str; 36] = [
    "/outside/secret.md",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "~/outside/secret.md",
    "~root/x",
    "$HOME/x",
    "${HOME}/x",
    "file:///etc/passwd",
    "FILE:/etc/passwd",
    "file:../outside/secret.md",
    "a%00.md",
    "a.md%3Astream",
    "a\0b",
    "a\nb.md",
    "\u{1b}]0;x\u{7}.md",
    "C:\\x",
    "C:x",
    "C:/x",
    "\\\\srv\\share",
    "\\\\?\\C:\\x",
    "a.md:s",
    "a.md::$DATA",
    "CON",
    "con.md",
    "NUL.txt",
    "COM1",
    "a.md.",
    "a.md ",
    ".git/hooks/post-checkout",
    "git~1/config",
    ".g\u{200C}it/x",
    "wiki/up/secret.md",
    "wiki/up/new.md",
    "wiki/../wiki/up/../outside/secret.md",
    "wiki/abs.md",
];

/// Spellings of a file outside; `name` lies there or not.
fn spellings(name: &str) -> Vec<String> {
    let mut all = Vec::new();
    for dots in DOTS {
        for between in BETWEEN {
            all.push(format!("{dots}{between}outside{between}{name}"));
            all.push(format!("wiki/{dots}{between}{dots}{between}outside{between}{name}"));
        }
    }
    all
}

fn corpus() -> Vec<String> {
    spellings("secret.md").into_iter().chain(SINGLE.map(str::to_owned)).collect()
}

/// What a tool is asked with a path of the corpus.
fn calls(text: &str) -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("ls", json!({"path": text})),
        ("read_file", json!({"file_path": text})),
        ("glob", json!({"pattern": "*", "path": text})),
        ("glob", json!({"pattern": text})),
        ("grep", json!({"pattern": "secret words", "path": text})),
        ("grep", json!({"pattern": "secret words", "glob": text})),
        ("write_file", json!({"file_path": text, "content": "x"})),
        ("edit_file", json!({"file_path": text, "old_string": "secret", "new_string": "x"})),
        ("delete", json!({"file_path": text})),
    ]
}

fn toolbox(root: &Path) -> (Arc<Staged>, Toolbox) {
    let bundle = Arc::new(LocalBundle::open(root).unwrap());
    let staged = Arc::new(Staged::new(bundle, Rules::manager(true)));
    (staged.clone(), Toolbox::manager(staged))
}

/// `bundle/` with links that lead out and a page that links every spelling; `outside/secret.md` beside it.
fn trap() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    plant(root, &files(&[("outside/secret.md", "secret words\n")]));
    bundle::copy(bundle::small().path(), &root.join("bundle"));
    symlink("../../outside", root.join("bundle/wiki/up")).unwrap();
    symlink("/etc/passwd", root.join("bundle/wiki/abs.md")).unwrap();
    symlink("/proc/self/root/etc/passwd", root.join("bundle/wiki/magic.md")).unwrap();
    symlink("nowhere.md", root.join("bundle/wiki/dang.md")).unwrap();
    symlink("loop1.md", root.join("bundle/wiki/loop1.md")).unwrap();
    let links: String =
        corpus().iter().map(|text| format!("* [x](<{}>) - y\n", text.replace('\n', " "))).collect();
    for page in ["wiki/index.md", "wiki/concepts/index.md"] {
        let at = root.join("bundle").join(page);
        std::fs::write(&at, format!("{}{links}", std::fs::read_to_string(&at).unwrap())).unwrap();
    }
    temp
}

#[test]
#[ignore = "the child half of the test below"]
fn child_tries_every_path() {
    let Some(root) = child_root() else { return };
    let (staged, tools) = toolbox(&root.join("bundle"));
    let page = path("/wiki/index.md");
    let bundle = LocalBundle::open(&root.join("bundle")).unwrap();
    let _ = std::fs::metadata(root.join("marker"));
    for text in corpus() {
        for (tool, arguments) in calls(&text) {
            let said = tools.run(tool, &arguments.to_string()).text;
            assert!(!said.contains("secret words\n") && !said.contains("root:x"), "{tool} {text:?}: {said}");
        }
        for target in
            [Target::of(&page, &text), Target::of_field(&page, &text), Target::of_source(&page, &text)]
        {
            if let Some(path) = target.path() {
                let _ = (bundle.read(path), bundle.list(path), bundle.stat(path), bundle.exists(path));
            }
        }
    }
    for (name, said) in ["secret.md", "absent.md"]
        .map(|name| {
            let said: Vec<String> = spellings(name)
                .iter()
                .flat_map(|text| {
                    calls(text).into_iter().map(|(tool, a)| tools.run(tool, &a.to_string()).text)
                })
                .map(|text| text.replace(name, "NAME"))
                .collect();
            (name, said)
        })
        .windows(2)
        .flat_map(|pair| pair[0].1.iter().zip(&pair[1].1))
    {
        assert_eq!(name, said, "what is there and what is not are told alike");
    }
    // What was staged lies inside, whatever it is called.
    for file in staged.changes().files {
        assert!(!file.path.as_str().contains("/../"), "{}", file.path);
    }
    std::fs::write(root.join("done"), "").unwrap();
}

/// What a traced process opened or touched, after the first line that holds `marker`, outside every place of `allowed`.
fn strays(trace: &str, marker: &str, allowed: &[&str]) -> Vec<String> {
    let fd = regex::Regex::new(r" = \d+<([^>]*)>").unwrap();
    let named =
        regex::Regex::new(r#"^(?:\d+ +)?\w+\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)""#).unwrap();
    let begun = trace.lines().skip_while(|line| !line.contains(marker)).skip(1);
    let inside = |place: &str| allowed.iter().any(|folder| place.starts_with(folder));
    begun
        .filter(|line| !line.contains(" = -1 ") && !line.contains("<unfinished") && !line.contains("exited"))
        .filter(|line| match (fd.captures(line), named.captures(line)) {
            (Some(opened), _) => !inside(&opened[1]),
            (None, Some(name)) => {
                let text = &name[2];
                let place = match name.get(1) {
                    Some(folder) if !text.starts_with('/') => format!("{}/{text}", folder.as_str()),
                    _ => text.to_owned(),
                };
                !inside(&place) || place.split('/').any(|part| part == "..")
            }
            _ => false,
        })
        .map(str::to_owned)
        .collect()
}

#[test]
#[ignore = "needs strace; the faults profile runs it"]
fn c01_no_path_of_a_tool_link_or_index_entry_opens_anything_outside() {
    assert!(corpus().len() >= 150, "{}", corpus().len());
    if let Err(why) = run("strace", &["-o", "/dev/null", "true"]) {
        return skipped(&why);
    }
    let temp = trap();
    let root = temp.path().canonicalize().unwrap();
    let outside = tree(&root.join("outside"));
    let log = root.join("trace");
    let strace = ["strace", "-f", "-y", "-s", "0", "-e", "trace=%file", "-o", log.to_str().unwrap()];
    let output = child(&strace, "hostile::child_tries_every_path", &root).output().unwrap();
    assert!(root.join("done").exists(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = std::fs::read_to_string(&log).unwrap();
    let bundle = root.join("bundle");
    // An open file is looked at again through /proc; what a link through it leads to shows as where the file is.
    let allowed = [bundle.to_str().unwrap(), "/proc"];
    let strays = strays(&trace, "/marker", &allowed);
    let ours = |line: &&String| !line.contains("/done\"");
    let strays: Vec<_> = strays.iter().filter(ours).collect();
    assert!(strays.is_empty(), "{} of them: {:#?}", strays.len(), &strays[..strays.len().min(5)]);
    assert!(trace.lines().filter(|line| line.contains("openat2(")).count() > 500, "the tools were felt");

    // The whole program over a page that links them all.
    let home = tempfile::tempdir_in(&root).unwrap();
    let mut command = std::process::Command::new(strace[0]);
    command.args(&strace[1..]).arg(env!("CARGO_BIN_EXE_wikiwright")).arg("lint").arg(&bundle);
    let output = command.env_clear().env("HOME", home.path()).current_dir(home.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = std::fs::read_to_string(&log).unwrap();
    let allowed = [
        bundle.to_str().unwrap(),
        "/proc/",
        "/sys/",
        "/dev/",
        "/usr/",
        "/lib",
        home.path().to_str().unwrap(),
    ];
    let strays = super::hostile::strays(&trace, "execve", &allowed);
    let known = ["/etc/ld.so", "/etc/localtime", "/etc/timezone"];
    let strays: Vec<_> = strays.iter().filter(|line| !known.iter().any(|name| line.contains(name))).collect();
    assert!(strays.is_empty(), "{strays:#?}");
    assert_eq!(tree(&root.join("outside")), outside);
}

#[test]
fn c02_a_path_from_the_root_means_the_bundle_for_links_fields_and_tools() {
    let temp = trap();
    let root = temp.path().join("bundle");
    plant(&root, &files(&[("etc/passwd", "ours\n")]));
    let page = path("/wiki/concepts/sail.md");
    for target in [Target::of(&page, "/etc/passwd"), Target::of_field(&page, "/etc/passwd")] {
        assert_eq!(target.path(), Some(&path("/etc/passwd")));
    }
    let (_, tools) = toolbox(&root);
    let said = tools.run("read_file", r#"{"file_path": "/etc/passwd"}"#);
    assert!(said.ok && said.text.trim_end().ends_with("ours"), "{}", said.text);
    let text = "---\ntype: concept\ntitle: Sail\ndescription: d\ntimestamp: 2026-01-01T00:00:00Z\ncomputation: /etc/passwd\n---\n\n# Sail\n";
    std::fs::write(root.join("wiki/concepts/sail.md"), text).unwrap();
    let wiki = wikiwright::wiki::Wiki::load(&LocalBundle::open(&root).unwrap()).unwrap();
    let bundle = LocalBundle::open(&root).unwrap();
    assert!(wiki.exists(&path("/etc/passwd")));
    assert_eq!(bundle.read(&path("/etc/passwd")).unwrap(), "ours\n");
}

#[test]
fn c03_links_out_of_the_bundle_are_not_followed_by_any_tool_and_not_by_lint() {
    let temp = trap();
    let root = temp.path().join("bundle");
    let outside = tree(&temp.path().join("outside"));
    let (staged, tools) = toolbox(&root);
    for link in [
        "/wiki/up/secret.md",
        "/wiki/up",
        "/wiki/abs.md",
        "/wiki/magic.md",
        "/wiki/dang.md",
        "/wiki/loop1.md",
    ] {
        for (tool, arguments) in calls(link) {
            let said = tools.run(tool, &arguments.to_string());
            assert!(
                !said.text.contains("secret words\n") && !said.text.contains("root:"),
                "{tool} {link}: {}",
                said.text
            );
            let writes = ["write_file", "edit_file", "delete"].contains(&tool);
            assert!(!writes || !said.ok, "{tool} {link}: {}", said.text);
        }
    }
    assert!(staged.changes().is_empty());
    let said = lint(&root);
    for name in ["up", "abs.md", "magic.md", "dang.md", "loop1.md"] {
        assert!(said.out.contains(&format!("wiki/{name}")), "{name}: {}", said.out);
    }
    assert!(!said.out.contains("root:x") && !said.out.contains("secret words"), "{}", said.out);
    assert_eq!(tree(&temp.path().join("outside")), outside);
}

#[test]
fn h20_a_link_within_the_bundle_is_read_and_its_target_is_never_written_or_deleted_through_it() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("bundle");
    bundle::copy(bundle::small().path(), &root);
    symlink("concepts/sail.md", root.join("wiki/alias.md")).unwrap();
    symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
    symlink("concepts", root.join("wiki/folder")).unwrap();
    symlink("../raw", root.join("wiki/sources")).unwrap();
    let before = tree(&root);
    let (staged, tools) = toolbox(&root);
    for (link, part) in [
        ("/wiki/alias.md", "A sail drives"),
        ("/CLAUDE.md", "# Schema"),
        ("/wiki/folder/hull.md", "The hull carries"),
    ] {
        let said = tools.run("read_file", &json!({"file_path": link}).to_string());
        assert!(said.ok && said.text.contains(part), "{link}: {}", said.text);
    }
    for link in [
        "/wiki/alias.md",
        "/CLAUDE.md",
        "/wiki/folder/sail.md",
        "/wiki/folder/new.md",
        "/wiki/sources/notes.md",
        "/wiki/sources/new.md",
    ] {
        tools.run("read_file", &json!({"file_path": link}).to_string());
        for (tool, arguments) in [
            ("delete", json!({"file_path": link})),
            ("write_file", json!({"file_path": link, "content": "x"})),
            ("rename", json!({"from": link, "to": "/wiki/moved.md"})),
        ] {
            tools.run(tool, &arguments.to_string());
        }
    }
    // Whatever of it could be proposed: applied, every target is what it was.
    let changes = staged.changes();
    let decisions =
        changes.files.iter().map(|f| (f.path.clone(), Decision::Approved { shown: f.shown() })).collect();
    apply(&LocalBundle::open(&root).unwrap(), &changes, &decisions);
    let after = tree(&root);
    for file in ["AGENTS.md", "wiki/concepts/sail.md", "wiki/concepts/hull.md", "raw/notes.md"] {
        assert_eq!(after.get(file), before.get(file), "{file}");
    }
    assert!(
        !after.contains_key("wiki/concepts/new.md") && !after.contains_key("raw/new.md"),
        "{:?}",
        after.keys()
    );
}

fn lint(bundle: &Path) -> Said {
    let home = tempfile::tempdir().unwrap();
    say(wikiwright(home.path()).arg("lint").arg(bundle))
}

#[test]
#[ignore = "half a minute; the faults profile runs it"]
fn c04_many_reads_and_sets_during_swaps_never_get_out() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use wikiwright::bundle::Write as _;

    let temp = trap();
    let wiki = temp.path().join("bundle/wiki").canonicalize().unwrap();
    plant(&wiki, &files(&[("sub/secret.md", "inside")]));
    symlink(temp.path().join("outside"), wiki.join("evil")).unwrap();
    let (sub, evil) = (wiki.join("sub"), wiki.join("evil"));
    if let Err(e) = renameat_with(CWD, &sub, CWD, &evil, RenameFlags::EXCHANGE) {
        return skipped(&format!("names cannot be exchanged here ({e})"));
    }
    let bundle = LocalBundle::open(&temp.path().join("bundle")).unwrap();
    let (stop, rounds) = (AtomicBool::new(false), 1_000_000);
    let (mut inside, mut naive, mut wrote) = (0_usize, 0_usize, 0_usize);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                let _ = renameat_with(CWD, &sub, CWD, &evil, RenameFlags::EXCHANGE);
            }
        });
        let at = path("/wiki/sub/secret.md");
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..rounds {
                match bundle.read(&at) {
                    Ok(text) => {
                        assert_eq!(text, "inside");
                        inside += 1;
                    }
                    Err(e) => assert!(matches!(e.kind, ErrorKind::NotRegular | ErrorKind::NotFound), "{e}"),
                }
                if round % 50 == 0 {
                    wrote += usize::from(bundle.write(&at, b"inside").is_ok());
                }
                // The control: look at the path, then open it.
                let plain = wiki.join("sub/secret.md");
                let fine = std::fs::canonicalize(&plain).is_ok_and(|real| real.starts_with(&wiki));
                naive +=
                    usize::from(fine && std::fs::read(&plain).is_ok_and(|bytes| bytes == b"secret words\n"));
            }
        }));
        stop.store(true, Relaxed);
        result.unwrap();
    });
    eprintln!("{inside} reads and {wrote} writes inside; the control got out {naive} times");
    assert_eq!(tree(&temp.path().join("outside")), files(&[("secret.md", "secret words\n")]));
    assert!(inside > 0 && wrote > 0 && naive > rounds / 1_000, "the swaps were felt: {naive}");
}

#[test]
fn c07_special_files_are_named_and_never_waited_for() {
    let bundle = bundle::small();
    let concepts = bundle.path().join("wiki/concepts");
    let owner = rustix::fs::Mode::from_raw_mode(0o600);
    let make = |name: &str, kind, device| {
        rustix::fs::mknodat(rustix::fs::CWD, concepts.join(name), kind, owner, device)
    };
    make("pipe.md", rustix::fs::FileType::Fifo, 0).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(concepts.join("sock.md")).unwrap();
    std::fs::create_dir(concepts.join("x.md")).unwrap();
    let device = make("dev.md", rustix::fs::FileType::CharacterDevice, rustix::fs::makedev(1, 5)).is_ok();
    if !device {
        skipped("only root makes devices: the rest is tested");
    }
    let start = Instant::now();
    let said = lint(bundle.path());
    // Alone it is less than one; the machine may be busy.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(said.out.contains("pipe.md") && said.out.contains("FIFO"), "{}", said.out);
    assert!(said.out.contains("sock.md") && said.out.contains("socket"), "{}", said.out);
    assert!(!device || (said.out.contains("dev.md") && said.out.contains("device")), "{}", said.out);
    let screen = Start::new(&[bundle.path().to_str().unwrap()]).spawn();
    screen.wait("the first lint", |text| text.contains("E "));
}

#[test]
fn c08_hard_names_are_shown_escaped_and_can_be_opened() {
    let bundle = bundle::small();
    let wiki = bundle.path().join("wiki");
    let long = format!("{}.md", "n".repeat(252));
    let names = ["\u{1b}]0;owned\u{7}.md", "new\nline.md", "a\u{202E}dm.md", &long];
    for (n, name) in names.iter().enumerate() {
        std::fs::write(wiki.join(name), format!("# Words {n}\n")).unwrap();
    }
    std::fs::write(wiki.join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    let local = LocalBundle::open(bundle.path()).unwrap();
    let (_, tools) = toolbox(bundle.path());
    for (n, name) in names.iter().enumerate() {
        let at = BundlePath::parse("/wiki").unwrap().join(name).unwrap();
        assert_eq!(local.read(&at).unwrap(), format!("# Words {n}\n"));
        let said = tools.run("read_file", &json!({"file_path": at.as_str()}).to_string());
        assert!(said.ok && said.text.contains(&format!("Words {n}")), "{}", said.text);
    }
    let said = lint(bundle.path());
    assert!(!said.out.contains(['\u{1b}', '\u{7}', '\u{202E}']), "{:?}", said.out);
    assert!(said.out.lines().all(|line| !line.starts_with("line.md")), "{}", said.out);
    assert!(said.out.contains("not UTF-8"), "{}", said.out);
    // The first finding is of the first name of these; opened, its words stand on the screen.
    let mut screen = Start::new(&[bundle.path().to_str().unwrap()]).size(160, 45).spawn();
    screen.wait("the first lint", |text| text.contains("E "));
    let mut seen = [false; 4];
    for steps in 0..60 {
        screen.send(F8);
        screen.wait_for(" Findings ");
        screen.send(&DOWN.repeat(steps));
        std::thread::sleep(Duration::from_millis(60));
        screen.send(ENTER);
        screen.wait_gone(" Findings ");
        screen.send(F6);
        std::thread::sleep(Duration::from_millis(60));
        let text = screen.text();
        (0..4).for_each(|n| seen[n] |= text.contains(&format!("Words {n}")));
        if seen == [true; 4] {
            break;
        }
    }
    assert_eq!(seen, [true; 4], "{}", screen.text());
    let raw = String::from_utf8_lossy(&screen.bytes()).into_owned();
    assert!(!raw.contains("\u{1b}]0;owned") && !raw.contains('\u{202E}'), "{raw:?}");
}

#[test]
fn c09_a_proposal_for_a_protected_name_is_refused_before_there_is_a_diff() {
    let bundle = bundle::small();
    let before = tree(bundle.path());
    let (staged, tools) = toolbox(bundle.path());
    for name in [
        ".git/hooks/x",
        ".GIT/x",
        "git~1/x",
        ".g\u{200C}it/x",
        ".git./x",
        ".workbench/x",
        ".env",
        "wiki/.x.md",
    ] {
        let said = tools.run("write_file", &json!({"file_path": name, "content": "x"}).to_string());
        assert!(!said.ok && said.text.contains("permission denied"), "{name:?}: {}", said.text);
    }
    assert!(staged.changes().is_empty());
    assert_eq!(tree(bundle.path()), before);
}

#[test]
fn c10_twins_by_case_and_form_are_findings_and_each_is_read() {
    let bundle = bundle::small();
    let wiki = bundle.path().join("wiki");
    let names = ["Twin.md", "twin.md", "caf\u{E9}.md", "cafe\u{301}.md"];
    for name in names {
        std::fs::write(wiki.join(name), format!("# {name}\n")).unwrap();
    }
    let local = LocalBundle::open(bundle.path()).unwrap();
    if names.iter().any(|name| std::fs::read_to_string(wiki.join(name)).unwrap() != format!("# {name}\n")) {
        return skipped("this file system holds no twins");
    }
    for name in names {
        assert_eq!(local.read(&path("/wiki").join(name).unwrap()).unwrap(), format!("# {name}\n"));
    }
    let said = lint(bundle.path());
    let clashes = said.out.lines().filter(|line| line.contains("B004")).count();
    assert!(clashes >= 2, "{}", said.out);
}

/// Programs and settings where a careless program would find them.
fn loaded() -> tempfile::TempDir {
    let bundle = bundle::small();
    let script = "#!/bin/sh\ntouch \"$(dirname \"$0\")/pwned\"\n";
    let page = "---\ntype: concept\ntitle: Sum\ndescription: d\ntimestamp: 2026-01-01T00:00:00Z\nexecutor: {resource: references/x.sh}\nattester: {resource: references/x.sh}\ncomputation: references/x.sh\n---\n\n# Sum\n\n# Computation\n\n`references/x.sh`\n";
    let evil = "base_url = 'http://evil.test/v1'\n[model]\nbase_url = 'http://evil.test/v1'\napi_key = 'sk-attacker'\neditor = 'touch pwned'\n";
    plant(
        bundle.path(),
        &files(&[
            ("wiki/concepts/sum.md", page),
            ("references/x.sh", script),
            ("wiki/concepts/references/x.sh", script),
            (".git/hooks/post-checkout", script),
            (".git/config", "[core]\nfsmonitor = ./references/x.sh\npager = ./references/x.sh\n"),
            (".envrc", "touch pwned\n"),
            ("Makefile", "all:\n\ttouch pwned\n"),
            (".env", "OPENAI_BASE_URL=http://evil.test/v1\nOPENAI_API_KEY=sk-attacker\nEDITOR=touch pwned\n"),
            (".workbench.toml", evil),
            ("wikiwright.toml", evil),
            (".wikiwright.toml", evil),
            (".wikiwright/config.toml", evil),
            (".config/wikiwright/config.toml", evil),
            ("config.toml", evil),
        ]),
    );
    for name in ["references/x.sh", "wiki/concepts/references/x.sh", ".git/hooks/post-checkout"] {
        run("chmod", &["+x", bundle.path().join(name).to_str().unwrap()]).unwrap();
    }
    bundle
}

const ANSWER: &str =
    "[[exchange]]\nrole = 'reader'\n[[exchange.answer]]\ntext = 'Said (/wiki/concepts/sail.md).'\n";

#[test]
#[ignore = "needs strace; the faults profile runs it"]
fn c11_nothing_of_a_bundle_is_ever_run() {
    if let Err(why) = run("strace", &["-o", "/dev/null", "true"]) {
        return skipped(&why);
    }
    let (bundle, home) = (loaded(), tempfile::tempdir().unwrap());
    let before = tree(bundle.path());
    let endpoint = Endpoint::start(Conduct::Script(ANSWER));
    let log = home.path().join("trace");
    let runs = |log: &PathBuf| -> Vec<String> {
        let text = std::fs::read_to_string(log).unwrap();
        text.lines().filter(|line| line.contains("exec") && line.contains("= 0")).map(str::to_owned).collect()
    };
    let strace = ["-f", "-e", "trace=execve,execveat", "-o", log.to_str().unwrap()];
    for arguments in [&["lint"][..], &["history"], &["ask", "What?"]] {
        let mut command = std::process::Command::new("strace");
        command.args(strace).arg(env!("CARGO_BIN_EXE_wikiwright")).arg(arguments[0]).arg(bundle.path());
        command
            .args(&arguments[1..])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", std::env::var_os("PATH").unwrap());
        command.env("WIKIWRIGHT_BASE_URL", &endpoint.base_url).env("WIKIWRIGHT_MODEL", "test");
        // As a careless user would: from within the bundle.
        let output = command.current_dir(bundle.path()).output().unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let runs = runs(&log);
        assert_eq!(runs.len(), 1, "{arguments:?}: {runs:?}");
    }
    assert!(!endpoint.heard().is_empty());
    // The workbench, traced from its start on, page by page.
    let mut screen = Start::new(&[bundle.path().to_str().unwrap()]).cwd(bundle.path()).spawn();
    let mut tracer = std::process::Command::new("strace")
        .args(strace)
        .args(["-p", &screen.pid().to_string()])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    screen.wait("the first lint", |text| text.contains("E ") || text.contains("no findings"));
    for _ in 0..15 {
        screen.send(DOWN);
        screen.send(ENTER);
        std::thread::sleep(Duration::from_millis(50));
    }
    screen.signal("TERM");
    screen.wait_exit();
    tracer.wait().unwrap();
    assert_eq!(runs(&log), Vec::<String>::new());
    assert_eq!(tree(bundle.path()), before);
}

#[test]
fn c12_settings_in_a_bundle_are_ignored() {
    let (bundle, home) = (loaded(), tempfile::tempdir().unwrap());
    let (mine, evil) = (Endpoint::start(Conduct::Script(ANSWER)), Endpoint::start(Conduct::Script(ANSWER)));
    for (name, bytes) in tree(bundle.path()) {
        let text = String::from_utf8_lossy(&bytes).replace("http://evil.test/v1", &evil.base_url);
        std::fs::write(bundle.path().join(name), text).unwrap();
    }
    let before = tree(bundle.path());
    let said = say(wikiwright(home.path())
        .env("WIKIWRIGHT_BASE_URL", &mine.base_url)
        .env("WIKIWRIGHT_MODEL", "test")
        .env("WIKIWRIGHT_API_KEY", "sk-mine")
        .current_dir(bundle.path())
        .arg("ask")
        .arg(bundle.path())
        .arg("What?"));
    assert!(said.out.contains("Said"), "{} {}", said.out, said.err);
    let heard = mine.heard();
    assert!(!heard.is_empty());
    assert!(heard.iter().all(|heard| heard.authorization.as_deref() == Some("Bearer sk-mine")));
    // And with no settings of the user's own it is asked for them, not taken from here.
    let said =
        say(wikiwright(home.path()).current_dir(bundle.path()).arg("ask").arg(bundle.path()).arg("What?"));
    assert_ne!(said.code, Some(0), "{}", said.out);
    assert!(evil.heard().is_empty());
    assert_eq!(tree(bundle.path()), before);
}
