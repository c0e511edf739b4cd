//! Noticing what others change in a store, which tells nobody: by listing it from time to time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::ObjectBundle;
use crate::bundle::watch::Changed;
use crate::okf::BundlePath;

/// More changes than this are told as one.
const MANY: usize = 4096;

/// A running poller; dropping it ends it.
pub struct Poller {
    _stop: Option<Sender<()>>,
}

impl Poller {
    /// Lists the bundle every `every` and tells what differs, from a thread of its own. What changes after this returns
    /// is told. Zero: never looks, and says so.
    pub fn start(
        bundle: Arc<ObjectBundle>,
        every: Duration,
        notify: impl Fn(Changed) + Send + 'static,
    ) -> Self {
        if every.is_zero() {
            notify(Changed::Notice(
                "what others change in this store is not looked for (storage.poll_seconds is 0)".to_owned(),
            ));
            return Self { _stop: None };
        }
        let often = match every.as_secs() {
            0 | 1 => "second".to_owned(),
            seconds => format!("{seconds} seconds"),
        };
        notify(Changed::Notice(format!("a store tells of no changes; looking for them every {often}")));
        let (stop, stopped) = channel();
        let mut known = bundle.versions();
        let spawned = std::thread::Builder::new().name("poll".to_owned()).spawn(move || {
            let mut reachable = known.is_ok();
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let now = bundle.versions();
                match (&known, &now) {
                    (Ok(before), Ok(after)) => tell(difference(before, after), &notify),
                    (Err(_), Ok(_)) => notify(Changed::Everything),
                    (_, Err(error)) => {
                        if reachable {
                            notify(Changed::Notice(format!("the store: {}", error.message)));
                        }
                        reachable = false;
                        // What was known stays the base, so that the next listing tells what happened meanwhile.
                        continue;
                    }
                }
                reachable = true;
                known = now;
            }
        });
        if let Err(e) = spawned {
            tracing::error!("the poller's thread did not start: {e}");
        }
        Self { _stop: Some(stop) }
    }
}

fn tell(paths: Vec<BundlePath>, notify: &impl Fn(Changed)) {
    match paths.len() {
        0 => {}
        1..=MANY => notify(Changed::Paths(paths)),
        _ => notify(Changed::Everything),
    }
}

/// Paths that came, went, or have another version.
fn difference<V: PartialEq>(
    before: &BTreeMap<BundlePath, V>,
    after: &BTreeMap<BundlePath, V>,
) -> Vec<BundlePath> {
    let mut paths: Vec<BundlePath> = before
        .iter()
        .filter(|(path, version)| after.get(*path) != Some(version))
        .map(|(path, _)| path.clone())
        .collect();
    paths.extend(after.keys().filter(|path| !before.contains_key(*path)).cloned());
    paths.sort_unstable();
    paths
}
