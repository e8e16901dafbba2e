package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// shop is a running service with a cluster of its own.
type shop struct {
	*testing.T
	cluster *couchbasetest.Cluster
	store   *Store
	server  *httptest.Server
}

func open(t *testing.T) *shop {
	t.Helper()
	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}))
	store, err := Open(t.Context(), cluster.ConnectionString(),
		gocb.ClusterOptions{Username: cluster.Username(), Password: cluster.Password()}, "default")
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t, cluster, store, httptest.NewServer(Handler(store))}
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reply is what the service answered.
type reply struct {
	status int
	tag    string
	text   string
}

// call sends a request with a body, if there is one, and with a tag that must match, if there is one.
func (s *shop) call(method, path string, body any, match ...string) reply {
	s.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		text = string(encoded)
	}
	request, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, strings.NewReader(text))
	if err != nil {
		s.Fatal(err)
	}
	for _, tag := range match {
		request.Header.Set("If-Match", tag)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		s.Fatal(err)
	}
	return reply{response.StatusCode, response.Header.Get("ETag"), strings.TrimSpace(answer.String())}
}

// want fails the test if the status is another one, or the answer does not contain each of the texts. It returns the answer.
func (s *shop) want(method, path string, body any, status int, texts ...string) string {
	s.Helper()
	got := s.call(method, path, body)
	s.check(method+" "+path, got, status, texts...)
	return got.text
}

func (s *shop) check(what string, got reply, status int, texts ...string) {
	s.Helper()
	if got.status != status {
		s.Errorf("%s: status %d, want %d: %s", what, got.status, status, got.text)
	}
	for _, text := range texts {
		if !strings.Contains(got.text, text) {
			s.Errorf("%s: %s; it must contain %s", what, got.text, text)
		}
	}
}

func decoded[T any](t *testing.T, answer string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return v
}

func product(sku string, cents, stock int64) Product {
	return Product{SKU: sku, Name: "a " + sku, Category: "tools", Cents: cents, Stock: stock}
}

func TestCatalogue(t *testing.T) {
	s := open(t)
	s.want("POST", "/products", product("saw", 1200, 3), 200)
	s.want("POST", "/products", product("saw", 1, 1), 409, `"document":"saw"`, `"status":2`)
	s.want("POST", "/products", "{", 400)
	s.want("GET", "/products/none", nil, 404, `"document":"none"`, `"status":1`)
	s.want("GET", "/products/"+strings.Repeat("x", 251), nil, 400)
	s.want("GET", "/products/saw/copies", nil, 200, "3")
	s.want("GET", "/products/none/copies", nil, 404)
	read := s.call("GET", "/products/saw", nil)
	s.check("the product", read, 200, `"sku":"saw"`, `"stock":3`)
	changed := s.call("PUT", "/products/saw", product("saw", 1300, 3), read.tag)
	s.check("a change", changed, 200, `"cents":1300`)
	s.check("a change of what was read too long ago", s.call("PUT", "/products/saw", product("saw", 1400, 3), read.tag), 412)
	if newest := s.call("GET", "/products/saw", nil); changed.tag == read.tag || newest.tag != changed.tag {
		t.Errorf("the tag is %s, the change had %s, and before it was %s", newest.tag, changed.tag, read.tag)
	}
	s.check("a change of nothing", s.call("PUT", "/products/none", product("none", 1, 1), read.tag), 404)
	s.want("PUT", "/products/saw", product("saw", 1, 1), 400)
	s.want("DELETE", "/products/saw", nil, 200)
	s.want("DELETE", "/products/saw", nil, 404)
	if _, there := s.cluster.DocumentIn("default", scopeName, productsName, "saw"); there {
		t.Error("the product is there after it was removed")
	}
}

func TestSubdocuments(t *testing.T) {
	s := open(t)
	s.want("POST", "/products", product("saw", 1200, 3), 200)
	s.want("GET", "/products/saw/offer", nil, 200, `{"cents":1200,"tags":0,"busy":false}`)
	s.want("POST", "/products/saw/tags", "sharp", 400) // not JSON
	s.want("POST", "/products/saw/tags", `"sharp"`, 200)
	s.want("POST", "/products/saw/tags", `"sharp"`, 409, "sub-document error at index 1: path exists")
	s.want("POST", "/products/saw/tags", `"new"`, 200)
	s.want("POST", "/products/none/tags", `"new"`, 404)
	offer := decoded[Offer](t, s.want("GET", "/products/saw/offer", nil, 200, `"cents":1200`, `"tags":2`))
	if !strings.HasPrefix(offer.Tagged, "0x") {
		t.Errorf("%+v", offer)
	}
	s.want("GET", "/products/none/offer", nil, 404)
	s.want("POST", "/carts/ann", Line{SKU: "saw", Quantity: 2}, 200, "2")
	s.want("POST", "/carts/ann", Line{SKU: "saw", Quantity: 3}, 200, "5")
	s.want("POST", "/carts/ann", Line{SKU: "ball", Quantity: 1}, 200, "1")
	s.want("POST", "/carts/ann", Line{SKU: "ball"}, 400) // an increment by 0 is none
	cart := decoded[Cart](t, s.want("GET", "/carts/ann", nil, 200, `{"ball":1,"saw":5}`))
	if left := time.Until(cart.Expires); left < cartLife-time.Minute || left > cartLife+time.Minute {
		t.Errorf("the cart expires in %v", left)
	}
	s.want("GET", "/carts/bob", nil, 404)
}

func TestBytes(t *testing.T) {
	s := open(t)
	s.want("PUT", "/products/saw/picture?more=1", "b", 404)
	s.want("PUT", "/products/saw/picture", "a", 200)
	s.want("PUT", "/products/saw/picture?more=1", "b", 200)
	s.want("GET", "/products/saw/picture", nil, 200, `"ab"`)
	s.want("GET", "/products/picture::saw", nil, 500) // bytes are no product
	s.want("PUT", "/products/saw/picture", strings.Repeat("x", 20<<20+1), 413)
}

// A locked product is refused at once, for the strategy says so, and the reason was counted.
func TestLocksAndTheStrategy(t *testing.T) {
	s := open(t)
	s.want("POST", "/products", product("saw", 1200, 3), 200)
	err := s.store.Recount(t.Context(), "saw", func(Product) (int64, error) {
		s.want("POST", "/products/saw/tags", `"late"`, 423, `"document":"saw"`)
		s.want("DELETE", "/products/saw", nil, 423)
		return 7, nil
	})
	if err != nil {
		t.Error(err)
	}
	s.want("GET", "/products/saw", nil, 200, `"stock":7`)
	s.want("POST", "/products/saw/recount", "x", 400)
	s.want("POST", "/products/saw/tags", `"free"`, 200)
	s.want("POST", "/products/saw/recount", "9", 200)
	s.cluster.Use(couchbasetest.AnyOpcode, couchbasetest.Times(3, couchbasetest.Fault{Status: 0x86})) // temporary failure
	s.want("GET", "/products/saw", nil, 200, `"stock":9`)
	health := decoded[Health](t, s.want("GET", "/health", nil, 200, `"online":true`, `"nodes":3`, `"services":["kv","query"]`))
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
	got := decoded[Imported](t, s.want("POST", "/import", strings.Join(lines, "\n"), 200))
	if got.Stored != n || len(got.Refused) != 1 || got.Refused[long] == "" || got.InStock == 0 {
		t.Errorf("%d stored, refused %v, in stock %d", got.Stored, got.Refused, got.InStock)
	}
	s.want("POST", "/import", "{}\n{", 400, "line 2")
	found := decoded[[]Product](t, s.want("GET", "/products?sku=none&sku="+strings.Join(skus, "&sku="), nil, 200))
	if len(found) != n || found[0].SKU != "p000" || found[n-1].Cents != n-1 {
		t.Errorf("%d products were found", len(found))
	}
}

func TestOrders(t *testing.T) {
	s := open(t)
	s.script([]string{"first", "second", "third"})
	s.want("POST", "/products", product("saw", 1200, 3), 200)
	s.want("POST", "/products", product("ball", 300, 10), 200)
	order := func(id, customer string, lines ...Line) Order { return Order{ID: id, Customer: customer, Lines: lines} }
	first := order("first", "ann", Line{SKU: "saw", Quantity: 2}, Line{SKU: "ball", Quantity: 4})
	s.want("POST", "/orders", first, 200, `"cents":3600`, `"number":1`)
	s.want("POST", "/orders", first, 200, `"cents":3600`, `"number":1`)
	s.want("POST", "/orders", order("other", "ann", Line{SKU: "ball", Quantity: 1}, Line{SKU: "saw", Quantity: 2}), 409, "sold out")
	s.want("POST", "/orders", order("other", "ann", Line{SKU: "none", Quantity: 1}), 404)
	s.want("GET", "/products/ball", nil, 200, `"stock":6`)
	s.want("POST", "/orders", order("second", "bob", Line{SKU: "saw", Quantity: 1}), 200, `"number":2`)
	s.want("GET", "/products/saw/offer", nil, 200, `"busy":true`) // there is an object without entries
	s.want("POST", "/orders", order("third", "ann", Line{SKU: "ball", Quantity: 1}), 200, `"number":3`)
	s.want("GET", "/orders/second", nil, 200, `"customer":"bob"`)
	s.want("GET", "/customers/ann?limit=x", nil, 400)
	for range 3 {
		orders := decoded[[]Order](t, s.want("GET", "/customers/ann?limit=10", nil, 200))
		if len(orders) != 2 || orders[0].ID != "first" || orders[1].Number != 3 {
			t.Errorf("%+v", orders)
		}
	}
	s.cluster.HTTP().EvictPrepared("")
	s.want("GET", "/customers/bob?limit=10", nil, 200, `"id":"second"`)
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
	s.want("POST", "/products", product("saw", 100, 10*workers*each), 200)
	s.want("POST", "/products", product("ball", 100, 10*workers*each), 200)
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
				if got := s.call("POST", "/orders", o); got.status != 200 {
					t.Errorf("%s: %d %s", id, got.status, got.text)
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
	s.want("GET", "/products/saw", nil, 200, fmt.Sprintf(`"stock":%d`, 8*workers*each))
	s.want("GET", "/products/ball", nil, 200, fmt.Sprintf(`"stock":%d`, 9*workers*each))
	numbers := make(map[uint64]bool)
	for _, id := range ids {
		numbers[decoded[Order](t, s.want("GET", "/orders/"+id, nil, 200, `"cents":300`)).Number] = true
	}
	if len(numbers) != workers*each {
		t.Errorf("%d orders have %d numbers", len(ids), len(numbers))
	}
	s.script(ids)
	s.want("GET", "/customers/c3?limit=100", nil, 200, `"id":"o3-0"`)
	s.want("GET", "/health", nil, 200, `"nodes":2`)
}
