"""A producer that acknowledges what it never sends. With a number, it ends after so many records."""

import json
import sys

hello = json.loads(sys.stdin.readline())
if hello["plimsoll_producer"] != 1:
    sys.exit("this producer speaks version 1 of the protocol")
# Lines must go out at once: whoever waits for them does not fill a buffer.
print(json.dumps({"ready": "liar"}), flush=True)

left = int(sys.argv[1]) if len(sys.argv) > 1 else -1
offsets = {}
for line in sys.stdin:
    if left == 0:
        sys.exit("this was the last one")
    left -= 1
    record = json.loads(line)
    partition = record["partition"]
    offset = offsets.get(partition, 0)
    offsets[partition] = offset + 1
    print(json.dumps({"id": record["id"], "ok": {"offset": offset}}), flush=True)
