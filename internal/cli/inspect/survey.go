package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongo"
)

// SurveyOptions configure a survey.
type SurveyOptions struct {
	AppName string
	Timeout time.Duration // for each server, and for each command
	// Progress, if set, is called before each step.
	Progress func(step string)
}

// Survey asks a deployment and each of its servers. It only reads. An error means that nothing could be asked; a refused command
// is a fact.
func Survey(ctx context.Context, uri string, o SurveyOptions) (*Facts, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	w, err := Open(uri, o.AppName, o.Timeout)
	if err != nil {
		return nil, &OptionsError{err}
	}
	defer w.Close(ctx)
	s := &survey{SurveyOptions: o, options: w.options}
	o.Progress("looking for the servers")
	if err := s.ready(ctx, w); err != nil {
		return nil, err
	}
	f, d := &Facts{At: time.Now(), Options: w.options, View: w.View()}, w.snapshot()
	f.LoginErr = s.command(ctx, w.client, "ping", nil)
	s.noLogin = f.LoginErr != nil
	f.Concern, f.ConcernErr = s.concern(ctx, w.client)
	switch d.Type {
	case topology.Sharded:
		if r := f.View.Router; r == nil {
			s.shards(ctx, w, f)
		} else if r.SetName != "" {
			f.Sets = []SetFacts{s.routedSet(ctx, w, r)}
		}
	case topology.ReplicaSetWithPrimary, topology.ReplicaSetNoPrimary:
		f.Sets = []SetFacts{s.set(ctx, w, d)}
	case topology.Single, topology.LoadBalanced, topology.UnknownTopology:
	}
	o.Progress(fmt.Sprintf("asking %s", counted(len(f.View.Members), "server")))
	f.Servers = append(f.Servers, s.servers(ctx, f.View)...)
	return f, ctx.Err()
}

// OptionsError says that the connection string cannot be used.
type OptionsError struct{ err error }

// Error returns the reason.
func (e *OptionsError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *OptionsError) Unwrap() error { return e.err }

type survey struct {
	SurveyOptions
	options *options.ClientOptions
	noLogin bool // a ping has failed
}

func (s *survey) ready(ctx context.Context, w *Watcher) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return w.Ready(ctx)
}

// command runs a command without arguments on the database admin, on a secondary if there is no primary.
func (s *survey) command(ctx context.Context, c *mongo.Client, name string, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	o := options.RunCmd().SetReadPreference(readpref.PrimaryPreferred())
	r := c.Database("admin").RunCommand(ctx, bson.D{{Key: name, Value: 1}}, o)
	if reply == nil {
		return r.Err()
	}
	return r.Decode(reply)
}

var errPingFailed = errors.New("a ping fails already")

// ask is command for what only a client with a login may read.
func (s *survey) ask(ctx context.Context, c *mongo.Client, name string, reply any) error {
	if s.noLogin {
		return errPingFailed
	}
	return s.command(ctx, c, name, reply)
}

// concern reads the default write concern. A server that does not know the command (before 4.4) has none, and a standalone too.
func (s *survey) concern(ctx context.Context, c *mongo.Client) (d DefaultConcern, err error) {
	var reply struct {
		DefaultWriteConcern struct {
			W any
			J *bool
		} `bson:"defaultWriteConcern"`
	}
	err = s.ask(ctx, c, "getDefaultRWConcern", &reply)
	if isNotFound(err) {
		return d, nil
	}
	return DefaultConcern{W: reply.DefaultWriteConcern.W, J: reply.DefaultWriteConcern.J}, err
}

// isNotFound reports whether a server does not know a command.
func isNotFound(err error) bool {
	var refused mongo.CommandError
	return errors.As(err, &refused) && refused.Code == commandNotFound
}

const commandNotFound = 59

// shards surveys the set of each shard.
func (s *survey) shards(ctx context.Context, w *Watcher, f *Facts) {
	s.Progress("asking for the shards")
	var reply struct {
		Shards []struct{ Host string }
	}
	if f.ShardsErr = s.ask(ctx, w.client, "listShards", &reply); f.ShardsErr != nil {
		return
	}
	for _, shard := range reply.Shards {
		f.Shards = append(f.Shards, shard.Host)
		s.Progress("asking the shard " + shard.Host)
		set, view := s.shard(ctx, shard.Host)
		f.Sets = append(f.Sets, set)
		f.Servers = append(f.Servers, s.servers(ctx, view)...)
	}
}

// shard surveys the set of a shard whose hosts are in the form set/host,host.
func (s *survey) shard(ctx context.Context, hosts string) (SetFacts, *View) {
	name, list, _ := strings.Cut(hosts, "/")
	o := s.secure().SetHosts(strings.Split(list, ",")).SetReplicaSet(name)
	w, err := open(o, s.AppName, s.Timeout)
	if err == nil {
		defer w.Close(ctx)
		err = s.ready(ctx, w)
	}
	if err != nil {
		return SetFacts{Name: name, Shard: true, Err: err}, new(View)
	}
	set := s.set(ctx, w, w.snapshot())
	set.Shard = true
	return set, w.View()
}

// secure returns the credentials and the TLS settings of the connection string, for other hosts.
func (s *survey) secure() *options.ClientOptions {
	o := s.withoutLogin()
	if s.options.Auth != nil {
		o.SetAuth(*s.options.Auth)
	}
	return o
}

// withoutLogin is secure without the credentials: an arbiter knows no users.
func (s *survey) withoutLogin() *options.ClientOptions {
	o := options.Client().SetConnectTimeout(min(s.Timeout, connectTimeout(s.options)))
	if s.options.TLSConfig != nil {
		o.SetTLSConfig(s.options.TLSConfig.Clone())
	}
	o.DisableOCSPEndpointCheck, o.DisableCertificateRevocationCheck = s.options.DisableOCSPEndpointCheck, s.options.DisableCertificateRevocationCheck
	return o
}

// servers asks each server of a view, at the same time.
func (s *survey) servers(ctx context.Context, v *View) []ServerFacts {
	facts := make([]ServerFacts, len(v.Members))
	var all sync.WaitGroup
	for i := range v.Members {
		all.Go(func() { facts[i] = s.server(ctx, &v.Members[i]) })
	}
	all.Wait()
	return facts
}
