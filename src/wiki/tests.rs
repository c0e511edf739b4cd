//! The model against a rebuild, and what it says about a bundle.

use std::collections::BTreeSet;
use std::sync::RwLock;

use proptest::prelude::*;

use super::*;
use crate::bundle::{Entry, EntryKind, MemoryBundle, Stat, Write};

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

fn wiki(files: &[(&str, &str)]) -> Wiki {
    Wiki::load(&MemoryBundle::new(files.iter().copied()).unwrap()).unwrap()
}

fn texts<'a>(paths: impl Iterator<Item = &'a BundlePath>) -> Vec<&'a str> {
    paths.map(BundlePath::as_str).collect()
}

/// A bundle some of whose files and folders refuse to be read, and where folders may vanish with their last file.
#[derive(Default)]
struct Barred {
    inner: MemoryBundle,
    barred: RwLock<BTreeSet<BundlePath>>,
    prunes: bool,
}

impl Barred {
    fn check(&self, path: &BundlePath) -> Result<(), Error> {
        if self.barred.read().unwrap().contains(path) {
            return Err(Error::new(ErrorKind::Denied, path, "permission denied"));
        }
        Ok(())
    }

    fn is_pruned(&self, folder: &BundlePath) -> bool {
        self.prunes
            && !folder.is_root()
            && self
                .inner
                .walk(folder)
                .is_ok_and(|(below, _)| !below.iter().any(|e| e.kind == EntryKind::File))
    }
}

impl Read for Barred {
    fn list(&self, folder: &BundlePath) -> Result<Vec<Entry>, Error> {
        self.check(folder)?;
        if self.is_pruned(folder) {
            return Err(Error::not_found(folder));
        }
        let mut entries = self.inner.list(folder)?;
        entries.retain(|entry| entry.kind != EntryKind::Directory || !self.is_pruned(&entry.path));
        Ok(entries)
    }
    fn stat(&self, path: &BundlePath) -> Result<Stat, Error> {
        let stat = self.inner.stat(path)?;
        if stat.kind == EntryKind::Directory && self.is_pruned(path) {
            return Err(Error::not_found(path));
        }
        Ok(stat)
    }
    fn read_bytes(&self, path: &BundlePath) -> Result<Vec<u8>, Error> {
        self.check(path)?;
        self.inner.read_bytes(path)
    }
}

#[test]
fn pages_files_and_hidden_folders_are_told_apart() {
    let wiki = wiki(&[
        ("/AGENTS.md", "# Schema\n"),
        ("/.okfignore", "drafts/\n"),
        ("/raw/source.md", "raw"),
        ("/raw/report.pdf", "pdf"),
        ("/wiki/index.md", "# Index\n"),
        ("/wiki/assets/notes.md", "asset"),
        ("/wiki/concepts/raw/a.md", "a page"),
        ("/drafts/b.md", "a draft"),
        ("/.git/objects/c.md", "no page"),
        ("/node_modules/x/README.md", "no page"),
    ]);
    let pages: Vec<&str> = wiki.pages().map(|page| page.path.as_str()).collect();
    assert_eq!(pages, ["/AGENTS.md", "/wiki/concepts/raw/a.md", "/wiki/index.md"]);
    assert_eq!(
        texts(wiki.files()),
        ["/.okfignore", "/drafts/b.md", "/raw/report.pdf", "/raw/source.md", "/wiki/assets/notes.md"]
    );
    assert!(wiki.exists(&path("/raw/report.pdf")));
    assert!(wiki.exists(&path("/raw")));
    assert!(wiki.exists(&BundlePath::root()));
    assert!(!wiki.exists(&path("/raw/report.pd")));
    assert!(wiki.exists(&path("/.git/whatever")), "what is not looked into is not judged");
    assert!(!wiki.exists(&path("/.gitx")));
}

#[test]
fn backlinks_come_from_bodies_and_fields_and_not_from_the_page_itself() {
    let wiki = wiki(&[
        ("/a.md", "[self](a.md) [b](b.md) [b again](./b.md) [gone](gone.md)\n"),
        ("/b.md", "---\ntype: T\nsources: [a.md]\n---\nx\n"),
        ("/sub/index.md", "[b](../b.md)\n"),
    ]);
    assert_eq!(texts(wiki.backlinks(&path("/a.md"))), ["/b.md"]);
    assert_eq!(texts(wiki.backlinks(&path("/b.md"))), ["/a.md", "/sub/index.md"]);
    assert_eq!(texts(wiki.backlinks(&path("/gone.md"))), ["/a.md"]);
    assert_eq!(texts(wiki.outgoing(&path("/a.md"))), ["/b.md", "/gone.md"]);
    assert_eq!(wiki.links_to(&path("/b.md")).count(), 3);
    assert_eq!(wiki.landing(&path("/sub")).unwrap().path, path("/sub/index.md"));
}

#[test]
fn a_page_that_is_not_utf8_is_a_problem_and_the_rest_loads() {
    let bundle = MemoryBundle::new([("/a.md", "fine")]).unwrap();
    bundle.write(&path("/b.md"), b"caf\xe9").unwrap();
    let wiki = Wiki::load(&bundle).unwrap();
    assert_eq!(wiki.page_count(), 1);
    assert_eq!(wiki.problem(&path("/b.md")).unwrap().kind, ErrorKind::NotText { offset: 3 });
}

#[test]
fn a_folder_that_cannot_be_listed_is_a_problem_and_what_is_below_is_not_judged() {
    let bundle =
        Barred { inner: MemoryBundle::new([("/a.md", "x"), ("/s/b.md", "y")]).unwrap(), ..Barred::default() };
    bundle.barred.write().unwrap().insert(path("/s"));
    let mut wiki = Wiki::load(&bundle).unwrap();
    assert_eq!(wiki.problem(&path("/s")).unwrap().kind, ErrorKind::Denied);
    assert!(wiki.exists(&path("/s/b.md")));
    bundle.barred.write().unwrap().clear();
    assert_eq!(wiki.update(&bundle, &[path("/s/b.md")]), [path("/s"), path("/s/b.md")]);
    assert_eq!(wiki, Wiki::load(&bundle).unwrap());
}

#[test]
fn an_update_names_what_changed_and_leaves_snapshots_alone() {
    let bundle = MemoryBundle::new([("/a.md", "1"), ("/b.md", "2")]).unwrap();
    let mut wiki = Wiki::load(&bundle).unwrap();
    let snapshot = wiki.clone();
    let untouched = wiki.page(&path("/b.md")).unwrap().clone();
    bundle.write(&path("/a.md"), b"new").unwrap();
    assert_eq!(wiki.update(&bundle, &[path("/a.md"), path("/b.md")]), [path("/a.md")]);
    assert_eq!(&*snapshot.page(&path("/a.md")).unwrap().text, "1");
    assert_eq!(&*wiki.page(&path("/a.md")).unwrap().text, "new");
    assert!(Arc::ptr_eq(&untouched, wiki.page(&path("/b.md")).unwrap()));
    bundle.write(&path("/raw/x.pdf"), b"pdf").unwrap();
    assert_eq!(wiki.update(&bundle, &[path("/raw/x.pdf")]), [path("/raw"), path("/raw/x.pdf")]);
    assert_eq!(wiki.update(&bundle, &[BundlePath::root()]), []);
}

#[test]
fn okfignore_takes_pages_out_and_gives_them_back() {
    let bundle = MemoryBundle::new([("/drafts/a.md", "x")]).unwrap();
    let mut wiki = Wiki::load(&bundle).unwrap();
    bundle.write(&path("/.okfignore"), b"drafts\n").unwrap();
    assert_eq!(wiki.update(&bundle, &[path("/.okfignore")]), [path("/.okfignore"), path("/drafts/a.md")]);
    assert_eq!((wiki.page_count(), wiki.files().count()), (0, 2));
    bundle.delete(&path("/.okfignore")).unwrap();
    wiki.update(&bundle, &[path("/.okfignore")]);
    assert_eq!(wiki, Wiki::load(&bundle).unwrap());
    assert_eq!(wiki.page_count(), 1);
}

/// What only a disk can hold: links, special files, folders that stay or go, a file where a folder was.
#[cfg(unix)]
#[test]
fn on_a_disk_each_step_gives_the_model_of_a_rebuild() {
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::bundle::LocalBundle;

    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path();
    let bundle = LocalBundle::open(root).unwrap();
    let mut wiki = Wiki::load(&bundle).unwrap();
    let mut step = |named: &[&str], change: &dyn Fn()| {
        change();
        let named: Vec<BundlePath> = named.iter().map(|p| path(p)).collect();
        wiki.update(&bundle, &named);
        assert_eq!(wiki, Wiki::load(&bundle).unwrap(), "after {named:?}");
        (wiki.page_count(), wiki.problems().count())
    };
    let write = |to: &str, text: &str| {
        let to = root.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, text).unwrap();
    };
    let count = step(&["/a"], &|| {
        write("a/b/c.md", "[x](x.md)");
        write("a/x.md", "x");
    });
    assert_eq!(count, (2, 0), "a new folder stands for what is in it");
    assert_eq!(step(&["/n/m/d.md"], &|| write("n/m/d.md", "d")), (3, 0));
    assert_eq!(step(&["/alias"], &|| symlink("a", root.join("alias")).unwrap()), (3, 0));
    assert_eq!(step(&["/a/x.md"], &|| write("alias/x.md", "through a link")), (3, 0));
    let count = step(&["/twin.md"], &|| symlink("a/x.md", root.join("twin.md")).unwrap());
    assert_eq!(count, (4, 0));
    assert_eq!(step(&["/a/x.md"], &|| write("a/x.md", "its twin changes with it")), (4, 0));
    assert_eq!(step(&["/twin.md"], &|| fs::remove_file(root.join("twin.md")).unwrap()), (3, 0));
    assert_eq!(step(&["/gone.md"], &|| symlink("nowhere", root.join("gone.md")).unwrap()), (3, 1));
    assert_eq!(step(&["/nowhere"], &|| write("nowhere", "now it is")), (4, 0));
    assert_eq!(step(&["/out.md"], &|| symlink("/etc/hosts", root.join("out.md")).unwrap()), (4, 1));
    assert_eq!(step(&["/out.md"], &|| fs::remove_file(root.join("out.md")).unwrap()), (4, 0));
    assert_eq!(step(&["/a/b/c.md"], &|| fs::remove_file(root.join("a/b/c.md")).unwrap()), (3, 0));
    assert_eq!(step(&["/n/m/d.md"], &|| fs::remove_dir_all(root.join("n")).unwrap()), (2, 0));
    let count = step(&["/a/b/c.md"], &|| {
        fs::remove_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a"), "a file now").unwrap();
    });
    assert_eq!(count, (1, 0));
    assert_eq!(
        step(&["/moved/z.md", "/gone.md"], &|| {
            fs::create_dir(root.join("moved")).unwrap();
            fs::rename(root.join("gone.md"), root.join("moved/z.md")).unwrap();
        }),
        (0, 1),
        "a relative link that moved leads nowhere"
    );
}

#[derive(Debug, Clone)]
enum Edit {
    Write(String, String),
    WriteBytes(String),
    Delete(String),
    Rename(String, String),
    RemoveFolder(String),
    Bar(String),
    Unbar(String),
    Ignore(String),
}

fn place() -> impl Strategy<Value = String> {
    let folder = prop::sample::select(vec![
        "",
        "/a",
        "/b",
        "/a/a",
        "/a/b",
        "/raw",
        "/wiki",
        "/wiki/assets",
        "/a/raw",
        "/.git",
        "/a/.hidden",
        "/node_modules",
        "/x.md",
        "/a-b",
    ]);
    let name = prop::sample::select(vec!["a.md", "b.md", "index.md", "log.md", "x.md", "p.png", "a", "b"]);
    (folder, name).prop_map(|(folder, name)| format!("{folder}/{name}"))
}

fn content() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "# A\n",
        "[a](a.md)",
        "[b](../b.md) [a](/a/a.md)",
        "---\ntype: T\nsources: [b.md]\n---\n[x](x.md)\n",
        "[out](../../../x.md)",
        "[dir](a/)",
    ])
    .prop_map(str::to_owned)
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (place(), content()).prop_map(|(path, text)| Edit::Write(path, text)),
        1 => place().prop_map(Edit::WriteBytes),
        3 => place().prop_map(Edit::Delete),
        2 => (place(), place()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => prop::sample::select(vec!["/a", "/a/a", "/wiki", "/b", "/x.md"]).prop_map(|f| Edit::RemoveFolder(f.to_owned())),
        1 => prop_oneof![place(), prop::sample::select(vec!["/a", "/a/a", "/wiki"]).prop_map(str::to_owned)].prop_map(Edit::Bar),
        1 => place().prop_map(Edit::Unbar),
        1 => prop::sample::select(vec!["", "a/\n", "*.md\n!a.md\n"]).prop_map(|t| Edit::Ignore(t.to_owned())),
    ]
}

impl Edit {
    /// Does it to the bundle, as far as it can be done, and says which paths a watcher would name.
    fn apply(&self, bundle: &Barred) -> Vec<BundlePath> {
        match self {
            Self::Write(to, text) => {
                let _ = bundle.inner.write(&path(to), text.as_bytes());
                vec![path(to)]
            }
            Self::WriteBytes(to) => {
                let _ = bundle.inner.write(&path(to), b"\xff\xfe");
                vec![path(to)]
            }
            Self::Delete(of) => {
                let _ = bundle.inner.delete(&path(of));
                vec![path(of)]
            }
            Self::Rename(from, to) => {
                let _ = bundle.inner.rename(&path(from), &path(to));
                vec![path(from), path(to)]
            }
            Self::RemoveFolder(folder) => {
                let (entries, _) = bundle.inner.walk(&path(folder)).unwrap_or_default();
                for entry in entries {
                    let _ = bundle.inner.delete(&entry.path);
                }
                vec![path(folder)]
            }
            Self::Bar(what) => {
                bundle.barred.write().unwrap().insert(path(what));
                vec![path(what)]
            }
            Self::Unbar(what) => {
                bundle.barred.write().unwrap().remove(&path(what));
                vec![path(what)]
            }
            Self::Ignore(text) => {
                let _ = bundle.inner.write(&path(IGNORE_FILE), text.as_bytes());
                vec![path(IGNORE_FILE)]
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_edits_gives_the_model_of_a_rebuild(
        prunes: bool,
        batches in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..12),
    ) {
        let bundle = Barred { prunes, ..Barred::default() };
        let mut wiki = Wiki::load(&bundle).unwrap();
        for batch in batches {
            let before = wiki.clone();
            let paths: Vec<BundlePath> = batch.iter().flat_map(|edit| edit.apply(&bundle)).collect();
            let changed = wiki.update(&bundle, &paths);
            let rebuilt = Wiki::load(&bundle).unwrap();
            prop_assert_eq!(&wiki, &rebuilt, "after {:?}", batch);
            for page in before.pages().chain(wiki.pages()) {
                let same = before.page(&page.path).map(|p| p.hash) == wiki.page(&page.path).map(|p| p.hash);
                prop_assert_eq!(same, !changed.contains(&page.path), "{:?}", page.path);
            }
        }
    }
}
