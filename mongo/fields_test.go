package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// plainLister is a Lister that is no pointer.
type plainLister struct{ limit int64 }

func (p plainLister) List() []func(*options.FindOptions) error {
	return []func(*options.FindOptions) error{func(o *options.FindOptions) error {
		o.Limit = &p.limit
		return nil
	}}
}

// Later options take precedence. A nil builder has no options, as in the official driver.
func TestWhichOptionsAreCollected(t *testing.T) {
	typedNil := (*options.FindOptionsBuilder)(nil)
	for _, c := range []struct {
		name string
		opts []options.Lister[options.FindOptions]
		want int64
	}{
		{"none", nil, 0},
		{"nil", []options.Lister[options.FindOptions]{nil}, 0},
		{"a nil builder", []options.Lister[options.FindOptions]{typedNil}, 0},
		{"a nil builder after others", []options.Lister[options.FindOptions]{options.Find().SetLimit(2), typedNil}, 2},
		{"a nil builder before others", []options.Lister[options.FindOptions]{typedNil, options.Find().SetLimit(2)}, 2},
		{"a lister that is no pointer", []options.Lister[options.FindOptions]{plainLister{3}}, 3},
		{"two", []options.Lister[options.FindOptions]{options.Find().SetLimit(2), plainLister{3}}, 3},
	} {
		o, err := collect(findFields, c.opts)
		if got := valueOr(o.Limit, 0); err != nil || got != c.want {
			t.Errorf("%s: limit %d, want %d, %v", c.name, got, c.want, err)
		}
	}
}
