//! Every rule in one place: code, name, level in each profile, what it is about, why it matters, a bad and a good example.
//! Tables, help and `lint --explain` are made from it.

use super::{Level, Profile};

/// Whether what a rule finds can be mended without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FixKind {
    None,
    /// At least where the right text is beyond doubt; what is doubtful is unsafe all the same.
    Safe,
    /// The meaning may change: only when asked for.
    Unsafe,
}

impl FixKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

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
    pub fix: FixKind,
    /// Why it matters, in at most two sentences.
    pub why: &'static str,
    /// A text that the rule finds at fault: a whole page when it starts with `---`, several files when it starts with a
    /// line `==> PATH <==`, else the body of a page in `wiki/concepts/`.
    pub bad: &'static str,
    /// The same without the fault.
    pub good: &'static str,
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
    ($($constant:ident $code:literal $name:literal $wiki:tt $okf:tt $fix:ident $summary:literal {
        why: $why:literal,
        bad: $bad:literal,
        good: $good:literal,
    })*) => {
        $(pub static $constant: Rule = Rule {
            code: $code,
            name: $name,
            summary: $summary,
            wiki: level!($wiki),
            okf: level!($okf),
            fix: FixKind::$fix,
            why: $why,
            bad: $bad,
            good: $good,
        };)*

        /// Every rule, by family and number.
        pub static ALL: &[&Rule] = &[$(&$constant),*];
    };
}

rules! {
    BUNDLE_EMPTY "B001" "bundle-empty" E E None "the bundle holds no markdown page" {
        why: "A bundle without pages is usually the wrong folder. Nothing in it can be judged.",
        bad: "==> notes.txt <==\nText.\n",
        good: "==> index.md <==\n# Index\n",
    }
    NOT_UTF8 "B002" "not-utf8" E E None "a page is not UTF-8 text" {
        why: "The format allows UTF-8 only, and a page in another encoding shows wrong letters to everybody else. The rest of the bundle is judged all the same.",
        bad: "caf\\xe9, saved as Latin-1",
        good: "caf\\xc3\\xa9, saved as UTF-8",
    }
    UNREADABLE "B003" "unreadable" E E None "a page or folder cannot be read, or is no regular file" {
        why: "What cannot be read is missing for every reader of the bundle. A link out of the bundle or in a loop, a pipe or a device is never opened.",
        bad: "a.md -> ../../elsewhere/a.md",
        good: "a.md, a regular file that you may read",
    }
    NAME_NOT_PORTABLE "B004" "name-not-portable" W W None "a file name that not every system can hold, or hold apart" {
        why: "Such a file is lost or overwritten when the bundle is checked out on Windows or macOS. Names that differ only in letter case or Unicode form are one file there.",
        bad: "==> wiki/concepts/con.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/concepts/console.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
    }
    BYTE_ORDER_MARK "B005" "byte-order-mark" H H Safe "a page starts with a byte-order mark" {
        why: "UTF-8 needs none, and some readers then do not see the frontmatter. It is read here all the same.",
        bad: "\u{feff}---\ntype: Concept\ntitle: Margin\n---\n",
        good: "---\ntype: Concept\ntitle: Margin\n---\n",
    }
    FRONTMATTER_MISSING "F001" "frontmatter-missing" E E None "a concept page has no frontmatter block" {
        why: "Without it nobody knows what kind of page this is; it is the first condition of conformance. The first line must be `---`.",
        bad: "==> wiki/concepts/page.md <==\n# Margin\n\n",
        good: "---\ntype: Concept\ntitle: Margin\n---\n",
    }
    FRONTMATTER_INVALID "F002" "frontmatter-invalid" E E Safe "the frontmatter is not a YAML mapping" {
        why: "Readers with a real YAML parser see no field at all. The usual cause is a value that holds `: ` without quotes.",
        bad: "---\ntype: Concept\ntitle: Gross margin\ndescription: Margin: what remains\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\ndescription: \"Margin: what remains\"\n---\n",
    }
    FIELD_REQUIRED "F003" "field-required" E E None "`type` is missing, empty or not a string" {
        why: "`type` is the one field that the format requires. Agents choose pages by it.",
        bad: "---\ntype:\ntitle: Gross margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\n---\n",
    }
    FIELD_RECOMMENDED "F004" "field-recommended" W H None "a recommended field is missing or empty" {
        why: "Title and description are what indexes and search results show. The convention also asks when a page last changed in substance.",
        bad: "---\ntype: Concept\ntitle: Gross margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\ndescription: What remains of revenue.\ntimestamp: 2026-07-19T10:30:00Z\n---\n",
    }
    TIMESTAMP_INVALID "F005" "timestamp-invalid" E W Safe "`timestamp` is not ISO 8601" {
        why: "Other forms are read differently in different countries, or not at all. Write `2026-07-19` or `2026-07-19T10:30:00Z`.",
        bad: "---\ntype: Concept\ntitle: Gross margin\ntimestamp: 19/07/2026\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\ntimestamp: 2026-07-19\n---\n",
    }
    FIELD_SHAPE "F006" "field-shape" W W None "a field's value is of the wrong kind" {
        why: "A program that expects a list takes a text for one entry, or for none. A number or date in place of a text needs quotes.",
        bad: "---\ntype: Concept\ntitle: Gross margin\ntags: finance, margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\ntags: [finance, margin]\n---\n",
    }
    KEY_DUPLICATE "F007" "key-duplicate" W W None "a key stands twice in one mapping" {
        why: "YAML forbids it: some readers keep the first value, some the last, some refuse the page.",
        bad: "---\ntype: Concept\ntitle: Gross margin\ntitle: Margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\n---\n",
    }
    LINK_BROKEN "L001" "link-broken" E H Unsafe "a link's target does not exist" {
        why: "Whoever follows it finds nothing, and the page it meant looks unlinked. The specification allows links to pages not yet written.",
        bad: "See [margin](margin-q3.md).\n",
        good: "See [margin](margin.md).\n",
    }
    LINK_ABSOLUTE "L002" "link-absolute" E - Safe "a link is written from the bundle's root, not from its page" {
        why: "In the wiki convention paths are relative to the page, so that they also work in an editor and on a web host.",
        bad: "See [margin](/wiki/concepts/margin.md).\n",
        good: "See [margin](margin.md).\n",
    }
    PATH_BROKEN "L003" "path-broken" E H Unsafe "the target of a path-valued field does not exist" {
        why: "A page whose source cannot be found cannot be checked. Text that is no path (`Interview, March 2026`) is left alone.",
        bad: "---\ntype: Concept\ntitle: Gross margin\nsources: [../documents/gone.md]\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\nsources: [margin.md]\n---\n",
    }
    PATH_ABSOLUTE "L004" "path-absolute" E - Safe "a path-valued field is written from the bundle's root" {
        why: "In the wiki convention paths are relative to the page, in the frontmatter as in the text.",
        bad: "---\ntype: Concept\ntitle: Gross margin\nresource: /raw/report.pdf\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\nresource: ../../raw/report.pdf\n---\n",
    }
    ANCHOR_MISSING "L005" "anchor-missing" W H None "a fragment names no heading of its target" {
        why: "The link opens the page and leaves the reader at its top, to search for what was meant. Anchors are those that GitHub makes of headings, and explicit ids.",
        bad: "See [the key points](margin.md#key-figures).\n",
        good: "See [the key points](margin.md#key-points).\n",
    }
    LINK_OUTSIDE "L006" "link-outside" E E None "a link or path leaves the bundle" {
        why: "What lies outside is not there for anybody who has only the bundle. It is never read.",
        bad: "See [notes](../../../notes.md).\n",
        good: "See [margin](margin.md).\n",
    }
    LINK_CASE "L007" "link-case" W W Safe "a target exists only under other letter case or Unicode form" {
        why: "The link works on Windows or macOS and is broken on Linux and on web hosts.",
        bad: "See [margin](Margin.md).\n",
        good: "See [margin](margin.md).\n",
    }
    WIKILINK "L008" "wikilink" H H Safe "a [[wikilink]] is no link in this format" {
        why: "Readers of the format show it as text, and it links nothing. Write `[text](path.md)`.",
        bad: "See [[margin]].\n",
        good: "See [margin](margin.md).\n",
    }
    IMAGE_MISSING "L009" "image-missing" W W Unsafe "an image's file does not exist" {
        why: "Readers see a gap where the figure should be.",
        bad: "![margin by quarter](../assets/gone.png)\n",
        good: "![margin by quarter](../assets/margin.png)\n",
    }
    INDEX_MISSING "S001" "index-missing" W - Safe "a folder with concept pages has no index.md" {
        why: "An agent that explores the wiki starts at the indexes. What no catalogue names is found only by search.",
        bad: "==> wiki/entities/acme.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/entities/acme.md <==\n---\ntype: Concept\ntitle: Margin\n---\n==> wiki/entities/index.md <==\n* [Acme](acme.md) - a customer\n",
    }
    INDEX_STALE "S002" "index-stale" W H Safe "a folder's index.md does not mention some of its pages" {
        why: "A catalogue that leaves pages out sends readers away from what the wiki knows. A mention is a link or, in the convention, the bare file name.",
        bad: "==> wiki/concepts/index.md <==\n# Concepts\n",
        good: "==> wiki/concepts/index.md <==\n# Concepts\n\n* [Margin](margin.md)\n* [Page](page.md)\n",
    }
    RESERVED_MISUSED "S003" "reserved-misused" W E None "index.md or log.md carries a concept" {
        why: "These names are kept for catalogues and histories; a concept in one is seen by nobody. The specification allows frontmatter in the root's index.md only, for `okf_version`.",
        bad: "==> wiki/concepts/index.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/concepts/index.md <==\n# Concepts\n\n* [Margin](margin.md)\n",
    }
    INDEX_ENTRY_BROKEN "S004" "index-entry-broken" W H Unsafe "an index entry is for a page that is gone" {
        why: "A catalogue promises what it lists. Drop the entry, or point it at where the page is now.",
        bad: "==> wiki/concepts/index.md <==\n* [Margin](margin.md)\n* [Churn](churn.md)\n",
        good: "==> wiki/concepts/index.md <==\n* [Margin](margin.md)\n",
    }
    ORPHAN "G001" "orphan" W H None "no other page links to a page" {
        why: "A page without inbound link is found only by search. Link it from the index and from pages that speak of it.",
        bad: "==> wiki/entities/acme.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/entities/acme.md <==\n---\ntype: Concept\ntitle: Margin\n---\n==> wiki/entities/index.md <==\n* [Acme](acme.md) - a customer\n",
    }
    DUPLICATE_SLUG "G002" "duplicate-slug" W H None "pages in different folders have the same file name" {
        why: "Often one concept was written twice. The convention refers to pages by file name, which then names two.",
        bad: "==> wiki/entities/margin.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/entities/acme.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
    }
    DUPLICATE_TITLE "G003" "duplicate-title" W H None "pages have the same title" {
        why: "Often one concept was written twice; a list of search results cannot tell them apart.",
        bad: "==> wiki/entities/a.md <==\n---\ntype: Concept\ntitle: Margin\n---\n==> wiki/entities/b.md <==\n---\ntype: Concept\ntitle: Margin\n---\n",
        good: "==> wiki/entities/a.md <==\n---\ntype: Concept\ntitle: Margin\n---\n==> wiki/entities/b.md <==\n---\ntype: Concept\ntitle: Net margin\n---\n",
    }
    ISLAND "G004" "island" H H None "pages that link each other and cannot be reached from any index" {
        why: "They are no orphans, and still nobody who starts at an index comes to them.",
        bad: "==> wiki/entities/a.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\n[B](b.md)\n==> wiki/entities/b.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\n[A](a.md)\n",
        good: "==> wiki/entities/index.md <==\n* [A](a.md)\n==> wiki/entities/a.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\n[B](b.md)\n==> wiki/entities/b.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\n[A](a.md)\n",
    }
    TYPE_UNDECLARED "T001" "type-undeclared" W - None "a type is not in the list of AGENTS.md" {
        why: "A vocabulary that grows by accident ends as one type per page. Use a declared type, or declare the new one.",
        bad: "---\ntype: Notion\ntitle: Gross margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\n---\n",
    }
    TYPE_CASE "T002" "type-case" W - Safe "a type is declared with other capitals" {
        why: "To a program `concept` and `Concept` are two types.",
        bad: "---\ntype: concept\ntitle: Gross margin\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\n---\n",
    }
    TYPE_SPRAWL "T003" "type-sprawl" W H None "many types, some used once, and no declared list" {
        why: "Types are there to choose pages by; a type of one page chooses nothing. Settle on a few and list them in AGENTS.md.",
        bad: "==> AGENTS.md <==\n# Schema\n==> wiki/entities/concept.md <==\n---\ntype: Concept\n---\n==> wiki/entities/notion.md <==\n---\ntype: Notion\n---\n==> wiki/entities/idea.md <==\n---\ntype: Idea\n---\n==> wiki/entities/term.md <==\n---\ntype: Term\n---\n==> wiki/entities/topic.md <==\n---\ntype: Topic\n---\n==> wiki/entities/theme.md <==\n---\ntype: Theme\n---\n==> wiki/entities/entity.md <==\n---\ntype: Entity\n---\n",
        good: "==> AGENTS.md <==\n# Schema\n\n## Types\n\n- `Concept`\n- `Notion`\n- `Idea`\n- `Term`\n- `Topic`\n- `Theme`\n- `Entity`\n==> wiki/entities/concept.md <==\n---\ntype: Concept\n---\n==> wiki/entities/notion.md <==\n---\ntype: Notion\n---\n==> wiki/entities/idea.md <==\n---\ntype: Idea\n---\n==> wiki/entities/term.md <==\n---\ntype: Term\n---\n==> wiki/entities/topic.md <==\n---\ntype: Topic\n---\n==> wiki/entities/theme.md <==\n---\ntype: Theme\n---\n==> wiki/entities/entity.md <==\n---\ntype: Entity\n---\n",
    }
    LOG_ENTRY_SHAPE "H001" "log-entry-shape" W E None "a log heading is not in the profile's form" {
        why: "Programs read the history by its headings. The convention writes `## [YYYY-MM-DD] kind | title`, the specification `## YYYY-MM-DD`.",
        bad: "==> wiki/log.md <==\n# Log\n\n## 19 July: report read\n",
        good: "==> wiki/log.md <==\n# Log\n\n## [2026-07-19] ingest | Annual report\n",
    }
    LOG_ENTRY_KIND "H002" "log-entry-kind" W - None "a log entry's kind is not one of the convention's" {
        why: "The kinds are ingest, query, lint and refactor. Another one is left out when somebody counts what was done.",
        bad: "==> wiki/log.md <==\n# Log\n\n## [2026-07-19] import | Annual report\n",
        good: "==> wiki/log.md <==\n# Log\n\n## [2026-07-19] ingest | Annual report\n",
    }
    LOG_ORDER "H003" "log-order" - W None "dates of a log are out of order" {
        why: "The specification wants the newest date first, and readers look no further than the top.",
        bad: "==> log.md <==\n# Log\n\n## 2026-07-18\n\n## 2026-07-19\n",
        good: "==> log.md <==\n# Log\n\n## 2026-07-19\n\n## 2026-07-18\n",
    }
    PROVENANCE_SHAPE "P001" "provenance-shape" - W None "`generated`, `verified` or `sources` is not in form" {
        why: "Who wrote and who checked a page decides how far it is trusted. An actor is `<producer>/<version>`, `human:<id>` or `process:<id>`, an instant ISO 8601 with an offset.",
        bad: "---\ntype: Concept\ntitle: Gross margin\ngenerated: {by: someone, at: yesterday}\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\ngenerated: {by: \"human:ada\", at: 2026-07-19T10:30:00Z}\n---\n",
    }
    STALE "P002" "stale" H W None "a page is past its `stale_after`" {
        why: "Its author said that from this day on it should not be relied on. Check it, then move the date.",
        bad: "---\ntype: Concept\ntitle: Gross margin\nstale_after: 2020-01-01\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\nstale_after: 2100-01-01\n---\n",
    }
    FOOTNOTE_UNMATCHED "P003" "footnote-unmatched" - W None "a footnote names no source, or a source is never cited" {
        why: "A footnote whose label is the `id` of a source says where a claim comes from. One without the other is a slip of the pen or a claim without source.",
        bad: "---\ntype: Concept\ntitle: Gross margin\nsources:\n  - id: report\n    resource: margin.md\n---\nMargin rose.[^raport]\n",
        good: "---\ntype: Concept\ntitle: Gross margin\nsources:\n  - id: report\n    resource: margin.md\n---\nMargin rose.[^report]\n",
    }
    STATUS_UNKNOWN "P004" "status-unknown" - W None "`status` is not draft, stable or deprecated" {
        why: "Readers take a status they do not know for stable, which a draft is not.",
        bad: "---\ntype: Concept\ntitle: Gross margin\nstatus: in review\n---\n",
        good: "---\ntype: Concept\ntitle: Gross margin\nstatus: draft\n---\n",
    }
    DEPRECATED_LINKED "P005" "deprecated-linked" H H None "a link to a deprecated page" {
        why: "The reader is sent to what its author has given up. Link to what replaces it; indexes and logs may name it.",
        bad: "==> wiki/concepts/margin.md <==\n---\ntype: Concept\ntitle: Margin\nstatus: deprecated\n---\n==> wiki/concepts/page.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\nSee [margin](margin.md).\n",
        good: "==> wiki/concepts/margin.md <==\n---\ntype: Concept\ntitle: Margin\n---\n==> wiki/concepts/page.md <==\n---\ntype: Concept\ntitle: Margin\n---\n\nSee [margin](margin.md).\n",
    }
    COMPUTATION_INCOMPLETE "P006" "computation-incomplete" - W None "an Attested Computation lacks its runtime or its one computation" {
        why: "It can be run again only when it says on what (`runtime`) and exactly what: a file in `computation`, or one fence under `# Computation`.",
        bad: "---\ntype: Attested Computation\ntitle: Gross margin\n---\n\n# Computation\n\n```sql\nselect 1\n```\n",
        good: "---\ntype: Attested Computation\ntitle: Gross margin\nruntime: bigquery\n---\n\n# Computation\n\n```sql\nselect 1\n```\n",
    }
    SOURCE_CIRCULAR "P007" "source-circular" - W None "a page derives from itself through `sources`" {
        why: "A claim that rests on itself rests on nothing. Name the document that it was first taken from.",
        bad: "==> wiki/concepts/page.md <==\n---\ntype: Concept\ntitle: Gross margin\nsources:\n  - resource: margin.md\n---\n==> wiki/concepts/margin.md <==\n---\ntype: Concept\ntitle: Gross margin\nsources:\n  - resource: page.md\n---\n",
        good: "==> wiki/concepts/page.md <==\n---\ntype: Concept\ntitle: Gross margin\nsources:\n  - resource: margin.md\n---\n==> wiki/concepts/margin.md <==\n---\ntype: Concept\ntitle: Gross margin\nsources:\n  - resource: ../../raw/report.pdf\n---\n",
    }
}
