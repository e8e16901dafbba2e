package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

type mockCommand struct {
	Standalone      bool          `help:"One server that is no replica set."`
	Members         int           `default:"3" help:"How many members the replica set has, 1 to 7."`
	Set             string        `default:"rs0" placeholder:"NAME" help:"The replica set's name."`
	Host            string        `default:"127.0.0.1" help:"The host to listen on, and by which the members name themselves."`
	Port            int           `default:"0" help:"The first member's port; the others have the ones after it. 0: any that are free."`
	User            []string      `placeholder:"NAME:PASSWORD" help:"Somebody who may authenticate; may be repeated. Without any, everybody may do everything."`
	TLSCAFile       string        `name:"tls-ca-file" placeholder:"FILE" help:"Speak TLS, and write the certificate of the authority that clients must trust to this file."`
	ElectionTimeout time.Duration `default:"10s" help:"How long a set is without its primary before it elects another one."`
}

// Run runs the servers until the program is told to end.
func (c *mockCommand) Run(s *session) error {
	opts, err := c.options()
	if err != nil {
		return usageError(err)
	}
	rs, err := mongotest.Run(opts...)
	if err != nil {
		return cannotRun(err)
	}
	if c.TLSCAFile != "" {
		if err := os.WriteFile(c.TLSCAFile, rs.Authority(), 0o600); err != nil {
			return cannotRun(errors.Join(err, rs.Close()))
		}
	}
	fmt.Fprintln(s.stdout, rs.URI())
	fmt.Fprintln(s.stdout, "Waiting for connections. Nothing is stored: it is gone when this ends.")
	<-s.ctx.Done()
	return rs.Close()
}

func (c *mockCommand) options() ([]mongotest.Option, error) {
	if c.Standalone {
		c.Members = 1
	}
	if c.Members < 1 || c.Members > 7 {
		return nil, fmt.Errorf("--members is %d; it must be 1 to 7", c.Members)
	}
	if c.Port < 0 || c.Port > 65535-c.Members {
		return nil, fmt.Errorf("--port is %d; it must be 0 to %d", c.Port, 65535-c.Members)
	}
	if c.ElectionTimeout <= 0 {
		return nil, fmt.Errorf("--election-timeout is %v; it must be positive", c.ElectionTimeout)
	}
	addresses := make([]string, c.Members)
	for i := range addresses {
		port := c.Port
		if port != 0 {
			port += i
		}
		addresses[i] = net.JoinHostPort(c.Host, strconv.Itoa(port))
	}
	opts := []mongotest.Option{
		mongotest.Listen(addresses...), mongotest.Members(c.Members), mongotest.SetName(c.Set),
		mongotest.ElectionTimeout(c.ElectionTimeout), mongotest.JournalLimit(0),
	}
	if c.Standalone {
		opts = append(opts, mongotest.Standalone())
	}
	if c.TLSCAFile != "" {
		opts = append(opts, mongotest.TLS())
	}
	users, err := c.users()
	return append(opts, mongotest.Users(users...)), err
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
