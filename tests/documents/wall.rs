//! The process around a conversion: it is ended when it takes too long or is not wanted, and says why it could not start.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use wikiwright::document::Error;
use wikiwright::document::child::Converter;

use super::converter;

/// A program that never answers; the subcommand is its argument.
fn deaf() -> (tempfile::TempDir, Converter) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("deaf");
    std::fs::write(&program, "#!/bin/sh\nexec /bin/sleep 60\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (folder, Converter::new(program))
}

#[test]
fn a_conversion_that_takes_too_long_is_ended() {
    let (_folder, mut converter) = deaf();
    converter.patience = Duration::from_millis(200);
    let start = Instant::now();
    // More than a pipe holds: writing waits too.
    let result = converter.convert_blocking(&[b'x'; 1_000_000], "a.txt", &CancellationToken::new(), |_| {});
    assert_eq!(result, Err(Error::OutOfTime { seconds: 0 }));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_conversion_that_is_not_wanted_any_more_is_ended() {
    let (_folder, converter) = deaf();
    let cancel = CancellationToken::new();
    let start = Instant::now();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        converter.convert_blocking(b"text", "a.txt", &cancel, |_| {})
    });
    assert_eq!(result, Err(Error::Cancelled));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_conversion_may_be_waited_for_on_a_thread_of_a_runtime() {
    let result = converter().convert_blocking(b"text", "a.txt", &CancellationToken::new(), |_| {});
    assert_eq!(result.unwrap().markdown, "text");
    let result = converter().convert(b"more", "b.txt", |_| {}).await;
    assert_eq!(result.unwrap().markdown, "more");
}

#[test]
fn a_program_that_is_not_there_and_one_that_dies_are_told() {
    let convert = |program: &str| {
        Converter::new(program.into()).convert_blocking(b"text", "a.txt", &CancellationToken::new(), |_| {})
    };
    assert!(matches!(convert("/nonexistent/wikiwright"), Err(Error::NotStarted { .. })));
    assert!(matches!(convert("/bin/false"), Err(Error::Crashed { .. })));
}

#[test]
fn what_is_too_large_is_refused_before_anything_is_started() {
    let mut converter = Converter::new("/nonexistent/wikiwright".into());
    converter.limits.input = 3;
    let result = converter.convert_blocking(b"text", "a.txt", &CancellationToken::new(), |_| {});
    assert_eq!(result, Err(Error::TooLarge { bytes: 4, limit: 3 }));
}
