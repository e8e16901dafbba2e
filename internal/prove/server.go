package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// Server is a deployment that is not ours, reached through a proxy that does the faults. Only [Database] is touched.
type Server struct {
	uri        string
	control    Client
	version    string
	standalone bool
	sessions   bool
}

var _ Deployment = (*Server)(nil)

// ErrInUse tells that the database of the experiment exists already. Whatever it holds is not ours to delete.
var ErrInUse = errors.New("the database " + Database + " exists already on this server: another run is under way, or was " +
	"ended by force; drop it to go on")

// ErrURI is matched by errors about the connection string itself.
var ErrURI = errors.New("the connection string cannot be used")

// marker is the collection whose creation makes the database ours.
const marker = "owner"

// patienceWithServer is how long the server may take to be found.
const patienceWithServer = 3 * time.Second

// ConnectServer finds out what a server is and takes possession of the experiment's database. Leave must be called at
// the end.
func ConnectServer(ctx context.Context, uri string, dial Dial) (*Server, error) {
	timing := DefaultTiming()
	timing.ServerSelection, timing.Connect = patienceWithServer, patienceWithServer
	control, err := dial(Target{URI: uri, Database: Database, Collection: marker, W: Majority, Timing: timing})
	if err != nil {
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

func (s *Server) examine(ctx context.Context) error {
	hello, err := s.control.Run(ctx, "admin", bson.D{{Key: "hello", Value: 1}})
	if err != nil {
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	_, set := hello.Lookup("setName").StringValueOK()
	_, mongos := hello.Lookup("msg").StringValueOK()
	_, s.sessions = hello.Lookup("logicalSessionTimeoutMinutes").AsInt64OK()
	s.standalone = !set && !mongos
	if info, err := s.control.Run(ctx, "admin", bson.D{{Key: "buildInfo", Value: 1}}); err == nil {
		s.version, _ = info.Lookup("version").StringValueOK()
	}
	return nil
}

// possess makes the database ours, or finds that it is somebody else's.
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

// settling is how long what interrupted writers had sent may take to be executed.
const settling = 200 * time.Millisecond

// Leave drops the database and ends the connection. What interrupted writers had sent may be executed after a drop and
// bring the database back; so it is looked for again, and dropped until it stays away.
func (s *Server) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), patienceWithServer)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patienceWithServer)
	defer cancel()
	return s.control.Close(ctx)
}

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
	return fmt.Sprintf("MongoDB %s, %s, through a proxy; what is mixed is without faults that break the cluster", s.version, kind)
}

func (s *Server) open(Settings) (site, error) {
	p, err := mongotest.RunProxy(s.uri)
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	f := &proxied{proxy: p, server: s}
	dark := mongotest.While(func(*mongotest.Request) bool { return f.dark.Load() }, mongotest.Fault{LoseRequest: true})
	p.Use("hello", dark)
	p.Use(mongotest.AnyCommand, f.watch)
	p.Use(mongotest.AnyCommand, dark)
	return f, nil
}

// proxied is the site of a server behind a proxy of the cell's own.
type proxied struct {
	proxy  *mongotest.Proxy
	server *Server
	dark   atomic.Bool
	// sessions: a command carried a session's id, although the server has no sessions.
	sessions atomic.Bool
}

func (f *proxied) target() Target {
	return Target{URI: f.proxy.URI(), Standalone: f.server.standalone}
}

func (f *proxied) intercept(m mongotest.Middleware) func() { return f.proxy.Use("update", m) }

// watch notes whether a command carries a session's id that the server has no use for.
func (f *proxied) watch(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	if r.LSID != nil && !f.server.sessions {
		f.sessions.Store(true)
	}
	return next(r)
}

func (f *proxied) strike(kind FaultKind) (func(), error) {
	return nil, fmt.Errorf("%s: the servers are not ours to break", kind)
}

func (f *proxied) awaitPrimary(context.Context) error { return nil }
func (f *proxied) blackout()                          { f.dark.Store(true) }

func (f *proxied) restore(context.Context) error {
	f.dark.Store(false)
	if f.sessions.Load() {
		return errors.New("a command carried a session's id, although the server's hello says that it has no sessions")
	}
	return nil
}

func (f *proxied) journal() ([]mongotest.Entry, bool) { return nil, false }
func (f *proxied) close() error                       { return f.proxy.Close() }
