package shop

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
)

// explored is the shop of one run: two products, and what the service promises about them.
type explored struct {
	*explore.Exploration
	*Store
}

// inShop explores f, which is called with a shop that has 3 saws and 10 balls.
func inShop(t *testing.T, f func(e *explored), opts ...explore.Option) {
	t.Helper()
	explore.Run(t, func(e *explore.Exploration) {
		for _, p := range []Product{product("saw", "tools", 1200, 3), product("ball", "toys", 300, 10)} {
			p.Version = 1
			if err := e.Deployment().Insert("shop.products", p); err != nil {
				e.Fatalf("%v", err)
			}
		}
		store, err := Open(e.Context(), options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()), "shop")
		if err != nil {
			e.Logf("Open returned %v", err)
			return // the service does not start, which is no lie
		}
		e.Cleanup(func() { _ = store.Close(context.Background()) })
		f(&explored{e, store})
	}, append(opts, explore.InMemory())...)
}

// balanced returns an error unless the stock and the orders that are placed have what there was.
func (e *explored) balanced() error {
	placedOf := make(map[string]int64)
	orders, err := e.OrdersOf(e.Context(), "ann", 10)
	for _, o := range orders {
		for _, line := range o.Lines {
			if o.State == placed {
				placedOf[line.SKU] += line.Quantity
			}
		}
	}
	for sku, had := range map[string]int64{"saw": 3, "ball": 10} {
		p, err2 := e.Product(e.Context(), sku)
		if err = errors.Join(err, err2); err == nil && p.Stock+placedOf[sku] != had {
			return fmt.Errorf("%d %ss are in stock, and %d in orders; there were %d", p.Stock, sku, placedOf[sku], had)
		}
	}
	return err
}

func (e *explored) place() (Order, error) {
	o, err := e.Place(e.Context(), "ann", []Line{{SKU: "saw", Quantity: 2}, {SKU: "ball", Quantity: 4}})
	e.Logf("Place returned %v", err)
	return o, err
}

func TestExplorePlace(t *testing.T) {
	inShop(t, func(e *explored) {
		_, err := e.place()
		e.Check(func() error {
			orders, err2 := e.OrdersOf(e.Context(), "ann", 10)
			if err == nil && err2 == nil && len(orders) != 1 {
				return fmt.Errorf("%d orders", len(orders))
			}
			return errors.Join(err2, e.balanced())
		})
	})
}

func TestExploreCancel(t *testing.T) {
	inShop(t, func(e *explored) {
		o, err := e.place()
		if err != nil {
			return
		}
		err = e.Cancel(e.Context(), o.ID)
		e.Logf("Cancel returned %v", err)
		e.Check(func() error {
			if errors.Is(err, mongo.ErrNoDocuments) {
				return errors.New("the order is there, and Cancel has not found it")
			}
			orders, err2 := e.OrdersOf(e.Context(), "ann", 10)
			if err2 == nil && (len(orders) != 1 || err == nil && orders[0].State != cancelled) {
				return fmt.Errorf("the orders are %+v", orders)
			}
			return errors.Join(err2, e.balanced())
		})
	})
}

func TestExploreReprice(t *testing.T) {
	inShop(t, func(e *explored) {
		_, err := e.Reprice(e.Context(), "saw", 1, 999)
		e.Logf("Reprice returned %v", err)
		e.Check(func() error {
			p, err2 := e.Product(e.Context(), "saw")
			changed := p.Cents == 999 && p.Version == 2
			if unchanged := p.Cents == 1200 && p.Version == 1; err2 == nil && !changed && !unchanged {
				return fmt.Errorf("the product is %+v", p)
			}
			switch {
			case err == nil && !changed:
				return errors.New("the price has not changed")
			case errors.Is(err, ErrStale), errors.Is(err, mongo.ErrNoDocuments):
				return fmt.Errorf("nobody else changed or removed it, and the error is %w", err)
			}
			return err2
		})
	})
}

func TestExploreImport(t *testing.T) {
	inShop(t, func(e *explored) {
		got, err := e.Import(e.Context(), []Product{product("saw", "tools", 1300, 5), product("plane", "tools", 900, 1)})
		e.Logf("Import returned %+v, %v", got, err)
		e.Check(func() error {
			plane, err2 := e.Product(e.Context(), "plane")
			saw, err3 := e.Product(e.Context(), "saw")
			if err == nil && len(got.Refused) == 0 && (err2 != nil || err3 != nil || plane.Stock != 1 || saw.Stock != 5 || saw.Version != 2) {
				return fmt.Errorf("the products are %+v, %w and %+v, %w", plane, err2, saw, err3)
			}
			if saw.Version > 2 {
				return fmt.Errorf("the product was changed twice: %+v", saw)
			}
			return nil
		})
	})
}

// An update of many documents is not retried by the driver, so an error leaves its outcome open; it never happens twice.
func TestExploreDiscount(t *testing.T) {
	inShop(t, func(e *explored) {
		n, err := e.Discount(e.Context(), "tools", 50)
		e.Logf("Discount returned %d, %v", n, err)
		e.Check(func() error {
			p, err2 := e.Product(e.Context(), "saw")
			if err2 == nil && p.Cents != 600 && (p.Cents != 1200 || err == nil) {
				return fmt.Errorf("the price is %d", p.Cents)
			}
			return err2
		})
	})
}

// A service that could not start is started again.
func TestExploreOpen(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		var store *Store
		var err error
		for range 2 {
			if store, err = Open(e.Context(), options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()), "shop"); err == nil {
				break
			}
			e.Logf("Open returned %v", err)
		}
		if err != nil {
			return
		}
		defer func() { _ = store.Close(context.Background()) }()
		e.Check(func() error {
			_, err := store.products.InsertOne(e.Context(), bson.D{{Key: "_id", Value: "minus"}, {Key: "stock", Value: -1}})
			if !mongo.IsDuplicateKeyError(err) && status(err) != 422 {
				return fmt.Errorf("a product with a stock of -1 was added: %w", err)
			}
			if err = store.Add(e.Context(), product("a", "x", 1, 1)); err != nil {
				return err
			}
			same := product("b", "x", 1, 1)
			same.Name = "a a"
			if err = store.Add(e.Context(), same); !mongo.IsDuplicateKeyError(err) {
				return fmt.Errorf("two products have one name: %w", err)
			}
			return nil
		})
	}, explore.InMemory())
}
