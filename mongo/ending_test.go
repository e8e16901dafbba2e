package mongo

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// addCommandFields comes behind all that a command has of its own, rawData included, and rawData is for MongoDB 8.2 and later.
func TestWhatTheInternalOptionsAddEndsACommand(t *testing.T) {
	on := true
	own, raw, added := wire.AppendInt32(nil, "ping", 1), wire.AppendBool(nil, "rawData", true), wire.AppendString(nil, "a", "b")
	both := internals{rawData: &on, added: bson.D{{Key: "a", Value: "b"}}}
	for _, c := range []struct {
		name   string
		given  internals
		server int32
		want   [][]byte
	}{
		{"none", internals{}, 27, [][]byte{own}},
		{"both", both, 27, [][]byte{own, raw, added}},
		{"both, on an older server", both, 26, [][]byte{own, added}},
		{"fields without elements", internals{added: bson.D{}}, 27, [][]byte{own}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := extras{}
			cmd := &plainCommand{elements: own, ending: x.ending(c.given)}
			got, err := cmd.AppendTo(nil, operation.Attempt{Server: &topology.Server{MaxWireVersion: c.server}})
			if want := bytes.Join(c.want, nil); err != nil || x.err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q, want %q, errors %v, %v", got, want, err, x.err)
			}
		})
	}
}

// The first error of a call's fields is the one that the application gets.
func TestTheErrorOfAnAddedField(t *testing.T) {
	given := internals{added: bson.D{{Key: "a\x00b", Value: 1}}}
	x := extras{}
	x.ending(given)
	if x.err == nil || !strings.HasPrefix(x.err.Error(), addFieldsKey+": ") {
		t.Errorf("error %v", x.err)
	}
	x = extras{err: ErrNilValue}
	if x.ending(given); x.err != ErrNilValue { //nolint:errorlint // exactly this one
		t.Errorf("error %v", x.err)
	}
}
