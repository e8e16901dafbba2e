package main

// The command can run in place of mongod: mongod.go and mongodflags.go have its name and flags, serve.go runs it, and front.go
// listens at the addresses of hosts.go. If the members are several processes, the one that receives replSetInitiate hosts all
// members (peers.go), and the others forward the bytes of their clients to it (guest.go). The host attends to the others from the
// moment in which it tells them that the set begins, so that it can tell them the end at any time. A start that fails must not
// change the files of a running server: the lock of a --dbpath (lockfile.go) is taken first, ports next, and the log and pid file
// (outputfiles.go) are opened last.

import (
	"path/filepath"

	"github.com/alecthomas/kong"
)

// mongodName is the name under which the program runs in place of mongod. If a symbolic link or a copy has this name,
// it is `holdfast mock` with mongod's defaults and log.
const mongodName = "mongod"

// mongod is the command line of the program under that name.
type mongod struct {
	Mock mockCommand `embed:""`
}

// isMongod reports whether the program was started as mongod.
func isMongod(program string) bool { return filepath.Base(program) == mongodName }

// runMongod runs the program under the name mongod: a standalone unless --replSet is given, on port 27017 unless
// --port is given, with a log in JSON.
func runMongod(s *session, args []string) int {
	var m mongod
	return parseAndRun(s, args, &m, func() error {
		m.Mock.format = asJSON
		m.Mock.Standalone = m.Mock.Mongod.ReplSet == ""
		return m.Mock.Run(s)
	}, kong.Name(mongodName), kong.Description(mongodDescription), kong.Vars{"port": "27017"})
}

const mongodDescription = `holdfast mock, in place of mongod: a MongoDB server for tests, in memory. Nothing is stored.`
