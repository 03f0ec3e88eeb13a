"""What an operator does with confluent-kafka's AdminClient, step by step as it is told on stdin; each
step ends in one line on stdout. A step that does not go as it should ends the script."""

import sys
import time
from collections import Counter

from confluent_kafka import (
    Consumer,
    ElectionType,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
)

WAIT = 90
bootstrap, topic = sys.argv[1:3]
admin = AdminClient({"bootstrap.servers": bootstrap})
resource = ConfigResource(ConfigResource.Type.TOPIC, topic)


def code_of(future):
    try:
        future.result(WAIT)
        return None
    except KafkaException as error:
        return error.args[0].code()


def until(condition):
    end = time.time() + WAIT
    while not condition():
        assert time.time() < end, "not in time"
        time.sleep(0.05)


def create():
    settings = {"retention.ms": "1000"}
    new = NewTopic(topic, num_partitions=1, replica_assignment=[[1, 2, 3]], config=settings)
    admin.create_topics([new])[topic].result(WAIT)


def produce(values):
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    failed = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: error and failed.append(error))
    assert producer.flush(WAIT) == 0 and not failed, failed


def read_all():
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            # With it, closing would wait for a coordinator for a session's time.
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    read = []
    while True:
        message = consumer.poll(WAIT)
        assert message is not None, "nothing to read"
        if message.error():
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            break
        read.append(message.value().decode())
    consumer.close()
    return read


def config(name):
    return admin.describe_configs([resource])[resource].result(WAIT)[name]


def alter(name, operation, value, **options):
    wanted = ConfigResource(ConfigResource.Type.TOPIC, topic)
    wanted.add_incremental_config(
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType[operation])
    )
    return code_of(admin.incremental_alter_configs([wanted], **options)[wanted])


def describe_cluster():
    cluster = admin.describe_cluster().result(WAIT)
    assert cluster.cluster_id == "plimsoll", cluster.cluster_id
    assert cluster.controller.id in (1, 2, 3)
    print("brokers", *sorted(node.id for node in cluster.nodes), flush=True)


def configs():
    create()
    before = config("min.insync.replicas")
    assert (before.value, before.source) == ("1", ConfigSource.DEFAULT_CONFIG.value), before
    kept = config("retention.ms")
    assert (kept.value, kept.source) == ("1000", ConfigSource.DYNAMIC_TOPIC_CONFIG.value), kept
    assert alter("min.insync.replicas", "SET", "2", validate_only=True) is None
    assert config("min.insync.replicas").value == "1"
    assert alter("min.insync.replicas", "SET", "2") is None
    until(lambda: config("min.insync.replicas").value == "2")
    own = config("min.insync.replicas")
    assert own.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value, own
    assert alter("no.such.setting", "SET", "1") == KafkaError.INVALID_CONFIG
    assert alter("min.insync.replicas", "DELETE", None) is None
    until(lambda: config("min.insync.replicas").value == "1")
    broker = ConfigResource(ConfigResource.Type.BROKER, "2")
    settings = admin.describe_configs([broker])[broker].result(WAIT)
    assert settings["node.id"].value == "2" and settings["node.id"].is_read_only
    print("configured", flush=True)


def elect(kind):
    partition = TopicPartition(topic, 0)
    # Without time-outs of its own: this client stumbles over its own keywords for them.
    results = admin.elect_leaders(kind, [partition]).result(WAIT)
    (error,) = results.values()
    print("elected", "no error" if error is None else error.name(), flush=True)


def describe_leader():
    (future,) = admin.describe_topics(TopicCollection([topic])).values()
    return future.result(WAIT).partitions[0].leader.id


steps = {
    "cluster": describe_cluster,
    "configs": configs,
    "elect preferred": lambda: elect(ElectionType.PREFERRED),
    "elect unclean": lambda: elect(ElectionType.UNCLEAN),
    "produce old": lambda: (produce(["old"] * 50), print("produced", flush=True)),
    "produce new": lambda: (produce(["new"] * 60), print("produced", flush=True)),
    "read": lambda: print("read", Counter(read_all()), flush=True),
    "create": lambda: (create(), print("created", flush=True)),
    "leader": lambda: print("leader", describe_leader(), flush=True),
    "delete": lambda: print("deleted", code_of(admin.delete_topics([topic])[topic]), flush=True),
}
for line in sys.stdin:
    steps[line.strip()]()
