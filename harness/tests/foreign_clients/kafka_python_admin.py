"""The rounds of an operator with kafka-python's admin client: what confluent-kafka's has no call for
(log directories), and the same deletion in another client's words."""

import sys

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

bootstrap, topic = sys.argv[1].split(","), sys.argv[2]
admin = KafkaAdminClient(bootstrap_servers=bootstrap)
admin.create_topics([NewTopic(topic, 1, 3)])
producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
for _ in range(20):
    producer.send(topic, b"x" * 100, partition=0).get(60)
producer.close()

described = admin.describe_log_dirs()
print(described, flush=True)
admin.delete_topics([topic])
assert topic not in admin.list_topics(), "the topic is still listed"
print("deleted", flush=True)
