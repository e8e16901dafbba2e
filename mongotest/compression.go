package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
)

// https://github.com/mongodb/specifications/blob/master/source/compression/OP_COMPRESSED.md

// compressors are those that a server has unless it is told otherwise, in the real server's order.
var compressors = []string{"snappy", "zstd", "zlib"}

// decompress takes the wrapping off a message, and remembers how to wrap the answer. A compressor that the server has not
// got ends the connection.
func (c *conn) decompress(message []byte) ([]byte, error) {
	inner, with, err := c.codec.Decompress(nil, message, wire.MaxMessageLength)
	if err != nil {
		return nil, err
	}
	if with != wire.NoCompressor && !slices.ContainsFunc(c.deployment.config.compressors, func(name string) bool {
		have, _ := wire.CompressorNamed(name)
		return have == with
	}) {
		return nil, wire.ErrMalformed
	}
	c.compressor, c.compressed = with, true
	return inner, nil
}

// wrap compresses an answer as its question was.
func (x *exec) wrap(out []byte) ([]byte, error) {
	if !x.conn.compressed || !wire.MayCompress(x.Command.Name) {
		return out, nil
	}
	return x.conn.codec.Compress(nil, out, x.conn.compressor)
}

// negotiate returns the compressors that both sides have, in the client's order, from a hello's list of names.
func (c *conn) negotiate(names *wire.Element) ([]string, error) {
	if names.Type != bson.TypeArray {
		return nil, fields.WrongType("hello", "compression", names.Type, "array")
	}
	var both []string
	it := wire.Elements(names.Value)
	for it.Next() {
		if name := string(it.Text()); slices.Contains(c.deployment.config.compressors, name) {
			both = append(both, name)
		}
	}
	return both, it.Err
}
