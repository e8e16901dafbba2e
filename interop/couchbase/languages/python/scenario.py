"""The scenario of README.md with the Couchbase SDK of Python."""

import json
import os
import sys
import threading
import urllib.request
from datetime import timedelta

from couchbase import subdocument as subdoc
from couchbase.auth import PasswordAuthenticator
from couchbase.cluster import Cluster
from couchbase.durability import Durability, ServerDurability
from couchbase.exceptions import CasMismatchException, DocumentExistsException, DocumentNotFoundException, TimeoutException
from couchbase.options import (
    ClusterOptions, ClusterTimeoutOptions, DecrementOptions, DeltaValue, GetOptions, IncrementOptions, InsertOptions, LookupInOptions,
    MutateInOptions, QueryOptions, ReplaceOptions, SignedInt64, UpsertOptions)


def expect(got, want):
    if got != want:
        raise AssertionError(f"{got!r}, want {want!r}")


def refused(exception, function, *args):
    try:
        function(*args)
    except exception:
        return
    raise AssertionError(f"it succeeded, want {exception.__name__}")


def control(path, body=None):
    request = urllib.request.Request(os.environ["CONTROL"] + path, method="POST", data=json.dumps(body or {}).encode())
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def document(key):
    with urllib.request.urlopen(f"{os.environ['CONTROL']}/document?bucket=default&key={key}", timeout=60) as reply:
        return json.load(reply)


def key_value(c, _):
    first = c.insert("a", {"name": "apple", "n": 1})
    refused(DocumentExistsException, c.insert, "a", {})
    expect(c.get("a").content_as[dict], {"name": "apple", "n": 1})
    expect(c.get("a", GetOptions(project=["name"])).content_as[dict], {"name": "apple"})
    expect(c.exists("a").exists, True)
    expect(c.exists("none").exists, False)
    refused(DocumentNotFoundException, c.get, "none")
    c.upsert("a", {"n": 2}, UpsertOptions(expiry=timedelta(hours=1)))
    refused(CasMismatchException, c.replace, "a", {}, ReplaceOptions(cas=first.cas))
    c.replace("a", {"n": 3}, ReplaceOptions(preserve_expiry=True))
    expect(c.get("a", GetOptions(with_expiry=True)).expiry_time is not None, True)
    c.touch("a", timedelta(hours=2))
    expect(c.get_and_touch("a", timedelta(hours=3)).content_as[dict], {"n": 3})
    locked = c.get_and_lock("a", timedelta(seconds=15))
    refused(CasMismatchException, c.unlock, "a", 1)
    c.unlock("a", locked.cas)
    expect(c.get_any_replica("a").content_as[dict], {"n": 3})
    expect(len(list(c.get_all_replicas("a"))), 2)
    c.remove("a")
    expect(c.exists("a").exists, False)


def binary(c, _):
    b = c.binary()
    expect(b.increment("count", IncrementOptions(initial=SignedInt64(10))).content, 10)
    expect(b.increment("count", IncrementOptions(delta=DeltaValue(5))).content, 15)
    expect(b.decrement("count", DecrementOptions(delta=DeltaValue(3))).content, 12)
    from couchbase.transcoder import RawBinaryTranscoder
    c.upsert("text", b"b", UpsertOptions(transcoder=RawBinaryTranscoder()))
    b.append("text", b"c")
    b.prepend("text", b"a")
    expect(c.get("text", GetOptions(transcoder=RawBinaryTranscoder())).value, b"abc")


def sub_document(c, _):
    c.upsert("s", {"list": [1]})
    c.mutate_in("s", [
        subdoc.upsert("x", 1), subdoc.array_append("list", 2), subdoc.increment("n", 4, create_parents=True),
        subdoc.upsert("meta.by", "python", xattr=True, create_parents=True),
    ], MutateInOptions(store_semantics=subdoc.StoreSemantics.REPLACE))
    r = c.lookup_in("s", [subdoc.get("list"), subdoc.exists("none"), subdoc.count("list"), subdoc.get("meta.by", xattr=True)])
    expect(r.content_as[list](0), [1, 2])
    expect(r.exists(1), False)
    expect(r.content_as[int](2), 2)
    expect(r.content_as[str](3), "python")


def bulk(c, _):
    expect(c.upsert_multi({f"m{i}": {"i": i} for i in range(100)}).all_ok, True)
    got = c.get_multi([f"m{i}" for i in range(100)])
    expect(got.all_ok and got.results["m99"].content_as[dict], {"i": 99})
    expect(c.remove_multi([f"m{i}" for i in range(100)]).all_ok, True)


MAJORITY = ServerDurability(Durability.MAJORITY)


def durability(c, _):
    for level in (Durability.MAJORITY, Durability.MAJORITY_AND_PERSIST_TO_ACTIVE, Durability.PERSIST_TO_MAJORITY):
        c.upsert("durable", {"level": level.value}, UpsertOptions(durability=ServerDurability(level)))
    c.insert("durable2", {}, InsertOptions(durability=MAJORITY))


def query(_, cluster):
    control("/scripts", {"services": ["query"], "statement": "SELECT x FROM t", "answer": {"rows": [{"x": 1}, {"x": 2}]}})
    for adhoc in (True, False, False):
        rows = cluster.query("SELECT x FROM t", QueryOptions(adhoc=adhoc)).rows()
        expect([row["x"] for row in rows], [1, 2])


def lost_reply(c, _):
    control("/faults/kv", {"opcodes": ["GET"], "key": "durable", "loseReply": True, "times": 1})
    expect("level" in c.get("durable").content_as[dict], True)  # a read is retried
    control("/faults/kv", {"opcodes": ["SET"], "key": "durable", "status": "0x86", "times": 3})
    c.upsert("durable", {})


def rebalance(c, _):
    control("/nodes")
    mover = threading.Thread(target=control, args=("/rebalance", {"during": "1s"}))
    mover.start()
    n = 0
    while mover.is_alive() or n < 200:
        n += 1
        expect(c.binary().increment("moving", IncrementOptions(initial=SignedInt64(1))).content, n)
        c.upsert(f"r{n % 50}", {"n": n}, UpsertOptions(durability=MAJORITY))
    mover.join()


def failover(c, _):
    owner = document("moving")["nodes"][0]
    count = document("moving")["json"]
    control(f"/nodes/{owner}/kill")
    control(f"/nodes/{owner}/failover")
    for i in range(200):
        c.upsert(f"f{i}", {"i": i})
        expect(c.get(f"f{i}").content_as[dict], {"i": i})
    expect(c.binary().increment("moving").content, count + 1)
    control("/rebalance")
    for i in range(50):
        c.upsert(f"after{i}", {}, UpsertOptions(durability=MAJORITY))


STEPS = [("key-value", key_value), ("binary", binary), ("sub-document", sub_document), ("bulk", bulk), ("durability", durability),
         ("query", query), ("lost reply", lost_reply), ("rebalance", rebalance), ("failover", failover)]


def main():
    long = timedelta(seconds=60)
    cluster = Cluster(os.environ["CONNECTION_STRING"], ClusterOptions(
        PasswordAuthenticator(os.environ["USERNAME"], os.environ["PASSWORD"]),
        timeout_options=ClusterTimeoutOptions(kv_timeout=long, kv_durable_timeout=long, query_timeout=long)))
    cluster.wait_until_ready(long)
    collection = cluster.bucket("default").default_collection()
    for name, step in STEPS:
        try:
            step(collection, cluster)
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {e}", file=sys.stderr)
            raise
        print("ok", name, flush=True)
    cluster.close()


main()
