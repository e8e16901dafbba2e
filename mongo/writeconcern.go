package mongo

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// checkWriteConcern returns the error of the writes with a write concern, or nil (Read and Write Concern
// specification, "Inconsistent WriteConcern"). The texts begin with those of the official driver.
func checkWriteConcern(wc *writeconcern.WriteConcern) error {
	if wc == nil {
		return nil
	}
	switch w := wc.W.(type) {
	case nil, string:
		return nil
	case int:
		if w < 0 {
			return fmt.Errorf("write concern `w` field cannot be a negative number: it is %d", w)
		}
	default:
		return fmt.Errorf("WriteConcern.W must be a string or int, but is a %T", wc.W)
	}
	if !wc.IsValid() {
		return errors.New("a write concern cannot have both w=0 and j=true")
	}
	return nil
}
