import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends what it is told to with kafka-clients, and says what the library reports of each record:
 * JSON lines on stdin and stdout, as docs/CLIENTS.md describes them.
 */
public final class PlimsollProducer {
    /** A send may wait this long for metadata; what is behind it waits too. */
    private static final String BLOCK_MS_MAX = "2000";
    private static final Duration CLOSE_MAX = Duration.ofSeconds(1);

    private static final ObjectMapper JSON = new ObjectMapper();
    private final PrintStream out;
    private final Thread sending = Thread.currentThread();

    private PlimsollProducer(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // A library that prints must not break the protocol.
        System.setOut(System.err);
        new PlimsollProducer(out).run();
    }

    private void run() throws IOException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        JsonNode hello = JSON.readTree(in.readLine());
        String topic = hello.get("topic").asText();
        Properties properties = new Properties();
        properties.put("max.block.ms", BLOCK_MS_MAX);
        hello.get("config").properties().forEach(e -> properties.put(e.getKey(), e.getValue().asText()));
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        ObjectNode ready = JSON.createObjectNode();
        say(ready.put("ready", "kafka-clients"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode send = JSON.readTree(line);
            byte[] value = send.get("value").asText().getBytes(StandardCharsets.UTF_8);
            int partition = send.get("partition").asInt();
            send(producer, send.get("id").asLong(), new ProducerRecord<>(topic, partition, null, value));
        }
        producer.close(CLOSE_MAX);
    }

    private void send(
            KafkaProducer<byte[], byte[]> producer, long id, ProducerRecord<byte[], byte[]> record) {
        try {
            producer.send(record, (metadata, error) -> report(id, metadata, error));
        } catch (RuntimeException refused) {
            report(id, null, refused);
        }
    }

    /** On the sending thread a record is reported only while it has not been taken in yet. */
    private void report(long id, RecordMetadata metadata, Exception error) {
        ObjectNode line = JSON.createObjectNode().put("id", id);
        if (error == null) {
            ObjectNode ok = line.putObject("ok");
            if (metadata.hasOffset()) {
                ok.put("offset", metadata.offset());
            }
        } else {
            Errors kind = Errors.forException(error);
            line.put("error", kind == Errors.UNKNOWN_SERVER_ERROR ? error.toString() : kind.name());
            if (error instanceof ApiException) {
                line.put("code", kind.code());
            }
            line.put("certain", Thread.currentThread() == sending);
        }
        say(line);
    }

    private synchronized void say(ObjectNode line) {
        out.print(line.toString() + "\n");
        out.flush();
    }
}
