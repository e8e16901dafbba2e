package shop

import (
	"context"
	"errors"
	"fmt"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

// Product is a product of the catalogue.
type Product struct {
	SKU      string           `json:"sku"`
	Name     string           `json:"name"`
	Category string           `json:"category"`
	Tags     []string         `json:"tags,omitempty"`
	Cents    int64            `json:"cents"`
	Stock    int64            `json:"stock"`
	Held     map[string]int64 `json:"held,omitempty"` // what orders have taken that are not stored yet
}

// Add stores a new product. It returns gocb.ErrDocumentExists if there is one with the same SKU.
func (s *Store) Add(ctx context.Context, p Product) (gocb.Cas, error) {
	result, err := s.products.Insert(p.SKU, p, &gocb.InsertOptions{DurabilityLevel: gocb.DurabilityLevelMajority, Context: ctx})
	if err != nil {
		return 0, err
	}
	return result.Cas(), nil
}

// Product returns a product and the CAS of its document.
func (s *Store) Product(ctx context.Context, sku string) (Product, gocb.Cas, error) {
	var p Product
	result, err := s.products.Get(sku, &gocb.GetOptions{Context: ctx})
	if err != nil {
		return p, 0, err
	}
	err = result.Content(&p)
	return p, result.Cas(), err
}

// Copies returns how many nodes have a product.
func (s *Store) Copies(ctx context.Context, sku string) (copies int, err error) {
	if _, err := s.products.GetAnyReplica(sku, &gocb.GetAnyReplicaOptions{Context: ctx}); err != nil {
		return 0, err
	}
	all, err := s.products.GetAllReplicas(sku, &gocb.GetAllReplicaOptions{Context: ctx})
	if err != nil {
		return 0, err
	}
	for one := all.Next(); one != nil; one = all.Next() {
		copies++
	}
	return copies, all.Close()
}

// Change replaces a product that is still as the CAS says. It returns gocb.ErrCasMismatch if it is not.
func (s *Store) Change(ctx context.Context, p Product, cas gocb.Cas) (gocb.Cas, error) {
	result, err := s.products.Replace(p.SKU, p, &gocb.ReplaceOptions{Cas: cas, DurabilityLevel: gocb.DurabilityLevelMajority, Context: ctx})
	if err != nil {
		return 0, err
	}
	return result.Cas(), nil
}

// Discontinue removes a product.
func (s *Store) Discontinue(ctx context.Context, sku string) error {
	_, err := s.products.Remove(sku, &gocb.RemoveOptions{Context: ctx})
	return err
}

// Tag adds a tag to a product, and notes in its extended attributes when it did. It returns gocb.ErrPathExists if the product has the tag.
func (s *Store) Tag(ctx context.Context, sku, tag string) error {
	_, err := s.products.MutateIn(sku, []gocb.MutateInSpec{
		gocb.UpsertSpec("audit.tagged", gocb.MutationMacroCAS, &gocb.UpsertSpecOptions{IsXattr: true, CreatePath: true}),
		gocb.ArrayAddUniqueSpec("tags", tag, &gocb.ArrayAddUniqueSpecOptions{CreatePath: true}),
	}, &gocb.MutateInOptions{Context: ctx, PreserveExpiry: true})
	return err
}

// Offer is the part of a product that a list shows.
type Offer struct {
	Cents  int64  `json:"cents"`
	Tags   int    `json:"tags"`
	Tagged string `json:"tagged,omitempty"` // the CAS of the change that added the last tag
	Busy   bool   `json:"busy"`             // whether orders are being placed
}

// Offer returns the part of a product that a list shows.
func (s *Store) Offer(ctx context.Context, sku string) (Offer, error) {
	var o Offer
	found, err := s.products.LookupIn(sku, []gocb.LookupInSpec{
		gocb.GetSpec("audit.tagged", &gocb.GetSpecOptions{IsXattr: true}),
		gocb.GetSpec("cents", nil),
		gocb.CountSpec("tags", nil),
		gocb.ExistsSpec("held", nil),
	}, &gocb.LookupInOptions{Context: ctx})
	if err != nil {
		return o, err
	}
	if err := found.ContentAt(1, &o.Cents); err != nil {
		return o, err
	}
	for index, target := range map[uint]any{0: &o.Tagged, 2: &o.Tags} {
		if err := found.ContentAt(index, target); err != nil && !errors.Is(err, gocb.ErrPathNotFound) {
			return o, err
		}
	}
	o.Busy = found.Exists(3)
	return o, nil
}

// Recount locks a product for the time of a count of the stock and stores its result. Meanwhile others get gocb.ErrDocumentLocked.
func (s *Store) Recount(ctx context.Context, sku string, count func(Product) (int64, error)) error {
	locked, err := s.products.GetAndLock(sku, 10*time.Second, &gocb.GetAndLockOptions{Context: ctx})
	if err != nil {
		return err
	}
	var p Product
	if err := locked.Content(&p); err != nil {
		return err
	}
	p.Stock, err = count(p)
	if err != nil {
		return errors.Join(err, s.products.Unlock(sku, locked.Cas(), &gocb.UnlockOptions{Context: ctx}))
	}
	_, err = s.products.Replace(sku, p, &gocb.ReplaceOptions{Cas: locked.Cas(), Context: ctx}) // it also unlocks
	return err
}

// Imported is the result of an import.
type Imported struct {
	Stored  int               `json:"stored"`
	Refused map[string]string `json:"refused,omitempty"` // errors by SKU
	InStock int64             `json:"in_stock"`          // products of the shop with stock, these among them
}

const countInStock = "SELECT RAW COUNT(*) FROM products WHERE stock > 0"

// Import stores many products at once. Each may be refused by itself.
func (s *Store) Import(ctx context.Context, products []Product) (Imported, error) {
	ops := make([]gocb.BulkOp, len(products))
	for i, p := range products {
		ops[i] = &gocb.UpsertOp{ID: p.SKU, Value: p}
	}
	if err := s.products.Do(ops, &gocb.BulkOpOptions{Timeout: 20 * time.Second, Context: ctx}); err != nil {
		return Imported{}, err
	}
	imported, state := Imported{Refused: make(map[string]string)}, gocb.NewMutationState()
	for _, op := range ops {
		stored := op.(*gocb.UpsertOp)
		if stored.Err != nil {
			imported.Refused[stored.ID] = stored.Err.Error()
			continue
		}
		imported.Stored++
		state.Add(*stored.Result.MutationToken())
	}
	rows, err := s.scope.Query(countInStock, &gocb.QueryOptions{ConsistentWith: state, Readonly: true, Context: ctx})
	if err != nil {
		return imported, fmt.Errorf("count: %w", err)
	}
	err = rows.One(&imported.InStock)
	return imported, err
}

// Several returns those of the products that exist.
func (s *Store) Several(ctx context.Context, skus []string) ([]Product, error) {
	ops := make([]gocb.BulkOp, len(skus))
	for i, sku := range skus {
		ops[i] = &gocb.GetOp{ID: sku}
	}
	if err := s.products.Do(ops, &gocb.BulkOpOptions{Context: ctx}); err != nil {
		return nil, err
	}
	products := make([]Product, 0, len(skus))
	for _, op := range ops {
		got := op.(*gocb.GetOp)
		switch {
		case errors.Is(got.Err, gocb.ErrDocumentNotFound):
			continue
		case got.Err != nil:
			return nil, got.Err
		}
		var p Product
		if err := got.Result.Content(&p); err != nil {
			return nil, err
		}
		products = append(products, p)
	}
	return products, nil
}
