"""The same as confluent.py with kafka-python: produces batch by batch as it is told on stdin, then
reads everything back and says what is missing or there twice."""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

BATCH = 200
bootstrap, topic = sys.argv[1].split(","), sys.argv[2]

admin = KafkaAdminClient(bootstrap_servers=bootstrap)
admin.create_topics([NewTopic(topic, 2, 3)])
admin.close()

producer = KafkaProducer(
    bootstrap_servers=bootstrap,
    acks="all",
    enable_idempotence=True,
    compression_type="gzip",
    retry_backoff_ms=100,
    reconnect_backoff_ms=50,
    reconnect_backoff_max_ms=500,
)
delivered = []
sent = 0


def produce_batch():
    global sent
    futures = []
    for _ in range(BATCH):
        value = str(sent).encode()
        futures.append((value, producer.send(topic, value, partition=sent % 2)))
        sent += 1
    producer.flush(90)
    for value, future in futures:
        if future.succeeded():
            delivered.append(value)
    print(f"delivered {len(delivered)}", flush=True)


produce_batch()
for line in sys.stdin:
    if line.strip() == "finish":
        break
    produce_batch()
producer.close()

consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
partitions = [TopicPartition(topic, partition) for partition in range(2)]
consumer.assign(partitions)
consumer.seek_to_beginning(*partitions)
ends = consumer.end_offsets(partitions)
read = []
while any(consumer.position(partition) < ends[partition] for partition in partitions):
    for batch in consumer.poll(timeout_ms=1000).values():
        read.extend(message.value for message in batch)
consumer.close()
missing = len(set(delivered) - set(read))
duplicated = len(read) - len(set(read))
print(f"read missing={missing} duplicated={duplicated}", flush=True)
