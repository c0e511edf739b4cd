//! The program: installs the TLS provider, then hands over to the command line.

use std::process::ExitCode;

/// A page makes hundreds of small allocations on each of several threads: a sixth of a `lint` run less than with the C library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // rustls is built without a default provider and panics at the first connection when none is installed. An error
    // here means that one is installed already, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ExitCode::from(wikiwright::cli::main())
}
