package mongo

import (
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// The functions below also find what an application has joined by errors.Join, wherever it stands. The official ones look at the first
// server error alone.

// IsDuplicateKeyError reports whether err is a server's error about a duplicate key.
func IsDuplicateKeyError(err error) bool {
	return operation.AnyBranch(err, official.IsDuplicateKeyError)
}

// IsTimeout reports whether err is a timeout.
func IsTimeout(err error) bool { return operation.AnyBranch(err, official.IsTimeout) }

// IsNetworkError reports whether err is a network error.
func IsNetworkError(err error) bool { return operation.AnyBranch(err, official.IsNetworkError) }

// ErrorCodes returns the codes of the server errors in err, nil if there are none.
func ErrorCodes(err error) []int {
	codes := official.ErrorCodes(err)
	operation.AnyBranch(err, func(err error) bool {
		for _, code := range official.ErrorCodes(err) {
			if !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
		return false
	})
	return codes
}
