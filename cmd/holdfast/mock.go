package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

type mockCommand struct {
	Standalone      bool          `help:"A standalone server instead of a replica set."`
	Members         *int          `placeholder:"3" help:"The number of members of the replica set, 1 to 7."`
	Mongos          int           `help:"A sharded cluster with this number of mongos, and with one shard, the replica set. The URI names the mongos."`
	Set             string        `default:"rs0" placeholder:"NAME" help:"The replica set's name."`
	Host            string        `placeholder:"HOST" help:"The host in the members' addresses, on which they also listen; 127.0.0.1 if it is not given."`
	Port            int           `default:"${port}" help:"The first server's port. The others have the next ports, mongos before members. 0: any free ports."`
	User            []string      `placeholder:"NAME:PASSWORD" help:"A user who can authenticate; may be repeated. Without users no authentication is needed."`
	TLSCAFile       string        `name:"tls-ca-file" placeholder:"FILE" help:"Use TLS, and write the certificate of its authority, which clients must trust, to this file."`
	ElectionTimeout time.Duration `default:"10s" help:"The time without a primary after which the set elects another one."`
	ServerVersion   string        `placeholder:"VERSION" help:"Behave like this version of MongoDB: 3.6, 4.0, 4.2, 4.4, 5.0, 6.0, 7.0, 8.0, or 9.0 (its alpha)."`

	Mongod mongodFlags `embed:"" group:"As in mongod:"`

	format logFormat
}

// Help returns the part of the help that is not about a flag.
func (*mockCommand) Help() string {
	return `It prints the URI, and "Waiting for connections" when it is ready. It ends at an interrupt, at SIGTERM or SIGHUP, or when all members have
received the shutdown command. Nothing is stored: the data is lost then.

In place of mongod: under the name mongod (for example by a symbolic link to this program) it is a standalone on port 27017 unless its flags
change that, and its log has mongod's form. Other flags of mongod that tools pass, --storageEngine or --profile for example, are accepted
and listed on standard error.

With --replSet, the process that receives replSetInitiate hosts all members in its memory. The processes of the other members forward their
clients to it. When the host ends, the set is lost and the others end too. All of them must run on the same machine.`
}

// Run runs the servers until a signal or the shutdown command.
func (c *mockCommand) Run(s *session) error {
	if err := errors.Join(c.check(), c.Mongod.check()); err != nil {
		return usageError(err)
	}
	version, err := mongotest.ServerVersion(c.ServerVersion)
	switch {
	case err != nil:
		return usageError(c.asFlag(err))
	case c.Mongod.Version:
		return printServerVersion(s.stdout, version)
	case c.Mongod.Shutdown:
		return shutDown(s, c.Mongod.DBPath)
	}
	opts, unknown, err := c.options()
	if err != nil {
		return usageError(err)
	}
	unlock, err := lock(c.Mongod.DBPath)
	if err != nil {
		return err
	}
	defer unlock()
	c.printIneffective(s, unknown)
	return c.serve(s, opts)
}

// printServerVersion prints the version in mongod's form.
func printServerVersion(w io.Writer, version string) error {
	_, err := fmt.Fprintf(w, "db version v%s\nBuild Info: {\n    \"version\": \"%[1]s\",\n    \"modules\": [],\n    \"environment\": {\n"+
		"        \"program\": \"holdfast mock, in place of mongod\"\n    }\n}\n", version)
	return err
}

// printIneffective prints the flags that were given and have no effect.
func (c *mockCommand) printIneffective(s *session, unknown []string) {
	if c.Mongod.DBPath != "" {
		fmt.Fprintf(s.stderr, "holdfast: nothing is stored: of --dbpath %s only the lock file is used\n", c.Mongod.DBPath)
	}
	if names := slices.Concat(s.ineffective, unknown); len(names) > 0 {
		fmt.Fprintf(s.stderr, "holdfast: without effect here: %s\n", strings.Join(names, ", "))
	}
}

// checkSize returns an error if there cannot be so many servers.
func checkSize(members, mongos int) error {
	switch {
	case members < 1 || members > 7:
		return fmt.Errorf("--members is %d; it must be 1 to 7", members)
	case mongos < 0 || mongos > 10:
		return fmt.Errorf("--mongos is %d; it must be 0 to 10", mongos)
	}
	return nil
}

func (c *mockCommand) check() error {
	servers := c.members() + c.Mongos
	switch {
	case c.Standalone && c.Mongod.ReplSet != "":
		return errors.New("--standalone and --replSet exclude each other")
	case c.TLSCAFile != "" && (c.Mongod.speaksTLS() || c.Mongod.ReplSet != ""):
		return errors.New("--tls-ca-file excludes --tlsMode and --replSet; with --replSet there is --tlsMode")
	case c.isAlone() && c.Members != nil && *c.Members != 1:
		return fmt.Errorf("--members is %d; it must be 1 for a standalone, and with --replSet", *c.Members)
	case c.Mongos > 0 && c.isAlone():
		return errors.New("--mongos excludes --standalone and --replSet")
	case c.Port < 0 || c.Port > 65536-servers:
		return fmt.Errorf("--port is %d; it must be 0 to %d", c.Port, 65536-servers)
	case c.ElectionTimeout <= 0:
		return fmt.Errorf("--election-timeout is %v; it must be positive", c.ElectionTimeout)
	}
	return checkSize(c.members(), c.Mongos)
}

// isAlone reports whether this process has one server only: a standalone, or the member of --replSet.
func (c *mockCommand) isAlone() bool { return c.Standalone || c.Mongod.ReplSet != "" }

func (c *mockCommand) members() int {
	switch {
	case c.isAlone():
		return 1
	case c.Members == nil:
		return 3
	}
	return *c.Members
}

// run runs the servers that the flags ask for.
func (c *mockCommand) run(opts []mongotest.Option) (*mongotest.Deployment, error) {
	switch {
	case c.Standalone:
		return mongotest.RunStandalone(opts...)
	case c.Mongos > 0:
		return mongotest.RunSharded(c.members(), c.Mongos, opts...)
	}
	return mongotest.RunReplicaSet(c.members(), opts...)
}

func (c *mockCommand) options() ([]mongotest.Option, []string, error) {
	opts, unknown, err := c.Mongod.options()
	if err != nil {
		return nil, nil, err
	}
	name := c.Set
	if c.Mongod.ReplSet != "" {
		name = c.Mongod.ReplSet
		opts = append(opts, mongotest.Uninitiated())
	}
	opts = append(opts, mongotest.SetName(name), mongotest.ElectionTimeout(c.ElectionTimeout),
		mongotest.JournalLimit(0))
	if c.TLSCAFile != "" {
		opts = append(opts, mongotest.TLS())
	}
	if c.ServerVersion != "" {
		opts = append(opts, mongotest.Version(c.ServerVersion))
	}
	users, err := c.users()
	return append(opts, mongotest.Users(users...)), unknown, err
}

func (c *mockCommand) users() ([]mongotest.User, error) {
	var users []mongotest.User
	for _, u := range c.User {
		name, password, ok := strings.Cut(u, ":")
		if !ok || name == "" || password == "" {
			return nil, fmt.Errorf("--user is %q; it must be NAME:PASSWORD", u)
		}
		users = append(users, mongotest.User{Name: name, Password: password})
	}
	return users, nil
}

// fronts listens for the members and then for the mongos. It returns the fronts and the servers' own addresses.
func (c *mockCommand) fronts() (fronts []*front, names []string, err error) {
	secure, err := c.Mongod.frontTLS()
	if err != nil {
		return nil, nil, err
	}
	addresses, host, err := c.addresses()
	if err != nil {
		return nil, nil, err
	}
	servers := c.members() + c.Mongos
	for i := range servers {
		port := c.Port
		if port != 0 {
			port += (i + c.Mongos) % servers
		}
		f, err := newFront(addresses, port, c.Mongod.UnixSocketPrefix, secure)
		if err != nil {
			closeFronts(fronts)
			return nil, nil, err
		}
		fronts = append(fronts, f)
		names = append(names, net.JoinHostPort(host, strconv.Itoa(f.port())))
	}
	return fronts, names, nil
}

func closeFronts(fronts []*front) {
	for _, f := range fronts {
		f.close()
	}
}
