//! Keeping secrets out of sentences: the key, passwords of an address, and whatever follows `Bearer`.

use std::sync::{LazyLock, PoisonError, RwLock};

use regex::Regex;

use crate::agent::client::ModelError;

const MARK: &str = "[key]";

/// Fewer letters of a key than this at a text's end may as well be the end of a word.
const TELLING: usize = 4;

/// Those of every client of this process: a panic may say anything, and who reports it knows no client.
static KNOWN: RwLock<Vec<Redactor>> = RwLock::new(Vec::new());

/// `text` without the secrets of any client of this process.
pub fn hide(text: &str) -> String {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().fold(text.to_owned(), |text, redact| redact.text(&text, false))
}

/// Takes secrets out of texts.
#[derive(Clone)]
pub struct Redactor {
    /// The endpoint to name in sentences, without user, password and query.
    pub place: String,
    secrets: Vec<String>,
}

impl Redactor {
    pub fn new(base_url: &str, key: &str) -> Self {
        let mut secrets = vec![key.to_owned()];
        let place = reqwest::Url::parse(base_url).map_or_else(
            |_| base_url.to_owned(),
            |mut url| {
                secrets.extend(url.password().map(str::to_owned));
                secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
                // An error: the address cannot have a user, so there is none to hide.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.set_query(None);
                url.set_fragment(None);
                url.as_str().trim_end_matches('/').to_owned()
            },
        );
        secrets.retain(|secret| secret.len() >= TELLING);
        Self { place, secrets }
    }

    /// [`hide`] hides these secrets from now on.
    pub fn remember(&self) {
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|other| other.secrets == self.secrets) {
            known.push(self.clone());
        }
    }

    pub fn error(&self, error: ModelError) -> ModelError {
        ModelError { kind: error.kind, message: self.text(&error.message, false) }
    }

    /// `text` without secrets. `cut`: the text goes on somewhere else, so that its last letters may begin a key.
    pub fn text(&self, text: &str, cut: bool) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            match self.secrets.iter().find_map(|secret| spelled(rest, secret, cut)) {
                Some(after) => {
                    out.push_str(MARK);
                    rest = after;
                }
                None => {
                    out.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        static BEARER: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r#"(?i)\b(bearer\s+)[^\s"'<>(){},;]*[^\s"'<>(){},;.]"#).ok());
        match &*BEARER {
            Some(bearer) => bearer.replace_all(&out, format!("${{1}}{MARK}")).into_owned(),
            None => out,
        }
    }
}

/// What follows `secret` where `text` begins with it, written as it is or with the escapes of JSON. A secret that is cut
/// off by the text's end counts when enough of it is there to tell, or when the text is `cut`.
fn spelled<'a>(text: &'a str, secret: &str, cut: bool) -> Option<&'a str> {
    let mut rest = text;
    for (matched, wanted) in secret.chars().enumerate() {
        match unescape(rest) {
            Some((found, after)) if found == wanted => rest = after,
            Some(_) => return None,
            None => return (matched >= TELLING || (cut && matched > 0)).then_some(""),
        }
    }
    Some(rest)
}

/// The first character of a JSON string's inside, and what follows; none at the end, or in the middle of an escape there.
pub fn unescape(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((first, chars.as_str()));
    }
    let plain = match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => {
            let digits = chars.as_str().get(..4)?;
            let code = u32::from_str_radix(digits, 16).unwrap_or(0xfffd);
            let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            return Some((c, chars.as_str().get(4..)?));
        }
        other => other,
    };
    Some((plain, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_taken_out_wherever_it_stands() {
        let redact = Redactor::new("https://me:pass-word@host/v1?key=query-key", "sk-secret");
        assert_eq!(redact.place, "https://host/v1");
        for (text, clean) in [
            ("bad sk-secret, Bearer abc def", "bad [key], Bearer [key] def"),
            ("(got Bearer abc).", "(got Bearer [key])."),
            ("user pass-word, query query-key", "user [key], query [key]"),
            ("sk-secretsk-secret", "[key][key]"),
            (r"sk\u002dsecret and sk-\u0073ecret", "[key] and [key]"),
            ("ends in sk-sec", "ends in [key]"),
            ("ends in sk-", "ends in sk-"),
            ("é sk-public", "é sk-public"),
            (r"odd escape \u12", r"odd escape \u12"),
        ] {
            assert_eq!(redact.text(text, false), clean);
        }
        assert_eq!(redact.text("ends in s", true), "ends in [key]");
        assert_eq!(redact.text(r"ends in sk\u00", true), "ends in [key]");
    }

    #[test]
    fn no_key_hides_nothing() {
        assert_eq!(Redactor::new("http://h", "").text("a b", true), "a b");
        assert_eq!(Redactor::new("http://h", "x").text("x-ray", false), "x-ray");
    }
}
