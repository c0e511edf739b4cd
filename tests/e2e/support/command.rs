//! The built binary without a terminal.

use std::path::Path;

use assert_cmd::Command;

/// With `home` as home and working folder, and none of the caller's settings.
pub fn wikiwright(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikiwright"));
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        // Nothing listens here: the machine's own Ollama must not decide a test.
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .current_dir(home)
        // Far beyond what anything takes; a command that hangs must fail its test, not the run.
        .timeout(std::time::Duration::from_secs(120));
    command
}

/// What one run said: exit code, standard output, standard error.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn run(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
