#!/usr/bin/env bash
# Judges the same files with Porcupine and with plimsoll and prints one table with ratios.
#
#   benchmarks/run.sh [FOLDER OF PUBLIC DATA]
#
# The public data (folders etcd, kv, knossos) is read in place; what is made goes to a temporary
# folder. Nothing else should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release -p plimsoll-checkers --example linearize
(cd benchmarks/porcupine && go build -o "$work/porcupine" .)
ours=$target/release/examples/linearize
theirs=$work/porcupine
"$ours" generate "$work" 2>/dev/null

row() { # name, their work, our work, limit in seconds for theirs, files...
  local name=$1 their_work=$2 our_work=$3 limit=$4
  shift 4
  local a b
  a=$(timeout "$limit" "$theirs" "$their_work" "$@" || echo '{}')
  b=$("$ours" "$our_work" "$@")
  printf '%s\n%s\n%s\n' "$name" "$a" "$b" >>"$work/rows"
}

row "etcd logs, all 60" register register 120 "$data"/etcd/*.log
row "etcd logs, all 60, ours explains too" register register-explained 120 "$data"/etcd/*.log
row "kv c50-ok" kv kv 120 "$data/kv/c50-ok.txt"
row "kv c50-bad, explained" kv-explained kv-explained 300 "$data/kv/c50-bad.txt"
row "log, 100,000 ops, as a stream" log log-stream 300 "$work/log.txt"
row "log, 100,000 ops, with all measures" log log 300 "$work/log.txt"
for processes in 4 8 16; do
  row "read-modify-write, $processes open, 100,000 ops" register register 100 "$work/rmw-valid-$processes.log"
  row "the same, 20,000 ops, one read wrong" register register 100 "$work/rmw-corrupted-$processes.log"
done

python3 - "$work/rows" <<'PY'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
print(f"| {'work':45} | Porcupine | plimsoll | ratio | memory | verdicts |")
print(f"|{'-' * 47}|---|---|---|---|---|")
for name, a, b in zip(lines[::3], lines[1::3], lines[2::3]):
    a, b = json.loads(a), json.loads(b)
    if a:
        same = "same" if a["verdicts"] == b["verdicts"] else f"{a['verdicts'][:3]} / {b['verdicts'][:3]}"
        theirs = f"{a['seconds'] * 1e3:.2f} ms, {a['peak_mb']:.0f} MB"
        ratio = f"{a['seconds'] / b['seconds']:.0f}"
        memory = f"{b['peak_mb'] / a['peak_mb']:.2f}"
    else:
        same, theirs, ratio, memory = b["verdicts"][0], "no answer in time", "-", "-"
    print(f"| {name:45} | {theirs} | {b['seconds'] * 1e3:.3f} ms, {b['peak_mb']:.0f} MB | {ratio} | {memory} | {same} |")
PY
