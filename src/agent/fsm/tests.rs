//! Behaviour of this file's neighbour.
