//! Bundles elsewhere than in a folder: in object storage, over a real S3-compatible server, and in archives.
//!
//! The server's address comes from `WIKIWRIGHT_TEST_S3` (`.ci/run` starts one); without it those tests are skipped.

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::{Arc, Barrier};

use object_store::aws::AmazonS3Builder;
use wikiwright::bundle::{ErrorKind, ObjectBundle, Read as _, Write as _};
use wikiwright::okf::{BundlePath, ContentHash};

use super::support::bundle;
use super::support::command::{Said, run, wikiwright};
use super::support::endpoint::{Conduct, Endpoint};
use super::support::pty::Start;

const SCRIPT: &str = include_str!("../../assets/demo/script.toml");
const INGEST: &str = "Ingest raw/la-rance.md";
const BUCKET: &str = "wikiwright-tests";
const SECRET: &str = "sesame-open";

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

/// A folder of one test on the server.
struct Store {
    endpoint: String,
    prefix: String,
    home: tempfile::TempDir,
}

impl Store {
    /// None, said aloud, where there is no server.
    fn of(test: &str) -> Option<Self> {
        let Ok(endpoint) = std::env::var("WIKIWRIGHT_TEST_S3") else {
            eprintln!("SKIPPED: WIKIWRIGHT_TEST_S3 names no S3-compatible server (.ci/run starts one)");
            return None;
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        Some(Self { endpoint, prefix: format!("{test}-{now}/my wiki"), home: tempfile::tempdir().unwrap() })
    }

    fn address(&self) -> String {
        format!("s3://{BUCKET}/{}", self.prefix)
    }

    /// One more writer, with connections of its own.
    fn writer(&self) -> ObjectBundle {
        let store = AmazonS3Builder::new()
            .with_endpoint(&self.endpoint)
            .with_allow_http(true)
            .with_bucket_name(BUCKET)
            .with_access_key_id("test")
            .with_secret_access_key(SECRET)
            .build()
            .unwrap();
        ObjectBundle::new(Arc::new(store), self.prefix.as_str().into()).unwrap()
    }

    fn fill(&self, files: &[(&str, &str)]) -> ObjectBundle {
        let writer = self.writer();
        for (name, text) in files {
            writer.replace(&path(name), None, text.as_bytes()).unwrap();
        }
        writer
    }

    fn variables(&self) -> [(&'static str, &str); 3] {
        [
            ("AWS_ENDPOINT_URL", &self.endpoint),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ]
    }

    fn run(&self, command: &str, address: &str, rest: &[&str], variables: &[(&str, &str)]) -> Said {
        let mut program = wikiwright(self.home.path());
        program.envs(self.variables()).envs(variables.iter().copied());
        run(program.arg(command).arg(address).args(rest))
    }
}

#[test]
fn a_bundle_in_a_store_is_judged_like_a_folder() {
    let Some(store) = Store::of("judge") else { return };
    let writer = store.fill(bundle::SMALL);
    let said = store.run("lint", &store.address(), &[], &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    writer.remove(&path("wiki/concepts/sail.md"), hash_of(&writer, "wiki/concepts/sail.md")).unwrap();
    let said = store.run("lint", &store.address(), &[], &[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.out.contains("wiki/concepts/hull.md") && said.out.contains("L001"), "{}", said.out);
}

fn hash_of(bundle: &ObjectBundle, name: &str) -> ContentHash {
    ContentHash::of(&bundle.read_bytes(&path(name)).unwrap())
}

#[test]
fn what_the_manager_proposes_lands_in_the_store() {
    let Some(store) = Store::of("manage") else { return };
    let example = bundle::example();
    let writer = store.writer();
    upload(&writer, &example, "");
    let endpoint = Endpoint::start(Conduct::Script(SCRIPT));
    let model = [("WIKIWRIGHT_BASE_URL", endpoint.base_url.as_str()), ("WIKIWRIGHT_MODEL", "test")];
    let said = store.run("manage", &store.address(), &[INGEST, "--yes"], &model);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let page = writer.read(&path("wiki/entities/la-rance.md")).unwrap();
    assert!(page.contains("24 of 10 MW"), "{page}");
    let said = store.run("lint", &store.address(), &[], &[]);
    assert!(said.out.contains("0 errors, 0 warnings, 0 hints"), "{}{}", said.out, said.err);
}

fn upload(writer: &ObjectBundle, folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            upload(writer, &entry.path(), &name);
        } else {
            writer.write(&path(&name), &std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn of_two_writers_over_the_wire_exactly_one_wins() {
    let Some(store) = Store::of("race") else { return };
    let writers = [store.writer(), store.writer()];
    let page = path("/wiki/x.md");
    for round in 0..12_usize {
        let before = format!("round {round}");
        // Replaced against replaced, replaced against deleted, made against made.
        let base = if round % 3 == 2 {
            if writers[0].exists(&page).unwrap() {
                writers[0].delete(&page).unwrap();
            }
            None
        } else {
            writers[0].write(&page, before.as_bytes()).unwrap();
            Some(ContentHash::of(before.as_bytes()))
        };
        let start = Barrier::new(2);
        let results: Vec<Result<(), ErrorKind>> = std::thread::scope(|scope| {
            let racing: Vec<_> = writers
                .iter()
                .enumerate()
                .map(|(who, writer)| {
                    let (start, page) = (&start, &page);
                    scope.spawn(move || {
                        start.wait();
                        match base {
                            Some(base) if who == 1 && round % 3 == 1 => writer.remove(page, base),
                            base => writer.replace(page, base, format!("by {who}").as_bytes()),
                        }
                    })
                })
                .collect();
            racing.into_iter().map(|writer| writer.join().unwrap().map_err(|e| e.kind)).collect()
        });
        let winner = results.iter().position(Result::is_ok).unwrap();
        assert_eq!(results[1 - winner], Err(ErrorKind::Conflict), "round {round}");
        match writers[0].read(&page) {
            Ok(text) => assert_eq!(text, format!("by {winner}")),
            Err(e) => assert_eq!((e.kind, winner, round % 3), (ErrorKind::NotFound, 1, 1)),
        }
    }
}

#[test]
fn the_workbench_sees_what_others_change_in_the_store() {
    let Some(store) = Store::of("watch") else { return };
    let writer = store.fill(bundle::SMALL);
    let address = store.address();
    let mut start = Start::new(&[&address]);
    for (name, value) in store.variables() {
        start = start.env(name, value);
    }
    let config = start.home().join(".config/wikiwright");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[storage]\npoll_seconds = 1\n").unwrap();
    let mut screen = start.spawn();
    screen.wait_for("looking for them every second");
    // Any key takes the notice away, and the counts are seen again.
    screen.send("\x1b");
    screen.wait_for("no findings");
    writer.replace(&path("wiki/concepts/rudder.md"), None, b"# No frontmatter\n").unwrap();
    screen.wait("the new page", |text| text.contains("rudder.md") && text.contains("1E"));
    writer.delete(&path("wiki/concepts/rudder.md")).unwrap();
    screen.wait_gone("rudder.md");
}

#[test]
fn what_cannot_be_opened_is_said_in_a_sentence_without_secrets() {
    let home = tempfile::tempdir().unwrap();
    let lint = |address: &str, endpoint: &str| {
        let said = run(wikiwright(home.path())
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .args(["lint", address]));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        assert!(!said.err.contains(SECRET) && !said.err.contains("panicked"), "{}", said.err);
        said.err
    };
    let nobody = "http://127.0.0.1:9";
    assert!(lint("s3://bucket/x", nobody).contains("s3://bucket/x: the store cannot be reached"));
    assert!(lint(&format!("s3://me:{SECRET}@bucket/x"), nobody).contains("credentials do not belong"));
    assert!(lint("ftp://bucket/x", nobody).contains("s3://"));
    if let Some(store) = Store::of("absent") {
        assert!(lint(&store.address(), &store.endpoint).contains("nothing is stored there"));
        assert!(lint("s3://no-such-bucket/x", &store.endpoint).contains("no such bucket"));
    }
}

/// `assets/demo/bundle` in an archive made by the system's own programs, as far as there are any.
fn archives(folder: &Path) -> Vec<PathBuf> {
    bundle::copy(&bundle::example(), &folder.join("mills"));
    let (tar, zip) = (folder.join("mills.tar.gz"), folder.join("mills.zip"));
    let mut made = Vec::new();
    for (program, arguments, archive) in
        [("tar", ["-czf", "mills.tar.gz", "mills"], tar), ("zip", ["-qr", "mills.zip", "mills"], zip)]
    {
        match Process::new(program).args(arguments).current_dir(folder).status() {
            Ok(status) => {
                assert!(status.success());
                made.push(archive);
            }
            Err(_) => eprintln!("SKIPPED: there is no {program} here to make an archive with"),
        }
    }
    made
}

#[test]
fn an_archive_is_read_like_its_folder_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let archives = archives(folder.path());
    let plain = run(wikiwright(home.path()).arg("lint").arg(folder.path().join("mills")));
    for archive in archives {
        let before = std::fs::read(&archive).unwrap();
        let said = run(wikiwright(home.path()).arg("lint").arg(&archive));
        assert_eq!((said.code, said.out.as_str()), (plain.code, plain.out.as_str()), "{}", said.err);

        let manage = |rest: &[&str]| {
            let endpoint = Endpoint::start(Conduct::Script(SCRIPT));
            run(wikiwright(home.path())
                .env("WIKIWRIGHT_BASE_URL", &endpoint.base_url)
                .env("WIKIWRIGHT_MODEL", "test")
                .arg("manage")
                .arg(&archive)
                .arg(INGEST)
                .args(rest))
        };
        let patch = folder.path().join("ingest.patch");
        let said = manage(&["--patch", patch.to_str().unwrap()]);
        assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
        let applied = Process::new("git")
            .args(["apply", "--check", "--directory=mills"])
            .arg(&patch)
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(applied.success());
        let said = manage(&["--yes"]);
        assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
        assert!(said.err.contains("an archive is read-only"), "{}", said.err);
        assert_eq!(std::fs::read(&archive).unwrap(), before);
    }
}

#[test]
fn the_workbench_opens_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    for archive in archives(folder.path()) {
        let screen = Start::new(&[archive.to_str().unwrap()]).spawn();
        let name = archive.file_name().unwrap().to_str().unwrap().to_owned();
        screen.wait("the archive", |text| text.contains("no findings") && text.contains(&name));
    }
}
