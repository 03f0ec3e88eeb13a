import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Single-record produce requests a second by Kafka's own producer: as many producers as clients, each with
 * linger 0 and one request in flight, each record waited for before the next is sent.
 *
 * Arguments: bootstrap servers, topic, partitions, producers, acks, seconds of warm-up, seconds.
 */
public final class ProduceBench {
    public static void main(String[] args) throws Exception {
        final String bootstrap = args[0];
        final String topic = args[1];
        final int partitions = Integer.parseInt(args[2]);
        final int producers = Integer.parseInt(args[3]);
        final String acks = args[4];
        final long warmUpNs = (long) (Double.parseDouble(args[5]) * 1e9);
        final long measuredNs = (long) (Double.parseDouble(args[6]) * 1e9);
        final LongAdder acked = new LongAdder();
        final long begin = System.nanoTime() + warmUpNs;
        final long end = begin + measuredNs;
        final Thread[] threads = new Thread[producers];
        for (int i = 0; i < producers; i++) {
            threads[i] = new Thread(() -> produce(bootstrap, topic, partitions, acks, begin, end, acked));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.printf("%.0f%n", acked.sum() / (measuredNs / 1e9));
    }

    private static void produce(
            String bootstrap, String topic, int partitions, String acks, long begin, long end, LongAdder acked) {
        final Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("acks", acks);
        settings.put("linger.ms", "0");
        settings.put("enable.idempotence", "false");
        settings.put("max.in.flight.requests.per.connection", "1");
        final ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, bytes, bytes)) {
            for (long value = 0; System.nanoTime() < end; value++) {
                final int partition = ThreadLocalRandom.current().nextInt(partitions);
                final byte[] text = Long.toString(value).getBytes();
                producer.send(new ProducerRecord<>(topic, partition, null, text)).get();
                final long now = System.nanoTime();
                if (now >= begin && now < end) {
                    acked.increment();
                }
            }
        } catch (Exception failed) {
            System.err.println("a producer failed: " + failed);
            System.exit(1);
        }
    }
}
