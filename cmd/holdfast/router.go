package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

type routerCommand struct {
	Upstream              string        `placeholder:"URI" help:"The connection string of the replica set, or of a standalone. The list of processes shows it: give one with a password in the settings file."`
	Listen                []string      `sep:"none" placeholder:"ADDRESS" help:"An address for clients, HOST:PORT or unix:/FOLDER/NAME.sock; may be repeated. Without it: 127.0.0.1:27017. HOST must be an IP address or localhost, and one of the loopback without --pass-through or --users; port 0 is any free port."`
	Settings              string        `placeholder:"FILE" help:"A JSON object with the same names as these flags. A flag takes precedence over its setting."`
	PassThrough           bool          `help:"Clients log in as users of the members, by SCRAM, and the members see them as these. The user in --upstream must be one who may run usersInfo for all."`
	Users                 string        `placeholder:"FILE" help:"Clients log in as users in this JSON file, by SCRAM or with their certificates. The members see them as the user in --upstream. See: holdfast router hash --help"`
	TLSCertificateKeyFile string        `name:"tls-certificate-key-file" placeholder:"FILE" help:"Clients that come over TCP must use TLS, 1.2 or newer. The file has the router's certificate and key, as PEM."`
	TLSCAFile             string        `name:"tls-ca-file" placeholder:"FILE" help:"Clients must show a certificate of an authority in this file."`
	MaxClients            int           `default:"65536" help:"The number of clients that may be connected. One too many is disconnected without an answer, as by a mongos."`
	MaxWaiting            int           `default:"1000" help:"The number of operations that may wait for a member at the same time. One too many fails with the code 462."`
	MaxWaitingBytes       int64         `default:"67108864" help:"How large their messages may be together."`
	MaxMemoryBytes        int64         `default:"268435456" help:"How large the messages and replies may be together that are in the router at the same time. What is too much waits, and fails with the code 462 after --window."`
	Window                time.Duration `default:"20s" help:"How long an operation waits for a member that can run it, and how long after its beginning it is tried again."`
	Quiesce               time.Duration `default:"15s" help:"How long the router serves its clients after the signal to end. Hellos are told that it ends, but not those of load-balanced clients."`
	Pin                   string        `default:"connection" enum:"connection,operation" placeholder:"WHAT" help:"connection, the default: the reads of a client's connection with the same read preference go to the same member, as behind a mongos. operation: each operation selects its member."`
	Admin                 string        `placeholder:"HOST:PORT" help:"Serve /healthz, /readyz and /metrics there, over HTTP without authentication."`
}

// Help returns the part of the help that is not about a flag.
func (*routerCommand) Help() string {
	return `Clients of any driver connect to it as to a mongos: "replicaSet" must not be in their connection strings. It sends their operations to the members
by their read preferences, and retries what a failover interrupts, also for clients that cannot. Without --pass-through or --users clients do not log
in: it listens on loopback addresses and Unix sockets only then. docs/ROUTER.md says what it does and does not.

It prints a line when it listens, when it finds or loses the member that takes writes, for each client that it refuses, and at its end. The
first signal (Ctrl-C, SIGTERM) begins the quiesce: hellos are answered with the error 91, so that drivers go to another router, and operations
still work until the clients have left, at most for --quiesce. A second signal ends it at once.

"holdfast router hash USER" makes an entry of a file of users from a password; see its --help.`
}

const defaultListen = "127.0.0.1:27017"

// Run runs the router until a signal.
func (c *routerCommand) Run(s *session) error {
	if c.Settings != "" {
		complete, err := c.withSettings(s)
		if err != nil {
			return usageError(err)
		}
		c = complete
	}
	if len(c.Listen) == 0 {
		c.Listen = []string{defaultListen}
	}
	if err := c.check(); err != nil {
		return usageError(err)
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	return c.serve(s, cfg)
}

// check returns an error for settings that are out of range or contradict each other. It uses no network.
func (c *routerCommand) check() error {
	switch {
	case c.Upstream == "":
		return errors.New("--upstream is missing; it must be the connection string of the replica set")
	case c.MaxClients < 1:
		return fmt.Errorf("--max-clients is %d; it must be at least 1", c.MaxClients)
	case c.MaxWaiting < 1:
		return fmt.Errorf("--max-waiting is %d; it must be at least 1", c.MaxWaiting)
	case c.MaxWaitingBytes < 1:
		return fmt.Errorf("--max-waiting-bytes is %d; it must be at least 1", c.MaxWaitingBytes)
	case c.MaxMemoryBytes < router.LeastMemory:
		return fmt.Errorf("--max-memory-bytes is %d; it must be at least %d, which is four of the largest messages", c.MaxMemoryBytes, router.LeastMemory)
	case c.Window <= 0:
		return fmt.Errorf("--window is %v; it must be positive", c.Window)
	case c.Quiesce <= 0:
		return fmt.Errorf("--quiesce is %v; it must be positive", c.Quiesce)
	case c.PassThrough && c.Users != "":
		return errors.New("--pass-through and --users exclude each other: the users are either those of the members or those of the file")
	case c.TLSCAFile != "" && c.TLSCertificateKeyFile == "":
		return errors.New("--tls-ca-file needs a --tls-certificate-key-file")
	}
	for _, address := range c.Listen {
		if _, err := c.parseListen(address); err != nil {
			return err
		}
	}
	return c.checkAdmin()
}

func (c *routerCommand) checkAdmin() error {
	if c.Admin == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(c.Admin)
	if err != nil || !isPort(port) {
		return fmt.Errorf("--admin is %q; it must be HOST:PORT", c.Admin)
	}
	return nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// config returns the configuration of the router. The name of a mongodb+srv connection string is looked up.
func (c *routerCommand) config() (*router.Config, error) {
	cfg := &router.Config{
		Window: c.Window, MostWaiting: c.MaxWaiting, WaitingBytes: c.MaxWaitingBytes, MemoryBytes: c.MaxMemoryBytes, Quiesce: c.Quiesce, MostClients: c.MaxClients,
		PinOperation: c.Pin == "operation", PassThrough: c.PassThrough,
	}
	if c.Users != "" {
		text, err := os.ReadFile(c.Users)
		if err == nil {
			cfg.Users, err = userfile.Parse(text)
		}
		if err != nil {
			return nil, usageError(fmt.Errorf("--users %s: %w", c.Users, err))
		}
	}
	if c.TLSCertificateKeyFile != "" {
		var err error
		cfg.TLS, err = serverTLS(fileFlag{"--tls-certificate-key-file", c.TLSCertificateKeyFile}, fileFlag{"--tls-ca-file", c.TLSCAFile})
		if err != nil {
			return nil, usageError(err)
		}
	}
	cfg.Upstream = options.Client().ApplyURI(c.Upstream)
	if cfg.Upstream.AppName == nil {
		cfg.Upstream.SetAppName("holdfast router")
	}
	return cfg, nil
}

// fieldsAsFlags puts flags in place of the fields of router.Config that its errors name beside Upstream.
var fieldsAsFlags = strings.NewReplacer("; Window ", "; --window ", "; PassThrough ", "; --pass-through ")

// upstreamError is an error of the upstream's connection string or, if its name cannot be looked up, of the network.
func upstreamError(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "router: Upstream "), "mongo: ")
	text = fieldsAsFlags.Replace(text)
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return cannotRun(fmt.Errorf("--upstream: %s", text))
	}
	return usageError(fmt.Errorf("--upstream: %s", text))
}
