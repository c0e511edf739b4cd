//! Colours of source code in fences. Never decides what is shown, only how.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use ratatui::style::Style;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::theme::Theme;
use crate::okf::ContentHash;

/// Larger blocks and longer lines stay plain: colouring them would stall the reader for little.
const MAX_BYTES: usize = 100 * 1024;
const MAX_LINES: usize = 2000;
const MAX_LINE: usize = 2000;

/// Blocks kept coloured, so that another width costs no parse, and their size in bytes all together.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 1024 * 1024;

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Keyword,
    String,
    Number,
    Comment,
    /// A function, attribute or field that is named.
    Name,
    Type,
    Added,
    Removed,
}

impl Kind {
    pub fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Plain => theme.text,
            Self::Keyword => theme.code_keyword,
            Self::String => theme.code_string,
            Self::Number => theme.code_number,
            Self::Comment => theme.code_comment,
            Self::Name => theme.code_name,
            Self::Type => theme.code_type,
            Self::Added => theme.added,
            Self::Removed => theme.removed,
        }
    }
}

/// For each line of a block its stretches, as byte ranges of the line without its line end. They cover the line.
pub type Lines = Arc<Vec<Stretches>>;
pub type Stretches = Vec<(Kind, Range<usize>)>;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// Names that people write and the grammars do not know, with the grammar that serves best.
const ALIASES: [(&str, &str); 14] = [
    ("c#", "cs"),
    ("console", "bash"),
    ("golang", "go"),
    ("ini", "properties"),
    ("json5", "json"),
    ("jsonc", "json"),
    ("jsonl", "json"),
    ("jsx", "js"),
    ("python3", "python"),
    ("shell", "bash"),
    ("ts", "js"),
    ("tsx", "js"),
    ("typescript", "js"),
    ("zsh", "bash"),
];

// Scope prefixes from the specific to the general: the first that fits wins.
static MEANINGS: LazyLock<Vec<(Scope, Kind)>> = LazyLock::new(|| {
    const TABLE: [(&str, Kind); 20] = [
        ("comment", Kind::Comment),
        ("punctuation.definition.comment", Kind::Comment),
        ("string", Kind::String),
        ("constant", Kind::Number),
        ("keyword", Kind::Keyword),
        ("storage.type.function", Kind::Keyword),
        ("storage.type.class", Kind::Keyword),
        ("storage.type.struct", Kind::Keyword),
        ("storage.modifier", Kind::Keyword),
        ("storage.type", Kind::Type),
        ("storage", Kind::Keyword),
        ("support.type", Kind::Type),
        ("support.class", Kind::Type),
        ("entity.name.tag", Kind::Keyword),
        ("entity.name.class", Kind::Type),
        ("entity.name.struct", Kind::Type),
        ("entity", Kind::Name),
        ("support", Kind::Name),
        ("markup.inserted", Kind::Added),
        ("markup.deleted", Kind::Removed),
    ];
    TABLE.iter().filter_map(|(name, kind)| Some((Scope::new(name).ok()?, *kind))).collect()
});

struct Kept {
    hash: ContentHash,
    size: usize,
    lines: Lines,
}

static CACHE: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// The stretches of each line of `code`. A language that is not known, and a block that is too large, stays plain.
/// `language` is the info string of a fence.
pub fn highlight(language: &str, code: &str) -> Lines {
    let Some(syntax) = syntax(language).filter(|_| is_small(code)) else { return plain(code) };
    let hash = ContentHash::of(format!("{}\0{code}", syntax.name).as_bytes());
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut cache = cache();
        if let Some(at) = cache.iter().position(|k| k.hash == hash)
            && let Some(found) = cache.remove(at)
        {
            let lines = found.lines.clone();
            cache.push_back(found);
            return lines;
        }
    }
    let lines = parse(syntax, code).map_or_else(|| plain(code), Arc::new);
    let mut cache = cache();
    cache.push_back(Kept { hash, size: code.len(), lines: lines.clone() });
    while cache.len() > KEPT || cache.iter().map(|k| k.size).sum::<usize>() > KEPT_BYTES {
        cache.pop_front();
    }
    lines
}

/// The name of the language in an info string such as `python title="x"`, `rust,ignore` or `{.sql}`.
pub fn language(info: &str) -> &str {
    info.trim_start_matches(['{', '.', ' ']).split([' ', ',', '{', '}', ':', '\t']).next().unwrap_or_default()
}

fn syntax(info: &str) -> Option<&'static SyntaxReference> {
    let name = language(info).to_ascii_lowercase();
    if name.is_empty() {
        return None;
    }
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, name)| name);
    SYNTAXES.find_syntax_by_token(name)
}

fn is_small(code: &str) -> bool {
    code.len() <= MAX_BYTES
        && code.lines().all(|line| line.len() <= MAX_LINE)
        && code.lines().count() <= MAX_LINES
}

fn plain(code: &str) -> Lines {
    Arc::new(code.lines().map(|line| vec![(Kind::Plain, 0..line.len())]).collect())
}

fn parse(syntax: &SyntaxReference, code: &str) -> Option<Vec<Stretches>> {
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut lines = Vec::new();
    for line in code.split_inclusive('\n') {
        let operations = state.parse_line(line, &SYNTAXES).ok()?;
        let length = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l)).len();
        let mut stretches = Stretches::new();
        let mut push = |range: Range<usize>, kind: Kind| match stretches.last_mut() {
            Some((last, before)) if *last == kind => before.end = range.end,
            _ => stretches.push((kind, range)),
        };
        let mut from = 0;
        for (at, operation) in operations {
            let at = at.min(length);
            if at > from && line.is_char_boundary(at) {
                push(from..at, meaning(&stack));
                from = at;
            }
            stack.apply(&operation).ok()?;
        }
        if from < length {
            push(from..length, meaning(&stack));
        }
        lines.push(stretches);
    }
    Some(lines)
}

/// The innermost scope that means something to us.
fn meaning(stack: &ScopeStack) -> Kind {
    for scope in stack.as_slice().iter().rev() {
        if let Some((_, kind)) = MEANINGS.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)) {
            return *kind;
        }
    }
    Kind::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(language: &str, line: &str) -> Vec<(Kind, String)> {
        let lines = highlight(language, line);
        lines[0].iter().map(|(kind, range)| (*kind, line[range.clone()].trim().to_owned())).collect()
    }

    fn kind(language: &str, line: &str, part: &str) -> Kind {
        let kinds = kinds(language, line);
        kinds.iter().find(|(_, text)| text.contains(part)).unwrap_or_else(|| panic!("{kinds:?}")).0
    }

    #[test]
    fn code_has_kinds() {
        let line = "pub fn answer(x: u32) -> u32 { 42 } // why";
        for (part, want) in
            [("fn", Kind::Keyword), ("answer", Kind::Name), ("42", Kind::Number), ("why", Kind::Comment)]
        {
            assert_eq!(kind("rust", line, part), want, "{part}");
        }
        assert_eq!(kind("rust,ignore", line, "u32"), Kind::Type);
        assert_eq!(kind("python title=\"x\"", "s = 'text'", "text"), Kind::String);
        assert_eq!(kind("{.sql}", "SELECT 1", "SELECT"), Kind::Keyword);
        assert_eq!(kind("typescript", "return 'x'", "return"), Kind::Keyword);
        assert_eq!(kind("diff", "+new", "new"), Kind::Added);
    }

    #[test]
    fn a_state_is_carried_from_line_to_line() {
        let lines = highlight("rust", "/* a\nb */ fn\n");
        assert_eq!(lines[1][0], (Kind::Comment, 0..4));
    }

    #[test]
    fn what_is_unknown_or_large_stays_plain() {
        assert_eq!(kinds("nosuchthing", "fn x"), [(Kind::Plain, "fn x".to_owned())]);
        let long = format!("let x = 1;\n{}", "x".repeat(MAX_LINE + 1));
        assert_eq!(highlight("rust", &long)[0], [(Kind::Plain, 0..10)]);
        let many = "let x = 1;\n".repeat(MAX_LINES + 1);
        let lines = highlight("rust", &many);
        assert_eq!((lines.len(), lines[0].len()), (MAX_LINES + 1, 1));
    }

    #[test]
    fn the_same_block_is_parsed_once() {
        let code = "let unique_to_this_test = 1;\n";
        assert!(Arc::ptr_eq(&highlight("rust", code), &highlight("rust", code)));
        assert!(!Arc::ptr_eq(&highlight("rust", code), &highlight("go", code)));
    }

    #[test]
    fn stretches_cover_each_line() {
        let code = "# ä\r\n\tkey: \"日本\" \n\n- x: [1, 2]";
        for (line, stretches) in code.lines().zip(highlight("yaml", code).iter()) {
            let text: String = stretches.iter().map(|(_, range)| &line[range.clone()]).collect();
            assert_eq!(text, line);
        }
    }
}
