package mongo

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// The wire versions from which servers know or refuse a hint. An older one ignores it.
const (
	updateHintWireVersion = 8 // MongoDB 4.2
	hintWireVersion       = 9 // MongoDB 4.4: delete and findAndModify
)

// checkHint returns an error for the hint of an unacknowledged write to a server that would ignore it: no reply could
// say so (CRUD specification).
func checkHint(hint any, attempt operation.Attempt, since int32) error {
	if hint == nil || attempt.Acknowledged || attempt.Server.MaxWireVersion >= since {
		return nil
	}
	return fmt.Errorf("mongo: an unacknowledged write with a hint needs a server of wire version %d, this one has %d",
		since, attempt.Server.MaxWireVersion)
}
