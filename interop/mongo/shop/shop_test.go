package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/httpservice"
	"github.com/holdfast-db/holdfast/mongotest"
)

// shop is a running service with a replica set of its own.
type shop struct {
	httpservice.Service
	set   *mongotest.Deployment
	store *Store
}

func open(t *testing.T) *shop {
	t.Helper()
	set := mongotest.RunReplicaSetT(t, 3, mongotest.ElectionTimeout(200*time.Millisecond))
	store, err := Open(t.Context(), options.Client().ApplyURI(set.URI()), "shop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &shop{httpservice.Start(t, Handler(store)), set, store}
}

func product(sku, category string, cents, stock int64) Product {
	return Product{SKU: sku, Name: "a " + sku, Category: category, Cents: cents, Stock: stock}
}

func TestCatalogue(t *testing.T) {
	s := open(t)
	s.Want("GET", "/health", nil, 200, "well")
	for i := range 25 {
		s.Want("POST", "/products", product(fmt.Sprintf("p%02d", i), []string{"tools", "toys"}[i%2], 100, 5), 200)
	}
	s.Want("POST", "/products", product("p01", "toys", 1, 1), 409)
	s.Want("POST", "/products", Product{SKU: "other", Name: "a p01"}, 409)
	s.Want("POST", "/products", product("minus", "toys", 1, -1), 422)
	s.Want("POST", "/products", "{", 400)
	s.Want("GET", "/products/p07", nil, 200, `"sku":"p07"`, `"version":1`)
	s.Want("GET", "/products/none", nil, 404)
	s.Want("GET", "/products?size=x", nil, 400)
	var skus []string
	for after, more := "", true; more; {
		page := httpservice.Decoded[Page](t, s.Want("GET", "/products?category=tools&size=5&after="+after, nil, 200, `"total":13`))
		for _, p := range page.Products {
			skus = append(skus, p.SKU)
		}
		after, more = page.Next, page.Next != ""
	}
	if len(skus) != 13 || !slices.IsSorted(skus) {
		t.Errorf("the pages have %q", skus)
	}
	s.Want("PUT", "/products/p01", Product{Version: 1, Cents: 250}, 200, `"cents":250`, `"version":2`)
	s.Want("PUT", "/products/p01", Product{Version: 1, Cents: 260}, 409)
	s.Want("PUT", "/products/none", Product{Version: 1}, 404)
	s.Want("DELETE", "/products/p00", nil, 200, `"sku":"p00"`)
	s.Want("DELETE", "/products/p00", nil, 404)
	s.Want("GET", "/categories", nil, 200, `["tools","toys"]`)
	s.Want("POST", "/categories/toys?percent=50", nil, 200, "12")
	s.Want("POST", "/categories/toys?percent=100", nil, 400)
	s.Want("GET", "/products/p01", nil, 200, `"cents":125`)
}

func TestImport(t *testing.T) {
	s := open(t)
	lines := make([]string, 0, 2500)
	for i := range 2500 {
		line, err := json.Marshal(product(fmt.Sprintf("p%04d", i), "bulk", int64(i), 1))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	s.Want("POST", "/import", strings.Join(lines, "\n"), 200, `"added":2500`, `"changed":0`)
	again := append(slices.Clone(lines[:10]), `{"sku":"new","name":"a p0001"}`, `{"sku":"minus","name":"minus","stock":-1}`, lines[10])
	got := httpservice.Decoded[Imported](t, s.Want("POST", "/import", strings.Join(again, "\n"), 200))
	if got.Added != 0 || got.Changed != 11 || len(got.Refused) != 2 || got.Refused[10] != "code 11000" || got.Refused[11] != "code 121" {
		t.Errorf("%+v", got)
	}
	s.Want("POST", "/import", "{}\n{", 400, "line 2")
	s.set.CheckCount(t, "shop.products", 2500)
}

func TestOrders(t *testing.T) {
	s := open(t)
	s.Want("POST", "/products", product("saw", "tools", 1200, 3), 200)
	s.Want("POST", "/products", product("ball", "toys", 300, 10), 200)
	order := func(lines ...Line) Order { return Order{Customer: "ann", Lines: lines} }
	first := httpservice.Decoded[Order](t, s.Want("POST", "/orders", order(Line{SKU: "saw", Quantity: 2}, Line{SKU: "ball", Quantity: 4}), 200, `"cents":3600`))
	s.Want("POST", "/orders", order(Line{SKU: "ball", Quantity: 1}, Line{SKU: "saw", Quantity: 2}), 409, "sold out")
	s.Want("GET", "/products/ball", nil, 200, `"stock":6`)
	s.Want("POST", "/orders", order(Line{SKU: "none", Quantity: 1}), 409)
	second := httpservice.Decoded[Order](t, s.Want("POST", "/orders", order(Line{SKU: "saw", Quantity: 1}), 200))
	orders := httpservice.Decoded[[]Order](t, s.Want("GET", "/customers/ann", nil, 200))
	if len(orders) != 2 || orders[0].ID != second.ID || orders[1].ID != first.ID || !orders[1].Created.Equal(first.Created) {
		t.Errorf("%+v", orders)
	}
	s.Want("GET", "/report", nil, 200, `[{"category":"tools","cents":3600,"items":3},{"category":"toys","cents":1200,"items":4}]`)
	s.Want("POST", "/orders/"+first.ID.Hex()+"/cancel", nil, 200, cancelled)
	s.Want("POST", "/orders/"+first.ID.Hex()+"/cancel", nil, 404)
	s.Want("POST", "/orders/x/cancel", nil, 400)
	s.Want("GET", "/products/saw", nil, 200, `"stock":2`)
	s.Want("GET", "/report", nil, 200, `[{"category":"tools","cents":1200,"items":1}]`)
}

// feed reads the changes after a token until stop, which is called with each change, returns true. As a customer of the API would, it
// begins again after the last change when the feed ends.
func (s *shop) feed(after string, began func(), stop func(Change) bool) {
	for range 20 {
		token, done := s.feedOnce(after, began, stop)
		if done {
			return
		}
		after, began = token, func() {}
	}
	s.Error("the feed ended 20 times")
}

func (s *shop) feedOnce(after string, began func(), stop func(Change) bool) (token string, done bool) {
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+"/feed?after="+after, nil)
	if err != nil {
		s.Error(err)
		return after, true
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Error(err)
		return after, true
	}
	defer response.Body.Close()
	began()
	for changes := json.NewDecoder(response.Body); ; {
		var c struct {
			Change
			Error string `json:"error"`
		}
		if err := changes.Decode(&c); err != nil || c.Error != "" {
			s.Logf("the feed ended: %v%s", err, c.Error)
			return after, false
		}
		if after = c.Token; stop(c.Change) {
			return after, true
		}
	}
}

// TestFailOver places orders while primaries die, and reads the feed all the time: no order is lost, none is placed twice, and the feed
// has each once.
func TestFailOver(t *testing.T) {
	const workers, each = 8, 25
	s := open(t)
	s.Want("POST", "/products", product("saw", "tools", 100, 10*workers*each), 200)
	var seen []string
	var reading sync.WaitGroup
	began := make(chan struct{})
	reading.Go(func() {
		s.feed("", func() { close(began) }, func(c Change) bool {
			seen = append(seen, c.Order.Customer)
			return len(seen) == workers*each
		})
	})
	<-began
	var working sync.WaitGroup
	var placedOrders atomic.Int64
	for w := range workers {
		working.Go(func() {
			for i := range each {
				name := fmt.Sprintf("c%d-%d", w, i)
				if got := s.Call("POST", "/orders", Order{Customer: name, Lines: []Line{{SKU: "saw", Quantity: 2}}}); got.Status != 200 {
					t.Errorf("%s: %d %s", name, got.Status, got.Text)
				}
				switch placedOrders.Add(1) {
				case workers * each / 3:
					s.set.Kill(s.set.Primary())
				case workers * each * 2 / 3:
					if err := s.set.StepDown(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	reading.Wait()
	s.Want("GET", "/report", nil, 200, fmt.Sprintf(`"items":%d`, 2*workers*each))
	s.Want("GET", "/products/saw", nil, 200, fmt.Sprintf(`"stock":%d`, 8*workers*each))
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != workers*each {
		t.Errorf("the feed has %d orders, want %d", n, workers*each)
	}
}

func TestAFeedGoesOnAfterItsToken(t *testing.T) {
	s := open(t)
	s.Want("POST", "/products", product("saw", "tools", 100, 100), 200)
	token := ""
	s.feed("", func() {
		for _, name := range []string{"ann", "bob", "cid"} {
			s.Want("POST", "/orders", Order{Customer: name, Lines: []Line{{SKU: "saw", Quantity: 1}}}, 200)
		}
	}, func(c Change) bool {
		token = c.Token
		return c.Order.Customer == "bob"
	})
	s.feed(token, func() {}, func(c Change) bool {
		if c.Order.Customer != "cid" || c.Kind != "insert" {
			t.Errorf("%+v", c)
		}
		return true
	})
}
