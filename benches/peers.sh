#!/bin/sh
# Compares `wikiwright lint` with its peers as whole processes, on one bundle, in turn. Says what is missing and goes on.
#
#   benches/peers.sh [BUNDLE] [ROUNDS]
#
# Without BUNDLE one of 10,000 pages is made by GENERATOR (default ../shared/oracle/gen_bundle.py) in a temporary folder.
#
#   WIKIWRIGHT   the binary                                     target/release/wikiwright
#   REFERENCE    okf_lint.py of deep-wiki-agent 0.8.0, run bare, or a command `okf-lint`
#                  python3 -m venv /tmp/reference && /tmp/reference/bin/pip install deep-wiki-agent==0.8.0
#   OKF          the crate's command: cargo install okf --root /tmp/okf     /tmp/okf/bin/okf
#                  (0.2.4 is the last one for Rust 1.95: --version 0.2.4)
#   RG           ripgrep                                        rg
#
# Goals: at least 50 times faster than the reference; faster than `okf lint` in less than half its memory; at most three
# times the time of `rg -c ''`. Judge by the ratios: seconds depend on the machine and on what else it does.
set -u
cd "$(dirname "$0")/.." || exit 2
wikiwright=${WIKIWRIGHT:-target/release/wikiwright}
reference=${REFERENCE:-/tmp/reference/bin/okf-lint}
okf=${OKF:-/tmp/okf/bin/okf}
rg=${RG:-rg}
generator=${GENERATOR:-../shared/oracle/gen_bundle.py}
rounds=${2:-5}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT INT TERM

command -v python3 >/dev/null || { echo "python3 is missing: it measures. Nothing was done."; exit 2; }
bundle=${1:-}
if [ -z "$bundle" ]; then
    [ -f "$generator" ] || { echo "$generator is missing. Give a bundle as first argument."; exit 2; }
    echo "making 10,000 pages …"
    python3 "$generator" 10000 "$work/bundle" >/dev/null || exit 2
    bundle=$work/bundle
fi

python3 - "$bundle" "$rounds" "$wikiwright" "$reference" "$okf" "$rg" <<'PYTHON'
import os, shutil, statistics, sys, time

bundle, rounds, wikiwright, reference, okf, rg = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
bare = [sys.executable, reference] if reference.endswith(".py") else [reference]
peers = {
    "wikiwright lint": [wikiwright, "lint", bundle],
    "rg -c ''": [rg, "-c", "", bundle],
    "okf lint": [okf, "lint", bundle],
    "reference": [*bare, bundle],
}
found = {}
for name, command in peers.items():
    # `okf_lint.py` must be there besides the Python that runs it.
    missing = [part for part in command[: 2 if name == "reference" and len(bare) == 2 else 1] if not shutil.which(part) and not os.path.isfile(part)]
    if missing:
        print(f"{name}: {missing[0]} is missing, left out")
    else:
        found[name] = command

def run(command):
    """Seconds by the clock, seconds of all processors, most memory in MB, exit code."""
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    clock = time.monotonic() - start
    return clock, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)

taken = {name: [] for name in found}
for name, command in found.items():
    code = run(command)[3]  # Warms the file cache, and shows who does not run at all.
    # A linter says with 1 that it found something, `okf lint` with 65.
    if code not in (0, 1, 65):
        print(f"{name}: failed with exit code {code}, left out")
        del taken[name]
for number in range(rounds):
    # Paired: one after the other in each round, so that other load falls on all of them. The slowest needs fewer.
    for name in taken:
        if name != "reference" or number < max(1, rounds // 3):
            taken[name].append(run(found[name]))

print(f"{'':18} {'seconds':>9} {'processor':>10} {'MB':>7}   (median of {rounds})")
medians = {}
for name, runs in taken.items():
    medians[name] = [statistics.median(values) for values in list(zip(*runs))[:3]]
    clock, processor, memory = medians[name]
    print(f"{name:18} {clock:9.2f} {processor:10.2f} {memory:7.0f}")
ours = medians.get("wikiwright lint")
if ours:
    def goal(what, value, ok):
        print(f"{'reached' if ok else 'MISSED '}  {what}: {value:.2f}")
    if peer := medians.get("reference"):
        goal("times faster than the reference (goal: 50)", peer[1] / ours[1], peer[1] / ours[1] >= 50)
    if peer := medians.get("okf lint"):
        goal("processor time of `okf lint` (goal: below 1)", ours[1] / peer[1], ours[1] < peer[1])
        goal("memory of `okf lint` (goal: below 0.5)", ours[2] / peer[2], ours[2] < peer[2] / 2)
    if peer := medians.get("rg -c ''"):
        goal("times the processor time of rg (goal: at most 3)", ours[1] / peer[1], ours[1] <= 3 * peer[1])
PYTHON
