"""Does the work of a night, which is to archive orders, in one of many processes: the one that has the lock, a document that a TTL
index removes if its owner dies."""

from datetime import datetime, timedelta, timezone

from bson import ObjectId
from pymongo.errors import DuplicateKeyError, PyMongoError

from play import UNKNOWN, Said, expect, expect_times, or_not_begun, play, said_done

TRIES = 3


def mistake(db):
    """Takes a lock that exists for that of another process. It may be its own, of the try before."""
    lock = {"_id": "night"}
    run(db, lock, lambda: db.locks.insert_one({**lock, "expires": expires()}))


def mended(db):
    """Writes its name into the lock, and so knows its own."""
    lock = {"_id": "night", "owner": ObjectId()}
    run(db, lock, lambda: db.locks.update_one(lock, {"$set": {"expires": expires()}}, upsert=True))


def expires():
    return datetime.now(timezone.utc) + timedelta(hours=1)


def run(db, lock, acquire):
    or_not_begun(prepare, db)
    for left in reversed(range(TRIES)):
        try:
            acquire()
            archive(db)
            return release(db, lock)
        except DuplicateKeyError:
            return  # another process does the work
        except PyMongoError as error:
            if not left:
                raise Said(UNKNOWN, error) from error


def prepare(db):
    db.locks.create_index("expires", expireAfterSeconds=0)
    db.orders.insert_many([{"state": "shipped", "archived": 0} for _ in range(3)])


def archive(db):
    db.orders.update_many({"state": "shipped"}, {"$set": {"state": "archived"}, "$inc": {"archived": 1}})


def release(db, lock):
    try:
        db.locks.delete_one(lock)
    except PyMongoError:
        pass  # it expires


def check(db):
    orders = list(db.orders.find())
    expect(len(orders) == 3 or not said_done, f"there are {len(orders)} orders")
    for order in orders:
        expect_times("an order is archived", order["archived"])


if __name__ == "__main__":
    play("lock", mistake=mistake, mended=mended, check=check)
