//! The one door through which text from pages, models, tools and file names reaches the terminal
//! (invariant I6).
//!
//! C0 and C1 controls, DEL, bidirectional overrides, zero-width and tag characters are made
//! visible as `<U+202E>`-like marks or dropped where they mean nothing; what comes out holds only printable
//! characters, and `\n` in a block. Nothing that comes out can drive a terminal.

use std::fmt;

/// Text that has passed the door. Views, standard error and logs take only this for foreign text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Safe(String);

impl Safe {
    /// One line: a line break becomes a space, a tab four spaces.
    pub fn line(text: &str) -> Self {
        let _ = text;
        unimplemented!("okf helper")
    }

    /// Several lines: `\n` stays, `\r\n` becomes `\n`, a tab four spaces.
    pub fn block(text: &str) -> Self {
        let _ = text;
        unimplemented!("okf helper")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Safe {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
