package shop

import (
	"context"
	"time"

	gocb "github.com/couchbase/gocb/v2"
)

// Cart is what a customer has chosen.
type Cart struct {
	Lines   map[string]int64 `json:"lines"`
	Expires time.Time        `json:"expires"`
}

// Choose adds a product to the cart of a customer, and returns how many of it the cart has now.
func (s *Store) Choose(ctx context.Context, customer, sku string, quantity int64) (int64, error) {
	result, err := s.carts.MutateIn(customer, []gocb.MutateInSpec{
		gocb.IncrementSpec("lines."+sku, quantity, &gocb.CounterSpecOptions{CreatePath: true}),
	}, &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsUpsert, Expiry: cartLife, Context: ctx})
	if err != nil {
		return 0, err
	}
	var total int64
	err = result.ContentAt(0, &total)
	return total, err
}

// Cart returns the cart of a customer, which lives for another day.
func (s *Store) Cart(ctx context.Context, customer string) (Cart, error) {
	var c Cart
	if _, err := s.carts.GetAndTouch(customer, cartLife, &gocb.GetAndTouchOptions{Context: ctx}); err != nil {
		return c, err
	}
	result, err := s.carts.Get(customer, &gocb.GetOptions{WithExpiry: true, Project: []string{"lines"}, Context: ctx})
	if err != nil {
		return c, err
	}
	err = result.Content(&c)
	c.Expires = result.ExpiryTime()
	return c, err
}

// picture is the key of a product's picture, whose value is bytes and not JSON.
func picture(sku string) string { return "picture::" + sku }

// SetPicture stores the picture of a product. More appends to it.
func (s *Store) SetPicture(ctx context.Context, sku string, data []byte, more bool) error {
	if more {
		_, err := s.products.Binary().Append(picture(sku), data, &gocb.AppendOptions{Context: ctx})
		return err
	}
	_, err := s.products.Upsert(picture(sku), data, &gocb.UpsertOptions{Transcoder: gocb.NewRawBinaryTranscoder(), Context: ctx})
	return err
}

// Picture returns the picture of a product.
func (s *Store) Picture(ctx context.Context, sku string) ([]byte, error) {
	result, err := s.products.Get(picture(sku), &gocb.GetOptions{Transcoder: gocb.NewRawBinaryTranscoder(), Context: ctx})
	if err != nil {
		return nil, err
	}
	var data []byte
	err = result.Content(&data)
	return data, err
}
