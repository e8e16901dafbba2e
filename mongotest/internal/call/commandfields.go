package call

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// checkFields checks what the command has besides what every command may have.
func (c *Command) checkFields() error {
	s := c.Spec.Fields
	switch {
	case s == nil:
		return nil
	case c.writeConcern.Present && !c.Spec.Write:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command does not support writeConcern")
	}
	var err error
	c.Args, err = s.Check(c.Args)
	return err
}

// genericDocument returns the document of a field that every command may have, nil if it is null.
func (c *Command) genericDocument(e *wire.Element) ([]byte, error) {
	if e.Type == bson.TypeNull {
		return nil, nil
	}
	if e.Document() == nil {
		return nil, fields.WrongType(c.Name, string(e.Key), e.Type, "object")
	}
	return e.Document(), nil
}

func (c *Command) parseMaxTime(e *wire.Element) error {
	v := query.Of(*e)
	n, refused := query.IntegerOf("maxTimeMS", v)
	switch {
	case v.Type == bson.TypeNull:
		return nil
	case !v.IsNumber():
		var s *fields.Set
		if c.Spec != nil {
			s = c.Spec.Fields
		}
		return s.NotNumber(c.Name, e)
	case refused != "":
		return mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
	case n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be >= 0, actual value '%d'", n)
	case n > math.MaxInt32:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'maxTimeMS' value must be <= %d, actual value '%d'", math.MaxInt32, n)
	}
	c.MaxTime, c.Timed = time.Duration(n)*time.Millisecond, true
	return nil
}

// Since refuses a field that servers before a version do not have.
func (x *Call) Since(major, minor int32, command, field string) error {
	if x.Client.Set.Version.AtLeast(major, minor) {
		return nil
	}
	return fields.Unknown(command, field)
}

// NoArgs refuses every argument.
func (x *Call) NoArgs() error {
	if len(x.Command.Args) > 0 {
		return fields.Unknown(x.Command.Name, string(x.Command.Args[0].Key))
	}
	return nil
}

// CursorOption reads {batchSize: n}.
func (x *Call) CursorOption(e *wire.Element, size int64) (int64, error) {
	err := fields.Cursor[x.Command.Name].Document(e.Value, func(e *wire.Element) error {
		size, _ = e.Int64()
		return nil
	})
	return size, err
}
