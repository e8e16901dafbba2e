package mongo

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// closeLimit is how long All tries to close the cursor on its server after its context ended.
const closeLimit = 100 * time.Millisecond

// All decodes all remaining documents into results, which must be a pointer to a slice, or a pointer to an interface
// that holds a slice. It closes the cursor.
//
// All overwrites the elements of the slice: like Decode, it keeps the fields of an existing element that the document
// does not have. After an error the slice that results points to is not replaced. All returns when ctx ends, at most a
// tenth of a second later: it uses this time to close the cursor on the server.
func (c *Cursor) All(ctx context.Context, results any) error {
	ctx = orBackground(ctx)
	to, err := newDocuments(results)
	if err != nil {
		return err
	}
	defer func() { _ = c.closeAfter(ctx) }() // all documents are here
	for c.Next(ctx) {
		if err := c.Decode(to.next(c.unread + 1)); err != nil {
			return err
		}
	}
	if c.err == nil {
		to.finish()
	}
	return c.err
}

// closeAfter closes the cursor, also if ctx has ended, or ends at this moment.
func (c *Cursor) closeAfter(ctx context.Context) error {
	deadline, limited := ctx.Deadline()
	if ctx.Err() != nil || limited && !time.Now().Before(deadline) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
	}
	return c.Close(ctx)
}

// documents is the slice that All decodes into.
type documents struct {
	results reflect.Value // where the slice is put at the end: a slice, or an interface that holds one
	slice   reflect.Value // a copy of the slice, whose length includes elements to decode into
	n       int           // documents in the slice
}

func newDocuments(results any) (*documents, error) {
	pointer := reflect.ValueOf(results)
	if pointer.Kind() != reflect.Pointer {
		return nil, errNoSlice(results)
	}
	slice := pointer.Elem()
	if slice.Kind() == reflect.Interface {
		slice = slice.Elem()
	}
	if slice.Kind() != reflect.Slice {
		return nil, errNoSlice(results)
	}
	d := &documents{results: pointer.Elem(), slice: reflect.New(slice.Type()).Elem()}
	d.slice.Set(slice)
	return d, nil
}

func errNoSlice(results any) error {
	return fmt.Errorf("mongo: Cursor.All: results must be a pointer to a slice, or to an interface that holds a slice; it is a %T", results)
}

// next returns a pointer to the element for the next document: an existing one, or else a new one. known is the number
// of documents that are known to come, this one included. As in the official driver, the elements between the length
// and the capacity count as existing, except the first of them.
func (d *documents) next(known int) any {
	if d.n == d.slice.Len() {
		if d.n == d.slice.Cap() {
			d.slice.Grow(known)
		}
		d.slice.SetLen(d.slice.Cap())
		d.slice.Index(d.n).SetZero()
	}
	d.n++
	return d.slice.Index(d.n - 1).Addr().Interface()
}

func (d *documents) finish() {
	d.slice.SetLen(d.n)
	d.results.Set(d.slice)
}
