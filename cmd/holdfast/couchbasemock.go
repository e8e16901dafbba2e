package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/cli/mockcontrol"
)

// couchbaseMock is the flags that only the backend couchbase has.
type couchbaseMock struct {
	Nodes       int      `default:"1" help:"The number of nodes."`
	Bucket      []string `placeholder:"NAME" help:"A bucket; may be repeated. Without it there is one, \"default\"."`
	Replicas    int      `default:"1" help:"The number of replicas of each bucket, 0 to 3."`
	VBuckets    *int     `name:"vbuckets" placeholder:"N" help:"The number of vbuckets of each bucket. Without it: 128 since version 8.0, 1024 before."`
	ControlPort int      `default:"0" help:"The port for control commands, see docs/COUCHBASE-MOCK.md. 0: any free port."`
	JSON        bool     `name:"json" help:"Print one line of JSON when the cluster is ready."`
}

// Help returns the part of the help that is about Couchbase.
func (*couchbaseMock) Help() string {
	return `With --backend couchbase it runs a Couchbase cluster. It prints the connection string, the name and the password of the user, the URL of the
control port, and "Waiting for connections" when it is ready; with --json one line with all of that. --port is then the first port of the first
node: a node has six ports in a row, for kv, mgmt, capi, n1ql, fts and cbas, and with --tls-ca-file six more for the same with TLS. The ports of the
next node follow. --user may be given once; without it the user is Administrator:password. --server-version is one of Couchbase Server from 5.0
on. The control port listens on --host too, without authentication. It ends at a signal.`
}

// maxNodes is the largest number of nodes.
const maxNodes = 100

// run runs a cluster until a signal. The flags of both backends are those of shared.
func (c *couchbaseMock) run(s *session, shared *mockCommand) error {
	if err := c.check(shared); err != nil {
		return usageError(err)
	}
	opts, err := c.options(shared)
	if err != nil {
		return usageError(err)
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe of the output must not end the servers
	l, err := net.Listen("tcp", net.JoinHostPort(shared.couchbaseHost(), strconv.Itoa(c.ControlPort)))
	if err != nil {
		return listenError("--control-port", err)
	}
	defer func() { _ = l.Close() }()
	cluster, err := couchbasetest.Run(opts...)
	if err != nil {
		return couchbaseError(err)
	}
	if shared.TLSCAFile != "" {
		if err = os.WriteFile(shared.TLSCAFile, cluster.CACertificate(), 0o600); err != nil {
			return cannotRun(errors.Join(err, cluster.Close()))
		}
	}
	return errors.Join(c.serve(s, cluster, l), cluster.Close())
}

// serve serves the control port until the context of the session ends.
func (c *couchbaseMock) serve(s *session, cluster *couchbasetest.Cluster, l net.Listener) error {
	useProcessors()
	server := &http.Server{
		Handler: mockcontrol.New(cluster), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return s.ctx },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	c.printReady(s, cluster, "http://"+controlAddress(cluster, l))
	select {
	case err := <-served:
		return cannotRun(fmt.Errorf("the control port: %w", err))
	case <-s.ctx.Done():
	}
	err := server.Close()
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if !c.JSON {
		fmt.Fprintln(s.stdout, "Ends: "+endReason(s.ctx))
	}
	return err
}

// controlAddress returns the address of the control port with the host that cluster maps have.
func controlAddress(cluster *couchbasetest.Cluster, l net.Listener) string {
	host, _, _ := net.SplitHostPort(cluster.Address(0, "kv"))
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// printReady prints how programs reach the cluster.
func (c *couchbaseMock) printReady(s *session, cluster *couchbasetest.Cluster, control string) {
	if !c.JSON {
		fmt.Fprintf(s.stdout, "%s\nusername: %s\npassword: %s\ncontrol: %s\nWaiting for connections. %s\n",
			cluster.ConnectionString(), cluster.Username(), cluster.Password(), control, volatile)
		return
	}
	w := json.NewEncoder(s.stdout)
	w.SetEscapeHTML(false)
	_ = w.Encode(struct {
		ConnectionString string `json:"connectionString"`
		Username         string `json:"username"`
		Password         string `json:"password"`
		Control          string `json:"control"`
	}{cluster.ConnectionString(), cluster.Username(), cluster.Password(), control})
}

// couchbaseHost is the host on which the nodes of a Couchbase cluster listen.
func (c *mockCommand) couchbaseHost() string {
	if c.Host == "" {
		return "127.0.0.1"
	}
	return c.Host
}

// check checks the flags that couchbasetest does not check by their names.
func (c *couchbaseMock) check(shared *mockCommand) error {
	ports := 6
	if shared.TLSCAFile != "" {
		ports = 12
	}
	highest := 65536 - c.Nodes*ports
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return fmt.Errorf("--nodes is %d; it must be 1 to %d", c.Nodes, maxNodes)
	case c.Replicas < 0 || c.Replicas > 3:
		return fmt.Errorf("--replicas is %d; it must be 0 to 3", c.Replicas)
	case shared.Port < 0 || shared.Port > highest:
		return fmt.Errorf("--port is %d; it must be 0 to %d", shared.Port, highest)
	case c.ControlPort < 0 || c.ControlPort > 65535:
		return fmt.Errorf("--control-port is %d; it must be 0 to 65535", c.ControlPort)
	case shared.Port != 0 && c.ControlPort >= shared.Port && c.ControlPort < shared.Port+c.Nodes*ports:
		return fmt.Errorf("--control-port is %d; the nodes have the ports %d to %d", c.ControlPort, shared.Port, shared.Port+c.Nodes*ports-1)
	case len(shared.User) > 1:
		return errors.New("--user is given more than once; a Couchbase cluster has one user here")
	}
	return nil
}

// options returns the options of the cluster.
func (c *couchbaseMock) options(shared *mockCommand) ([]couchbasetest.Option, error) {
	opts := []couchbasetest.Option{
		couchbasetest.Nodes(c.Nodes), couchbasetest.Listen(shared.couchbaseHost(), shared.Port),
	}
	if c.VBuckets != nil {
		opts = append(opts, couchbasetest.VBuckets(*c.VBuckets))
	}
	names := c.Bucket
	if names == nil {
		names = []string{"default"}
	}
	var buckets []couchbasetest.Bucket
	for _, name := range names {
		buckets = append(buckets, couchbasetest.Bucket{Name: name, Replicas: c.Replicas, FlushEnabled: true})
	}
	opts = append(opts, couchbasetest.Buckets(buckets...))
	if shared.TLSCAFile != "" {
		opts = append(opts, couchbasetest.TLS())
	}
	if shared.ServerVersion != "" {
		opts = append(opts, couchbasetest.Version(shared.ServerVersion))
	}
	users, err := shared.users()
	for _, u := range users {
		opts = append(opts, couchbasetest.Credentials(u.Name, u.Password))
	}
	return opts, err
}

// couchbaseError returns an error of couchbasetest.Run with its exit code. If it names an option, that becomes the flag.
func couchbaseError(err error) error {
	var network *net.OpError
	if errors.As(err, &network) {
		return listenError("--port", err)
	}
	text := strings.TrimPrefix(err.Error(), "couchbasetest: ")
	option, why, _ := strings.Cut(text, ": ")
	name, value, _ := strings.Cut(option, "(")
	value = strings.TrimSuffix(value, ")")
	switch name {
	case "Version":
		return usageError(fmt.Errorf("--server-version is %s: %s", value, why))
	case "VBuckets":
		return usageError(fmt.Errorf("--vbuckets is %s: %s", value, why))
	}
	return usageError(fmt.Errorf("--bucket: %s", text))
}

// listenError returns the error of a port that cannot be opened. An error of the host names --host.
func listenError(flag string, err error) error {
	var unknown *net.DNSError
	if errors.As(err, &unknown) || errors.Is(err, syscall.EADDRNOTAVAIL) {
		flag = "--host"
	}
	return cannotRun(fmt.Errorf("%s: %w", flag, err))
}
