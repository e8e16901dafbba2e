package query

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// AppendSmallest appends an integer, with 32 bits if it fits into them.
func AppendSmallest(dst []byte, key string, n int64) []byte {
	if n == int64(int32(n)) {
		return wire.AppendInt32(dst, key, int32(n))
	}
	return wire.AppendInt64(dst, key, n)
}
