package mongo

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// compressors returns the names that the handshake offers to the server, in the order of the option. An unknown name is left
// out: the wire compression specification forbids both an error and sending it.
func compressors(o *options.ClientOptions) []string {
	var known []string
	for _, name := range o.Compressors {
		if _, ok := wire.CompressorNamed(name); ok {
			known = append(known, name)
		}
	}
	return known
}

// checkLevels returns an error if the level of a compressor does not exist. The official parser checks only the connection
// string.
func checkLevels(o *options.ClientOptions) error {
	for _, level := range []struct {
		name  string
		value *int
		most  int
	}{
		{"ZlibLevel", o.ZlibLevel, 9},
		{"ZstdLevel", o.ZstdLevel, 22},
	} {
		if level.value != nil && (*level.value < -1 || *level.value > level.most) {
			return fmt.Errorf("mongo: %s is %d; it must be from -1 to %d", level.name, *level.value, level.most)
		}
	}
	return nil
}
