//! The S3-compatible server that `.ci/run` starts, for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use object_store::aws::AmazonS3Builder;

use super::ObjectBundle;

/// Holds the server's address, `http://127.0.0.1:PORT`.
const VARIABLE: &str = "WIKIWRIGHT_TEST_S3";

/// An empty bundle of its own on the server; none, said aloud, where there is no server.
pub fn bundle() -> Option<ObjectBundle> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Ok(endpoint) = std::env::var(VARIABLE) else {
        eprintln!("SKIPPED: not run over S3, as {VARIABLE} names no server (.ci/run starts one)");
        return None;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_bucket_name("wikiwright-tests")
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .build()
        .unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let prefix = format!("unit/{}-{now}-{count}/my wiki", std::process::id());
    Some(ObjectBundle::new(Arc::new(store), prefix.as_str().into()).unwrap())
}
