package main

import (
	"path/filepath"

	"github.com/alecthomas/kong"
)

// mongodName is what the program is called where a tool expects mongod: by a symbolic link or a copy of that name, it is
// `holdfast mock` with mongod's defaults and log.
const mongodName = "mongod"

// mongod is the command line of the program by that name.
type mongod struct {
	Mock mockCommand `embed:""`
}

// isMongod reports whether the program was started as mongod.
func isMongod(program string) bool { return filepath.Base(program) == mongodName }

// runMongod is run for the program by the name of mongod: a standalone unless there is a --replSet, on port 27017 unless there
// is a --port, with a log of JSON.
func runMongod(s *session, args []string) int {
	var m mongod
	return parseAndRun(s, args, &m, func() error {
		m.Mock.format = asJSON
		m.Mock.Standalone = m.Mock.Mongod.ReplSet == ""
		return m.Mock.Run(s)
	}, kong.Name(mongodName), kong.Description(mongodDescription), kong.Vars{"port": "27017"})
}

const mongodDescription = `holdfast mock, in place of mongod: a MongoDB server for tests, in memory. Nothing is stored.`
