//! Turning bursts of hints into few answers. Pure: the clock is an argument.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::Changed;
use crate::okf::BundlePath;

/// Silence that ends a burst, and the longest a burst is waited for. A save must be on screen within 300 ms.
const QUIET: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(250);
/// The same when so many paths changed at once that no editor did it: a checkout is one event, not twenty.
const STORM: usize = 20;
const QUIET_STORM: Duration = Duration::from_millis(250);
const LONGEST_STORM: Duration = Duration::from_secs(5);
/// Editors that move the old file away before they write the new one leave a gap; it is not a deletion.
const GRACE: Duration = Duration::from_millis(300);
/// The system is asked to watch a new folder only after it exists, and what was put into it before that goes unseen
/// (notify#124). So it is looked at again, and once more for slow machines.
const AGAIN: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1500)];
/// From this many paths on, looking at everything is cheaper than asking for each.
const MANY: usize = 1000;

/// One hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Changed(BundlePath),
    /// A folder that appeared, with whatever is in it.
    NewFolder(BundlePath),
    Removed(BundlePath),
    /// Removed for good: something else says where it went.
    Moved(BundlePath),
    /// Events were lost.
    Lost,
}

/// Hints that wait to be told.
#[derive(Debug, Default)]
pub struct Debounce {
    paths: BTreeSet<BundlePath>,
    everything: bool,
    /// First and last hint of the burst.
    burst: Option<(Instant, Instant)>,
    /// When a path that went away is believed to be gone.
    absent: BTreeMap<BundlePath, Instant>,
    /// When to tell a new folder again.
    again: BTreeSet<(Instant, BundlePath)>,
}

impl Debounce {
    pub fn note(&mut self, seen: Seen, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        match seen {
            // Not part of the burst: it has a time of its own.
            Seen::Removed(path) => {
                self.paths.remove(&path);
                self.absent.insert(path, now + GRACE);
            }
            Seen::Changed(path) | Seen::Moved(path) => {
                self.absent.remove(&path);
                self.paths.insert(path);
                self.burst = Some((first, now));
            }
            Seen::NewFolder(path) => {
                self.absent.remove(&path);
                self.again.extend(AGAIN.map(|after| (now + after, path.clone())));
                self.paths.insert(path);
                self.burst = Some((first, now));
            }
            Seen::Lost => self.storm(now),
        }
        if self.everything || self.paths.len() + self.absent.len() > MANY {
            self.storm(now);
        }
    }

    fn storm(&mut self, now: Instant) {
        self.everything = true;
        self.burst = Some((self.burst.map_or(now, |(first, _)| first), now));
        self.paths.clear();
        self.absent.clear();
        // New folders among what was lost.
        let last = AGAIN.last().copied().unwrap_or(GRACE);
        self.again = BTreeSet::from([(now + last, BundlePath::root())]);
    }

    /// When [`Debounce::take`] will have something, if nothing else happens.
    pub fn due(&self) -> Option<Instant> {
        let absent = (self.absent.values().min().copied(), self.absent.values().max().copied());
        if !self.is_storm() {
            let burst = self.burst.map(|(first, last)| (last + QUIET).min(first + LONGEST));
            let again = self.again.first().map(|(at, _)| *at);
            return [burst, absent.0, again].into_iter().flatten().min();
        }
        // All of it at once, after the last of it.
        let burst = self.burst.map(|(first, last)| (last + QUIET_STORM).min(first + LONGEST_STORM));
        let absent = absent.0.zip(absent.1).map(|(first, last)| last.min(first + LONGEST_STORM));
        burst.max(absent)
    }

    fn is_storm(&self) -> bool {
        self.everything || self.paths.len() + self.absent.len() > STORM
    }

    /// What is to be told at `now`.
    pub fn take(&mut self, now: Instant) -> Option<Changed> {
        if self.due().is_none_or(|due| due > now) {
            return None;
        }
        if self.is_storm()
            && let Some((last, _)) = self.again.pop_last()
        {
            self.again = BTreeSet::from([(last, BundlePath::root())]);
        }
        while let Some((at, path)) = self.again.first().cloned().filter(|(at, _)| *at <= now) {
            self.again.remove(&(at, path.clone()));
            self.paths.insert(path);
        }
        self.absent.retain(|path, at| {
            let gone = *at <= now;
            if gone {
                self.paths.insert(path.clone());
            }
            !gone
        });
        self.burst = None;
        let paths = std::mem::take(&mut self.paths);
        if std::mem::take(&mut self.everything) || paths.contains(&BundlePath::root()) {
            return Some(Changed::Everything);
        }
        let covered = |path: &BundlePath| {
            std::iter::successors(path.parent(), BundlePath::parent).any(|above| paths.contains(&above))
        };
        Some(Changed::Paths(paths.iter().filter(|path| !covered(path)).cloned().collect()))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
