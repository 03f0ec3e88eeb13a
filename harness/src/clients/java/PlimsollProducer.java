import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own producer, driven by JSON lines: {"id":7,"partition":0,"value":17} comes in, and
 * {"id":7,"offset":42} or {"id":7,"error":"...","certain":false} goes out, in any order.
 *
 * Arguments: bootstrap servers, topic, acks, whether to be idempotent, delivery.timeout.ms.
 */
public final class PlimsollProducer {
    private static final Pattern LINE =
            Pattern.compile("\\{\"id\":(\\d+),\"partition\":(\\d+),\"value\":(-?\\d+)\\}");

    public static void main(String[] args) throws Exception {
        final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        final Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("acks", args[2]);
        settings.put("enable.idempotence", args[3]);
        settings.put("delivery.timeout.ms", args[4]);
        settings.put("request.timeout.ms", "2000");
        settings.put("max.block.ms", "2000");
        settings.put("linger.ms", "0");
        settings.put("metadata.max.age.ms", "5000");
        final ByteArraySerializer bytes = new ByteArraySerializer();
        final BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, bytes, bytes)) {
            say(out, "{\"ready\":true}");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                final Matcher fields = LINE.matcher(line);
                if (!fields.matches()) {
                    throw new IllegalArgumentException("not a line that is known: " + line);
                }
                send(producer, args[1], fields, out);
            }
        }
    }

    private static void send(
            KafkaProducer<byte[], byte[]> producer, String topic, Matcher fields, PrintStream out) {
        final String id = fields.group(1);
        final int partition = Integer.parseInt(fields.group(2));
        final byte[] value = fields.group(3).getBytes(StandardCharsets.UTF_8);
        final Thread sender = Thread.currentThread();
        // A callback that comes within send(), on this thread, comes before anything was handed over.
        final boolean[] within = {true};
        try {
            producer.send(new ProducerRecord<>(topic, partition, null, value), (sent, failure) -> {
                if (failure == null) {
                    say(out, "{\"id\":" + id + ",\"offset\":" + sent.offset() + "}");
                } else {
                    final boolean certain = within[0] && Thread.currentThread() == sender;
                    fail(out, id, failure, certain);
                }
            });
        } catch (RuntimeException refused) {
            fail(out, id, refused, true);
        } finally {
            within[0] = false;
        }
    }

    private static void fail(PrintStream out, String id, Exception failure, boolean certain) {
        final String name = failure.getClass().getSimpleName();
        say(out, "{\"id\":" + id + ",\"error\":\"" + name + "\",\"certain\":" + certain + "}");
    }

    private static void say(PrintStream out, String line) {
        synchronized (out) {
            out.println(line);
            out.flush();
        }
    }
}
