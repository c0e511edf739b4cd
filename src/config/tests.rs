use super::*;
use secrecy::ExposeSecret as _;

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::new(variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())))
}

fn flags(base_url: Option<&str>, model: Option<&str>) -> Flags {
    Flags {
        base_url: base_url.map(str::to_owned),
        model: model.map(str::to_owned),
        config: None,
        no_protect_raw: false,
    }
}

fn choose(flags: &Flags, variables: &[(&str, &str)], file: &str) -> Result<Choice, Error> {
    let path = Path::new("config.toml");
    let file = File::parse(file, path).unwrap();
    model::choose(flags, &environment(variables), &file.model, path)
}

/// Base URL, model and key of a complete choice.
fn endpoint(choice: Result<Choice, Error>) -> (String, String, Option<String>) {
    match choice.unwrap() {
        Choice::Endpoint(e) => {
            (e.server.base_url, e.model, e.server.api_key.map(|k| k.expose_secret().to_owned()))
        }
        other => panic!("no endpoint: {other:?}"),
    }
}

fn strings(base_url: &str, model: &str, key: Option<&str>) -> (String, String, Option<String>) {
    (base_url.to_owned(), model.to_owned(), key.map(str::to_owned))
}

const FILE: &str = "[model]\nbase_url = 'http://file/v1'\nmodel = 'file-model'\napi_key_env = 'FILE_KEY'\n";
const OPENAI_SET: [(&str, &str); 3] =
    [("OPENAI_API_KEY", "sk-open"), ("OPENAI_BASE_URL", "https://open/v1"), ("OPENAI_MODEL", "open-model")];

#[test]
fn flags_win_over_environment_over_file_over_openai() {
    let mut variables = vec![
        ("WIKIWRIGHT_BASE_URL", "http://env/v1/"),
        ("WIKIWRIGHT_MODEL", "env-model"),
        ("WIKIWRIGHT_API_KEY", "own"),
        ("FILE_KEY", "file-key"),
    ];
    variables.extend(OPENAI_SET);
    let all = flags(Some("http://flag/v1"), Some("flag-model"));
    assert_eq!(
        endpoint(choose(&all, &variables, FILE)),
        strings("http://flag/v1", "flag-model", Some("own"))
    );
    let none = Flags::default();
    assert_eq!(endpoint(choose(&none, &variables, FILE)), strings("http://env/v1", "env-model", Some("own")));
    assert_eq!(
        endpoint(choose(&none, &variables[3..], FILE)),
        strings("http://file/v1", "file-model", Some("file-key"))
    );
    assert_eq!(
        endpoint(choose(&none, &variables[3..], "")),
        strings("https://open/v1", "open-model", Some("sk-open"))
    );
    assert!(matches!(choose(&none, &[], ""), Ok(Choice::AskOllama { model: None })));
}

#[test]
fn a_key_meant_for_one_server_is_never_sent_to_another() {
    let mut variables = vec![("FILE_KEY", "file-key")];
    variables.extend(OPENAI_SET);
    let elsewhere = flags(Some("http://elsewhere/v1"), None);
    assert_eq!(
        endpoint(choose(&elsewhere, &variables, FILE)),
        strings("http://elsewhere/v1", "file-model", None)
    );
    let file = "[model]\nbase_url = 'http://file/v1'\nmodel = 'm'\n";
    assert_eq!(endpoint(choose(&Flags::default(), &variables, file)), strings("http://file/v1", "m", None));
}

#[test]
fn a_model_without_a_server_is_asked_of_the_next_layer_that_has_one() {
    let model = flags(None, Some("mine"));
    assert_eq!(
        endpoint(choose(&model, &OPENAI_SET, "")),
        strings("https://open/v1", "mine", Some("sk-open"))
    );
    assert!(matches!(choose(&model, &[], ""), Ok(Choice::AskOllama { model: Some((m, _)) }) if m == "mine"));
}

#[test]
fn openai_itself_has_a_default_model_and_other_servers_do_not() {
    let none = Flags::default();
    let key = ("OPENAI_API_KEY", "sk\n");
    assert_eq!(endpoint(choose(&none, &[key], "")), strings(model::OPENAI, model::OPENAI_MODEL, Some("sk")));
    let other = [key, ("OPENAI_BASE_URL", "https://open/v1")];
    assert!(matches!(choose(&none, &other, ""), Ok(Choice::Incomplete(m)) if m.contains("no model")));
}

#[test]
fn a_preset_gives_address_key_and_ways() {
    let none = Flags::default();
    let keys = [("ANTHROPIC_API_KEY", "sk-ant"), ("OPENAI_API_KEY", "sk-open"), ("MY_KEY", "mine")];
    let file = "[model]\npreset = 'Anthropic'\nmodel = 'claude'\n";
    let url = "https://api.anthropic.com/v1";
    assert_eq!(endpoint(choose(&none, &keys, file)), strings(url, "claude", Some("sk-ant")));
    let named = format!("{file}api_key_env = 'MY_KEY'\n");
    assert_eq!(endpoint(choose(&none, &keys, &named)), strings(url, "claude", Some("mine")));
    let Ok(Choice::Incomplete(why)) = choose(&none, &keys[1..], file) else { panic!() };
    assert!(why.contains("ANTHROPIC_API_KEY") && why.contains("config.toml"), "{why}");
    // The preset's own key goes to the preset's own server only; the ways are those that were named.
    let moved = format!("{file}base_url = 'http://proxy/v1'\n");
    assert_eq!(endpoint(choose(&none, &keys, &moved)), strings("http://proxy/v1", "claude", None));
    let Ok(Choice::Endpoint(moved)) = choose(&none, &keys, &moved) else { panic!() };
    assert_eq!(moved.server.preset.map(|preset| preset.name), Some("anthropic"));
    let flag = flags(Some("http://elsewhere/v1"), None);
    let Ok(Choice::Endpoint(other)) = choose(&flag, &keys, file) else { panic!() };
    assert!(other.server.preset.is_none() && other.server.api_key.is_none());
    // A server at home may be asked for its first model; another one may not guess.
    let home = choose(&none, &[], "[model]\npreset = 'llama.cpp'\n");
    assert!(matches!(home, Ok(Choice::AskServer(s)) if s.base_url == "http://localhost:8080/v1"));
    let unnamed = choose(&none, &keys, "[model]\npreset = 'anthropic'\n");
    assert!(matches!(unnamed, Ok(Choice::Incomplete(why)) if why.contains("no model")));
    let default = endpoint(choose(&none, &keys, "[model]\npreset = 'openai'\n"));
    assert_eq!(default, strings(model::OPENAI, model::OPENAI_MODEL, Some("sk-open")));
}

#[test]
fn where_each_setting_comes_from_is_told() {
    let from = |flags: &Flags, variables: &[(&str, &str)], file: &str| match choose(flags, variables, file) {
        Ok(Choice::Endpoint(e)) => [e.server.url_from, e.model_from, e.server.key_from.unwrap_or_default()],
        other => panic!("{other:?}"),
    };
    let none = Flags::default();
    assert_eq!(
        from(&none, &[("FILE_KEY", "k")], FILE),
        ["config.toml: base_url", "config.toml: model", "FILE_KEY"]
    );
    let all = flags(Some("http://flag/v1"), Some("m"));
    assert_eq!(
        from(&all, &[("WIKIWRIGHT_API_KEY", "k")], ""),
        ["--base-url", "--model", "WIKIWRIGHT_API_KEY"]
    );
    assert_eq!(from(&none, &OPENAI_SET, ""), ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"]);
    assert_eq!(
        from(&none, &OPENAI_SET[..1], ""),
        ["OPENAI_API_KEY is set", "the default for OpenAI", "OPENAI_API_KEY"]
    );
    let file = "[model]\npreset = 'openai'\n";
    assert_eq!(from(&none, &OPENAI_SET[..1], file)[0], "config.toml: preset");
}

#[test]
fn an_unknown_preset_and_a_price_that_is_none_are_errors_with_their_place() {
    let error = parse_error("[model]\npreset = 'opnai'\n");
    assert!(error.starts_with("c.toml:2:10: ") && error.contains("`openai`, `anthropic`"), "{error}");
    let error = parse_error("[prices]\nm = { input = -1, output = 1 }\n");
    assert!(error.starts_with("c.toml:2:") && error.contains("no price"), "{error}");
    let error = parse_error("[prices]\nm = { input = 1, output = 1, cached_input = nan }\n");
    assert!(error.starts_with("c.toml:2:") && error.contains("no price"), "{error}");
    let error = parse_error("[prices]\nm = { input = 1 }\n");
    assert!(error.starts_with("c.toml:2:") && error.contains("output"), "{error}");
    let text = "[prices]\n\"a/b:c\" = { input = 1, output = 2.5 }\n[model]\ncontext_tokens = 9\n";
    let options = ModelOptions::of(&File::parse(text, Path::new("c.toml")).unwrap());
    let price = options.prices["a/b:c"];
    assert_eq!((price.input, price.cached, price.output), (1_000_000, None, 2_500_000));
    assert_eq!((options.context_window, options.max_output_tokens), (Some(9), None));
    assert_eq!(options.timeout, Duration::from_secs(120));
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let variables = [("WIKIWRIGHT_BASE_URL", ""), ("OPENAI_API_KEY", "  ")];
    assert!(matches!(choose(&Flags::default(), &variables, ""), Ok(Choice::AskOllama { .. })));
}

#[test]
fn a_key_variable_that_is_not_set_is_named() {
    let choice = choose(&Flags::default(), &[], FILE);
    assert!(matches!(choice, Ok(Choice::Incomplete(m)) if m.contains("FILE_KEY")));
}

#[test]
fn a_base_url_that_is_no_address_is_refused_with_its_origin() {
    for value in ["localhost:11434", "ftp://x/v1", "http://", "nonsense", "file:///etc/passwd"] {
        let error = choose(&flags(Some(value), Some("m")), &[], "").unwrap_err().to_string();
        assert!(error.starts_with("--base-url: ") && error.contains(value), "{error}");
    }
    let error = choose(&Flags::default(), &[], "[model]\nbase_url = 'x'\n").unwrap_err().to_string();
    assert!(error.starts_with("config.toml: base_url: "), "{error}");
}

fn parse_error(text: &str) -> String {
    File::parse(text, Path::new("c.toml")).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_an_error_that_names_place_and_allowed_keys() {
    let error = parse_error("[model]\nmodel = 'm'\nbase_ulr = 'x'\n");
    assert!(error.starts_with("c.toml:3:1: "), "{error}");
    for part in ["base_ulr", "base_url", "api_key_env"] {
        assert!(error.contains(part), "{error}");
    }
    let error = parse_error("[modle]\n");
    assert!(error.starts_with("c.toml:1:2: ") && error.contains("`model`"), "{error}");
}

#[test]
fn a_wrong_type_is_an_error_that_names_place_and_what_is_expected() {
    let error = parse_error("# ü\n[model]\nmodel = 3\n");
    assert!(error.starts_with("c.toml:3:9: ") && error.contains("a string"), "{error}");
    let error = parse_error("[lint]\nprofile = 'strict'\n");
    assert!(error.starts_with("c.toml:2:11: ") && error.contains("`auto`, `wiki`, `okf`"), "{error}");
    let error = parse_error("[model]\ntimeout_seconds = 0\n");
    assert!(error.starts_with("c.toml:2:19: ") && error.contains("nonzero"), "{error}");
    let error = parse_error("[model\n");
    assert!(error.starts_with("c.toml:1:"), "{error}");
}

#[test]
fn the_key_never_shows_in_debug_output() {
    let choice = choose(&Flags::default(), &OPENAI_SET, "").unwrap();
    assert!(!format!("{choice:?}").contains("sk-open"));
}

#[test]
fn a_file_that_is_missing_or_no_file_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(File::read(&folder.path().join("none.toml")), Ok(None));
    let error = File::read(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("not a regular file"), "{error}");
    let flags = Flags { config: Some(folder.path().join("none.toml")), ..Flags::default() };
    let error = Settings::load(&flags, &Environment::default()).unwrap_err().to_string();
    assert!(error.ends_with("none.toml: no such file"), "{error}");
}

#[test]
fn no_color_is_heeded_unless_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "").unwrap();
    let flags = Flags { config: Some(path.clone()), ..Flags::default() };
    let color = |variables: &[(&str, &str)]| Settings::load(&flags, &environment(variables)).unwrap().color;
    assert!(color(&[]));
    assert!(color(&[("NO_COLOR", "")]));
    assert!(!color(&[("NO_COLOR", "1")]));
    std::fs::write(&path, "display.color = 'never'").unwrap();
    assert!(!color(&[]));
}

/// Every key of `config.example.toml` as `table.key`, commented out or not.
fn example_keys(text: &str) -> Vec<String> {
    let mut table = String::new();
    let mut keys = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("#").unwrap_or(line);
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = name.to_owned();
        } else if let Some((key, _)) = line.split_once(" = ")
            && !key.contains(' ')
        {
            keys.push(format!("{table}.{key}"));
        }
    }
    keys
}

#[test]
fn the_example_documents_every_key_and_no_other() {
    let example = include_str!("../../config.example.toml");
    assert_eq!(
        example_keys(example),
        [
            "model.preset",
            "model.base_url",
            "model.model",
            "model.api_key_env",
            "model.timeout_seconds",
            "model.context_tokens",
            "model.max_output_tokens",
            "prices.\"gpt-5-mini\"",
            "manager.protect_raw",
            "manager.review",
            "manager.automatic",
            "limits.steps",
            "limits.minutes",
            "limits.tokens",
            "limits.money",
            "reader.not_found_message",
            "lint.profile",
            "lint.select",
            "lint.ignore",
            "lint.levels",
            "history.keep_days",
            "history.keep_mb",
            "history.sessions",
            "git.commit_on_apply",
            "permissions.rules",
            "display.color",
            "display.theme",
            "storage.poll_seconds",
            "documents.max_chars",
            "documents.cache"
        ]
    );
    // Exhaustive on purpose: a new key does not compile until it is listed above.
    let File {
        model:
            file::Model {
                preset,
                base_url,
                model,
                api_key_env,
                timeout_seconds,
                context_tokens,
                max_output_tokens,
            },
        prices,
        manager: file::Manager { protect_raw, review, automatic },
        limits,
        reader: file::Reader { not_found_message },
        lint: file::Lint { profile, select, ignore, levels },
        permissions: file::Permissions { rules },
        history: file::History { keep_days, keep_mb, sessions },
        display: file::Display { color, theme },
        storage: file::Storage { poll_seconds },
        documents,
        git: file::Git { commit_on_apply },
    } = File::parse(example, Path::new("config.example.toml")).unwrap();
    assert_eq!((preset, base_url, model, api_key_env), (None, None, None, None));
    assert_eq!(documents, file::Documents::default());
    assert_eq!((context_tokens, max_output_tokens, prices.len()), (None, None, 0));
    assert_eq!(timeout_seconds, file::Model::default().timeout_seconds);
    assert!(protect_raw && file::Manager::default().protect_raw);
    assert_eq!(not_found_message, None);
    assert_eq!((context_tokens, review, automatic), (None, file::Review::Turn, Vec::new()));
    assert_eq!(limits, file::Limits::default());
    assert!(rules.is_empty());
    let history = file::History::default();
    assert_eq!((keep_days, keep_mb, sessions), (history.keep_days, history.keep_mb, history.sessions));
    assert_eq!((profile, color), (Some(file::Profile::default()), Some(file::Color::default())));
    assert_eq!(theme, Some(Look::default()));
    assert!(select.is_none() && ignore.is_empty() && levels.is_empty());
    assert_eq!(poll_seconds, file::Storage::default().poll_seconds);
    assert!(!commit_on_apply && !file::Git::default().commit_on_apply);
}

#[test]
fn the_example_loads_with_every_key_uncommented() {
    let example = include_str!("../../config.example.toml");
    let uncommented: String = example
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let file = File::parse(&uncommented, Path::new("config.example.toml")).unwrap();
    assert_eq!(file.model.base_url.as_deref(), Some("http://localhost:11434/v1"));
    assert!(file.model.model.is_some() && file.model.api_key_env.is_some() && file.model.preset.is_some());
    assert!(file.prices.contains_key("gpt-5-mini"));
    for preset in crate::agent::client::preset::ALL {
        assert!(example.contains(&format!("\"{}\"", preset.name)), "{}", preset.name);
    }
}

#[test]
fn permission_rules_are_read_in_order_and_a_wrong_pattern_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let load = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Settings::load(&Flags { config: Some(file.clone()), ..Flags::default() }, &environment(&[]))
    };
    let text = "[permissions]\nrules = [{ operations = ['write'], paths = ['/a/**'], mode = 'ask' }]\n";
    let settings = load(text).unwrap();
    assert_eq!(settings.manager.rules.len(), 1);
    assert_eq!(settings.manager.rules[0].mode, crate::bundle::Mode::Ask);
    let error = load(&text.replace("/a/**", "a/**")).unwrap_err().to_string();
    assert!(error.contains("starts with /") && error.contains("config.toml"), "{error}");
    let error = load(&text.replace("ask", "maybe")).unwrap_err().to_string();
    assert!(error.contains("maybe") && error.contains(":2:"), "{error}");
}
