package couchbase

import (
	"encoding/json"
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

var (
	errMetaDataTooEarly = errors.New("the meta-data is known only after the last row: read all rows, or close the result")
	errResultIsRaw      = errors.New("the result was given away by Raw")
)

// rowStream is the part that the results of all services share: rows that are read one by one.
type rowStream struct {
	rows *services.Rows
	// fail returns the service's error struct for an error.
	fail func(error) error
	raw  bool // Raw took the rows over
}

func (s *rowStream) next() bool { return !s.raw && s.rows.Next() }

// nextBytes returns the next row, or nil at the end.
func (s *rowStream) nextBytes() []byte {
	if !s.rows.Next() {
		return nil
	}
	return s.rows.Row()
}

// row decodes the current row.
func (s *rowStream) row(value any) error {
	switch {
	case s.raw:
		return errResultIsRaw
	case s.rows.Row() == nil:
		return ErrNoResult
	}
	return decode(s.rows.Row(), value)
}

func decode(b []byte, value any) error {
	if raw, ok := value.(*json.RawMessage); ok {
		*raw = b
		return nil
	}
	return json.Unmarshal(b, value)
}

// one decodes the first row, and reads the others.
func (s *rowStream) one(value any) error {
	if s.raw {
		return errResultIsRaw
	}
	if !s.rows.Next() {
		if err := s.err(); err != nil {
			return err
		}
		return ErrNoResult
	}
	err := decode(s.rows.Row(), value)
	for s.rows.Next() {
	}
	if failed := s.err(); failed != nil {
		return failed
	}
	return err
}

func (s *rowStream) err() error {
	if s.raw {
		return errResultIsRaw
	}
	if err := s.rows.Err(); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *rowStream) close() error {
	if !s.raw {
		s.rows.Close()
	}
	return s.err()
}

// metaData returns what stands beside the rows as one JSON object.
func (s *rowStream) metaData() ([]byte, error) {
	switch {
	case s.raw:
		return nil, errResultIsRaw
	case s.err() != nil: // the rows failed, and what is known beside them is not all
		return nil, s.err()
	case !s.rows.Ended():
		return nil, errMetaDataTooEarly
	default:
		return s.rows.Meta(), nil
	}
}

// give gives the rows to a raw result.
func (s *rowStream) give() rowStream {
	given := *s
	s.raw = true
	return given
}
