package subjson

import (
	"errors"
	"strconv"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Counter adds a delta, a decimal number other than 0, to the integer at a path, which is created if it is missing. It returns
// the document and the new number.
func Counter(doc []byte, path Path, delta []byte, parents bool) (changed, number []byte, status memd.Status) {
	n, err := strconv.ParseInt(string(delta), 10, 64)
	if err != nil || n == 0 {
		return nil, nil, memd.StatusDeltaInvalid
	}
	p, status := find(doc, path)
	if status == memd.StatusPathNotFound {
		number = strconv.AppendInt(nil, n, 10)
		changed, status = p.create(doc, number, parents)
		return changed, number, status
	}
	if status != memd.StatusSuccess {
		return nil, nil, status
	}
	before, err := strconv.ParseInt(string(doc[p.start:p.end]), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, nil, memd.StatusNumberRange
	case err != nil:
		return nil, nil, memd.StatusPathMismatch
	}
	sum := before + n
	if (n > 0) != (sum > before) {
		return nil, nil, memd.StatusCannotInsert
	}
	number = strconv.AppendInt(nil, sum, 10)
	return splice(doc, p.start, p.end, number), number, memd.StatusSuccess
}
