package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// connected returns the bucket "default" of a client that is ready. The client is closed when the test ends.
func connected(t *testing.T, server *couchbasetest.Cluster) *gocb.Bucket {
	t.Helper()
	cluster, err := gocb.Connect(server.ConnectionString(), gocb.ClusterOptions{
		Authenticator: gocb.PasswordAuthenticator{Username: server.Username(), Password: server.Password()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close(nil) })
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(10*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	return bucket
}

// TestPrintOperations prints the outcomes of operations on a test server.
func TestPrintOperations(t *testing.T) {
	server := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	bucket := connected(t, server)
	c := bucket.DefaultCollection()
	printDocuments(c)
	printParts(c)
	printCounters(c)
	printProjections(c)
	printStructures(c)
	printCollections(bucket)
}

// matched returns the sentinels that an error matches, and its type without its package.
func matched(err error) string {
	if err == nil {
		return "no error"
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(sentinels)) {
		if errors.Is(err, sentinels[name]) {
			names = append(names, name)
		}
	}
	kind := fmt.Sprintf("%T", err)
	if i := strings.LastIndexByte(kind, '.'); i >= 0 {
		kind = kind[i+1:]
	}
	var kv *gocb.KeyValueError
	details := ""
	if errors.As(err, &kv) {
		details = fmt.Sprintf(" status %d %s %s.%s.%s attempts %d", uint16(kv.StatusCode), kv.DocumentID, kv.BucketName, kv.ScopeName, kv.CollectionName, kv.RetryAttempts)
	}
	return fmt.Sprintf("%s %v%s", kind, names, details)
}

func content(r *gocb.GetResult, err error) string {
	if err != nil {
		return matched(err)
	}
	var v any
	err = r.Content(&v)
	return fmt.Sprintf("%v cas %v expiry %v %s", v, r.Cas() != 0, !r.ExpiryTime().IsZero(), matched(err))
}

func mutation(r *gocb.MutationResult, err error) string {
	if err != nil {
		return matched(err)
	}
	return fmt.Sprintf("cas %v token %v", r.Cas() != 0, r.MutationToken() != nil)
}

func printDocuments(c *gocb.Collection) {
	line("insert", "%s", mutation(c.Insert("a", map[string]any{"x": 1}, nil)))
	line("insert again", "%s", mutation(c.Insert("a", 1, nil)))
	line("get", "%s", content(c.Get("a", nil)))
	line("get with expiry", "%s", content(c.Get("a", &gocb.GetOptions{WithExpiry: true})))
	line("get of nothing", "%s", content(c.Get("none", nil)))
	line("get of nothing with expiry", "%s", content(c.Get("none", &gocb.GetOptions{WithExpiry: true})))
	line("replace of another version", "%s", mutation(c.Replace("a", 1, &gocb.ReplaceOptions{Cas: 1})))
	line("replace of nothing", "%s", mutation(c.Replace("none", 1, nil)))
	line("replace of nothing with a version", "%s", mutation(c.Replace("none", 1, &gocb.ReplaceOptions{Cas: 1})))
	line("remove of another version", "%s", mutation(c.Remove("a", &gocb.RemoveOptions{Cas: 1})))
	line("remove of nothing", "%s", mutation(c.Remove("none", nil)))
	line("touch of nothing", "%s", mutation(c.Touch("none", time.Hour, nil)))
	line("touch", "%s", mutation(c.Touch("a", time.Hour, nil)))
	line("get with an expiry that is there", "%s", content(c.Get("a", &gocb.GetOptions{WithExpiry: true})))
	line("get and touch of nothing", "%s", content(c.GetAndTouch("none", time.Hour, nil)))
	line("lock of nothing", "%s", content(c.GetAndLock("none", time.Second, nil)))
	line("unlock of nothing", "%s", matched(c.Unlock("none", 1, nil)))
	line("unlock of what is not locked", "%s", matched(c.Unlock("a", 1, nil)))
	exists, err := c.Exists("none", nil)
	line("exists of nothing", "%v %s", exists.Exists(), matched(err))
	exists, err = c.Exists("a", nil)
	line("exists", "%v %v %s", exists.Exists(), exists.Cas() != 0, matched(err))
	_, err = c.GetAndLock("a", 10*time.Second, nil)
	line("lock", "%s", matched(err))
	var timeout *gocb.TimeoutError
	_, err = c.Upsert("a", 1, &gocb.UpsertOptions{Timeout: 300 * time.Millisecond})
	line("upsert of a locked document", "timeout %v %v %v", errors.As(err, &timeout), errors.Is(err, gocb.ErrTimeout), timeout != nil && timeout.OperationID == "Set")
	line("unlock of another version", "%s", matched(c.Unlock("a", 1, nil)))
	line("durable", "%s", mutation(c.Upsert("d", 1, &gocb.UpsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority})))
	line("observed", "%s", mutation(c.Upsert("d", 1, &gocb.UpsertOptions{PersistTo: 1, ReplicateTo: 1})))
	line("no level", "%s", failed(second(c.Upsert("d", 1, &gocb.UpsertOptions{DurabilityLevel: 77}))))
	line("both kinds of durability", "%s", failed(second(c.Upsert("d", 1, &gocb.UpsertOptions{DurabilityLevel: 2, PersistTo: 1}))))
	replica, err := c.GetAnyReplica("none", nil)
	line("any replica of nothing", "%v %s", replica == nil, sentinelsOf(err))
	ops := []gocb.BulkOp{&gocb.GetOp{ID: "d"}, &gocb.GetOp{ID: "none"}, &gocb.IncrementOp{ID: "n", Delta: 1, Initial: 5}}
	line("bulk", "%s %s %s", matched(c.Do(ops, nil)), matched(ops[0].(*gocb.GetOp).Err), matched(ops[1].(*gocb.GetOp).Err))
}

func second[T any](_ T, err error) error { return err }

// sentinelsOf returns the sentinels that an error matches.
func sentinelsOf(err error) string {
	_, names, isError := strings.Cut(matched(err), " [")
	if !isError {
		return "no error"
	}
	names, _, _ = strings.Cut(names, "]")
	return "[" + names + "]"
}

func printParts(c *gocb.Collection) {
	_, _ = c.Upsert("p", map[string]any{"n": 1, "list": []int{1, 2}, "o": map[string]any{"p": "q"}}, nil)
	specs := []gocb.LookupInSpec{
		gocb.GetSpec("n", nil), gocb.GetSpec("none", nil), gocb.ExistsSpec("n", nil), gocb.ExistsSpec("none", nil), gocb.CountSpec("list", nil),
		gocb.CountSpec("n", nil), gocb.GetSpec("", nil), gocb.GetSpec("list[", nil), gocb.GetSpec("n.x", nil), gocb.CountSpec("", nil),
		gocb.GetSpec("$document.exptime", &gocb.GetSpecOptions{IsXattr: true}), gocb.GetSpec("$bogus", &gocb.GetSpecOptions{IsXattr: true}),
	}
	for i, spec := range specs {
		result, err := c.LookupIn("p", []gocb.LookupInSpec{spec}, nil)
		if err != nil {
			line(fmt.Sprintf("look-up %d", i), "%s", sentinelsOf(err))
			continue
		}
		var v any
		err = result.ContentAt(0, &v)
		line(fmt.Sprintf("look-up %d", i), "%v exists %v %s", v, result.Exists(0), sentinelsOf(err))
	}
	result, err := c.LookupIn("p", specs[:7], nil)
	for i := range specs[:7] {
		var v any
		contentErr := result.ContentAt(uint(i), &v)
		line(fmt.Sprintf("part %d of a look-up", i), "%v %v %s %s", v, result.Exists(uint(i)), failed(contentErr), matched(err))
	}
	line("look-up beyond its parts", "%s %v", failed(result.ContentAt(99, nil)), result.Exists(99))
	_, err = c.LookupIn("none", specs[:1], nil)
	line("look-up of nothing", "%s", matched(err))
	attribute := &gocb.UpsertSpecOptions{IsXattr: true, CreatePath: true}
	for i, change := range [][]gocb.MutateInSpec{
		{gocb.UpsertSpec("a", 1, nil)},
		{gocb.UpsertSpec("deep.er", 1, nil)},
		{gocb.UpsertSpec("deep.er", 1, &gocb.UpsertSpecOptions{CreatePath: true})},
		{gocb.InsertSpec("a", 1, nil)},
		{gocb.ReplaceSpec("none", 1, nil)},
		{gocb.RemoveSpec("none", nil)},
		{gocb.ArrayAppendSpec("list", 3, nil), gocb.ArrayPrependSpec("list", []int{9, 8}, &gocb.ArrayPrependSpecOptions{HasMultiple: true})},
		{gocb.ArrayInsertSpec("list[0]", "x", nil)},
		{gocb.ArrayAddUniqueSpec("list", 3, nil)},
		{gocb.IncrementSpec("n", 5, nil), gocb.UpsertSpec("b", 2, nil), gocb.DecrementSpec("n", 2, nil)},
		{gocb.IncrementSpec("o", 5, nil)},
		{gocb.IncrementSpec("n", 0, nil)},
		{gocb.UpsertSpec("b", 2, nil), gocb.UpsertSpec("x", gocb.MutationMacroCAS, attribute)},
		{gocb.UpsertSpec("", 1, nil)},
		{gocb.InsertSpec("", 1, nil)},
		{gocb.UpsertSpec("null", nil, nil)},
		{gocb.ReplaceSpec("", map[string]any{"whole": true}, nil)},
		{gocb.UpsertSpec("f", func() {}, nil)},
		{},
	} {
		result, err := c.MutateIn("p", change, nil)
		values := ""
		if err == nil {
			for j := range change {
				var v any
				contentErr := result.ContentAt(uint(j), &v)
				values += fmt.Sprintf("%v ", v)
				_ = contentErr
			}
		}
		line(fmt.Sprintf("change %d", i), "%s%s", values, sentinelsOf(err))
		line(fmt.Sprintf("document after change %d", i), "%s", content(c.Get("p", nil)))
	}
	for semantic := range gocb.StoreSemantics(3) {
		_, err := c.MutateIn(fmt.Sprint("new", semantic), []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: semantic})
		line(fmt.Sprintf("change of nothing with semantics %d", semantic), "%s", sentinelsOf(err))
		line(fmt.Sprintf("document after semantics %d", semantic), "%s", content(c.Get(fmt.Sprint("new", semantic), nil)))
	}
	_, err = c.MutateIn("new2", []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsInsert})
	line("insert of a document that is there", "%s", sentinelsOf(err))
	_, err = c.MutateIn("p", []gocb.MutateInSpec{gocb.UpsertSpec("a", 1, nil)}, &gocb.MutateInOptions{Cas: 1})
	line("change of another version", "%s", sentinelsOf(err))
	line("semantics that do not exist", "%s", failed(second(c.MutateIn("p", []gocb.MutateInSpec{gocb.RemoveSpec("a", nil)}, &gocb.MutateInOptions{StoreSemantic: 9}))))
}

func printCounters(c *gocb.Collection) {
	count := func(name string, r *gocb.CounterResult, err error) {
		if err != nil {
			line(name, "%s", sentinelsOf(err))
			return
		}
		line(name, "%d %v %v", r.Content(), r.Cas() != 0, r.MutationToken() != nil)
	}
	b := c.Binary()
	for i, o := range []gocb.IncrementOptions{
		{Initial: 5, Delta: 3}, {Initial: 5, Delta: 3}, {Delta: 2}, {Initial: -1, Delta: 1}, {}, {Initial: 0, Delta: 0, Expiry: time.Hour}, {Cas: 1},
	} {
		r, err := b.Increment("count", &o)
		count(fmt.Sprintf("increment %d", i), r, err)
		_, _ = b.Decrement("count", &gocb.DecrementOptions{Delta: 1})
	}
	r, err := b.Increment("new count", &gocb.IncrementOptions{Initial: -1, Delta: 1})
	count("increment of nothing", r, err)
	r, err = b.Decrement("another count", &gocb.DecrementOptions{Initial: 3, Delta: 1})
	count("decrement of nothing", r, err)
	r, err = b.Increment("default count", nil)
	count("increment without options", r, err)
	r, err = b.Increment("a text", nil)
	count("increment of nothing without options", r, err)
	_, _ = c.Upsert("text", "x", nil)
	r, err = b.Increment("text", &gocb.IncrementOptions{Delta: 1})
	count("increment of a text", r, err)
	line("append to nothing", "%s", sentinelsOf(second(b.Append("none", []byte("x"), nil))))
	line("append of another version", "%s", sentinelsOf(second(b.Append("text", []byte("x"), &gocb.AppendOptions{Cas: 1}))))
	line("prepend to nothing", "%s", sentinelsOf(second(b.Prepend("none", []byte("x"), nil))))
}

func printProjections(c *gocb.Collection) {
	document := map[string]any{"a": map[string]any{"b": 1, "c": 2}, "list": []any{1, map[string]any{"x": 3}, 4}, "s": "t"}
	for i := range 20 {
		document[fmt.Sprintf("f%d", i)] = i
	}
	_, _ = c.Upsert("projected", document, nil)
	many := []string{"a.b", "list[1].x", "s"}
	for i := range 20 {
		many = append(many, fmt.Sprintf("f%d", i))
	}
	for i, paths := range [][]string{
		{"a"}, {"a.b"}, {"a.b", "a.c"}, {"list"}, {"list[0]"}, {"list[1].x"}, {"list[0]", "list[2]"}, {"none"}, {"a.b", "none"}, {"a", "a.b"}, {"s.x"}, {"s", "a.c"}, many,
	} {
		result, err := c.Get("projected", &gocb.GetOptions{Project: paths})
		if err != nil {
			line(fmt.Sprintf("projection %d", i), "%s", sentinelsOf(err))
			continue
		}
		var v any
		err = result.Content(&v)
		b, _ := json.Marshal(v)
		line(fmt.Sprintf("projection %d", i), "%s %s", b, matched(err))
	}
}

func printStructures(c *gocb.Collection) {
	list := c.List("list")
	line("list", "%s %s %s", matched(list.Append("b")), matched(list.Prepend("a")), matched(list.Append(3)))
	n, err := list.IndexOf("b")
	line("index of", "%d %s", n, matched(err))
	n, err = list.Size()
	line("size of a list", "%d %s", n, matched(err))
	all, err := list.Iterator()
	line("list's elements", "%v %s", all, matched(err))
	var v any
	err = list.At(9, &v)
	line("element that is not there", "%s", sentinelsOf(err))
	line("removal of an element that is not there", "%s", sentinelsOf(list.RemoveAt(9)))
	line("clear", "%s %s", matched(list.Clear()), sentinelsOf(list.Clear()))
	m := c.Map("map")
	line("map", "%s %s", matched(m.Add("k", 1)), matched(m.Add("l", 2)))
	yes, err := m.Exists("k")
	line("field", "%v %s", yes, matched(err))
	yes, err = m.Exists("none")
	line("field that is not there", "%v %s", yes, sentinelsOf(err))
	n, err = m.Size()
	line("size of a map", "%d %s", n, matched(err))
	set := c.Set("set")
	line("set", "%s %s %s", matched(set.Add("a")), matched(set.Add("b")), sentinelsOf(set.Add("a")))
	yes, err = set.Contains("a")
	line("contained", "%v %s", yes, matched(err))
	line("removal from a set", "%s", matched(set.Remove("a")))
	yes, err = set.Contains("a")
	line("contained no more", "%v %s", yes, matched(err))
	queue := c.Queue("queue")
	line("queue", "%s %s", matched(queue.Push(1)), matched(queue.Push(2)))
	err = queue.Pop(&v)
	line("pop", "%v %s", v, matched(err))
	err = queue.Pop(&v)
	line("second pop", "%v %s", v, matched(err))
	line("pop of nothing", "%s", sentinelsOf(queue.Pop(&v)))
}

func printCollections(b *gocb.Bucket) {
	m := b.CollectionsV2()
	line("scope", "%s", matched(m.CreateScope("s", nil)))
	line("scope again", "%s", sentinelsOf(m.CreateScope("s", nil)))
	line("collection", "%s", matched(m.CreateCollection("s", "c", nil, nil)))
	line("collection again", "%s", sentinelsOf(m.CreateCollection("s", "c", nil, nil)))
	line("collection of no scope", "%s", sentinelsOf(m.CreateCollection("none", "c", nil, nil)))
	line("document of a collection", "%s", mutation(b.Scope("s").Collection("c").Upsert("a", 1, nil)))
	line("document of no collection", "%s", failed(second(b.Scope("s").Collection("none").Upsert("a", 1, &gocb.UpsertOptions{Timeout: 200 * time.Millisecond}))))
	line("drop of no collection", "%s", sentinelsOf(m.DropCollection("s", "none", nil)))
	line("drop of no scope", "%s", sentinelsOf(m.DropScope("none", nil)))
	scopes, err := m.GetAllScopes(nil)
	line("scopes", "%d %s", len(scopes), matched(err))
	line("empty scope", "%s", failed(m.CreateScope("", nil)))
}
