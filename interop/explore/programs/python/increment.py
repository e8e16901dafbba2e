"""Gives each of three accounts ten points. Drivers do not repeat an update of many documents, so the program does."""

from bson import ObjectId
from pymongo.errors import PyMongoError

from play import UNKNOWN, Said, expect, expect_times, or_not_begun, play, said_done

POINTS = 10
TRIES = 3


def mistake(db):
    """Repeats the increment after any error, also when it was applied."""
    give(db, {}, {"$inc": {"points": POINTS}})


def mended(db):
    """Stores an id with the increment, and changes no account that has the id."""
    id = ObjectId()
    give(db, {"given": {"$ne": id}}, {"$inc": {"points": POINTS}, "$push": {"given": id}})


def give(db, filter, update):
    or_not_begun(db.accounts.insert_many, [{"_id": name, "points": 0} for name in ("ada", "bo", "cy")])
    for left in reversed(range(TRIES)):
        try:
            db.accounts.update_many(filter, update)
            return
        except PyMongoError as error:
            if not left:
                raise Said(UNKNOWN, error) from error


def check(db):
    accounts = list(db.accounts.find())
    expect(len(accounts) == 3 or not said_done, f"there are {len(accounts)} accounts")
    for account in accounts:
        expect_times(f"points of {account['_id']}", account["points"] / POINTS)


if __name__ == "__main__":
    play("increment", mistake=mistake, mended=mended, check=check)
