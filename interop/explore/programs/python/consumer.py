"""Follows customers who move, by a change stream, and sends their orders to the new address."""

from pymongo.errors import PyMongoError

from play import UNKNOWN, Said, expect, or_not_begun, play, said_done

MOVING = ["ada", "bo"]
ORDERS_EACH = 2
STARTS = 5  # how often the consumer starts: again after an error
NEW_ADDRESS = {"$set": {"address": "new"}}


def mistake(db):
    """Stores the position before it does the work: what fails after that is not done by the next start."""

    def handle(customer, position):
        store(db, position)
        work(db, customer)

    run(db, handle)


def mended(db):
    """Stores the position when the work is done. Work that is done twice changes nothing."""

    def handle(customer, position):
        work(db, customer)
        store(db, position)

    run(db, handle)


def store(db, position):
    db.positions.replace_one({"_id": "consumer"}, position, upsert=True)


def work(db, customer):
    db.orders.update_many({"customer": customer}, NEW_ADDRESS)


def run(db, handle):
    or_not_begun(prepare, db)
    for left in reversed(range(STARTS)):
        try:
            follow(db, handle)
            return
        except PyMongoError as error:
            if not left:
                raise Said(UNKNOWN, error) from error


def prepare(db):
    """Stores the orders and the position from which the customers move."""
    db.customers.insert_many([{"_id": customer, "address": "old"} for customer in MOVING])
    db.orders.insert_many([{"customer": customer, "address": "old"} for customer in MOVING for _ in range(ORDERS_EACH)])
    with db.customers.watch() as stream:
        store(db, {"token": stream.resume_token, "events": 0})
    for customer in MOVING:
        db.customers.update_one({"_id": customer}, NEW_ADDRESS)


def follow(db, handle):
    position = db.positions.find_one()
    events = position["events"]
    with db.customers.watch(resume_after=position["token"]) as stream:
        while events < len(MOVING):
            event = stream.next()
            events += 1
            handle(event["documentKey"]["_id"], {"token": event["_id"], "events": events})


def check(db):
    sent = db.orders.count_documents({"address": "new"})
    expect(sent == ORDERS_EACH * len(MOVING) or not said_done, f"{sent} orders have the new address, but the program said done")


if __name__ == "__main__":
    play("consumer", mistake=mistake, mended=mended, check=check)
