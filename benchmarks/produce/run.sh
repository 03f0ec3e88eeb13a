#!/usr/bin/env bash
# Single-record produce requests a second at three Kafka brokers: plimsoll's client beside Kafka's own
# producer (linger 0, one in flight), at the same concurrency, in turns; medians and their ratio.
#
#   benchmarks/produce/run.sh [ROUNDS] [SECONDS]
#
# Needs Java and Maven (or Kafka in plimsoll's cache). Nothing else should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5}
seconds=${2:-8}
warm_up=10
partitions=6
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release
plimsoll=$target/release/plimsoll
cache=${PLIMSOLL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll}
libs=$cache/kafka-4.4.0/libs
work=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
if [ ! -d "$libs" ]; then
  "$plimsoll" test --system kafka:4.4.0 --where local --faults none --time-limit 1 --out "$work/resolve"
fi

voters=1@127.88.0.1:9094,2@127.88.0.2:9094,3@127.88.0.3:9094
bootstrap=127.88.0.1:9092,127.88.0.2:9092,127.88.0.3:9092
java_flags=(-Xms128m -Xmx512m -XX:+UseSerialGC -cp "$libs/*")
for id in 1 2 3; do
  mkdir "$work/n$id"
  cat >"$work/n$id/server.properties" <<CONF
process.roles=broker,controller
node.id=$id
controller.quorum.voters=$voters
listeners=CLIENT://127.88.0.$id:9092,REPLICATION://127.88.0.$id:9093,CONTROLLER://127.88.0.$id:9094
advertised.listeners=CLIENT://127.88.0.$id:9092,REPLICATION://127.88.0.$id:9093
inter.broker.listener.name=REPLICATION
controller.listener.names=CONTROLLER
listener.security.protocol.map=CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$work/n$id/data
CONF
  java "${java_flags[@]}" kafka.tools.StorageTool format --cluster-id cGxpbXNvbGwtcHJvZHVjZQ \
    --config "$work/n$id/server.properties" >"$work/n$id/format.log" 2>&1
  java "${java_flags[@]}" kafka.Kafka "$work/n$id/server.properties" >"$work/n$id/broker.log" 2>&1 &
  pids+=($!)
done

ours() { # clients, acks
  "$plimsoll" bench --against 1@127.88.0.1:9092,2@127.88.0.2:9092,3@127.88.0.3:9092 \
    --partitions "$partitions" --concurrency "$1" --acks "$2" --warm-up "$warm_up" --seconds "$seconds"
}
theirs() {
  java -Xmx512m -cp "$libs/*:$work" ProduceBench "$bootstrap" log "$partitions" "$1" "$2" "$warm_up" "$seconds" \
    2>"$work/bench.err"
}
javac -cp "$libs/*" -d "$work" benchmarks/produce/ProduceBench.java
# The first call waits for the cluster and makes the topic; both then warm the brokers up.
ours 8 1 >/dev/null
theirs 8 1 >/dev/null
: >"$work/rows"
for clients in 1 8 24; do
  for acks in 1 all; do
    for _ in $(seq "$rounds"); do
      a=$(theirs "$clients" "$acks")
      b=$(ours "$clients" "$acks")
      echo "$clients $acks $a $b" >>"$work/rows"
    done
  done
done
python3 - "$work/rows" <<'PY'
import statistics, sys
rows = {}
for line in open(sys.argv[1]):
    clients, acks, theirs, ours = line.split()
    rows.setdefault((int(clients), acks), []).append((float(theirs), float(ours)))
print("| clients | acks | kafka-clients, requests/s | plimsoll, requests/s | ratio |")
print("|--:|---|--:|--:|--:|")
for (clients, acks), pairs in rows.items():
    theirs = statistics.median(t for t, _ in pairs)
    ours = statistics.median(o for _, o in pairs)
    print(f"| {clients} | {acks} | {theirs:,.0f} | {ours:,.0f} | {ours / theirs:.2f} |")
PY
