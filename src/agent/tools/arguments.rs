//! Reading a call's arguments: what is missing or of the wrong kind becomes a sentence that the model can act on.
//! Numbers and booleans written as strings are taken for what they say.

use serde_json::{Map, Value};

use crate::okf::BundlePath;
use crate::okf::path::PathError;

/// The arguments of one call. Unknown ones are left alone.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub fn new(map: Map<String, Value>) -> Self {
        Self(map)
    }

    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        // Models mix the two names of the one thing up.
        let other = match name {
            "file_path" => "path",
            "path" => "file_path",
            other => other,
        };
        self.0.get(name).or_else(|| self.0.get(other)).filter(|value| !value.is_null())
    }

    pub fn array(&self, name: &str) -> Result<&Vec<Value>, String> {
        match self.get(name) {
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(format!("`{name}` must be an array.")),
            None => Err(format!("`{name}` is missing.")),
        }
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string.")),
        }
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.optional_text(name)?.ok_or_else(|| format!("`{name}` is missing."))
    }

    /// A bundle path.
    pub fn path(&self, name: &str) -> Result<BundlePath, String> {
        parse(name, self.text(name)?)
    }

    /// A path given that would lead out of the bundle.
    pub fn leads_out(&self) -> Option<&str> {
        let given =
            ["file_path", "path", "from", "to"].into_iter().filter_map(|name| self.0.get(name)?.as_str());
        given.into_iter().find(|text| is_home(text) || BundlePath::parse(text) == Err(PathError::Outside))
    }

    /// A folder, the bundle when absent.
    pub fn folder(&self, name: &str) -> Result<BundlePath, String> {
        self.optional_text(name)?.map_or_else(|| Ok(BundlePath::root()), |text| parse(name, text))
    }

    /// A bundle path, when one is given.
    pub fn optional_path(&self, name: &str) -> Result<Option<BundlePath>, String> {
        self.optional_text(name)?.filter(|text| !text.is_empty()).map(|text| parse(name, text)).transpose()
    }

    /// The objects of a list.
    pub fn objects(&self, name: &str) -> Result<Vec<Self>, String> {
        let object = |(at, item): (usize, &Value)| match item {
            Value::Object(map) => Ok(Self(map.clone())),
            _ => Err(format!("`{name}[{at}]` must be an object.")),
        };
        self.array(name)?.iter().enumerate().map(object).collect()
    }

    /// A count; a negative one is 0.
    pub fn count(&self, name: &str) -> Result<Option<usize>, String> {
        let wrong = || format!("`{name}` must be a whole number.");
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole,
                #[allow(clippy::cast_possible_truncation)]
                (None, Some(float)) if float.fract() == 0.0 && float.abs() < 1e15 => float as i64,
                _ => return Err(wrong()),
            },
            Some(Value::String(text)) => text.trim().parse().map_err(|_| wrong())?,
            Some(_) => return Err(wrong()),
        };
        Ok(Some(usize::try_from(number.max(0)).unwrap_or(usize::MAX)))
    }

    /// A flag, false when absent.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(format!("`{name}` must be true or false.")),
        }
    }
}

fn is_home(text: &str) -> bool {
    text == "~" || text.starts_with("~/")
}

fn parse(name: &str, text: &str) -> Result<BundlePath, String> {
    let form = "Paths start at the bundle: /wiki/index.md.";
    if is_home(text) {
        return Err(format!("`{name}` is no path of this bundle: there is no home folder in it. {form}"));
    }
    BundlePath::parse(text)
        .map_err(|problem| format!("`{name}` is no path of this bundle: {problem}. {form}"))
}
