//! The Open Knowledge Format: what a bundle's files mean. Pure: bytes in, facts out; no I/O, no
//! clock. Rules are those of OKF 0.2 and of the wiki convention laid over 0.1.

mod destination;
pub mod edit;
mod fields;
pub mod frontmatter;
pub mod hash;
mod html;
pub mod link;
pub mod log;
pub mod markdown;
pub mod page;
pub mod path;
mod prose;
pub mod scalar;
pub mod schema;
pub mod slug;
pub mod timestamp;
mod yaml;

pub use frontmatter::Frontmatter;
pub use hash::ContentHash;
pub use link::{Link, LinkKind, Target};
pub use page::Page;
pub use path::{BundlePath, PathError};
