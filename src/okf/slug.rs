//! Heading anchors as GitHub makes them.
