package call

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
)

// beginUse notes the command that begins a cursor or a transaction.
func beginUse(x *Call) currentop.Use {
	return currentop.Use{
		Began: time.Now(), Last: time.Now(), Command: shortCommand(x), App: x.Client.AppName, Connection: x.Client.ID, Address: x.Client.address(),
		Tailable: x.Arg("tailable").True(), AwaitsData: x.Arg("awaitData").True(), NoTimeout: x.Arg("noCursorTimeout").True(),
	}
}

// longCommand is how many bytes of a command are kept.
const longCommand = 16 << 10

// shortCommand returns the command as it came or, if it is long, its name and its database.
func shortCommand(x *Call) []byte {
	if len(x.Command.Raw) <= longCommand {
		return slices.Clone(x.Command.Raw)
	}
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendValue(dst, x.Command.Name, x.Command.First.Type, x.Command.First.Data)
	return wire.EndDocument(wire.AppendString(dst, "$db", x.Command.DB), at)
}
