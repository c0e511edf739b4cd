//! Reports, and comparing them.

use super::*;

#[test]
fn a_proposed_bundle_is_judged_like_any_other() {
    let (a, b) = (page("A", "[b](b.md)"), page("B", "[a](a.md)"));
    let files = [("/index.md", "[](a.md) [](b.md)"), ("/a.md", a.as_str()), ("/b.md", &b)];
    let base: Arc<dyn Read> = Arc::new(MemoryBundle::new(files).unwrap());
    let options = Options { profile: Some(Profile::Wiki), ..Options::default() };
    let before = lint(&Wiki::load(&base).unwrap(), &options);
    assert_eq!(places(&before), [""; 0]);

    let staged = Staged::new(base.clone(), Rules::manager(true));
    staged.write(&path("/c.md"), page("C", "new").as_bytes()).unwrap();
    staged.delete(&path("/b.md")).unwrap();
    let mut wiki = Wiki::load(&base).unwrap();
    wiki.update(&staged, &[path("/b.md"), path("/c.md")]);
    let after = lint(&wiki, &options);
    let (appeared, vanished) = delta(&before, &after);
    let appeared: Vec<_> = appeared.iter().map(|f| (f.rule.code, f.path.relative())).collect();
    assert_eq!(appeared, [("L001", "a.md"), ("G001", "c.md"), ("S002", "index.md"), ("L001", "index.md")]);
    assert_eq!(vanished.len(), 0);
    assert_eq!(wiki, Wiki::load(&staged).unwrap());
}

#[test]
fn a_moved_finding_is_the_same_and_one_more_of_a_kind_is_new() {
    let report = |body: &str| judge(&[("/index.md", body)], Profile::Wiki);
    let (before, after) = (report("[x](gone.md) [y](old.md)"), report("\n\n[x](gone.md)\n\n[x](gone.md)\n"));
    let (appeared, vanished) = delta(&before, &after);
    assert_eq!(
        appeared.iter().map(|f| (f.line, f.message.as_str())).collect::<Vec<_>>(),
        [(5, "broken link: gone.md")]
    );
    assert_eq!(vanished.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), ["broken link: old.md"]);
    assert_eq!(delta(&after, &after), (vec![], vec![]));
}

#[test]
fn folders_sum_up_what_is_below() {
    let files = [("/w/index.md", "[x](gone.md)"), ("/w/d/a.md", "x"), ("/w/d/index.md", "[](a.md)")];
    let counts = judge(&files, Profile::Wiki).counts_by_path();
    let count = |of: &str| counts.get(&path(of)).copied().unwrap_or_default();
    assert_eq!(count("/w/d/a.md"), Counts { errors: 1, ..Counts::default() });
    assert_eq!(count("/w/d"), count("/w/d/a.md"));
    assert_eq!(count("/w"), Counts { errors: 2, ..Counts::default() });
    assert_eq!(count("/"), count("/w"));
    assert_eq!(count("/w/d/index.md"), Counts::default());
    assert_eq!(count("/w").worst(), Some(Level::Error));
}

#[test]
fn foreign_text_is_made_safe_in_text_output_and_kept_in_json() {
    let files = [("/index.md", "[x](<go\u{202e}ne\u{1b}.md>)")];
    let report = judge(&files, Profile::Wiki);
    let mut out = Vec::new();
    format::text(&report, false, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("index.md:1:6: error L001 link-broken: broken link: go"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    assert!(text.ends_with("1 error, 0 warnings, 0 hints in 1 page (profile wiki): L001 1\n"), "{text}");

    let mut out = Vec::new();
    format::json(&report, "x", &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["findings"][0]["data"]["target"], "go\u{202e}ne\u{1b}.md");
    assert_eq!(json["summary"], serde_json::json!({"errors": 1, "warnings": 0, "hints": 0, "fixed": 0}));
    assert!(!out.contains(&0x1b));
}

#[test]
fn colours_are_only_around_what_is_ours() {
    let report = judge(&[], Profile::Okf);
    let mut out = Vec::new();
    format::text(&report, true, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("\u{1b}[1m<bundle>\u{1b}[0m"), "{text:?}");
}
