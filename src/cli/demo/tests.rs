use super::*;
use crate::agent::driver::{self, ManagerOptions, ReaderOptions, Session};
use crate::agent::{AgentCommand, AgentEvent, citation};
use crate::bundle::apply::apply;
use crate::bundle::{LocalBundle, Read as _};
use crate::cli::review;
use crate::lint;
use crate::wiki::Wiki;

fn bundle() -> (tempfile::TempDir, Arc<LocalBundle>) {
    let folder = tempfile::tempdir().unwrap();
    files::write(folder.path()).unwrap();
    let bundle = LocalBundle::open(folder.path()).unwrap();
    (folder, Arc::new(bundle))
}

fn client() -> Arc<Scripted> {
    Arc::new(Scripted::new(Script::parse(SCRIPT).unwrap(), Duration::ZERO))
}

fn findings(bundle: &LocalBundle) -> Vec<String> {
    let report = lint::lint(&Wiki::load(bundle).unwrap(), &lint::Options::default());
    assert_eq!(report.profile, lint::Profile::Wiki);
    report.findings.iter().map(|f| format!("{} {}: {}", f.rule.code, f.path, f.message)).collect()
}

/// What was said in one turn. Every tool call must have succeeded.
async fn turn(session: &mut Session, message: &str) -> String {
    session.commands.send(AgentCommand::Say(message.to_owned())).unwrap();
    let mut text = String::new();
    while let Some(event) = session.events.recv().await {
        match event {
            AgentEvent::Text(piece) => text.push_str(&piece),
            AgentEvent::ToolFinished { ok, result, .. } => assert!(ok, "{result}"),
            AgentEvent::Finished { interrupted: false } => return text,
            AgentEvent::Failed(why) => panic!("{why}"),
            AgentEvent::Stopped(stop) => panic!("{stop}"),
            _ => {}
        }
    }
    panic!("the session is gone after {text:?}")
}

#[test]
fn the_example_has_no_findings() {
    let (_folder, bundle) = bundle();
    assert_eq!(findings(&bundle), Vec::<String>::new());
}

#[tokio::test]
async fn the_ingest_proposes_a_clean_bundle_and_approving_it_all_gives_one() {
    let (_folder, bundle) = bundle();
    let mut session = driver::start_manager(bundle.clone(), client(), ManagerOptions::default());
    let [ingest] = suggestions().manager.try_into().unwrap();
    let said = turn(&mut session, &ingest).await;
    let changes = session.staged.as_ref().unwrap().changes();
    assert_eq!(changes.files.len(), 13);
    assert!(said.contains("13 files"), "{said}");
    for cited in citation::find(&said) {
        assert!(session.staged.as_ref().unwrap().exists(&cited.path).unwrap(), "{}", cited.path);
    }
    let applied = apply(bundle.as_ref(), &changes, &review::approve_all(&changes).decisions);
    assert_eq!((applied.landed.len(), applied.failed.len()), (13, 0));
    assert_eq!(findings(&bundle), Vec::<String>::new());
}

#[tokio::test]
async fn a_rejection_is_answered() {
    let (_folder, bundle) = bundle();
    let mut session = driver::start_manager(bundle.clone(), client(), ManagerOptions::default());
    turn(&mut session, &suggestions().manager[0]).await;
    let changes = session.staged.as_ref().unwrap().changes();
    let resolved = review::reject_all(&changes, "not now");
    let applied = apply(bundle.as_ref(), &changes, &resolved.decisions);
    session.commands.send(AgentCommand::Reviewed { resolved: Box::new(resolved), applied }).unwrap();
    let said = turn(&mut session, "and now?").await;
    assert!(said.contains("leave the rejected files out"), "{said}");
    assert!(session.staged.as_ref().unwrap().changes().is_empty());
}

#[tokio::test]
async fn every_suggested_question_is_answered_with_a_page_that_exists() {
    let (_folder, bundle) = bundle();
    let mut session = driver::start_reader(bundle.clone(), client(), ReaderOptions::default());
    for question in suggestions().reader {
        let said = turn(&mut session, &question).await;
        let cited = citation::find(&said);
        assert!(!cited.is_empty(), "{question}: {said}");
        for citation in cited {
            assert!(bundle.exists(&citation.path).unwrap(), "{}", citation.path);
        }
    }
    assert!(turn(&mut session, "Who invented cheese?").await.contains("plays a script"));
}
