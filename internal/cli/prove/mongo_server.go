package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Server is a deployment outside this process. A proxy in front of it injects the faults. Only [Database] is used.
type Server struct {
	uri        string
	control    Client
	version    string
	standalone bool
	sessions   bool
	roundTrip  time.Duration // of a command
}

var _ Deployment = (*Server)(nil)

// ErrInUse means that the experiment's database exists already. Its data may belong to somebody else, so it is not
// deleted.
var ErrInUse = errors.New("the database " + Database + " exists already on this server: another run has not ended, or was " +
	"killed; drop the database to continue")

// ErrURI matches errors about the connection string itself.
var ErrURI = errors.New("the connection string cannot be used")

// marker is the collection whose creation marks the database as the experiment's own.
const marker = "owner"

// serverLimit is the time limit of server selection, connecting, and the commands of Leave.
const serverLimit = 3 * time.Second

// ConnectServer connects to a server, reads its kind and version, and creates the experiment's database. The caller
// must call Leave at the end.
func ConnectServer(ctx context.Context, uri string, dial Dial) (*Server, error) {
	if err := checkProxied(uri); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURI, err)
	}
	timing := mongoTiming()
	timing.ServerSelection, timing.Connect = serverLimit, serverLimit
	control, err := dialUntil(ctx, dial, Target{URI: uri, Database: Database, Collection: marker, W: Majority, Timing: timing})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrURI, err)
	}
	s := &Server{uri: uri, control: control}
	if err := s.examine(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect(ctx))
	}
	if err := s.possess(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect(ctx))
	}
	return s, nil
}

// checkProxied refuses connection strings that the proxy cannot stand in front of.
func checkProxied(uri string) error {
	if strings.HasPrefix(uri, "mongodb+srv://") {
		return errors.New("the proxy that makes the faults needs the hosts themselves, and no TLS: give them by mongodb://")
	}
	if options.Client().ApplyURI(uri).TLSConfig != nil {
		return errors.New("the proxy that makes the faults cannot do TLS")
	}
	return nil // the client says what else is wrong
}

// dialUntil creates a client, until ctx ends. Dial has no context.
func dialUntil(ctx context.Context, dial Dial, t Target) (Client, error) {
	type dialled struct {
		client Client
		err    error
	}
	done := make(chan dialled, 1)
	go func() {
		client, err := dial(t)
		done <- dialled{client, err}
	}()
	select {
	case d := <-done:
		return d.client, d.err
	case <-ctx.Done():
		go func() {
			if d := <-done; d.err == nil {
				_ = d.client.Close(context.WithoutCancel(ctx))
			}
		}()
		return nil, context.Cause(ctx)
	}
}

func (s *Server) examine(ctx context.Context) error {
	hello, err := s.control.Run(ctx, "admin", bson.D{{Key: "hello", Value: 1}})
	if err != nil {
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	_, set := hello.Lookup("setName").StringValueOK()
	_, mongos := hello.Lookup("msg").StringValueOK()
	_, s.sessions = hello.Lookup("logicalSessionTimeoutMinutes").AsInt64OK()
	s.standalone = !set && !mongos
	began := time.Now()
	if info, err := s.control.Run(ctx, "admin", bson.D{{Key: "buildInfo", Value: 1}}); err == nil {
		s.version, _ = info.Lookup("version").StringValueOK()
	}
	s.roundTrip = time.Since(began)
	return nil
}

// possess creates the database. It returns ErrInUse if the database exists already.
func (s *Server) possess(ctx context.Context) error {
	switch there, err := s.exists(ctx); {
	case err != nil:
		return err
	case there:
		return ErrInUse
	}
	if _, err := s.control.Run(ctx, Database, bson.D{{Key: "create", Value: marker}}); err != nil {
		return fmt.Errorf("creating %s.%s: %w", Database, marker, err)
	}
	return nil
}

func (s *Server) exists(ctx context.Context) (bool, error) {
	list, err := s.control.Run(ctx, "admin", bson.D{{Key: "listDatabases", Value: 1}, {Key: "nameOnly", Value: true}})
	if err != nil {
		return false, fmt.Errorf("listing the databases: %w", err)
	}
	databases, _ := list.Lookup("databases").ArrayOK()
	values, err := databases.Values()
	if err != nil {
		return false, fmt.Errorf("listing the databases: %w", err)
	}
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok && d.Lookup("name").StringValue() == Database {
			return true, nil
		}
	}
	return false, nil
}

// settling is the time that the server may need to execute the messages of interrupted writers.
const settling = 200 * time.Millisecond

// Leave drops the database and closes the connection. A message of an interrupted writer may be executed after the
// drop and create the database again. So Leave drops it until it does not exist any more.
func (s *Server) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), serverLimit)
	defer cancel()
	err := s.drop(ctx)
	for there := true; there && err == nil; {
		settle := time.NewTimer(settling)
		select {
		case <-settle.C:
		case <-ctx.Done():
		}
		settle.Stop()
		if there, err = s.exists(ctx); there {
			err = s.drop(ctx)
		}
	}
	return errors.Join(err, s.disconnect(ctx))
}

func (s *Server) drop(ctx context.Context) error {
	if _, err := s.control.Run(ctx, Database, bson.D{{Key: "dropDatabase", Value: 1}}); err != nil {
		return fmt.Errorf("dropping the database %s: %w", Database, err)
	}
	return nil
}

func (s *Server) disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverLimit)
	defer cancel()
	return s.control.Close(ctx)
}

// Backend returns MongoDB.
func (s *Server) Backend() *Backend { return MongoDB }

func (s *Server) unavailable(strategy Strategy, f Failure) string {
	if strategy.RetryWrites {
		switch {
		case s.standalone && !s.sessions:
			return "not supported: standalone, no sessions"
		case s.standalone:
			return "not supported: standalone"
		case !s.sessions:
			return "not supported: no sessions"
		}
	}
	if len(exclude(f.faults, s.without(f))) == 0 {
		if s.standalone {
			return "n/a, standalone"
		}
		return "n/a, not ours to break"
	}
	return ""
}

func (s *Server) without(f Failure) []FaultKind {
	return slices.DeleteFunc(slices.Clone(f.faults), func(k FaultKind) bool { return !k.breaksCluster() })
}

func (s *Server) describe() string {
	kind := "deployment"
	if s.standalone {
		kind = "standalone"
	}
	return fmt.Sprintf("MongoDB %s, %s, through a proxy; mixed failures are without faults of the cluster", s.version, kind)
}

// Adjust sets what is otherwise with real servers. Their replication lag is their own. They may run on this machine and be slow, and then
// a client that has a short timeout interrupts commands that met no fault.
func (s *Server) Adjust(settings *Settings) {
	settings.ReplicationDelay = 0
	settings.Timing.ServerSelection, settings.Timing.Connect = 2*time.Second, time.Second
	settings.Parallel = 8
}

func (s *Server) open(c *cell) (site, error) {
	f := &proxied{server: s, timing: c.settings.Timing}
	p, err := mongotest.RunProxy(s.uri, mongotest.ProxyDial(f.conns.dial))
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	f.proxy = p
	p.Use(mongotest.AnyCommand, f.watch)
	return newMongoSite(f, c), nil
}

// proxied are the servers behind a proxy. Each cell has its own proxy.
type proxied struct {
	proxy  *mongotest.Proxy
	server *Server
	timing Timing
	conns  serverConns
	// sessions means that a command had an lsid, although the server does not support sessions.
	sessions atomic.Bool
}

func (f *proxied) target() Target {
	return Target{URI: f.proxy.URI(), Standalone: f.server.standalone}
}

func (f *proxied) intercept(m mongotest.Middleware) func() { return f.proxy.Use("update", m) }

// watch sets sessions if a command has an lsid that the server does not support.
func (f *proxied) watch(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	if r.LSID != nil && !f.server.sessions {
		f.sessions.Store(true)
	}
	return next(r)
}

func (f *proxied) strike(kind FaultKind) (func(), error) {
	return nil, fmt.Errorf("%s: the servers are not part of this process", kind)
}

func (f *proxied) awaitPrimary(context.Context) error { return nil }
func (f *proxied) blackout()                          { f.conns.cut() }

func (f *proxied) restore(context.Context) error {
	f.conns.restore()
	if f.sessions.Load() {
		return errors.New("a command had an lsid, although the server's hello has no logicalSessionTimeoutMinutes")
	}
	return nil
}

func (f *proxied) journal() ([]mongotest.Entry, bool) { return nil, false }

func (f *proxied) close() error { return errors.Join(f.conns.err(), f.proxy.Close()) }

// delay has one heartbeat interval, after which a monitor that polls notices an outage.
func (f *proxied) delay(attempts int) time.Duration {
	return f.timing.Heartbeat + f.timing.leastWaste() + time.Duration(attempts*roundTrips)*f.server.roundTrip
}
