//! Standard output and error: the only place where the command line prints foreign text, always through [`Safe`].

use std::io::{self, Write};

use crate::text::Safe;

/// One message on standard error, prefixed with the program's name. Ignores a closed stream.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "wikiwright: {}", Safe::block(message));
}

/// One line on standard error without a prefix. Ignores a closed stream.
pub fn note(message: &str) {
    let _ = writeln!(io::stderr(), "{}", Safe::line(message));
}
