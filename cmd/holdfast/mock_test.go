package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// startMock runs `holdfast mock` and returns the URI that it prints. The returned function ends it and returns its
// exit code.
func startMock(t *testing.T, args ...string) (uri string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() { done <- run(ctx, append([]string{"mock"}, args...), w, os.Stderr, noEnvironment) }()
	lines := bufio.NewScanner(r)
	for _, want := range []string{"mongodb://", "Waiting for connections"} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("holdfast mock says %q, want %s...", lines.Text(), want)
		}
		if uri == "" {
			uri = lines.Text()
		}
	}
	go func() {
		for lines.Scan() { // the pipe must be read until the end
		}
	}()
	return uri, func() int {
		cancel()
		return <-done
	}
}

func use(t *testing.T, uri string, more ...*options.ClientOptions) error {
	t.Helper()
	opts := []*options.ClientOptions{options.Client().ApplyURI(uri)}
	client, err := official.Connect(append(opts, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(t.Context()) }()
	_, err = client.Database("db").Collection("c").InsertOne(t.Context(), bson.D{})
	return err
}

func TestMockServesClientsUntilItIsInterrupted(t *testing.T) {
	for _, c := range []struct{ args, in string }{
		{"", "replicaSet=rs0"},
		{"--members 1 --set other", "replicaSet=other"},
		{"--standalone", "mongodb://127.0.0.1:"},
		{"--mongos 2 --members 1", "mongodb://127.0.0.1:"},
	} {
		t.Run(c.args, func(t *testing.T) {
			uri, end := startMock(t, strings.Fields(c.args)...)
			if !strings.Contains(uri, c.in) {
				t.Errorf("the URI is %s, want %s in it", uri, c.in)
			}
			if err := use(t, uri); err != nil {
				t.Error(err)
			}
			if code := end(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestMockWithUsersAndTLS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	uri, end := startMock(t, "--user", "alice:s3cret", "--tls-ca-file", file)
	defer end()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	secure := options.Client().SetTLSConfig(&tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12})
	if err := use(t, uri, secure); err == nil {
		t.Error("somebody who has not authenticated got in")
	}
	if err := use(t, uri, secure, options.Client().SetAuth(options.Credential{Username: "alice", Password: "s3cret"})); err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfMockHasTheReasonWhyItCannotListen(t *testing.T) {
	uri, end := startMock(t, "--standalone")
	defer end()
	port := strings.TrimSuffix(uri[strings.LastIndex(uri, ":")+1:], "/")
	code, _, stderr := holdfast(t.Context(), "mock", "--standalone", "--port", port)
	if code != exitCannotRun || !strings.Contains(stderr, port) || !strings.Contains(stderr, "in use") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestTheLastPortsCanBeUsed(t *testing.T) {
	three := 3
	for _, c := range []mockCommand{
		{Standalone: true, Port: 65535},
		{Members: &three, Port: 65533},
		{Members: &three, Mongos: 2, Port: 65531},
	} {
		c.ElectionTimeout = 1
		if err := c.check(); err != nil {
			t.Error(err)
		}
		c.Port++
		if err := c.check(); err == nil {
			t.Errorf("port %d for %d members and %d mongos is not refused", c.Port, c.members(), c.Mongos)
		}
	}
}
