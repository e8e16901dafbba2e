"""Sells a lamp: it takes one from the stock, and stores the order."""

from play import expect, expect_times, in_transaction, or_not_begun, play

STOCKED = 10


def mistake(db):
    """Takes the lamp outside the transaction, as the update has no session: when the driver repeats the callback, another lamp is taken."""

    def callback(session):
        take(db)
        order(db, session)

    sell(db, callback)


def mended(db):
    """Takes the lamp in the transaction."""

    def callback(session):
        take(db, session)
        order(db, session)

    sell(db, callback)


def sell(db, callback):
    or_not_begun(db.stock.insert_one, {"_id": "lamp", "left": STOCKED})
    in_transaction(db.client, callback)


def take(db, session=None):
    db.stock.update_one({"_id": "lamp"}, {"$inc": {"left": -1}}, session=session)


def order(db, session):
    db.orders.insert_one({"item": "lamp"}, session=session)


def check(db):
    orders = db.orders.count_documents({})
    lamp = db.stock.find_one() or {"left": STOCKED}
    taken = STOCKED - lamp["left"]
    expect(taken == orders, f"{taken} lamps were taken for {orders} orders")
    expect_times("an order", orders)


if __name__ == "__main__":
    play("sideeffect", mistake=mistake, mended=mended, check=check)
