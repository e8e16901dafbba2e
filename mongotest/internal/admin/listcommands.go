package admin

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

func cmdListCommands(x *call.Call) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	var names []string
	for name, s := range call.Specs {
		if x.Has(s) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare)
	at, dst := wire.BeginEmbedded(x.Result.Out, "commands")
	for _, name := range names {
		one, d := wire.BeginEmbedded(dst, name)
		d = wire.AppendString(d, "help", "")
		d = wire.AppendBool(d, "requiresAuth", !call.Specs[name].Open && !call.Specs[name].Greeting)
		dst = wire.EndDocument(d, one)
	}
	x.Result.Out = wire.EndDocument(dst, at)
	return nil
}
