//! What undoc leaves out of a Word document: equations (Office Math, ECMA-376 part 1, 22.1) and a main part of an unusual
//! name. The document is changed before it is read: each equation becomes a sign that stands for it in the text, and
//! [`Equations::put_back`] writes it in LaTeX in the sign's place, untouched by the escaping of the text.

use quick_xml::events::{BytesText, Event};
use quick_xml::{Reader, Writer};

use super::markup::{attribute, entity};
use super::{archive, charset};

/// Around an equation's number.
const OPEN: char = '\u{E0A0}';
const CLOSE: char = '\u{E0A1}';

const MAIN: &str = "word/document.xml";
/// Of the parts that are changed: a document with more text than this is refused elsewhere.
const PART: u64 = 256 * 1024 * 1024;
/// Deeper nesting is no equation that a person wrote.
const DEPTH: usize = 256;

/// The equations taken out of a document, in LaTeX.
#[derive(Debug, Default)]
pub(super) struct Equations(Vec<String>);

/// The document with signs for its equations, if there is anything to mend.
pub(super) fn mend(bytes: &[u8]) -> Option<(Vec<u8>, Equations)> {
    let mut file = archive::open(bytes).ok()?;
    let main = main_part(&mut file).unwrap_or_else(|| MAIN.to_owned());
    let text = archive::part(&mut file, &main, PART)?;
    let has_math = text.windows(7).any(|window| window == b"<m:oMat");
    if main == MAIN && !has_math {
        return None;
    }
    let (text, equations) = if has_math { take_out(&text)? } else { (text, Equations::default()) };
    let mut parts = vec![(MAIN.to_owned(), text)];
    if main != MAIN {
        let (folder, name) = main.rsplit_once('/').unwrap_or(("", &main));
        let relations = format!("{folder}/_rels/{name}.rels");
        if let Some(content) = archive::part(&mut file, &relations, PART) {
            parts.push(("word/_rels/document.xml.rels".to_owned(), content));
        }
    }
    Some((archive::replace(bytes, &parts).ok()?, equations))
}

/// The part that the package says is the document (ECMA-376 part 2, 9.3).
fn main_part(file: &mut archive::Archive) -> Option<String> {
    let relations = charset::decode(&archive::part(file, "_rels/.rels", 1024 * 1024)?);
    let mut reader = Reader::from_str(&relations);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) | Event::Empty(element)
                if attribute(&element, "Type").is_some_and(|kind| kind.ends_with("/officeDocument")) =>
            {
                let target = attribute(&element, "Target")?;
                return Some(target.trim_start_matches("./").trim_start_matches('/').to_owned());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn take_out(xml: &[u8]) -> Option<(Vec<u8>, Equations)> {
    let xml = charset::decode(xml);
    let mut reader = Reader::from_str(&xml);
    let mut writer = Writer::new(Vec::with_capacity(xml.len()));
    let mut equations = Equations::default();
    let mut paragraphs = 0_usize;
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(element) if element.name().as_ref() == "m:oMath" => {
                let node = Node::read(&mut reader, 0)?;
                let mut latex = String::new();
                node.children.iter().for_each(|child| child.write(&mut latex));
                if latex.trim().is_empty() {
                    continue;
                }
                let sign = format!("{OPEN}{}{CLOSE}", equations.0.len());
                equations.0.push(latex.trim().to_owned());
                let run = format!("<w:r><w:t xml:space=\"preserve\">{sign}</w:t></w:r>");
                // An equation of its own may stand between paragraphs.
                let run = if paragraphs == 0 { format!("<w:p>{run}</w:p>") } else { run };
                writer.write_event(Event::Text(BytesText::from_escaped(run))).ok()?;
            }
            Event::Start(element) | Event::Empty(element) if element.name().as_ref() == "m:oMathPara" => {}
            Event::End(element) if element.name().as_ref() == "m:oMathPara" => {}
            Event::Start(element) if element.name().as_ref() == "m:oMathParaPr" => {
                reader.read_to_end(element.name()).ok()?;
            }
            event => {
                match &event {
                    Event::Start(element) if element.name().as_ref() == "w:p" => paragraphs += 1,
                    Event::End(element) if element.name().as_ref() == "w:p" => {
                        paragraphs = paragraphs.saturating_sub(1);
                    }
                    _ => {}
                }
                writer.write_event(event).ok()?;
            }
        }
    }
    Some((writer.into_inner(), equations))
}

impl Equations {
    /// Writes each equation where its sign stands; a line of nothing but equations shows each as a block.
    pub fn put_back(&self, markdown: &str) -> String {
        if self.0.is_empty() {
            return markdown.to_owned();
        }
        let mut out = String::with_capacity(markdown.len());
        for line in markdown.split_inclusive('\n') {
            let mut rest = line;
            let mut text = String::new();
            let mut found = Vec::new();
            while let Some((before, after)) = rest.split_once(OPEN) {
                let Some((number, after)) = after.split_once(CLOSE) else { break };
                let latex = number.parse().ok().and_then(|number: usize| self.0.get(number));
                let Some(latex) = latex else { break };
                text.push_str(before);
                text.push_str(&format!("${latex}$"));
                found.push((before, latex));
                rest = after;
            }
            text.push_str(rest);
            let alone =
                !found.is_empty() && rest.trim().is_empty() && found.iter().all(|(b, _)| b.trim().is_empty());
            match alone {
                true => {
                    let blocks: Vec<String> =
                        found.iter().map(|(_, latex)| format!("$${latex}$$\n")).collect();
                    out.push_str(&blocks.join("\n"));
                }
                false => out.push_str(&text),
            }
        }
        out
    }
}

/// An element of an equation.
#[derive(Debug, Default)]
struct Node {
    /// Without its prefix.
    name: String,
    /// Its attribute `val`.
    value: Option<String>,
    text: String,
    children: Vec<Node>,
}

impl Node {
    /// Reads up to the end of an element whose start was read.
    fn read(reader: &mut Reader<&[u8]>, depth: usize) -> Option<Self> {
        let mut node = Self::default();
        loop {
            match reader.read_event().ok()? {
                Event::Start(element) => {
                    if depth > DEPTH {
                        return None;
                    }
                    let (name, value) = named(&element);
                    let child = Self::read(reader, depth + 1)?;
                    node.children.push(Self { name, value, ..child });
                }
                Event::Empty(element) => {
                    let (name, value) = named(&element);
                    node.children.push(Self { name, value, ..Self::default() });
                }
                Event::Text(text) => node.text.push_str(&text),
                Event::GeneralRef(reference) => node.text.push_str(&entity(&reference)),
                Event::End(_) => return Some(node),
                Event::Eof => return None,
                _ => {}
            }
        }
    }

    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The LaTeX of a child; empty if there is none.
    fn part(&self, name: &str) -> String {
        let mut out = String::new();
        if let Some(child) = self.child(name) {
            child.children.iter().for_each(|node| node.write(&mut out));
        }
        out
    }

    /// A property: `chr` of `naryPr`.
    fn property(&self, of: &str, name: &str) -> Option<&str> {
        Some(self.child(of)?.child(name)?.value.as_deref().unwrap_or(""))
    }

    fn write(&self, out: &mut String) {
        match self.name.as_str() {
            "r" => self.children.iter().filter(|child| child.name == "t").for_each(|t| symbols(&t.text, out)),
            "f" => match self.property("fPr", "type") {
                Some("lin") => push(out, &format!("{}/{}", self.part("num"), self.part("den"))),
                Some("noBar") => {
                    push(out, &format!("\\binom{{{}}}{{{}}}", self.part("num"), self.part("den")))
                }
                _ => push(out, &format!("\\frac{{{}}}{{{}}}", self.part("num"), self.part("den"))),
            },
            "sSup" => push(out, &format!("{}^{{{}}}", self.base(), self.part("sup"))),
            "sSub" => push(out, &format!("{}_{{{}}}", self.base(), self.part("sub"))),
            "sSubSup" => {
                push(out, &format!("{}_{{{}}}^{{{}}}", self.base(), self.part("sub"), self.part("sup")))
            }
            "sPre" => {
                push(out, &format!("{{}}_{{{}}}^{{{}}}{}", self.part("sub"), self.part("sup"), self.base()))
            }
            "rad" => {
                let degree = self.part("deg");
                let degree = if degree.is_empty() { degree } else { format!("[{degree}]") };
                push(out, &format!("\\sqrt{degree}{{{}}}", self.part("e")));
            }
            "d" => self.delimited(out),
            "func" => {
                let name = self.part("fName");
                let known = FUNCTIONS.contains(&name.trim());
                push(out, &if known { format!("\\{}", name.trim()) } else { name });
                push(out, &self.part("e"));
            }
            "nary" => {
                let sign = self.property("naryPr", "chr").unwrap_or("∫");
                symbols(sign, out);
                let out_of = |name: &str, mark: char| {
                    Some(self.part(name)).filter(|p| !p.is_empty()).map(|p| format!("{mark}{{{p}}}"))
                };
                out.push_str(&out_of("sub", '_').unwrap_or_default());
                out.push_str(&out_of("sup", '^').unwrap_or_default());
                push(out, &format!(" {}", self.part("e")));
            }
            "acc" => {
                let accent = match self.property("accPr", "chr").unwrap_or("\u{302}") {
                    "\u{303}" | "~" => "tilde",
                    "\u{304}" | "\u{305}" | "¯" => "bar",
                    "\u{20d7}" | "→" => "vec",
                    "\u{307}" | "˙" => "dot",
                    "\u{308}" | "¨" => "ddot",
                    "\u{30c}" => "check",
                    _ => "hat",
                };
                push(out, &format!("\\{accent}{{{}}}", self.part("e")));
            }
            "bar" => {
                let line =
                    if self.property("barPr", "pos") == Some("top") { "overline" } else { "underline" };
                push(out, &format!("\\{line}{{{}}}", self.part("e")));
            }
            "groupChr" => {
                let brace = if self.property("groupChrPr", "pos") == Some("top") {
                    "overbrace"
                } else {
                    "underbrace"
                };
                push(out, &format!("\\{brace}{{{}}}", self.part("e")));
            }
            "limLow" => push(out, &format!("{}_{{{}}}", self.limit_base(), self.part("lim"))),
            "limUpp" => push(out, &format!("{}^{{{}}}", self.limit_base(), self.part("lim"))),
            "m" => self.rows("matrix", out),
            "eqArr" => self.rows("aligned", out),
            name if name.ends_with("Pr") => {}
            _ => self.children.iter().for_each(|child| child.write(out)),
        }
    }

    /// What a script is set on, grouped where it is more than one sign.
    fn base(&self) -> String {
        let base = self.part("e");
        match base.chars().count() {
            0 => "{}".to_owned(),
            1 => base,
            _ => format!("{{{base}}}"),
        }
    }

    fn limit_base(&self) -> String {
        let base = self.part("e");
        match FUNCTIONS.contains(&base.trim()) {
            true => format!("\\{}", base.trim()),
            false => self.base(),
        }
    }

    fn delimited(&self, out: &mut String) {
        let sign = |name: &str, usual: &str| {
            let sign = self.property("dPr", name).unwrap_or(usual);
            match sign {
                "" => ".".to_owned(),
                "{" | "}" => format!("\\{sign}"),
                "⟨" => "\\langle".to_owned(),
                "⟩" => "\\rangle".to_owned(),
                _ => sign.to_owned(),
            }
        };
        let separator = self.property("dPr", "sepChr").unwrap_or("|");
        let parts = self.children.iter().filter(|child| child.name == "e").map(|part| {
            let mut out = String::new();
            part.children.iter().for_each(|node| node.write(&mut out));
            out
        });
        let inner = parts.collect::<Vec<_>>().join(separator);
        push(out, &format!("\\left{}{inner}\\right{}", sign("begChr", "("), sign("endChr", ")")));
    }

    fn rows(&self, environment: &str, out: &mut String) {
        let written = |node: &Node| {
            let mut out = String::new();
            node.children.iter().for_each(|node| node.write(&mut out));
            out
        };
        let rows = self.children.iter().filter_map(|row| match row.name.as_str() {
            "mr" => Some(
                row.children.iter().filter(|e| e.name == "e").map(written).collect::<Vec<_>>().join(" & "),
            ),
            "e" => Some(written(row)),
            _ => None,
        });
        let rows = rows.collect::<Vec<_>>().join(" \\\\ ");
        push(out, &format!("\\begin{{{environment}}}{rows}\\end{{{environment}}}"));
    }
}

fn named(element: &quick_xml::events::BytesStart) -> (String, Option<String>) {
    (element.local_name().as_ref().to_owned(), attribute(element, "m:val"))
}

/// Adds LaTeX, parted from a command before it that its letters would lengthen.
fn push(out: &mut String, latex: &str) {
    let command = out.rsplit('\\').next().is_some_and(|tail| {
        out.contains('\\') && !tail.is_empty() && tail.chars().all(|c| c.is_ascii_alphabetic())
    });
    if command && latex.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.push(' ');
    }
    out.push_str(latex);
}

const FUNCTIONS: [&str; 26] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log",
    "ln", "lg", "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "gcd", "arg", "deg",
];

/// Text of an equation. Mathematical letters of other styles become the plain ones.
fn symbols(text: &str, out: &mut String) {
    use unicode_normalization::UnicodeNormalization as _;
    for c in text.chars() {
        let plain: String = match u32::from(c) {
            0x1D400..=0x1D7FF => std::iter::once(c).nfkc().collect(),
            _ => c.to_string(),
        };
        for c in plain.chars() {
            match SYMBOLS.iter().find(|(symbol, _)| *symbol == c) {
                Some((_, latex)) => push(out, latex),
                None => match c {
                    '\u{2061}'..='\u{2064}' => {}
                    '#' | '%' | '&' | '_' | '{' | '}' | '$' => push(out, &format!("\\{c}")),
                    '\\' => push(out, "\\backslash"),
                    '\u{2013}' | '\u{2212}' => push(out, "-"),
                    c => push(out, c.encode_utf8(&mut [0; 4])),
                },
            }
        }
    }
}

const SYMBOLS: &[(char, &str)] = &[
    ('α', "\\alpha"),
    ('β', "\\beta"),
    ('γ', "\\gamma"),
    ('δ', "\\delta"),
    ('ε', "\\varepsilon"),
    ('ϵ', "\\epsilon"),
    ('ζ', "\\zeta"),
    ('η', "\\eta"),
    ('θ', "\\theta"),
    ('ϑ', "\\vartheta"),
    ('ι', "\\iota"),
    ('κ', "\\kappa"),
    ('λ', "\\lambda"),
    ('μ', "\\mu"),
    ('ν', "\\nu"),
    ('ξ', "\\xi"),
    ('π', "\\pi"),
    ('ρ', "\\rho"),
    ('σ', "\\sigma"),
    ('τ', "\\tau"),
    ('υ', "\\upsilon"),
    ('φ', "\\varphi"),
    ('ϕ', "\\phi"),
    ('χ', "\\chi"),
    ('ψ', "\\psi"),
    ('ω', "\\omega"),
    ('Γ', "\\Gamma"),
    ('Δ', "\\Delta"),
    ('Θ', "\\Theta"),
    ('Λ', "\\Lambda"),
    ('Ξ', "\\Xi"),
    ('Π', "\\Pi"),
    ('Σ', "\\Sigma"),
    ('Φ', "\\Phi"),
    ('Ψ', "\\Psi"),
    ('Ω', "\\Omega"),
    ('±', "\\pm"),
    ('∓', "\\mp"),
    ('×', "\\times"),
    ('÷', "\\div"),
    ('·', "\\cdot"),
    ('⋅', "\\cdot"),
    ('∗', "*"),
    ('∘', "\\circ"),
    ('≤', "\\leq"),
    ('≥', "\\geq"),
    ('≠', "\\neq"),
    ('≈', "\\approx"),
    ('≡', "\\equiv"),
    ('∼', "\\sim"),
    ('∝', "\\propto"),
    ('∞', "\\infty"),
    ('∂', "\\partial"),
    ('∇', "\\nabla"),
    ('∑', "\\sum"),
    ('∏', "\\prod"),
    ('∫', "\\int"),
    ('∬', "\\iint"),
    ('∭', "\\iiint"),
    ('∮', "\\oint"),
    ('⋃', "\\bigcup"),
    ('⋂', "\\bigcap"),
    ('∪', "\\cup"),
    ('∩', "\\cap"),
    ('∈', "\\in"),
    ('∉', "\\notin"),
    ('⊂', "\\subset"),
    ('⊆', "\\subseteq"),
    ('∅', "\\emptyset"),
    ('∀', "\\forall"),
    ('∃', "\\exists"),
    ('¬', "\\neg"),
    ('∧', "\\wedge"),
    ('∨', "\\vee"),
    ('→', "\\rightarrow"),
    ('←', "\\leftarrow"),
    ('↔', "\\leftrightarrow"),
    ('⇒', "\\Rightarrow"),
    ('⇔', "\\Leftrightarrow"),
    ('…', "\\ldots"),
    ('⋯', "\\cdots"),
    ('√', "\\surd"),
    ('ℝ', "\\mathbb{R}"),
    ('ℕ', "\\mathbb{N}"),
    ('ℤ', "\\mathbb{Z}"),
    ('ℂ', "\\mathbb{C}"),
    ('ℚ', "\\mathbb{Q}"),
    ('ℏ', "\\hbar"),
    ('′', "'"),
    ('°', "^{\\circ}"),
    ('⊥', "\\perp"),
];
