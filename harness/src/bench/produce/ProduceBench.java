import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * How many single-record produce requests a second kafka-clients makes: producers with linger 0 and
 * one request in flight per connection, each used by a thread of its own that waits for each record.
 * One JSON line in is one round; producers are kept, so that only the first round of a kind is cold.
 */
public final class ProduceBench {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final String bootstrap;
    private final String topic;
    private final Map<String, List<KafkaProducer<byte[], byte[]>>> producers = new HashMap<>();

    private ProduceBench(String bootstrap, String topic) {
        this.bootstrap = bootstrap;
        this.topic = topic;
    }

    public static void main(String[] arguments) throws Exception {
        ProduceBench bench = new ProduceBench(arguments[0], arguments[1]);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode round = JSON.readTree(line);
            System.out.println(bench.round(round));
        }
        System.exit(0);
    }

    private String round(JsonNode round) throws Exception {
        int connections = round.get("connections").asInt();
        int partitions = round.get("partitions").asInt();
        long nanos = (long) (round.get("seconds").asDouble() * 1e9);
        List<KafkaProducer<byte[], byte[]>> used = open(connections, round.get("acks").asText());
        AtomicLong acked = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        long begun = System.nanoTime();
        for (KafkaProducer<byte[], byte[]> producer : used) {
            Thread thread = new Thread(() -> {
                long own = 0;
                while (System.nanoTime() - begun < nanos) {
                    int partition = ThreadLocalRandom.current().nextInt(partitions);
                    byte[] value = Long.toString(++own).getBytes(StandardCharsets.UTF_8);
                    try {
                        producer.send(new ProducerRecord<>(topic, partition, null, value)).get();
                        acked.incrementAndGet();
                    } catch (Exception error) {
                        failed.incrementAndGet();
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return JSON.createObjectNode()
                .put("acked", acked.get())
                .put("failed", failed.get())
                .toString();
    }

    private List<KafkaProducer<byte[], byte[]>> open(int connections, String acks) {
        List<KafkaProducer<byte[], byte[]>> own =
                producers.computeIfAbsent(acks, any -> new ArrayList<>());
        while (own.size() < connections) {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", bootstrap);
            properties.put("acks", acks);
            properties.put("linger.ms", "0");
            properties.put("max.in.flight.requests.per.connection", "1");
            properties.put("enable.idempotence", "false");
            own.add(new KafkaProducer<>(
                    properties, new ByteArraySerializer(), new ByteArraySerializer()));
        }
        return own.subList(0, connections);
    }
}
