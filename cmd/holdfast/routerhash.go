package main

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// routerHashCommand is `holdfast router hash`. It has a parser of its own, so that a settings file and all flags of the router stay what they are.
type routerHashCommand struct {
	User      string   `arg:"" help:"The user's name."`
	DB        string   `name:"db" default:"admin" placeholder:"NAME" help:"The database that knows the user: authSource in a connection string."`
	Mechanism []string `sep:"none" placeholder:"NAME" help:"SCRAM-SHA-256 or SCRAM-SHA-1; may be repeated. Without it: both, as a MongoDB server does."`
	Operator  bool     `help:"Mark the user as one who may show or end what belongs to other users."`
}

const routerHashDescription = `It prints an entry of the file of users of "holdfast router": what a server keeps of a user's password, in the form of MongoDB's usersInfo.
The password is asked for, or is the line on standard input if that is not a terminal. It is never an argument, which the list of processes would
show. Who has the entry can try passwords against it, so keep the file from others.

Examples:
  # The password is asked for
  holdfast router hash app

  # For a program
  holdfast router hash app --db shop --mechanism SCRAM-SHA-256 <password.txt`

// isRouterHash reports whether a command line is one of `holdfast router hash`.
func isRouterHash(args []string) bool {
	return len(args) > 1 && args[0] == "router" && args[1] == "hash"
}

func runRouterHash(s *session, args []string) int {
	var c routerHashCommand
	return parseAndRun(s, args, &c, func() error { return c.Run(s) }, kong.Name("holdfast router hash"), kong.Description(routerHashDescription))
}

// Run prints the entry.
func (c *routerHashCommand) Run(s *session) error {
	if err := c.check(); err != nil {
		return usageError(err)
	}
	password, err := readPassword(s)
	if err != nil {
		return err
	}
	u := &userfile.User{Name: c.User, DB: c.DB, Operator: c.Operator, Credentials: make(map[string]scramserver.Verifier)}
	for _, mechanism := range c.Mechanism {
		if u.Credentials[mechanism], err = scramserver.NewVerifier(mechanism, c.User, password); err != nil {
			return usageError(err)
		}
	}
	entry, err := u.Entry()
	if err != nil {
		return err
	}
	_, err = s.stdout.Write(entry)
	return written(err)
}

// check returns an error for a wrong command line, before a password is asked for.
func (c *routerHashCommand) check() error {
	if len(c.Mechanism) == 0 {
		c.Mechanism = []string{auth.SCRAMSHA1, auth.SCRAMSHA256}
	}
	for _, mechanism := range c.Mechanism {
		if mechanism != auth.SCRAMSHA1 && mechanism != auth.SCRAMSHA256 {
			return fmt.Errorf("--mechanism is %q; it must be %s or %s", mechanism, auth.SCRAMSHA1, auth.SCRAMSHA256)
		}
	}
	switch {
	case c.User == "":
		return errors.New("USER is empty; it must be a name")
	case c.DB == userfile.External:
		return errors.New("--db is " + userfile.External + ", whose users have certificates and no password; their entry in the file has no credentials")
	}
	return nil
}
