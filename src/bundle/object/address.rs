//! From an address (`s3://bucket/prefix`) to a store. Credentials come from the environment of the process alone, in the
//! variables that the clouds' own tools read; an address that holds some is refused.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use crate::bundle::error::{Error, ErrorKind};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What an address leads to.
pub struct Place {
    pub store: Arc<dyn ObjectStore>,
    /// Where the bundle begins within the store.
    pub prefix: Path,
    /// The address without what could be secret.
    pub label: String,
}

/// Sends no request yet.
pub fn parse(target: &str) -> Result<Place, Error> {
    let (scheme, rest) = target.split_once("://").unwrap_or((target, ""));
    let bare = rest.split(['?', '#']).next().unwrap_or_default();
    let host_and_path = bare.rsplit_once('@').map_or(bare, |(_, after)| after);
    let shown = format!("{scheme}://{host_and_path}");
    let fail =
        |message: &str| Error { kind: ErrorKind::Invalid, path: shown.clone(), message: message.to_owned() };
    let url = Url::parse(target).map_err(|_| fail("not an address; write it like s3://bucket/folder"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(fail(
            "the address must end with its folder; what stands after ? or # is not used, and keys belong in the environment",
        ));
    }
    let (kind, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| {
        fail("no address of a store that is known; there are s3://, gs://, az://, https:// and http://")
    })?;
    // Azure writes container@account; everywhere else a name before @ is somebody's account.
    let azure = kind == ObjectStoreScheme::MicrosoftAzure;
    if url.password().is_some() || (!azure && !url.username().is_empty()) {
        return Err(fail("credentials do not belong in an address; set them in the environment"));
    }
    let label = if azure { target.to_owned() } else { shown.clone() };
    // The client panics without one. An error means that the program has installed its own, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |_| {
        fail(
            "the store cannot be used with what the environment says; check its variables (for S3: those that begin with AWS_)",
        )
    };
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 3,
        retry_timeout: Duration::from_secs(30),
    };
    let client = || ClientOptions::new().with_connect_timeout(CONNECT_TIMEOUT).with_timeout(REQUEST_TIMEOUT);
    let bucket = url.as_str();
    let store: Arc<dyn ObjectStore> = match kind {
        ObjectStoreScheme::AmazonS3 => {
            let mut builder = AmazonS3Builder::from_env().with_url(bucket).with_retry(retry);
            // A server on this very machine has no certificate; for any other, AWS_ALLOW_HTTP must say so.
            if ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].iter().any(|name| loopback(name)) {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.build().map_err(unusable)?)
        }
        ObjectStoreScheme::GoogleCloudStorage => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_url(bucket)
                .with_retry(retry)
                .with_client_options(client())
                .build()
                .map_err(unusable)?,
        ),
        ObjectStoreScheme::MicrosoftAzure => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_url(bucket)
                .with_retry(retry)
                .with_client_options(client())
                .build()
                .map_err(unusable)?,
        ),
        ObjectStoreScheme::Http => {
            let mut origin = url.clone();
            origin.set_path("");
            let plain = ClientOptions::new()
                .with_connect_timeout(CONNECT_TIMEOUT)
                .with_timeout(REQUEST_TIMEOUT)
                .with_allow_http(url.scheme() == "http");
            Arc::new(
                HttpBuilder::new()
                    .with_url(origin.as_str())
                    .with_retry(retry)
                    .with_client_options(plain)
                    .build()
                    .map_err(unusable)?,
            )
        }
        _ => {
            return Err(fail(
                "no address of a store that is known; there are s3://, gs://, az://, https:// and http://",
            ));
        }
    };
    Ok(Place { store, prefix, label })
}

/// Whether this variable names a server on this machine.
fn loopback(name: &str) -> bool {
    let host = std::env::var(name).ok().and_then(|value| Url::parse(&value).ok()).and_then(|url| {
        let host = url.host_str()?;
        Some(host.trim_start_matches('[').trim_end_matches(']').to_owned())
    });
    host.is_some_and(|host| {
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_an_address_are_refused_and_not_repeated() {
        for address in
            ["s3://key:secret@bucket/x", "s3://secret@bucket/x", "https://h/x?sig=secret", "gs://b/x#secret"]
        {
            let Err(error) = parse(address) else { panic!("{address} was taken") };
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let Err(error) = parse("ftp://host/x") else { panic!("ftp was taken") };
        assert!(error.message.contains("s3://"), "{error}");
    }

    #[test]
    fn the_folder_is_what_follows_the_bucket() {
        let place = parse("s3://bucket/team/my wiki/").unwrap();
        assert_eq!(
            (place.prefix.as_ref(), place.label.as_str()),
            ("team/my wiki", "s3://bucket/team/my wiki/")
        );
        assert_eq!(parse("s3://bucket").unwrap().prefix.as_ref(), "");
    }
}
