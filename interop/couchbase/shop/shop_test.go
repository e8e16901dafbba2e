package shop

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/interop/internal/httpservice"
)

// shop is a running service with a cluster of its own.
type shop struct {
	httpservice.Service
	cluster *couchbasetest.Cluster
	store   *Store
}

func open(t *testing.T) *shop {
	t.Helper()
	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}))
	store, err := Open(t.Context(), cluster.ConnectionString(),
		gocb.ClusterOptions{Username: cluster.Username(), Password: cluster.Password()}, "default")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &shop{httpservice.Start(t, Handler(store)), cluster, store}
}

func product(sku string, cents, stock int64) Product {
	return Product{SKU: sku, Name: "a " + sku, Category: "tools", Cents: cents, Stock: stock}
}

func TestCatalogue(t *testing.T) {
	s := open(t)
	s.Want("POST", "/products", product("saw", 1200, 3), 200)
	s.Want("POST", "/products", product("saw", 1, 1), 409, `"document":"saw"`, `"status":2`)
	s.Want("POST", "/products", "{", 400)
	s.Want("GET", "/products/none", nil, 404, `"document":"none"`, `"status":1`)
	s.Want("GET", "/products/"+strings.Repeat("x", 251), nil, 400)
	s.Want("GET", "/products/saw/copies", nil, 200, "3")
	s.Want("GET", "/products/none/copies", nil, 404)
	read := s.Call("GET", "/products/saw", nil)
	s.Check("the product", read, 200, `"sku":"saw"`, `"stock":3`)
	changed := s.Call("PUT", "/products/saw", product("saw", 1300, 3), read.Tag)
	s.Check("a change", changed, 200, `"cents":1300`)
	s.Check("a change of what was read too long ago", s.Call("PUT", "/products/saw", product("saw", 1400, 3), read.Tag), 412)
	if newest := s.Call("GET", "/products/saw", nil); changed.Tag == read.Tag || newest.Tag != changed.Tag {
		t.Errorf("the tag is %s, the change had %s, and before it was %s", newest.Tag, changed.Tag, read.Tag)
	}
	s.Check("a change of nothing", s.Call("PUT", "/products/none", product("none", 1, 1), read.Tag), 404)
	s.Want("PUT", "/products/saw", product("saw", 1, 1), 400)
	s.Want("DELETE", "/products/saw", nil, 200)
	s.Want("DELETE", "/products/saw", nil, 404)
	if _, there := s.cluster.DocumentIn("default", scopeName, productsName, "saw"); there {
		t.Error("the product is there after it was removed")
	}
}

func TestSubdocuments(t *testing.T) {
	s := open(t)
	s.Want("POST", "/products", product("saw", 1200, 3), 200)
	s.Want("GET", "/products/saw/offer", nil, 200, `{"cents":1200,"tags":0,"busy":false}`)
	s.Want("POST", "/products/saw/tags", "sharp", 400) // not JSON
	s.Want("POST", "/products/saw/tags", `"sharp"`, 200)
	s.Want("POST", "/products/saw/tags", `"sharp"`, 409, "sub-document error at index 1: path exists")
	s.Want("POST", "/products/saw/tags", `"new"`, 200)
	s.Want("POST", "/products/none/tags", `"new"`, 404)
	offer := httpservice.Decoded[Offer](t, s.Want("GET", "/products/saw/offer", nil, 200, `"cents":1200`, `"tags":2`))
	if !strings.HasPrefix(offer.Tagged, "0x") {
		t.Errorf("%+v", offer)
	}
	s.Want("GET", "/products/none/offer", nil, 404)
	s.Want("POST", "/carts/ann", Line{SKU: "saw", Quantity: 2}, 200, "2")
	s.Want("POST", "/carts/ann", Line{SKU: "saw", Quantity: 3}, 200, "5")
	s.Want("POST", "/carts/ann", Line{SKU: "ball", Quantity: 1}, 200, "1")
	s.Want("POST", "/carts/ann", Line{SKU: "ball"}, 400) // an increment by 0 is none
	cart := httpservice.Decoded[Cart](t, s.Want("GET", "/carts/ann", nil, 200, `{"ball":1,"saw":5}`))
	if left := time.Until(cart.Expires); left < cartLife-time.Minute || left > cartLife+time.Minute {
		t.Errorf("the cart expires in %v", left)
	}
	s.Want("GET", "/carts/bob", nil, 404)
}

func TestBytes(t *testing.T) {
	s := open(t)
	s.Want("PUT", "/products/saw/picture?more=1", "b", 404)
	s.Want("PUT", "/products/saw/picture", "a", 200)
	s.Want("PUT", "/products/saw/picture?more=1", "b", 200)
	s.Want("GET", "/products/saw/picture", nil, 200, `"ab"`)
	s.Want("GET", "/products/picture::saw", nil, 500) // bytes are no product
	s.Want("PUT", "/products/saw/picture", strings.Repeat("x", 20<<20+1), 413)
}

// A locked product is refused at once, for the strategy says so, and the reason was counted.
func TestLocksAndTheStrategy(t *testing.T) {
	s := open(t)
	s.Want("POST", "/products", product("saw", 1200, 3), 200)
	err := s.store.Recount(t.Context(), "saw", func(Product) (int64, error) {
		s.Want("POST", "/products/saw/tags", `"late"`, 423, `"document":"saw"`)
		s.Want("DELETE", "/products/saw", nil, 423)
		return 7, nil
	})
	if err != nil {
		t.Error(err)
	}
	s.Want("GET", "/products/saw", nil, 200, `"stock":7`)
	s.Want("POST", "/products/saw/recount", "x", 400)
	s.Want("POST", "/products/saw/tags", `"free"`, 200)
	s.Want("POST", "/products/saw/recount", "9", 200)
	s.cluster.Use(couchbasetest.AnyOpcode, couchbasetest.Times(3, couchbasetest.Fault{Status: 0x86})) // temporary failure
	s.Want("GET", "/products/saw", nil, 200, `"stock":9`)
	health := httpservice.Decoded[Health](t, s.Want("GET", "/health", nil, 200, `"online":true`, `"nodes":3`, `"services":["kv","query"]`))
	if health.Retries["KV_LOCKED"] != 2 || health.Retries["KV_TEMPORARY_FAILURE"] != 3 || health.Requests["get"] < 2 || health.Requests["remove"] != 1 {
		t.Errorf("%+v", health)
	}
}

// script makes the query service answer the statements of the shop from the documents that the cluster has.
func (s *shop) script(ids []string) {
	s.cluster.HTTP().Script(couchbasetest.HTTPWhen{Statement: countInStock}, 0, couchbasetest.HTTPScript{
		Func: func(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			return couchbasetest.HTTPAnswer{Rows: []any{len(r.Fields["scan_vectors"]) / 10}}
		},
	})
	s.cluster.HTTP().Script(couchbasetest.HTTPWhen{Statement: ordersOf}, 0, couchbasetest.HTTPScript{
		Func: func(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			var rows []any
			for _, id := range ids {
				var o Order
				d, there := s.cluster.DocumentIn("default", scopeName, ordersName, id)
				if there && json.Unmarshal(d.Value, &o) == nil && o.Customer == r.Field("$customer") {
					rows = append(rows, json.RawMessage(d.Value))
				}
			}
			return couchbasetest.HTTPAnswer{Rows: rows}
		},
	})
}

func TestBulk(t *testing.T) {
	const n = 500
	s := open(t)
	s.script(nil)
	lines := make([]string, n)
	skus := make([]string, n)
	for i := range lines {
		skus[i] = fmt.Sprintf("p%03d", i)
		line, err := json.Marshal(product(skus[i], int64(i), 1))
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = string(line)
	}
	long := strings.Repeat("k", 251)
	lines = append(lines, `{"sku":"`+long+`"}`)
	got := httpservice.Decoded[Imported](t, s.Want("POST", "/import", strings.Join(lines, "\n"), 200))
	if got.Stored != n || len(got.Refused) != 1 || got.Refused[long] == "" || got.InStock == 0 {
		t.Errorf("%d stored, refused %v, in stock %d", got.Stored, got.Refused, got.InStock)
	}
	s.Want("POST", "/import", "{}\n{", 400, "line 2")
	found := httpservice.Decoded[[]Product](t, s.Want("GET", "/products?sku=none&sku="+strings.Join(skus, "&sku="), nil, 200))
	if len(found) != n || found[0].SKU != "p000" || found[n-1].Cents != n-1 {
		t.Errorf("%d products were found", len(found))
	}
}

func TestOrders(t *testing.T) {
	s := open(t)
	s.script([]string{"first", "second", "third"})
	s.Want("POST", "/products", product("saw", 1200, 3), 200)
	s.Want("POST", "/products", product("ball", 300, 10), 200)
	order := func(id, customer string, lines ...Line) Order { return Order{ID: id, Customer: customer, Lines: lines} }
	first := order("first", "ann", Line{SKU: "saw", Quantity: 2}, Line{SKU: "ball", Quantity: 4})
	s.Want("POST", "/orders", first, 200, `"cents":3600`, `"number":1`)
	s.Want("POST", "/orders", first, 200, `"cents":3600`, `"number":1`)
	s.Want("POST", "/orders", order("other", "ann", Line{SKU: "ball", Quantity: 1}, Line{SKU: "saw", Quantity: 2}), 409, "sold out")
	s.Want("POST", "/orders", order("other", "ann", Line{SKU: "none", Quantity: 1}), 404)
	s.Want("GET", "/products/ball", nil, 200, `"stock":6`)
	s.Want("POST", "/orders", order("second", "bob", Line{SKU: "saw", Quantity: 1}), 200, `"number":2`)
	s.Want("GET", "/products/saw/offer", nil, 200, `"busy":true`) // there is an object without entries
	s.Want("POST", "/orders", order("third", "ann", Line{SKU: "ball", Quantity: 1}), 200, `"number":3`)
	s.Want("GET", "/orders/second", nil, 200, `"customer":"bob"`)
	s.Want("GET", "/customers/ann?limit=x", nil, 400)
	for range 3 {
		orders := httpservice.Decoded[[]Order](t, s.Want("GET", "/customers/ann?limit=10", nil, 200))
		if len(orders) != 2 || orders[0].ID != "first" || orders[1].Number != 3 {
			t.Errorf("%+v", orders)
		}
	}
	s.cluster.HTTP().EvictPrepared("")
	s.Want("GET", "/customers/bob?limit=10", nil, 200, `"id":"second"`)
	prepared := 0
	for _, r := range s.cluster.HTTP().Requests(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}, Statement: ordersOf}) {
		if strings.Contains(string(r.Body), `"PREPARE `) {
			prepared++
		}
		if context := r.Field("query_context"); !strings.Contains(context, scopeName) {
			t.Errorf("the query's context is %q", context)
		}
	}
	if prepared < 2 {
		t.Errorf("the statement was prepared %d times", prepared)
	}
}

// TestFailOver places orders while a node dies and is failed over, and while replies are lost: no order is lost, none is placed twice.
func TestFailOver(t *testing.T) {
	const workers, each = 8, 15
	s := open(t)
	ids := make([]string, 0, workers*each)
	s.Want("POST", "/products", product("saw", 100, 10*workers*each), 200)
	s.Want("POST", "/products", product("ball", 100, 10*workers*each), 200)
	var working sync.WaitGroup
	var placed atomic.Int64
	for w := range workers {
		for i := range each {
			ids = append(ids, fmt.Sprintf("o%d-%d", w, i))
		}
		own := ids[w*each:]
		working.Go(func() {
			for _, id := range own {
				o := Order{ID: id, Customer: "c" + id[1:2], Lines: []Line{{SKU: "saw", Quantity: 2}, {SKU: "ball", Quantity: 1}}}
				if got := s.Call("POST", "/orders", o); got.Status != 200 {
					t.Errorf("%s: %d %s", id, got.Status, got.Text)
				}
				switch placed.Add(1) {
				case workers * each / 3:
					s.cluster.Use(couchbasetest.AnyOpcode, couchbasetest.Times(3, couchbasetest.Fault{LoseReply: true}))
				case workers * each / 2:
					dead := s.cluster.Owners("default", "number")[0]
					s.cluster.Kill(dead)
					if err := s.cluster.Failover(dead); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	s.Want("GET", "/products/saw", nil, 200, fmt.Sprintf(`"stock":%d`, 8*workers*each))
	s.Want("GET", "/products/ball", nil, 200, fmt.Sprintf(`"stock":%d`, 9*workers*each))
	orders := make(map[uint64][]string) // by their number
	for _, id := range ids {
		number := httpservice.Decoded[Order](t, s.Want("GET", "/orders/"+id, nil, 200, `"cents":300`)).Number
		orders[number] = append(orders[number], id)
	}
	if len(orders) != workers*each {
		t.Errorf("%d orders have %d numbers: %v", len(ids), len(orders), orders)
	}
	s.script(ids)
	s.Want("GET", "/customers/c3?limit=100", nil, 200, `"id":"o3-0"`)
	s.Want("GET", "/health", nil, 200, `"nodes":2`)
}
