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

dirs = [one for broker in admin.describe_log_dirs() for one in broker["log_dirs"]]
sizes = {
    partition["partition_size"]
    for one in dirs
    for of_topic in one["topics"]
    if of_topic["name"] == topic
    for partition in of_topic["partitions"]
}
assert len(dirs) == 3 and len(sizes) == 1 and sizes.pop() > 20 * 100, dirs
print("measured", flush=True)
admin.delete_topics([topic])
assert topic not in admin.list_topics(), "the topic is still listed"
print("deleted", flush=True)
