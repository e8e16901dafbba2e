"""Stores an order, and its event for each of two subscribers."""

from bson import ObjectId
from pymongo.errors import PyMongoError

from play import UNKNOWN, Said, expect, expect_times, in_transaction, or_not_begun, play, said_done


def mistake(db):
    """Stores the order and then the events: a failure between leaves an order without its events."""
    or_not_begun(prepare, db)
    try:
        place(db, ObjectId())
    except PyMongoError as error:
        raise Said(UNKNOWN, error) from error


def mended(db):
    """Stores both in one transaction."""
    or_not_begun(prepare, db)
    id = ObjectId()
    in_transaction(db.client, lambda session: place(db, id, session))


def prepare(db):
    db.subscribers.insert_many([{"_id": name, "events": []} for name in ("billing", "shipping")])


def place(db, id, session=None):
    db.orders.insert_one({"_id": id}, session=session)
    db.subscribers.update_many({}, {"$push": {"events": id}}, session=session)


def check(db):
    orders = db.orders.count_documents({})
    subscribers = list(db.subscribers.find())
    expect(len(subscribers) == 2 or not said_done, f"there are {len(subscribers)} subscribers")
    for subscriber in subscribers:
        found = len(subscriber["events"])
        expect(found == orders, f"{subscriber['_id']} has {found} events for {orders} orders")
    expect_times("an order", orders)


if __name__ == "__main__":
    play("outbox", mistake=mistake, mended=mended, check=check)
