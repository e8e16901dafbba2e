"""Plays the scenario with PyMongo."""

import os
import sys

from pymongo import DeleteOne, InsertOne, MongoClient, ReturnDocument, UpdateMany, UpdateOne
from pymongo.errors import DuplicateKeyError


def expect(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got}; want {want}")


def item(id, kind, name, n):
    return {"_id": id, "kind": kind, "name": name, "n": n}


def crud(db):
    c = db.crud
    c.insert_one(item(1, "fruit", "apple", 1))
    many = c.insert_many([
        item(2, "fruit", "pear", 2),
        item(3, "fruit", "plum", 3),
        item(4, "vegetable", "leek", 4),
        item(5, "vegetable", "kale", 5),
    ])
    expect("inserted", many.inserted_ids, [2, 3, 4, 5])
    expect("modified by the update", c.update_one({"_id": 1}, {"$inc": {"n": 10}}).modified_count, 1)
    beet = {"$set": {"kind": "vegetable", "name": "beet", "n": 6}}
    expect("upserted _id", c.update_one({"_id": 6}, beet, upsert=True).upserted_id, 6)
    expect("replaced", c.replace_one({"_id": 2}, item(2, "fruit", "quince", 2)).modified_count, 1)
    expect("deleted", c.delete_one({"_id": 5}).deleted_count, 1)
    ask(c)
    write_many(c)
    try:
        c.insert_one(item(1, "fruit", "apple again", 1))
    except DuplicateKeyError as error:
        expect("the code of a duplicate key", error.code, 11000)
    else:
        raise AssertionError("an _id was inserted twice")


def ask(c):
    expect("found", c.find_one({"_id": 3}), item(3, "fruit", "plum", 3))
    expect("fruit", c.count_documents({"kind": "fruit"}), 3)
    expect("kinds", c.distinct("kind"), ["fruit", "vegetable"])
    groups = c.aggregate([{"$group": {"_id": "$kind", "n": {"$sum": "$n"}}}, {"$sort": {"_id": 1}}])
    expect("groups", list(groups), [{"_id": "fruit", "n": 16}, {"_id": "vegetable", "n": 10}])


def write_many(c):
    done = c.bulk_write([
        InsertOne(item(7, "herb", "dill", 7)),
        UpdateOne({"_id": 7}, {"$set": {"n": 70}}),
        UpdateMany({"kind": "fruit"}, {"$inc": {"n": 1}}),
        DeleteOne({"_id": 4}),
    ])
    counts = (done.inserted_count, done.modified_count, done.deleted_count)
    expect("bulk: inserted, modified, deleted", counts, (1, 4, 1))
    after = c.find_one_and_update({"_id": 6}, {"$inc": {"n": 1}}, return_document=ReturnDocument.AFTER)
    expect("updated", after, item(6, "vegetable", "beet", 7))


def cursor(db):
    docs = [{"_id": i} for i in range(250)]
    db.cursor.insert_many(docs)
    expect("documents", list(db.cursor.find(sort=[("_id", 1)], batch_size=20)), docs)


def transaction(db):
    db.accounts.insert_many([{"_id": 1, "n": 100}, {"_id": 2, "n": 0}])
    with db.client.start_session() as session:
        def pay(session):
            transfer(db, session, 1, 30)
            expect("the balance outside before the commit", balance(db), 100)

        session.with_transaction(pay)
        session.start_transaction()
        transfer(db, session, 2, 50)
        expect("the balance within", balance(db, session), 20)
        session.abort_transaction()
    expect("the balance at the end", balance(db), 70)
    expect("entries of the ledger", db.ledger.count_documents({}), 1)


def transfer(db, session, entry, n):
    db.accounts.update_one({"_id": 1}, {"$inc": {"n": -n}}, session=session)
    db.accounts.update_one({"_id": 2}, {"$inc": {"n": n}}, session=session)
    db.ledger.insert_one({"_id": entry, "n": n}, session=session)


def balance(db, session=None):
    return db.accounts.find_one({"_id": 1}, session=session)["n"]


def change_stream(db):
    c = db.stream
    with c.watch() as stream:
        insert(c, 1, 2, 3)
        expect_events(stream, ("insert", 1, None), ("insert", 2, None), ("insert", 3, None))
        break_a_get_more = {"failCommands": ["getMore"], "closeConnection": True}
        db.client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=break_a_get_more)
        insert(c, 4, 5)
        expect_events(stream, ("insert", 4, None))
        token = stream.resume_token
    insert(c, 6)
    c.update_one({"_id": 1}, {"$set": {"n": 10}})
    c.delete_one({"_id": 2})
    with c.watch(resume_after=token) as stream:
        expect_events(stream, ("insert", 5, None), ("insert", 6, None), ("update", 1, {"n": 10}), ("delete", 2, None))
        insert(c, 7)
        expect_events(stream, ("insert", 7, None))


def insert(c, *ids):
    for id in ids:
        c.insert_one({"_id": id})


def expect_events(stream, *want):
    for event in want:
        got = stream.next()
        updated = got.get("updateDescription", {}).get("updatedFields")
        expect("event", (got["operationType"], got["documentKey"]["_id"], updated), event)


def lost_reply(db):
    db.lost.insert_one({"_id": 1, "n": 0})
    db.client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1})
    expect("modified", db.lost.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count, 1)
    expect("n", db.lost.find_one({"_id": 1})["n"], 1)


def fail_over(db):
    for i in range(200):
        if i == 100:
            db.client.admin.command("replSetStepDown", 2, secondaryCatchUpPeriodSecs=2)
        db.failover.insert_one({"_id": i})
        expect("find", db.failover.find_one({"_id": i}), {"_id": i})
    expect("documents", db.failover.count_documents({}), 200)


STEPS = {
    "crud": crud,
    "cursor": cursor,
    "transaction": transaction,
    "change stream": change_stream,
    "lost reply": lost_reply,
    "fail-over": fail_over,
}


def main():
    with MongoClient(os.environ["MONGODB_URI"]) as client:
        for name, step in STEPS.items():
            try:
                step(client.interop)
            except Exception as error:
                sys.exit(f"{name}: {error}")
            print("ok", name)


if __name__ == "__main__":
    main()
