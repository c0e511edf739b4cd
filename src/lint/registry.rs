//! Every rule in one place: code, name, level in each profile, one line for people. Tables and help are made from it.

use super::{Level, Profile};

/// A rule's public identity. Once published a code keeps its meaning.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// `"L001"`
    pub code: &'static str,
    /// `"link-broken"`
    pub name: &'static str,
    /// One line for tables and help.
    pub summary: &'static str,
    /// Level in profile `wiki`; none when the rule does not apply there.
    pub wiki: Option<Level>,
    /// Level in profile `okf`.
    pub okf: Option<Level>,
}

impl Rule {
    pub fn level(&self, profile: Profile) -> Option<Level> {
        match profile {
            Profile::Wiki => self.wiki,
            Profile::Okf => self.okf,
        }
    }

    /// By code (`L001`) or name (`link-broken`), in any letter case.
    pub fn find(text: &str) -> Option<&'static Self> {
        ALL.iter()
            .copied()
            .find(|rule| rule.code.eq_ignore_ascii_case(text) || rule.name.eq_ignore_ascii_case(text))
    }
}

/// The rules as a table in plain text: code, name, level in profile `wiki` and in `okf`, what it is about.
pub fn table() -> String {
    let level = |level: Option<Level>| level.map_or("-", Level::as_str);
    let row = |code: &str, name: &str, wiki: &str, okf: &str, what: &str| {
        format!("  {code:<5} {name:<20} {wiki:<8} {okf:<8} {what}\n")
    };
    let rules =
        ALL.iter().map(|rule| row(rule.code, rule.name, level(rule.wiki), level(rule.okf), rule.summary));
    std::iter::once(row("rule", "", "wiki", "okf", ""))
        .chain(rules)
        .map(|row| row.trim_end().to_owned() + "\n")
        .collect()
}

macro_rules! level {
    (E) => {
        Some(Level::Error)
    };
    (W) => {
        Some(Level::Warning)
    };
    (H) => {
        Some(Level::Hint)
    };
    (-) => {
        None
    };
}

macro_rules! rules {
    ($($constant:ident $code:literal $name:literal $wiki:tt $okf:tt $summary:literal;)*) => {
        $(pub static $constant: Rule = Rule {
            code: $code,
            name: $name,
            summary: $summary,
            wiki: level!($wiki),
            okf: level!($okf),
        };)*

        /// Every rule, by code.
        pub static ALL: &[&Rule] = &[$(&$constant),*];
    };
}

rules! {
    BUNDLE_EMPTY "B001" "bundle-empty" E E "the bundle holds no markdown page";
    NOT_UTF8 "B002" "not-utf8" E E "a page is not UTF-8 text";
    UNREADABLE "B003" "unreadable" E E "a page or folder cannot be read, or is no regular file";
    FRONTMATTER_MISSING "F001" "frontmatter-missing" E E "a concept page has no frontmatter block";
    FRONTMATTER_INVALID "F002" "frontmatter-invalid" E E "the frontmatter is not a YAML mapping";
    FIELD_REQUIRED "F003" "field-required" E E "`type` is missing, empty or not a string";
    FIELD_RECOMMENDED "F004" "field-recommended" W H "a recommended field is missing or empty";
    TIMESTAMP_INVALID "F005" "timestamp-invalid" E W "`timestamp` is not ISO 8601";
    LINK_BROKEN "L001" "link-broken" E H "a link's target does not exist";
    LINK_ABSOLUTE "L002" "link-absolute" E - "a link is written from the bundle's root, not from its page";
    PATH_BROKEN "L003" "path-broken" E H "the target of a path-valued field does not exist";
    PATH_ABSOLUTE "L004" "path-absolute" E - "a path-valued field is written from the bundle's root";
    LINK_OUTSIDE "L006" "link-outside" E E "a link or path leaves the bundle";
    INDEX_MISSING "S001" "index-missing" W - "a folder with concept pages has no index.md";
    INDEX_STALE "S002" "index-stale" W H "a folder's index.md does not mention some of its pages";
    ORPHAN "G001" "orphan" W H "no other page links to a page";
    DUPLICATE_SLUG "G002" "duplicate-slug" W H "pages in different folders have the same file name";
    DUPLICATE_TITLE "G003" "duplicate-title" W H "pages have the same title";
    TYPE_UNDECLARED "T001" "type-undeclared" W - "a type is not in the list of AGENTS.md";
    TYPE_CASE "T002" "type-case" W - "a type is declared with other capitals";
    TYPE_SPRAWL "T003" "type-sprawl" W H "many types, some used once, and no declared list";
    LOG_ENTRY_SHAPE "H001" "log-entry-shape" W E "a log heading is not in the profile's form";
    LOG_ENTRY_KIND "H002" "log-entry-kind" W - "a log entry's kind is not one of the convention's";
}
