package couchbase

import (
	"runtime/debug"
	"sync"
)

const modulePath = "github.com/holdfast-db/holdfast"

// Version returns the version of the module in the running program, or "devel" if it has none.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, module := range append(info.Deps, &info.Main) {
		if module.Path == modulePath && module.Version != "" && module.Version[0] == 'v' {
			return module.Version
		}
	}
	return "devel"
})

// Identifier returns the client's name and version, as nodes see it.
func Identifier() string { return "holdfast/" + Version() }
