#!/usr/bin/env bash
# Single-record produce requests a second at three real Kafka brokers: plimsoll beside kafka-clients' own
# producer, in turns, medians and their ratio. Options are those of `plimsoll bench produce --help`.
# Needs Java 17 (a JDK) and Maven. Nothing else should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo run --quiet --release -- bench produce "$@"
