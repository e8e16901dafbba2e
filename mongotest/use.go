package mongotest

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
)

// beginUse notes the command that begins a cursor or a transaction.
func (x *call) beginUse() currentop.Use {
	return currentop.Use{
		Began: time.Now(), Last: time.Now(), Command: x.shortCommand(), App: x.client.appName, Connection: x.client.id, Address: x.client.address(),
		Tailable: x.arg("tailable").True(), AwaitsData: x.arg("awaitData").True(), NoTimeout: x.arg("noCursorTimeout").True(),
	}
}

// longCommand is how many bytes of a command are kept.
const longCommand = 16 << 10

// shortCommand returns the command as it came or, if it is long, its name and its database.
func (x *call) shortCommand() []byte {
	if len(x.command.raw) <= longCommand {
		return slices.Clone(x.command.raw)
	}
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendValue(dst, x.command.name, x.command.first.Type, x.command.first.Data)
	return wire.EndDocument(wire.AppendString(dst, "$db", x.command.db), at)
}
