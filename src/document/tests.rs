//! Behaviour of the converters, on small documents made here.
