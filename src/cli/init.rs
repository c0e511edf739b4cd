//! `wikiwright init`: an empty bundle in the wiki convention's layout that lints clean in both profiles. Writes through the
//! ledger, so that `undo` takes it back.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;

use super::{Exit, bundle, output, review};
use crate::bundle::ledger::record::Origin;
use crate::bundle::{self as store, ChangeKind, ChangeSet, FileChange, MemoryBundle};
use crate::config::{Environment, Flags, Settings};
use crate::lint::{self, Options, Profile};
use crate::okf::{BundlePath, Page, schema};
use crate::wiki::Wiki;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder to make, or an empty one; names that start with a dot (.git) do not matter
    #[arg(value_name = "DIR")]
    pub path: PathBuf,
    /// One more category, a folder in wiki/, beside documents, entities, concepts and syntheses; may be repeated
    #[arg(long = "category", value_name = "NAME")]
    pub categories: Vec<String>,
    /// One more page type, beside Document, Entity, Concept and Synthesis; may be repeated
    #[arg(long = "type", value_name = "NAME")]
    pub types: Vec<String>,
    /// The language that pages are written in
    #[arg(long, value_name = "LANGUAGE", default_value = "English")]
    pub language: String,
}

const CATEGORIES: [(&str, &str); 4] = [
    ("documents", "one page for each source"),
    ("entities", "organisations, people, products, systems"),
    ("concepts", "notions, definitions, processes"),
    ("syntheses", "analyses across sources"),
];

const TYPES: [(&str, &str); 4] = [
    ("Document", "the page of a source"),
    ("Entity", "something that exists by itself and has a name"),
    ("Concept", "a notion, definition or process"),
    ("Synthesis", "an analysis across pages"),
];

/// git keeps no empty folder.
const KEPT: [&str; 2] = ["raw/.gitkeep", "wiki/assets/.gitkeep"];

/// So many names are listed of a folder that is not empty.
const NAMED: usize = 3;

pub fn run(args: &InitArgs, flags: &Flags) -> anyhow::Result<Exit> {
    let shown = args.path.display();
    if store::is_address(&args.path) {
        bail!("{shown}: init makes a folder on this machine; copy it to the store afterwards");
    }
    let files = files(args)?;
    judge(&files)?;
    let settings = Settings::load(flags, &Environment::of_process())?;
    let is_new = !args.path.exists();
    require_empty(&args.path)?;
    std::fs::create_dir_all(&args.path).with_context(|| format!("{shown}: cannot make this folder"))?;
    let bundle = bundle::remember(bundle::open(&args.path)?, &settings);
    let changes = changes(&files)?;
    let origin = Origin { who: "person".to_owned(), message: "init".to_owned(), ..Origin::default() };
    let resolved = review::approve_all(&changes);
    let applied = bundle.apply(&resolved.changes, &resolved.decisions, &origin);
    review::report(&resolved, &applied, &mut io::stdout())?;
    if !applied.failed.is_empty() {
        if is_new {
            // Stays when something stands in it.
            let _ = std::fs::remove_dir(&args.path);
        }
        return Ok(Exit::CouldNotRun);
    }
    output::note(&format!(
        "Say in {shown}/AGENTS.md what the wiki is about, put sources into {shown}/raw, then: wikiwright {shown}"
    ));
    Ok(Exit::Done)
}

/// Refuses a folder in which anything but dot names stands.
fn require_empty(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            bail!("{shown}: this is not a folder; name a new folder or an empty one")
        }
        Err(e) => return Err(e).with_context(|| format!("{shown}: cannot read this folder")),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.with_context(|| shown.to_string())?.file_name().to_string_lossy().into_owned();
        // `.okf` is a bundle's own.
        if !name.starts_with('.') || name == ".okf" {
            names.push(name);
        }
    }
    names.sort_unstable();
    if names.is_empty() {
        return Ok(());
    }
    let more = names.len().saturating_sub(NAMED);
    let listed = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    bail!(
        "{shown}: this folder is not empty ({listed}{more}); nothing was written. Name a new folder or an empty one"
    )
}

/// Path and text of every file.
fn files(args: &InitArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut categories: Vec<(&str, &str)> = CATEGORIES.to_vec();
    for name in &args.categories {
        let is_plain =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !is_plain {
            bail!("--category {name:?}: a category is one folder name of letters, digits, - and _");
        }
        if ["assets", "raw"].iter().any(|taken| name.eq_ignore_ascii_case(taken)) {
            bail!("--category {name}: this name is kept for what is no page; choose another");
        }
        if !categories.iter().any(|(known, _)| known == name) {
            categories.push((name, ""));
        }
    }
    let mut types: Vec<(&str, &str)> = TYPES.to_vec();
    for name in &args.types {
        let name = name.trim();
        if !types.iter().any(|(known, _)| *known == name) {
            types.push((name, ""));
        }
    }
    let language = args.language.trim();
    if language.is_empty() || language.chars().any(char::is_control) {
        bail!("--language {:?}: write the name of a language, like English", args.language);
    }
    let agents = agents(&categories, &types, language);
    require_declared(&agents, &types)?;
    let entry = |(name, about): &(&str, &str)| {
        format!("* [{0}]({name}/index.md){1}\n", title(name), said(" - ", about))
    };
    let mut files = vec![
        ("AGENTS.md".to_owned(), agents),
        (
            "wiki/index.md".to_owned(),
            format!("# Wiki\n\n{}", categories.iter().map(entry).collect::<String>()),
        ),
        ("wiki/log.md".to_owned(), "# Log\n".to_owned()),
    ];
    files.extend(
        categories.iter().map(|(name, _)| (format!("wiki/{name}/index.md"), format!("# {}\n", title(name)))),
    );
    files.extend(KEPT.map(|path| (path.to_owned(), String::new())));
    Ok(files)
}

fn agents(categories: &[(&str, &str)], types: &[(&str, &str)], language: &str) -> String {
    let categories: String =
        categories.iter().map(|(name, about)| format!("- `wiki/{name}/`{}\n", said(": ", about))).collect();
    let types: String =
        types.iter().map(|(name, about)| format!("- `{name}`{}\n", said(": ", about))).collect();
    format!(
        "---\n\
         type: Schema\n\
         title: Schema of this wiki\n\
         description: What the wiki is about, its categories and types, and how it is kept.\n\
         ---\n\n\
         # Schema of this wiki\n\n\
         ## Domain\n\n\
         Say in a few sentences what this wiki is about, for whom, and what does not belong in it.\n\n\
         Language: {language}.\n\n\
         ## Categories\n\n{categories}\n\
         ## Types in use\n\n{types}\n\
         ## Workflow\n\n\
         Sources in `raw/` are never edited. Each ingest makes a page for its source in `wiki/documents/`, updates the pages and \
         indexes that it touches, and ends with one entry in `wiki/log.md`: `## [YYYY-MM-DD] ingest | title`. A claim that no source \
         makes is marked as an inference.\n"
    )
}

fn said(before: &str, about: &str) -> String {
    if about.is_empty() { String::new() } else { format!("{before}{about}") }
}

/// `clause-library` as a heading: `Clause library`.
fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut rest = words.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// A type that the list does not declare as it was written would be judged as undeclared on every page.
fn require_declared(agents: &str, types: &[(&str, &str)]) -> anyhow::Result<()> {
    let path = BundlePath::parse("/AGENTS.md")?;
    let declared = schema::declared_types(&Page::parse(path, agents.into())).unwrap_or_default();
    match types.iter().find(|(name, _)| name.contains('`') || !declared.iter().any(|known| known == name)) {
        None => Ok(()),
        Some((name, _)) => {
            bail!(
                "--type {name:?}: a type is a short name like Clause, without `, / and line breaks, and no field's name"
            )
        }
    }
}

/// What was given must not bring a finding with it, in either profile.
fn judge(files: &[(String, String)]) -> anyhow::Result<()> {
    let memory = MemoryBundle::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))?;
    let wiki = Wiki::load(&memory)?;
    for profile in [Profile::Wiki, Profile::Okf] {
        let report = lint::lint(&wiki, &Options { profile: Some(profile), ..Options::default() });
        if let Some(finding) = report.findings.first() {
            bail!(
                "this would make a bundle with a fault, so nothing was written: {}: {} {}",
                finding.path.relative(),
                finding.rule.code,
                finding.message
            );
        }
    }
    Ok(())
}

fn changes(files: &[(String, String)]) -> anyhow::Result<ChangeSet> {
    let change = |(path, text): &(String, String)| {
        let after: Arc<[u8]> = Arc::from(text.as_bytes());
        Ok(FileChange {
            path: BundlePath::parse(path)?,
            kind: ChangeKind::Create,
            before: None,
            after: Some(after),
        })
    };
    let files = files.iter().map(change).collect::<anyhow::Result<_>>()?;
    Ok(ChangeSet { id: 1, files })
}
