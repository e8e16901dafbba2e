import static com.couchbase.client.java.kv.DecrementOptions.decrementOptions;
import static com.couchbase.client.java.kv.GetOptions.getOptions;
import static com.couchbase.client.java.kv.IncrementOptions.incrementOptions;
import static com.couchbase.client.java.kv.InsertOptions.insertOptions;
import static com.couchbase.client.java.kv.ReplaceOptions.replaceOptions;
import static com.couchbase.client.java.kv.UpsertOptions.upsertOptions;
import static com.couchbase.client.java.query.QueryOptions.queryOptions;

import com.couchbase.client.core.error.CasMismatchException;
import com.couchbase.client.core.error.DocumentExistsException;
import com.couchbase.client.core.error.DocumentNotFoundException;
import com.couchbase.client.core.msg.kv.DurabilityLevel;
import com.couchbase.client.java.BinaryCollection;
import com.couchbase.client.java.Cluster;
import com.couchbase.client.java.ClusterOptions;
import com.couchbase.client.java.Collection;
import com.couchbase.client.java.ReactiveCollection;
import com.couchbase.client.java.codec.RawBinaryTranscoder;
import com.couchbase.client.java.json.JsonArray;
import com.couchbase.client.java.json.JsonObject;
import com.couchbase.client.java.kv.LookupInResult;
import com.couchbase.client.java.kv.LookupInSpec;
import com.couchbase.client.java.kv.MutateInSpec;
import com.couchbase.client.java.kv.UpsertOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The scenario of README.md with the Couchbase SDK of Java. */
public final class Scenario {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Cluster cluster;
    private final Collection c;

    private Scenario(Cluster cluster) {
        this.cluster = cluster;
        this.c = cluster.bucket("default").defaultCollection();
    }

    public static void main(String[] args) {
        try (Cluster cluster = Cluster.connect(System.getenv("CONNECTION_STRING"), options())) {
            cluster.waitUntilReady(LONG);
            Scenario scenario = new Scenario(cluster);
            Map<String, Runnable> steps = new LinkedHashMap<>();
            steps.put("key-value", scenario::keyValue);
            steps.put("binary", scenario::binary);
            steps.put("sub-document", scenario::subDocument);
            steps.put("bulk", scenario::bulk);
            steps.put("durability", scenario::durability);
            steps.put("query", scenario::query);
            steps.put("lost reply", scenario::lostReply);
            steps.put("rebalance", scenario::rebalance);
            steps.put("failover", scenario::failover);
            steps.forEach(Scenario::play);
        }
    }

    private static ClusterOptions options() {
        return ClusterOptions.clusterOptions(System.getenv("USERNAME"), System.getenv("PASSWORD"))
                .environment(e -> e.timeoutConfig(t -> t.kvTimeout(LONG).kvDurableTimeout(LONG).queryTimeout(LONG)));
    }

    private static void play(String name, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            System.err.println(name + ": " + e);
            e.printStackTrace();
            System.exit(1);
        }
        System.out.println("ok " + name);
    }

    private void keyValue() {
        long first = c.insert("a", JsonObject.create().put("name", "apple").put("n", 1)).cas();
        refused(DocumentExistsException.class, () -> c.insert("a", JsonObject.create()));
        expect(c.get("a").contentAsObject(), JsonObject.create().put("name", "apple").put("n", 1));
        expect(c.get("a", getOptions().project("name")).contentAsObject(), JsonObject.create().put("name", "apple"));
        expect(c.exists("a").exists(), true);
        expect(c.exists("none").exists(), false);
        refused(DocumentNotFoundException.class, () -> c.get("none"));
        c.upsert("a", JsonObject.create().put("n", 2), upsertOptions().expiry(Duration.ofHours(1)));
        refused(CasMismatchException.class, () -> c.replace("a", JsonObject.create(), replaceOptions().cas(first)));
        c.replace("a", JsonObject.create().put("n", 3), replaceOptions().preserveExpiry(true));
        expect(c.get("a", getOptions().withExpiry(true)).expiryTime().isPresent(), true);
        c.touch("a", Duration.ofHours(2));
        expect(c.getAndTouch("a", Duration.ofHours(3)).contentAsObject(), JsonObject.create().put("n", 3));
        long locked = c.getAndLock("a", Duration.ofSeconds(15)).cas();
        refused(CasMismatchException.class, () -> c.unlock("a", first));
        c.unlock("a", locked);
        expect(c.getAnyReplica("a").contentAsObject(), JsonObject.create().put("n", 3));
        expect(c.getAllReplicas("a").count(), 2L);
        c.remove("a");
        expect(c.exists("a").exists(), false);
    }

    private void binary() {
        BinaryCollection b = c.binary();
        expect(b.increment("count", incrementOptions().initial(10)).content(), 10L);
        expect(b.increment("count", incrementOptions().delta(5)).content(), 15L);
        expect(b.decrement("count", decrementOptions().delta(3)).content(), 12L);
        c.upsert("text", bytes("b"), upsertOptions().transcoder(RawBinaryTranscoder.INSTANCE));
        b.append("text", bytes("c"));
        b.prepend("text", bytes("a"));
        byte[] text = c.get("text", getOptions().transcoder(RawBinaryTranscoder.INSTANCE)).contentAsBytes();
        expect(new String(text, StandardCharsets.UTF_8), "abc");
    }

    private void subDocument() {
        c.upsert("s", JsonObject.create().put("list", JsonArray.from(1)));
        c.mutateIn("s", List.of(
                MutateInSpec.upsert("meta.by", "java").xattr().createPath(),
                MutateInSpec.upsert("x", 1),
                MutateInSpec.arrayAppend("list", List.of(2)),
                MutateInSpec.increment("n", 4)));
        LookupInResult r = c.lookupIn("s", List.of(
                LookupInSpec.get("meta.by").xattr(), LookupInSpec.get("list"), LookupInSpec.exists("none"), LookupInSpec.count("list")));
        expect(r.contentAs(0, String.class), "java");
        expect(r.contentAsArray(1), JsonArray.from(1, 2));
        expect(r.exists(2), false);
        expect(r.contentAs(3, Integer.class), 2);
    }

    private void bulk() {
        ReactiveCollection r = c.reactive();
        expect(all(i -> r.upsert("m" + i, JsonObject.create().put("i", i)).thenReturn(i)), 100);
        expect(all(i -> r.get("m" + i).map(got -> got.contentAsObject().getInt("i"))), 100);
        expect(all(i -> r.remove("m" + i).thenReturn(i)), 100);
    }

    /** Runs one operation for each of 100 documents at the same time, and counts those whose result is the document's number. */
    private static int all(IntFunction<Mono<Integer>> operation) {
        return Flux.range(0, 100).flatMap(i -> operation.apply(i).filter(i::equals), 100).count().block().intValue();
    }

    private void durability() {
        for (DurabilityLevel level : List.of(
                DurabilityLevel.MAJORITY, DurabilityLevel.MAJORITY_AND_PERSIST_TO_ACTIVE, DurabilityLevel.PERSIST_TO_MAJORITY)) {
            c.upsert("durable", JsonObject.create().put("level", level.toString()), upsertOptions().durability(level));
        }
        c.insert("durable2", JsonObject.create(), insertOptions().durability(DurabilityLevel.MAJORITY));
    }

    private void query() {
        List<JsonObject> rows = List.of(JsonObject.create().put("x", 1), JsonObject.create().put("x", 2));
        control("/scripts", JsonObject.create()
                .put("services", JsonArray.from("query"))
                .put("statement", "SELECT x FROM t")
                .put("answer", JsonObject.create().put("rows", JsonArray.from(rows))));
        for (boolean adhoc : new boolean[] {true, false, false}) {
            expect(cluster.query("SELECT x FROM t", queryOptions().adhoc(adhoc)).rowsAsObject(), rows);
        }
    }

    private void lostReply() {
        JsonObject fault = JsonObject.create().put("key", "durable");
        control("/faults/kv", fault.put("opcodes", JsonArray.from("GET")).put("loseReply", true).put("times", 1));
        expect(c.get("durable").contentAsObject().containsKey("level"), true); // a read is retried
        fault = JsonObject.create().put("key", "durable");
        control("/faults/kv", fault.put("opcodes", JsonArray.from("SET")).put("status", "0x86").put("times", 3));
        c.upsert("durable", JsonObject.create());
    }

    private void rebalance() {
        control("/nodes", JsonObject.create());
        CompletableFuture<Void> moved =
                CompletableFuture.runAsync(() -> control("/rebalance", JsonObject.create().put("during", "1s")));
        for (int n = 1; !moved.isDone() || n <= 200; n++) {
            expect(c.binary().increment("moving", incrementOptions().initial(1)).content(), (long) n);
            c.upsert("r" + n % 50, JsonObject.create().put("n", n), majority());
        }
        moved.join();
    }

    private void failover() {
        JsonObject moving = ask(HttpRequest.newBuilder(path("/document?bucket=default&key=moving")).build());
        int owner = moving.getArray("nodes").getInt(0);
        control("/nodes/" + owner + "/kill", JsonObject.create());
        control("/nodes/" + owner + "/failover", JsonObject.create());
        for (int i = 0; i < 200; i++) {
            JsonObject value = JsonObject.create().put("i", i);
            c.upsert("f" + i, value);
            expect(c.get("f" + i).contentAsObject(), value);
        }
        expect(c.binary().increment("moving").content(), moving.getLong("json") + 1);
        control("/rebalance", JsonObject.create());
        for (int i = 0; i < 50; i++) {
            c.upsert("after" + i, JsonObject.create(), majority());
        }
    }

    private static UpsertOptions majority() {
        return upsertOptions().durability(DurabilityLevel.MAJORITY);
    }

    private static JsonObject control(String path, JsonObject body) {
        return ask(HttpRequest.newBuilder(path(path)).POST(BodyPublishers.ofString(body.toString())).build());
    }

    private static URI path(String path) {
        return URI.create(System.getenv("CONTROL") + path);
    }

    private static JsonObject ask(HttpRequest request) {
        try {
            HttpResponse<String> reply = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
            expect(reply.statusCode(), 200);
            return JsonObject.fromJson(reply.body());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(request.uri() + ": " + e, e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void expect(Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new IllegalStateException(got + ", want " + want);
        }
    }

    private static void refused(Class<? extends RuntimeException> exception, Runnable operation) {
        try {
            operation.run();
        } catch (RuntimeException e) {
            if (exception.isInstance(e)) {
                return;
            }
            throw e;
        }
        throw new IllegalStateException("it succeeded, want " + exception.getSimpleName());
    }
}
