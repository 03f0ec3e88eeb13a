"""Produces with confluent-kafka's defaults for safety (idempotence, acks=all), batch by batch as it
is told on stdin, then reads everything back and says what is missing or there twice."""

import sys

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

BATCH = 300
bootstrap, topic = sys.argv[1:3]

admin = AdminClient({"bootstrap.servers": bootstrap})
config = {"min.insync.replicas": "2"}
admin.create_topics([NewTopic(topic, 2, 3, config=config)])[topic].result(60)

producer = Producer(
    {"bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": "lz4"}
)
delivered = []
sent = 0


def on_delivery(error, message):
    if error is None:
        delivered.append(message.value())


def produce_batch():
    global sent
    for _ in range(BATCH):
        producer.produce(topic, str(sent).encode(), on_delivery=on_delivery)
        sent += 1
        producer.poll(0)
    producer.flush(90)
    print(f"delivered {len(delivered)}", flush=True)


produce_batch()
for line in sys.stdin:
    if line.strip() == "finish":
        break
    produce_batch()

consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }
)
consumer.assign([TopicPartition(topic, partition, 0) for partition in range(2)])
read, ended = [], set()
while len(ended) < 2:
    message = consumer.poll(60)
    if message is None:
        sys.exit("nothing to read for 60 s")
    if message.error():
        ended.add(message.partition())
    else:
        read.append(message.value())
consumer.close()
missing = len(set(delivered) - set(read))
duplicated = len(read) - len(set(read))
print(f"read missing={missing} duplicated={duplicated}", flush=True)
