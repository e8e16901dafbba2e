package mongotest

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func cmdListCommands(x *call) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	var names []string
	for name, s := range specs {
		if x.has(s) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare)
	at, dst := wire.BeginEmbedded(x.result.out, "commands")
	for _, name := range names {
		one, d := wire.BeginEmbedded(dst, name)
		d = wire.AppendString(d, "help", "")
		d = wire.AppendBool(d, "requiresAuth", !specs[name].open && !specs[name].greeting)
		dst = wire.EndDocument(d, one)
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}
