//! agent helper: to be written.
