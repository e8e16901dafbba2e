package admin

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// cmdGetNonce returns a number for a mechanism that no server has any more. Servers have the command until 6.0.
func cmdGetNonce(x *call.Call) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:])
	x.Result.Out = wire.AppendString(x.Result.Out, "nonce", hex.EncodeToString(nonce[:]))
	return nil
}
