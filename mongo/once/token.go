package once

import (
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// token is an update that is pending in a document.
type token struct {
	ID     bson.ObjectID `bson:"id"`
	At     time.Time     `bson:"at"`
	Update []byte        `bson:"update"` // a change as BSON: older servers refuse field names that begin with $
}

// change is all that the second step needs.
type change struct {
	Filter       bson.Raw        `bson:"filter,omitempty"` // if it has a condition besides the _id
	Update       bson.RawValue   `bson:"update"`
	ArrayFilters []bson.RawValue `bson:"arrayFilters,omitempty"`
}

func newToken(id bson.ObjectID, c change) (token, error) {
	encoded, err := bson.Marshal(c)
	return token{ID: id, At: time.Now().UTC().Truncate(time.Millisecond), Update: encoded}, err
}

var errNoUpdate = errors.New("the token has no update")

// change decodes the update of a token.
func (t token) change() (c change, err error) {
	if err := bson.Unmarshal(t.Update, &c); err != nil {
		return c, fmt.Errorf("the token's update cannot be decoded: %w", err)
	}
	if c.Update.Type != bson.TypeEmbeddedDocument && c.Update.Type != bson.TypeArray {
		return c, errNoUpdate
	}
	return c, nil
}
