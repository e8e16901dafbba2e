import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.MongoWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import org.bson.BsonDocument;
import org.bson.Document;

/** Plays the scenario with the Java sync driver. */
public final class Scenario {
    private final MongoClient client;
    private final MongoDatabase db;

    private Scenario(MongoClient client) {
        this.client = client;
        this.db = client.getDatabase("interop");
    }

    public static void main(String[] args) {
        LogManager.getLogManager().reset();
        try (MongoClient client = MongoClients.create(System.getenv("MONGODB_URI"))) {
            Scenario scenario = new Scenario(client);
            Map<String, Runnable> steps = new LinkedHashMap<>();
            steps.put("crud", scenario::crud);
            steps.put("cursor", scenario::cursor);
            steps.put("transaction", scenario::transaction);
            steps.put("change stream", scenario::changeStream);
            steps.put("lost reply", scenario::lostReply);
            steps.put("fail-over", scenario::failOver);
            steps.forEach(Scenario::play);
        }
    }

    private static void play(String name, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            System.err.println(name + ": " + e.getMessage());
            System.exit(1);
        }
        System.out.println("ok " + name);
    }

    private static void expect(String what, Object got, Object want) {
        if (!want.equals(got)) {
            throw new IllegalStateException(what + ": " + got + "; want " + want);
        }
    }

    private static Document item(int id, String kind, String name, int n) {
        return new Document("_id", id).append("kind", kind).append("name", name).append("n", n);
    }

    private static Document account(int id, int n) {
        return new Document("_id", id).append("n", n);
    }

    private void crud() {
        MongoCollection<Document> c = db.getCollection("crud");
        c.insertOne(item(1, "fruit", "apple", 1));
        int inserted = c.insertMany(List.of(
                item(2, "fruit", "pear", 2),
                item(3, "fruit", "plum", 3),
                item(4, "vegetable", "leek", 4),
                item(5, "vegetable", "kale", 5))).getInsertedIds().size();
        expect("inserted", inserted, 4);
        expect("modified by the update", c.updateOne(eq(1), inc("n", 10)).getModifiedCount(), 1L);
        var beet = combine(set("kind", "vegetable"), set("name", "beet"), set("n", 6));
        var upserted = c.updateOne(eq(6), beet, new UpdateOptions().upsert(true)).getUpsertedId();
        expect("upserted _id", upserted.asInt32().getValue(), 6);
        expect("replaced", c.replaceOne(eq(2), item(2, "fruit", "quince", 2)).getModifiedCount(), 1L);
        expect("deleted", c.deleteOne(eq(5)).getDeletedCount(), 1L);
        ask(c);
        writeMany(c);
        try {
            c.insertOne(item(1, "fruit", "apple again", 1));
        } catch (MongoWriteException e) {
            expect("the code of a duplicate key", e.getCode(), 11000);
            return;
        }
        throw new IllegalStateException("an _id was inserted twice");
    }

    private static void ask(MongoCollection<Document> c) {
        expect("found", c.find(eq(3)).first(), item(3, "fruit", "plum", 3));
        expect("fruit", c.countDocuments(eq("kind", "fruit")), 3L);
        expect("kinds", c.distinct("kind", String.class).into(new ArrayList<>()), List.of("fruit", "vegetable"));
        List<Document> groups = c.aggregate(List.of(
                Aggregates.group("$kind", Accumulators.sum("n", "$n")),
                Aggregates.sort(Sorts.ascending("_id")))).into(new ArrayList<>());
        expect("groups", groups, List.of(
                new Document("_id", "fruit").append("n", 16), new Document("_id", "vegetable").append("n", 10)));
    }

    private static void writeMany(MongoCollection<Document> c) {
        var done = c.bulkWrite(List.of(
                new InsertOneModel<>(item(7, "herb", "dill", 7)),
                new UpdateOneModel<>(eq(7), set("n", 70)),
                new UpdateManyModel<>(eq("kind", "fruit"), inc("n", 1)),
                new DeleteOneModel<>(eq(4))));
        expect("bulk: inserted, modified, deleted",
                List.of(done.getInsertedCount(), done.getModifiedCount(), done.getDeletedCount()), List.of(1, 4, 1));
        var after = new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER);
        expect("updated", c.findOneAndUpdate(eq(6), inc("n", 1), after), item(6, "vegetable", "beet", 7));
    }

    private void cursor() {
        MongoCollection<Document> c = db.getCollection("cursor");
        List<Document> docs = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            docs.add(new Document("_id", i));
        }
        c.insertMany(docs);
        expect("documents", c.find().sort(Sorts.ascending("_id")).batchSize(20).into(new ArrayList<>()), docs);
    }

    private void transaction() {
        db.getCollection("accounts").insertMany(List.of(account(1, 100), account(2, 0)));
        try (ClientSession session = client.startSession()) {
            session.withTransaction(() -> {
                transfer(session, 1, 30);
                Document outside = db.getCollection("accounts").find(eq(1)).first();
                expect("the account outside before the commit", outside, account(1, 100));
                return null;
            });
            session.startTransaction();
            transfer(session, 2, 50);
            Document within = db.getCollection("accounts").find(session, eq(1)).first();
            expect("the account within", within, account(1, 20));
            session.abortTransaction();
        }
        expect("the account at the end", db.getCollection("accounts").find(eq(1)).first(), account(1, 70));
        expect("entries of the ledger", db.getCollection("ledger").countDocuments(), 1L);
    }

    private void transfer(ClientSession session, int entry, int n) {
        db.getCollection("accounts").updateOne(session, eq(1), inc("n", -n));
        db.getCollection("accounts").updateOne(session, eq(2), inc("n", n));
        db.getCollection("ledger").insertOne(session, account(entry, n));
    }

    private void changeStream() {
        MongoCollection<Document> c = db.getCollection("stream");
        BsonDocument token;
        try (var stream = c.watch().cursor()) {
            insert(c, 1, 2, 3);
            expectEvents(stream, "insert 1 {}", "insert 2 {}", "insert 3 {}");
            client.getDatabase("admin").runCommand(new Document("configureFailPoint", "failCommand")
                    .append("mode", new Document("times", 1))
                    .append("data", new Document("failCommands", List.of("getMore")).append("closeConnection", true)));
            insert(c, 4, 5);
            token = expectEvents(stream, "insert 4 {}");
        }
        insert(c, 6);
        c.updateOne(eq(1), set("n", 10));
        c.deleteOne(eq(2));
        try (var stream = c.watch().resumeAfter(token).cursor()) {
            expectEvents(stream, "insert 5 {}", "insert 6 {}", "update 1 {\"n\": 10}", "delete 2 {}");
            insert(c, 7);
            expectEvents(stream, "insert 7 {}");
        }
    }

    private static void insert(MongoCollection<Document> c, int... ids) {
        for (int id : ids) {
            c.insertOne(new Document("_id", id));
        }
    }

    /** Waits for events, each written as its operation, its document's _id and the fields that were updated. */
    private static BsonDocument expectEvents(
            MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream, String... want) {
        BsonDocument token = null;
        for (String event : want) {
            var got = stream.next();
            var updated = got.getUpdateDescription() == null ? null : got.getUpdateDescription().getUpdatedFields();
            expect("event", got.getOperationType().getValue() + " " + got.getDocumentKey().getInt32("_id").getValue() + " "
                    + (updated == null ? "{}" : updated.toJson()), event);
            token = got.getResumeToken();
        }
        return token;
    }

    private void lostReply() {
        MongoCollection<Document> c = db.getCollection("lost");
        c.insertOne(account(1, 0));
        client.getDatabase("admin").runCommand(new Document("configureFailPoint", "onPrimaryTransactionalWrite")
                .append("mode", new Document("times", 1)));
        expect("modified", c.updateOne(eq(1), inc("n", 1)).getModifiedCount(), 1L);
        expect("n", c.find(eq(1)).first().get("n"), 1);
    }

    private void failOver() {
        MongoCollection<Document> c = db.getCollection("failover");
        for (int i = 0; i < 200; i++) {
            if (i == 100) {
                client.getDatabase("admin").runCommand(
                        new Document("replSetStepDown", 2).append("secondaryCatchUpPeriodSecs", 2));
            }
            c.insertOne(new Document("_id", i));
            expect("find", c.find(eq(i)).first(), new Document("_id", i));
        }
        expect("documents", c.countDocuments(), 200L);
    }
}
