package router

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router/userfile"
	"github.com/holdfast-db/holdfast/telemetry"
)

// The defaults of Config.
const (
	defaultWindow         = 20 * time.Second
	defaultQuiesce        = 15 * time.Second
	defaultMostWaiting    = 1000
	defaultWaitingBytes   = 64 << 20
	defaultMemory         = 256 << 20
	defaultMostClients    = 65_536 // maxIncomingConnections of a mongos
	defaultLocalThreshold = 15 * time.Millisecond
	defaultHeartbeat      = 10 * time.Second
	defaultMaxPool        = 100
	// defaultMaxConnecting is twice that of a client: all who waited for a new primary need connections to it at the same time.
	defaultMaxConnecting = 4
	// defaultMinPool connections to each member are kept open: the first who waited for a new primary need not wait for a handshake.
	defaultMinPool = 2
)

// Config is the configuration of a Router. A zero number or duration means its default.
type Config struct {
	// Upstream has the options of the client that reaches the members: the connection string, TLS, the credential, the sizes of its pools.
	Upstream *options.ClientOptions

	Window       time.Duration // how long an operation waits for a member that can run it. Default: 20 s
	MostWaiting  int           // operations that wait at the same time. Default: 1,000
	WaitingBytes int64         // of their messages. Default: 64 MiB
	// MemoryBytes bounds the messages of clients above 1 KiB, and the replies above 64 KiB, that are in the router at the same time. What is too much
	// waits; a message for Window, a reply for 10 s. Default: 256 MiB; the least is 192,000,000.
	MemoryBytes int64
	Quiesce     time.Duration // how long [Router.Shutdown] lets clients find another router. Default: 15 s
	// PinOperation means that each operation selects its member anew. Otherwise the reads of one connection go to one member, as long as
	// their read preference is the same.
	PinOperation bool

	// MostClients is how many clients may be connected at the same time. Default: 65,536. One too many is disconnected before an answer, as a
	// mongos does at its maxIncomingConnections: of all refusals only this one leaves a driver's other connections alone.
	MostClients int
	// PassThrough means that clients log in as users of the members, with SCRAM-SHA-256 or SCRAM-SHA-1, and that the members see them as these. The
	// user of Upstream must be allowed the command usersInfo with showCredentials.
	PassThrough bool
	// Users are who may log in. Their commands run as the user of Upstream. With neither PassThrough nor Users clients do not log in.
	Users *userfile.File

	// TLS is for the connections of clients, but for those over a Unix socket. Nil means none. TLS 1.2 is the least version. With Users, the
	// subject of a client's certificate that is verified may log in with MONGODB-X509.
	TLS *tls.Config

	// Tracer is told of the operations at the members, and of the connections to them. Nil means that nobody is.
	Tracer *telemetry.Tracer
	// Refused, if it is set, is told of each client that is disconnected because it is one too many, or because its TLS handshake failed, and
	// of each login that failed. It
	// must be safe for concurrent use, and return soon.
	Refused func(from net.Addr, reason string)
}

// complete checks the configuration and fills in the defaults. The error names the field and the rule.
func (c *Config) complete() error {
	if c.Upstream == nil {
		return errors.New("router: Upstream is nil; it must have the address of the replica set")
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Window", int64(c.Window)},
		{"MostWaiting", int64(c.MostWaiting)},
		{"WaitingBytes", c.WaitingBytes},
		{"MemoryBytes", c.MemoryBytes},
		{"Quiesce", int64(c.Quiesce)},
		{"MostClients", int64(c.MostClients)},
	} {
		if f.value < 0 {
			return fmt.Errorf("router: %s is %d; it must not be negative", f.name, f.value)
		}
	}
	c.Window = cmp.Or(c.Window, defaultWindow)
	c.MostWaiting = cmp.Or(c.MostWaiting, defaultMostWaiting)
	c.WaitingBytes = cmp.Or(c.WaitingBytes, defaultWaitingBytes)
	c.MemoryBytes = cmp.Or(c.MemoryBytes, defaultMemory)
	if c.MemoryBytes < LeastMemory {
		return fmt.Errorf("router: MemoryBytes is %d; it must be at least %d", c.MemoryBytes, LeastMemory)
	}
	c.Quiesce = cmp.Or(c.Quiesce, defaultQuiesce)
	c.MostClients = cmp.Or(c.MostClients, defaultMostClients)
	if c.TLS != nil {
		c.TLS = c.TLS.Clone()
		c.TLS.MinVersion = max(c.TLS.MinVersion, tls.VersionTLS12)
	}
	if c.Refused == nil {
		c.Refused = func(net.Addr, string) {}
	}
	return c.checkUpstream()
}

// checkUpstream refuses what cannot be behind a router.
func (c *Config) checkUpstream() error {
	o := c.Upstream
	switch {
	case o.LoadBalanced != nil && *o.LoadBalanced:
		return errors.New("router: Upstream has loadBalanced=true; a router needs to see each member")
	case o.Direct != nil && *o.Direct && o.ReplicaSet != nil:
		return errors.New("router: Upstream has directConnection=true and replicaSet; a router needs to see each member of a replica set")
	case o.ServerAPIOptions != nil:
		return errors.New("router: Upstream has ServerAPIOptions; the API version is that of each client")
	case o.ServerSelectionTimeout != nil:
		return errors.New("router: Upstream has serverSelectionTimeoutMS; Window is how long operations wait")
	case c.PassThrough && c.Users != nil:
		return errors.New("router: both PassThrough and Users are set; the names and passwords of clients are either those of the members or those of the file")
	case c.PassThrough && (o.Auth == nil || o.Auth.Username == ""):
		return errors.New("router: Upstream has no credential; PassThrough needs that of a user who may run usersInfo")
	case o.Timeout != nil:
		return errors.New("router: Upstream has timeoutMS; the time of an operation is that of its client")
	}
	return nil
}

// upstream returns the options of the client that reaches the members.
func (c *Config) upstream() *options.ClientOptions {
	o := *c.Upstream
	o.ServerSelectionTimeout = &c.Window
	if o.MaxConnecting == nil {
		o.SetMaxConnecting(defaultMaxConnecting)
	}
	if o.MinPoolSize == nil {
		o.SetMinPoolSize(min(defaultMinPool, cmp.Or(valueOr(o.MaxPoolSize, 0), defaultMaxPool)))
	}
	return &o
}

// accounts returns who may log in to a router, nil if nobody needs to.
func (c *Config) accounts(r *Router) accounts {
	switch {
	case c.PassThrough:
		return newPassThrough(r)
	case c.Users != nil:
		return newFileUsers(r, c.Users)
	}
	return nil
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
