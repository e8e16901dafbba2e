"""What the programs of this folder share: `python FILE mistake`, `python FILE mended`, and `python FILE check` afterwards."""

import os
import sys

import pymongo

# The exit codes are what a program says: 0 is done.
FAILED = 1  # nothing was done
UNKNOWN = 2  # it is done or not
NOT_BEGUN = 3  # the data could not be prepared

# said is what the program said, for its check.
said = int(os.environ.get("HOLDFAST_EXIT_CODE", "0"))
said_done = said == 0


class Said(Exception):
    """Ends a program with an exit code."""

    def __init__(self, code, error):
        super().__init__(str(error))
        self.code = code


def expect_times(what, times):
    """Ends a check with 1 if what was done so many times breaks what the program said."""
    least = 1 if said_done else 0
    most = 0 if said in (FAILED, NOT_BEGUN) else 1
    expect(least <= times <= most, f"{what}: {times} times, but the exit code was {said}")


def expect(holds, message):
    """Ends a check with 1 if what the program promised does not hold."""
    if not holds:
        raise Said(1, message)


def or_not_begun(prepare, *args):
    """Prepares the data of a program."""
    try:
        prepare(*args)
    except pymongo.errors.PyMongoError as error:
        raise Said(NOT_BEGUN, error) from error


def in_transaction(client, callback):
    """Runs a callback in a transaction. Its outcome is unknown if the callback has ended well and the commit has not."""
    committing = False

    def attempt(session):
        nonlocal committing
        committing = False
        callback(session)
        committing = True

    try:
        with pymongo.timeout(10), client.start_session() as session:
            session.with_transaction(attempt)
    except pymongo.errors.PyMongoError as error:
        raise Said(UNKNOWN if committing else FAILED, error) from error


def play(database, **functions):
    """Runs the function that the argument names, in a database of its own."""
    patience = {"serverSelectionTimeoutMS": 2000, "connectTimeoutMS": 2000, "socketTimeoutMS": 2000}
    with pymongo.MongoClient(os.environ["MONGODB_URI"], **patience) as client:
        try:
            functions[sys.argv[1]](client[database])
        except Exception as error:
            print(error, file=sys.stderr)
            sys.exit(error.code if isinstance(error, Said) else UNKNOWN)
