//! Colours of source code in fences. Never decides what is shown, only how.

use std::sync::LazyLock;

use ratatui::style::Style;
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::theme::Theme;

/// Larger blocks and longer lines stay plain: colouring them would stall the reader for little.
const MAX_BYTES: usize = 64 * 1024;
const MAX_LINE: usize = 2000;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// The runs of each line of `code`, line ends left out. A language that is not known stays plain.
pub fn highlight(language: &str, code: &str, theme: &Theme) -> Vec<Vec<(Style, String)>> {
    let plain = || code.lines().map(|l| vec![(theme.text, l.to_owned())]).collect::<Vec<_>>();
    let token = language.split([' ', ',', '{']).next().unwrap_or_default();
    if token.is_empty() || code.len() > MAX_BYTES || code.lines().any(|l| l.len() > MAX_LINE) {
        return plain();
    }
    let Some(syntax) = SYNTAXES.find_syntax_by_token(token) else { return plain() };
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut lines = Vec::new();
    for line in code.split_inclusive('\n') {
        let Ok(operations) = state.parse_line(line, &SYNTAXES) else { return plain() };
        let text = line.trim_end_matches(['\n', '\r']);
        let mut runs: Vec<(Style, String)> = Vec::new();
        let mut from = 0;
        let mut push = |from: usize, to: usize, style: Style| {
            if let Some(part) = text.get(from..to.min(text.len())).filter(|p| !p.is_empty()) {
                runs.push((style, part.to_owned()));
            }
        };
        for (at, operation) in operations {
            if at > from {
                push(from, at, style(&stack, theme));
                from = at;
            }
            if stack.apply(&operation).is_err() {
                return plain();
            }
        }
        push(from, text.len(), style(&stack, theme));
        lines.push(runs);
    }
    lines
}

/// The innermost scope that means something to us.
fn style(stack: &ScopeStack, theme: &Theme) -> Style {
    for scope in stack.as_slice().iter().rev() {
        let name = scope.build_string();
        let style = match name.split('.').next().unwrap_or_default() {
            "comment" => theme.code_comment,
            "string" => theme.code_string,
            "constant" => theme.code_number,
            "keyword" | "storage" => theme.code_keyword,
            "entity" | "support" => theme.code_name,
            _ => continue,
        };
        return style;
    }
    theme.text
}
