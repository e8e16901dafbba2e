package mongotest

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// cmdGetNonce returns a number for a mechanism that no server has any more. Servers have the command until 6.0.
func cmdGetNonce(x *call) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:])
	x.result.out = wire.AppendString(x.result.out, "nonce", hex.EncodeToString(nonce[:]))
	return nil
}
