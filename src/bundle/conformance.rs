//! What every backend must do alike, run over each of them: memory, a folder, object storage, and staged changes over
//! any of these; what only reads, over archives too. Tests only.

use std::sync::Arc;

use tempfile::TempDir;

use super::{
    Entry, EntryKind, ErrorKind, Grep, LocalBundle, MemoryBundle, Mode, Operation, Read, Rule, Rules, Staged,
    Write,
};
use crate::okf::{BundlePath, ContentHash};

const FILES: [(&str, &str); 6] = [
    ("/AGENTS.md", "# Schema\n"),
    ("/wiki/a-b.md", "dash\n"),
    ("/wiki/a/x.md", "one\r\ntwo Needle\r\nthree\n"),
    ("/wiki/a/.hidden.md", "a needle in a dot file\n"),
    ("/wiki/a/y.txt", "needle needle"),
    ("/.git/config", "needle\n"),
];

fn path(text: &str) -> BundlePath {
    BundlePath::parse(text).unwrap()
}

pub(super) fn open_rules() -> Rules {
    Rules { rules: Vec::new(), protect_dot_names: false }
}

/// Runs `check` over each backend, filled with [`FILES`]. The staged ones hold half of it as pending changes.
fn on_each(check: impl Fn(&dyn Write)) {
    let fill = |target: &dyn Write, files: &[(&str, &str)]| {
        for (name, text) in files {
            target.write(&path(name), text.as_bytes()).unwrap();
        }
    };
    let folder = || {
        let temp = TempDir::new().unwrap();
        let bundle = LocalBundle::open(temp.path()).unwrap();
        (temp, bundle)
    };
    let memory = MemoryBundle::default();
    fill(&memory, &FILES);
    check(&memory);

    let (_kept, local) = folder();
    fill(&local, &FILES);
    check(&local);

    for prefix in ["", "team/my wiki"] {
        let objects = objects(prefix);
        fill(&*objects, &FILES);
        check(&*objects);
    }

    #[cfg(feature = "remote")]
    if let Some(served) = super::object::served::bundle() {
        fill(&served, &FILES);
        check(&served);
    }

    let (_kept, local) = folder();
    let bases: [Arc<dyn Write>; 3] = [Arc::new(MemoryBundle::default()), Arc::new(local), objects("team")];
    for base in bases {
        let (below, above) = FILES.split_at(3);
        fill(&*base, below);
        base.write(&path("/wiki/gone.md"), b"gone").unwrap();
        base.write(&path("/AGENTS.md"), b"old").unwrap();
        let base: Arc<dyn Read> = base;
        let staged = Staged::new(base, open_rules());
        fill(&staged, above);
        staged.delete(&path("/wiki/gone.md")).unwrap();
        staged.write(&path("/AGENTS.md"), FILES[0].1.as_bytes()).unwrap();
        check(&staged);
    }
}

/// An empty bundle in a store that is kept in memory.
#[cfg(feature = "remote")]
fn objects(prefix: &str) -> Arc<dyn Write> {
    let store = Arc::new(object_store::memory::InMemory::new());
    Arc::new(super::ObjectBundle::new(store, prefix.into()).unwrap())
}

#[cfg(not(feature = "remote"))]
fn objects(_: &str) -> Arc<dyn Write> {
    Arc::new(MemoryBundle::default())
}

/// [`on_each`] for what only reads: over archives of [`FILES`] too, and staged changes over them.
fn on_each_reader(check: impl Fn(&dyn Read)) {
    on_each(|b| check(b));
    #[cfg(feature = "archives")]
    for archive in super::archive::fixture::each(&FILES) {
        let bundle = super::open(archive.path()).unwrap();
        check(&bundle);
        check(&Staged::new(bundle.reader(), open_rules()));
    }
}

fn names(entries: &[Entry]) -> Vec<(&str, bool, u64)> {
    entries.iter().map(|e| (e.path.as_str(), e.kind == EntryKind::Directory, e.len)).collect()
}

fn kind<T: std::fmt::Debug>(result: Result<T, super::Error>) -> ErrorKind {
    result.unwrap_err().kind
}

#[test]
fn listing_and_stat() {
    on_each_reader(|b| {
        let root = b.list(&BundlePath::root()).unwrap();
        assert_eq!(names(&root), [("/.git", true, 0), ("/AGENTS.md", false, 9), ("/wiki", true, 0)]);
        let a = b.list(&path("/wiki/a")).unwrap();
        let sizes =
            [("/wiki/a/.hidden.md", false, 23), ("/wiki/a/x.md", false, 23), ("/wiki/a/y.txt", false, 13)];
        assert_eq!(names(&a), sizes);
        assert_eq!(kind(b.list(&path("/none"))), ErrorKind::NotFound);
        assert_eq!(kind(b.list(&path("/AGENTS.md"))), ErrorKind::NotADirectory);
        assert_eq!(kind(b.list(&path("/AGENTS.md/x"))), ErrorKind::NotFound);
        assert_eq!(b.stat(&path("/wiki/a/y.txt")).unwrap().len, 13);
        assert_eq!(b.stat(&BundlePath::root()).unwrap().kind, EntryKind::Directory);
        assert_eq!(b.stat(&path("/wiki/a")).unwrap().kind, EntryKind::Directory);
        assert_eq!(kind(b.stat(&path("/AGENTS.md/x"))), ErrorKind::NotFound);
        assert!(!b.exists(&path("/wiki/gone.md")).unwrap());
    });
}

#[test]
fn reading_keeps_every_byte() {
    on_each_reader(|b| {
        assert_eq!(b.read(&path("/wiki/a/x.md")).unwrap(), "one\r\ntwo Needle\r\nthree\n");
        assert_eq!(b.read(&path("/AGENTS.md")).unwrap(), "# Schema\n");
        assert_eq!(kind(b.read(&path("/wiki/gone.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.read(&path("/wiki/A/x.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.read(&path("/wiki"))), ErrorKind::IsDirectory);
        assert_eq!(kind(b.read(&BundlePath::root())), ErrorKind::IsDirectory);
        let paths = [path("/wiki/a/y.txt"), path("/wiki"), path("/none"), path("/AGENTS.md")];
        let all: Vec<_> = b.read_all(&paths).into_iter().map(|read| read.map_err(|e| e.kind)).collect();
        let expected = [
            Ok(b"needle needle".to_vec()),
            Err(ErrorKind::IsDirectory),
            Err(ErrorKind::NotFound),
            Ok(b"# Schema\n".to_vec()),
        ];
        assert_eq!(all, expected);
    });
    on_each(|b| {
        b.write(&path("/wiki/bin.md"), b"\xEF\xBB\xBFok\xFF").unwrap();
        assert_eq!(kind(b.read(&path("/wiki/bin.md"))), ErrorKind::NotText { offset: 5 });
        assert_eq!(b.read_bytes(&path("/wiki/bin.md")).unwrap(), b"\xEF\xBB\xBFok\xFF");
        b.write(&path("/wiki/foo..bar.md"), b"dots").unwrap();
        assert_eq!(b.read(&path("/wiki/foo..bar.md")).unwrap(), "dots");
    });
}

#[test]
fn walking_is_in_path_order_and_leaves_dot_folders_closed() {
    on_each_reader(|b| {
        let (entries, errors) = b.walk(&BundlePath::root()).unwrap();
        let paths: Vec<&str> = entries.iter().map(|e| e.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "/.git",
                "/AGENTS.md",
                "/wiki",
                "/wiki/a",
                "/wiki/a-b.md",
                "/wiki/a/.hidden.md",
                "/wiki/a/x.md",
                "/wiki/a/y.txt"
            ]
        );
        assert_eq!(errors, []);
    });
}

#[test]
fn globs_match_names_at_any_depth_and_paths_from_their_folder() {
    on_each_reader(|b| {
        let glob = |pattern: &str, folder: &str| -> Vec<String> {
            let found = b.glob(pattern, &path(folder)).unwrap();
            found.iter().map(|p| p.as_str().to_owned()).collect()
        };
        assert_eq!(glob("*.md", "/"), ["/AGENTS.md", "/wiki/a-b.md", "/wiki/a/.hidden.md", "/wiki/a/x.md"]);
        assert_eq!(glob("**/*.md", "/wiki"), ["/wiki/a-b.md", "/wiki/a/.hidden.md", "/wiki/a/x.md"]);
        assert_eq!(glob("wiki/*.md", "/"), ["/wiki/a-b.md"]);
        assert_eq!(glob("a/*", "/wiki"), ["/wiki/a/.hidden.md", "/wiki/a/x.md", "/wiki/a/y.txt"]);
        assert_eq!(glob("/wiki/*/x.md", "/"), ["/wiki/a/x.md"]);
        assert_eq!(glob("/wiki/a/x.md", "/wiki/a"), ["/wiki/a/x.md"]);
        assert_eq!(glob("{x,y}.*", "/"), ["/wiki/a/x.md", "/wiki/a/y.txt"]);
        assert_eq!(glob("[!x].txt", "/"), ["/wiki/a/y.txt"]);
        assert_eq!(glob("wiki", "/"), [""; 0]);
        assert_eq!(glob("config", "/.git"), ["/.git/config"]);
        assert_eq!(kind(b.glob("", &BundlePath::root())), ErrorKind::Invalid);
        assert_eq!(kind(b.glob("a[", &BundlePath::root())), ErrorKind::Invalid);
        assert_eq!(kind(b.glob("../*", &BundlePath::root())), ErrorKind::Outside);
        assert_eq!(kind(b.glob("*", &path("/none"))), ErrorKind::NotFound);
    });
}

fn query(pattern: &str) -> Grep {
    Grep {
        pattern: pattern.to_owned(),
        regex: false,
        ignore_case: false,
        folder: BundlePath::root(),
        glob: None,
        limit: 100,
    }
}

#[test]
fn grep_finds_lines_in_order() {
    on_each(|b| {
        let find = |query: Grep| -> Vec<(String, usize, String)> {
            let result = b.grep(&query).unwrap();
            result.matches.into_iter().map(|m| (m.path.as_str().to_owned(), m.line, m.text)).collect()
        };
        let hit = |p: &str, l: usize, t: &str| (p.to_owned(), l, t.to_owned());
        let lower = [
            hit("/wiki/a/.hidden.md", 1, "a needle in a dot file"),
            hit("/wiki/a/y.txt", 1, "needle needle"),
        ];
        assert_eq!(find(query("needle")), lower);
        let any_case = find(Grep { ignore_case: true, ..query("needle") });
        assert_eq!(any_case, [lower[0].clone(), hit("/wiki/a/x.md", 2, "two Needle"), lower[1].clone()]);
        let ends = find(Grep { regex: true, ..query("^t.*e$") });
        assert_eq!(ends, [hit("/wiki/a/x.md", 2, "two Needle"), hit("/wiki/a/x.md", 3, "three")]);
        assert_eq!(find(Grep { glob: Some("*.txt".into()), ..query("needle") }), [lower[1].clone()]);
        assert_eq!(find(Grep { folder: path("/wiki/a/y.txt"), ..query("needle") }), [lower[1].clone()]);
        assert_eq!(find(query("n.edle")), []);
        let cut = b.grep(&Grep { limit: 1, ..query("needle") }).unwrap();
        assert_eq!((cut.matches.len(), cut.truncated), (1, true));
        let exact = b.grep(&Grep { limit: 2, ..query("needle") }).unwrap();
        assert_eq!((exact.matches.len(), exact.truncated), (2, false));
        b.write(&path("/wiki/bin"), b"needle\xFF").unwrap();
        assert_eq!(b.grep(&query("needle")).unwrap().skipped, [path("/wiki/bin")]);
        assert_eq!(kind(b.grep(&query(""))), ErrorKind::Invalid);
        assert_eq!(kind(b.grep(&query("a\nb"))), ErrorKind::Invalid);
        assert_eq!(kind(b.grep(&Grep { regex: true, ..query("(") })), ErrorKind::Invalid);
        assert_eq!(kind(b.grep(&Grep { regex: true, ..query("(?:a{1000}){1000}") })), ErrorKind::Invalid);
        assert_eq!(kind(b.grep(&Grep { folder: path("/none"), ..query("x") })), ErrorKind::NotFound);
    });
}

#[test]
fn writing_makes_folders_and_replaces_whole_files() {
    on_each(|b| {
        b.write(&path("/new/deep/x.md"), b"first, longer").unwrap();
        b.write(&path("/new/deep/x.md"), b"second").unwrap();
        assert_eq!(b.read(&path("/new/deep/x.md")).unwrap(), "second");
        assert_eq!(b.stat(&path("/new")).unwrap().kind, EntryKind::Directory);
        assert_eq!(kind(b.write(&path("/wiki"), b"")), ErrorKind::IsDirectory);
        assert_eq!(kind(b.write(&BundlePath::root(), b"")), ErrorKind::IsDirectory);
        assert_eq!(kind(b.write(&path("/AGENTS.md/x/y.md"), b"")), ErrorKind::NotADirectory);
        assert_eq!(kind(b.write(&path("/new/deep/x.md/y.md"), b"")), ErrorKind::NotADirectory);
        assert_eq!(kind(b.write(&path("/.wikiwright-1"), b"")), ErrorKind::Invalid);
        let huge = vec![b'x'; usize::try_from(super::storage::MAX_FILE).unwrap() + 1];
        assert_eq!(kind(b.write(&path("/huge.md"), &huge)), ErrorKind::TooLarge);
        assert!(!b.exists(&path("/huge.md")).unwrap());
    });
}

#[test]
fn deleting_and_renaming_take_one_file() {
    on_each(|b| {
        b.delete(&path("/wiki/a-b.md")).unwrap();
        assert_eq!(kind(b.read(&path("/wiki/a-b.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.delete(&path("/wiki/a-b.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.delete(&path("/none/x.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.delete(&path("/wiki"))), ErrorKind::IsDirectory);
        assert_eq!(kind(b.delete(&BundlePath::root())), ErrorKind::IsDirectory);
        assert_eq!(kind(b.rename(&path("/wiki"), &path("/other"))), ErrorKind::IsDirectory);
        assert_eq!(kind(b.rename(&path("/none.md"), &path("/other.md"))), ErrorKind::NotFound);
        assert_eq!(kind(b.rename(&path("/AGENTS.md"), &path("/wiki/a/x.md"))), ErrorKind::Exists);
        assert_eq!(kind(b.rename(&path("/AGENTS.md"), &path("/wiki"))), ErrorKind::Exists);
        assert_eq!(kind(b.rename(&path("/AGENTS.md"), &path("/AGENTS.md"))), ErrorKind::Exists);
        b.rename(&path("/wiki/a/x.md"), &path("/moved/z.md")).unwrap();
        assert_eq!(b.read(&path("/moved/z.md")).unwrap(), FILES[2].1);
        assert!(!b.exists(&path("/wiki/a/x.md")).unwrap());
        b.rename(&path("/moved/z.md"), &path("/wiki/a-b.md")).unwrap();
        assert_eq!(b.read(&path("/wiki/a-b.md")).unwrap(), FILES[2].1);
    });
}

#[test]
fn a_write_that_expects_other_content_is_a_conflict() {
    on_each(|b| {
        let page = path("/wiki/a-b.md");
        let hash = ContentHash::of(b"dash\n");
        assert_eq!(kind(b.replace(&page, None, b"x")), ErrorKind::Conflict);
        assert_eq!(kind(b.replace(&page, Some(ContentHash::of(b"other")), b"x")), ErrorKind::Conflict);
        assert_eq!(kind(b.remove(&page, ContentHash::of(b"other"))), ErrorKind::Conflict);
        assert_eq!(b.read(&page).unwrap(), "dash\n");
        b.replace(&page, Some(hash), b"new\n").unwrap();
        b.remove(&page, ContentHash::of(b"new\n")).unwrap();
        assert_eq!(kind(b.remove(&page, hash)), ErrorKind::Conflict);
        assert_eq!(kind(b.replace(&page, Some(hash), b"x")), ErrorKind::Conflict);
        assert!(!b.exists(&page).unwrap());
        b.replace(&page, None, b"again\n").unwrap();
        assert_eq!(b.read(&page).unwrap(), "again\n");
    });
}

#[test]
fn a_denied_read_hides_what_lies_below() {
    let base = Arc::new(MemoryBundle::new(FILES).unwrap());
    let deny = Rule::folder(Operation::Read, &path("/wiki/a"), Mode::Deny);
    let staged = Staged::new(base, Rules { rules: vec![deny], protect_dot_names: true });
    assert_eq!(kind(staged.read(&path("/wiki/a/x.md"))), ErrorKind::Denied);
    assert_eq!(staged.glob("*.md", &path("/wiki")).unwrap(), [path("/wiki/a-b.md")]);
}
