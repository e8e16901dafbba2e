package account

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// appendCredentials appends what showCredentials shows. Of a user of $external the server keeps nothing but that something else vouches for it.
func (a *Account) appendCredentials(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "credentials")
	if a.DB == External {
		dst = wire.AppendBool(dst, "external", true)
	}
	for _, mechanism := range slices.Sorted(maps.Keys(a.Scram)) {
		dst = appendVerifier(dst, mechanism, a.Scram[mechanism])
	}
	return wire.EndDocument(dst, at)
}

// appendVerifier appends what RFC 5802 has a server keep of a password, its bytes in base64.
func appendVerifier(dst []byte, mechanism string, c scram.StoredCredentials) []byte {
	at, dst := wire.BeginEmbedded(dst, mechanism)
	dst = wire.AppendInt32(dst, "iterationCount", int32(c.Iters)) //nolint:gosec // one of two constants
	dst = wire.AppendString(dst, "salt", base64.StdEncoding.EncodeToString([]byte(c.Salt)))
	dst = wire.AppendString(dst, "storedKey", base64.StdEncoding.EncodeToString(c.StoredKey))
	dst = wire.AppendString(dst, "serverKey", base64.StdEncoding.EncodeToString(c.ServerKey))
	return wire.EndDocument(dst, at)
}
