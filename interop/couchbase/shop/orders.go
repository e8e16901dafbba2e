package shop

import (
	"context"
	"errors"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

// Line is one line of an order.
type Line struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
	Cents    int64  `json:"cents"`
}

// Order is an order of a customer. The customer's side makes its ID, so that it can ask again after an error.
type Order struct {
	ID       string `json:"id"`
	Number   uint64 `json:"number"`
	Customer string `json:"customer"`
	Lines    []Line `json:"lines"`
	Cents    int64  `json:"cents"`
}

// ErrSoldOut is the error of an order for more than there is.
var ErrSoldOut = errors.New("sold out")

// uncertain reports whether an operation that failed with err is to be repeated after a look at what is stored: it may have been
// applied, or another writer was first, or the cluster cannot do it for now.
func uncertain(err error) bool {
	for _, one := range []error{
		gocb.ErrAmbiguousTimeout, gocb.ErrDurabilityAmbiguous, gocb.ErrDurabilityImpossible, gocb.ErrDurableWriteInProgress,
		gocb.ErrRequestCanceled, gocb.ErrTemporaryFailure, gocb.ErrCasMismatch, gocb.ErrDocumentLocked,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	var kv *gocb.KeyValueError
	return errors.As(err, &kv) && kv.StatusCode == 0 // the connection ended before the reply
}

// settled calls f until its outcome is certain.
func settled(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !uncertain(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Place takes the lines of an order from the stock and stores the order. It may be called again for the same order.
func (s *Store) Place(ctx context.Context, o Order) (Order, error) {
	var stored Order
	err := settled(ctx, func() (err error) {
		stored, err = s.Order(ctx, o.ID)
		return err
	})
	if !errors.Is(err, gocb.ErrDocumentNotFound) {
		return stored, err
	}
	o.Cents = 0
	for i := range o.Lines {
		line := &o.Lines[i]
		cents, err := s.take(ctx, o.ID, line.SKU, line.Quantity)
		if err != nil {
			return o, errors.Join(err, s.giveBack(ctx, o.ID, o.Lines[:i]))
		}
		line.Cents = cents * line.Quantity
		o.Cents += line.Cents
	}
	err = settled(ctx, func() (err error) {
		o.Number, err = s.nextNumber(ctx)
		return err
	})
	if err != nil {
		return o, err
	}
	err = settled(ctx, func() error {
		_, err := s.orders.Insert(o.ID, o, &gocb.InsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority, Context: ctx})
		return err
	})
	if err != nil && !errors.Is(err, gocb.ErrDocumentExists) {
		return o, err
	}
	return o, s.release(ctx, o.ID, o.Lines)
}

// nextNumber returns the next number of an order. After an error whose outcome is unknown a number may be left out. Without durability a
// failover could lose an increment whose number was given, and the next order would get it again.
func (s *Store) nextNumber(ctx context.Context) (uint64, error) {
	result, err := s.orders.Binary().Increment("number", &gocb.IncrementOptions{
		Initial: 1, Delta: 1, DurabilityLevel: gocb.DurabilityLevelMajority, Context: ctx,
	})
	if err != nil {
		return 0, err
	}
	return result.Content(), nil
}

// take takes a quantity of a product for an order, once, and returns the price.
func (s *Store) take(ctx context.Context, order, sku string, quantity int64) (cents int64, err error) {
	err = settled(ctx, func() error {
		p, cas, err := s.Product(ctx, sku)
		if err != nil {
			return err
		}
		cents = p.Cents
		if _, done := p.Held[order]; done {
			return nil
		}
		if p.Stock < quantity {
			return ErrSoldOut
		}
		if p.Held == nil {
			p.Held = make(map[string]int64)
		}
		p.Stock -= quantity
		p.Held[order] = quantity
		_, err = s.Change(ctx, p, cas)
		return err
	})
	return cents, err
}

// giveBack undoes take for the lines of an order.
func (s *Store) giveBack(ctx context.Context, order string, lines []Line) error {
	for _, line := range lines {
		err := settled(ctx, func() error {
			p, cas, err := s.Product(ctx, line.SKU)
			if err != nil {
				return err
			}
			p.Stock += p.Held[order]
			delete(p.Held, order)
			_, err = s.Change(ctx, p, cas)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// release removes the notes that take made.
func (s *Store) release(ctx context.Context, order string, lines []Line) error {
	for _, line := range lines {
		err := settled(ctx, func() error {
			_, err := s.products.MutateIn(line.SKU, []gocb.MutateInSpec{gocb.RemoveSpec("held."+order, nil)},
				&gocb.MutateInOptions{DurabilityLevel: gocb.DurabilityLevelMajority, Context: ctx})
			if errors.Is(err, gocb.ErrPathNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Order returns an order that is stored.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	var o Order
	result, err := s.orders.Get(id, &gocb.GetOptions{Context: ctx})
	if err != nil {
		return o, err
	}
	err = result.Content(&o)
	return o, err
}

const ordersOf = "SELECT o.* FROM orders o WHERE o.customer = $customer ORDER BY o.number LIMIT $limit"

// OrdersOf returns the orders of a customer. The statement is prepared.
func (s *Store) OrdersOf(ctx context.Context, customer string, limit int) ([]Order, error) {
	rows, err := s.scope.Query(ordersOf, &gocb.QueryOptions{
		NamedParameters: map[string]any{"customer": customer, "limit": limit}, Readonly: true, Metrics: true,
		ScanConsistency: gocb.QueryScanConsistencyRequestPlus, Context: ctx,
	})
	if err != nil {
		return nil, err
	}
	orders := []Order{}
	for rows.Next() {
		var o Order
		if err := rows.Row(&o); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		orders = append(orders, o)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	meta, err := rows.MetaData()
	if err != nil {
		return nil, err
	}
	if meta.Status != gocb.QueryStatusSuccess || meta.Metrics.ResultCount != uint64(len(orders)) {
		return nil, errors.New("the result is not whole: " + string(meta.Status))
	}
	return orders, nil
}
