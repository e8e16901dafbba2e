package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/inspect"
)

// deployment has the flags that name a MongoDB deployment, for commands that have no other way to one.
type deployment struct {
	URI     string `name:"uri" placeholder:"URI" help:"The connection string of the deployment. The list of processes shows it: give one with a password by --uri-file or HOLDFAST_URI."`
	URIFile string `name:"uri-file" placeholder:"FILE" help:"A file that has the connection string."`
}

// uriVariable is the environment variable that is used without the flags.
const uriVariable = "HOLDFAST_URI"

// uri returns the connection string. Its errors are about the command line.
func (d *deployment) uri(s *session) (string, error) {
	fromVariable := s.getenv(uriVariable)
	switch {
	case d.URI != "" && d.URIFile != "":
		return "", usageError(errors.New("--uri and --uri-file exclude each other"))
	case d.URI != "":
		return d.URI, nil
	case d.URIFile != "":
		return uriOfFile(d.URIFile)
	case fromVariable != "":
		return fromVariable, nil
	}
	return "", usageError(fmt.Errorf("there is no connection string: give --uri, --uri-file or the environment variable %s", uriVariable))
}

func uriOfFile(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", usageError(fmt.Errorf("--uri-file: %w", err))
	}
	uri := strings.TrimSpace(string(text))
	if uri == "" || strings.ContainsAny(uri, "\r\n") {
		return "", usageError(fmt.Errorf("--uri-file: %s must have one line, the connection string", name))
	}
	return uri, nil
}

// open starts a client for the deployment, which looks for a server for as long as timeout.
func (d *deployment) open(s *session, appName string, timeout time.Duration) (*inspect.Watcher, error) {
	if err := checkTimeout(timeout); err != nil {
		return nil, err
	}
	uri, err := d.uri(s)
	if err != nil {
		return nil, err
	}
	w, err := inspect.Open(uri, appName, timeout)
	if err != nil {
		return nil, connectionStringError(err)
	}
	return w, nil
}

// connectionStringError is an error about the connection string or, if its name cannot be looked up, about the network.
func connectionStringError(err error) error {
	err = fmt.Errorf("the connection string: %w", err)
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return cannotRun(err)
	}
	return usageError(err)
}

func checkTimeout(d time.Duration) error {
	if d <= 0 {
		return usageError(fmt.Errorf("--timeout is %v; it must be positive", d))
	}
	return nil
}
