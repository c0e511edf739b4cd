//! Settings, layered: defaults, user file, environment, flags.
