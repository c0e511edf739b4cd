//! What a failed request means, as a sentence. Never the store's own text: it can hold addresses, account names and
//! signed headers.

use std::error::Error as _;

use object_store::client::{HttpError, HttpErrorKind};

use crate::bundle::error::{Error, ErrorKind};
use crate::okf::BundlePath;

/// The failure of a request about `path`.
pub fn explain(path: &BundlePath, error: &object_store::Error) -> Error {
    use object_store::Error as Store;
    // For whoever turns the log on; the person sees the sentence.
    tracing::debug!("object store: {}", kind_name(error));
    match error {
        Store::NotFound { .. } => Error::not_found(path),
        Store::AlreadyExists { .. } => Error::exists(path),
        Store::PermissionDenied { .. } => Error::new(
            ErrorKind::Denied,
            path,
            "the store does not allow this account to do that; check what its credentials may do",
        ),
        Store::Unauthenticated { .. } => Error::new(ErrorKind::Denied, path, NO_CREDENTIALS),
        Store::NotImplemented { .. } | Store::NotSupported { .. } => Error::new(
            ErrorKind::Denied,
            path,
            "this kind of store cannot write on a condition, so that somebody else's change could be lost; nothing was written",
        ),
        Store::InvalidPath { .. } => Error::new(
            ErrorKind::Invalid,
            path,
            "the store holds a name here that no file can have (an empty or dot part, a control character); rename it there",
        ),
        _ => other(path, error),
    }
}

const NO_CREDENTIALS: &str = "the store was given no credentials that it accepts; set them in the environment (for S3: \
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket)";

fn other(path: &BundlePath, error: &object_store::Error) -> Error {
    let io = |message: String| Error::new(ErrorKind::Io, path, message);
    let mut text = error.to_string();
    let mut cause = error.source();
    let mut kind = None;
    while let Some(inner) = cause {
        if let Some(http) = inner.downcast_ref::<HttpError>() {
            kind = Some(http.kind());
        }
        text.push('\n');
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    // Where clouds hand credentials to their own machines; asked only when the environment names none.
    if ["169.254.169.254", "169.254.170.2", "metadata.google.internal", "InstanceProfile"]
        .iter()
        .any(|place| text.contains(place))
    {
        return Error::new(ErrorKind::Denied, path, NO_CREDENTIALS);
    }
    match kind {
        Some(HttpErrorKind::Connect) => {
            io("the store cannot be reached; check the network and the endpoint (for S3: AWS_ENDPOINT_URL)"
                .to_owned())
        }
        Some(HttpErrorKind::Timeout) => io("the store did not answer in time; try again".to_owned()),
        Some(HttpErrorKind::Interrupted | HttpErrorKind::Request) => {
            io("the connection to the store broke; try again".to_owned())
        }
        _ => match code(&text) {
            Some(code) if code == "NoSuchBucket" => Error::new(
                ErrorKind::NotFound,
                path,
                "there is no such bucket, or this account may not see it; check the address",
            ),
            Some(code) if code == "HTTP status 405" => {
                io("this web server cannot list its files (WebDAV does), so no bundle is found there"
                    .to_owned())
            }
            Some(code) => io(format!("the store refused the request ({code})")),
            None => io("the request to the store failed; try again".to_owned()),
        },
    }
}

/// The store's own short code (`SlowDown`), else the HTTP status; nothing else of its answer.
fn code(text: &str) -> Option<String> {
    let word = |after: &str, allowed: fn(char) -> bool| {
        let (_, rest) = text.split_once(after)?;
        let word: String = rest.chars().take_while(|c| allowed(*c)).take(64).collect();
        (!word.is_empty()).then_some(word)
    };
    word("<Code>", |c| c.is_ascii_alphanumeric()).or_else(|| {
        word("status code: ", |c| c.is_ascii_digit()).map(|status| format!("HTTP status {status}"))
    })
}

fn kind_name(error: &object_store::Error) -> &'static str {
    match error {
        object_store::Error::NotFound { .. } => "not found",
        object_store::Error::Precondition { .. } => "precondition failed",
        object_store::Error::Generic { store, .. } => store,
        _ => "request failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_an_answer_is_shown() {
        let answer = "Server returned non-2xx status code: 403 Forbidden: <Error><Code>InvalidAccessKeyId</Code>\
            <AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>";
        let error = object_store::Error::Generic { store: "S3", source: answer.into() };
        let said = explain(&BundlePath::root(), &error);
        assert_eq!(said.message, "the store refused the request (InvalidAccessKeyId)");
        assert_eq!(code("status code: 503 Slow"), Some("HTTP status 503".to_owned()));
        assert_eq!(code("key=AKIASECRET"), None);
    }
}
