//! A client that plays a script, for the demo and the tests.
