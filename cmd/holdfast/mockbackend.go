package main

import (
	"fmt"
	"slices"

	"github.com/alecthomas/kong"
)

// The backends of `holdfast mock`, `explore`, `prove` and `explain`.
const (
	mongodbBackend   = "mongodb"
	couchbaseBackend = "couchbase"
)

// mockServers is `holdfast mock`: the servers of one backend.
type mockServers struct {
	Backend   string        `default:"mongodb" enum:"mongodb,couchbase" placeholder:"NAME" help:"The servers to run: mongodb or couchbase."`
	MongoDB   mockCommand   `embed:""`
	Couchbase couchbaseMock `embed:"" group:"couchbase"`
}

// The groups of the flags that only one backend has.
var (
	mongodbGroup   = kong.Group{Key: mongodbBackend, Title: "With --backend mongodb:"}
	couchbaseGroup = kong.Group{Key: couchbaseBackend, Title: "With --backend couchbase:"}
)

// ofBoth are the flags that both backends have.
var ofBoth = []string{"help", "backend", "host", "port", "user", "tls-ca-file", "server-version"}

// Help returns the part of the help that is not about a flag.
func (c *mockServers) Help() string { return c.MongoDB.Help() + "\n\n" + c.Couchbase.Help() }

// Run runs the servers of the backend.
func (c *mockServers) Run(s *session) error {
	for _, f := range s.given {
		if other := otherBackend(f, c.Backend); other != "" {
			return usageError(fmt.Errorf("--%s is for --backend %s", f.Name, other))
		}
	}
	if c.Backend == couchbaseBackend {
		return c.Couchbase.run(s, &c.MongoDB)
	}
	return c.MongoDB.Run(s)
}

// otherBackend returns the backend of a flag that this backend does not have, otherwise "".
func otherBackend(f *kong.Flag, backend string) string {
	owner := mongodbBackend
	if f.Group != nil && f.Group.Key == couchbaseBackend {
		owner = couchbaseBackend
	}
	if owner == backend || slices.Contains(ofBoth, f.Name) {
		return ""
	}
	return owner
}

// flagsGiven returns the flags of a command line.
func flagsGiven(path []*kong.Path) (given []*kong.Flag) {
	for _, p := range path {
		if p.Flag != nil {
			given = append(given, p.Flag)
		}
	}
	return given
}
