package inspect

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func facts(t *testing.T, uri string) *Facts {
	t.Helper()
	f, err := Survey(t.Context(), uri, SurveyOptions{AppName: "test", Timeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// levelOf returns the worst level of the findings with an id, "" if there is none.
func levelOf(r *Report, id string) (worst Level) {
	for _, level := range []Level{OK, Note, Warning, Problem} {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.ID == id && f.Level == level }) {
			worst = level
		}
	}
	return worst
}

func TestTheCheckOfEachKindOfDeployment(t *testing.T) {
	odd := []mongotest.Option{
		mongotest.Member(1, mongotest.Hidden(), mongotest.Priority(0), mongotest.SecondaryDelay(time.Hour)), mongotest.Member(2, mongotest.Arbiter()),
		mongotest.Version("4.4"),
	}
	for _, c := range []struct {
		name   string
		rs     *mongotest.Deployment
		levels map[string]Level
	}{
		{"a set", mongotest.RunReplicaSetT(t, 3), map[string]Level{
			idLogin: OK, idSeeds: OK, idReachable: OK, idPrimary: OK, idSetSize: OK, idVoters: OK, idArbiters: OK, idElectable: OK, idWriteConcern: OK, idJournal: OK,
			idVersionsMixed: OK, idVersionSupport: OK, idClock: OK, idCertificate: "", idStandalone: "", idHidden: "", idSetConfig: "",
		}},
		{"an odd set", mongotest.RunReplicaSetT(t, 3, odd...), map[string]Level{
			idSetSize: Warning, idArbiters: Warning, idElectable: Problem, idHidden: Note, idDelayed: Warning, idVersionSupport: Warning, idWriteConcern: Problem,
		}},
		{"a sharded cluster", mongotest.RunShardedT(t, 3, 2), map[string]Level{
			idMongos: OK, idShards: OK, idPrimary: OK, idSetSize: OK, idWriteConcern: OK, idClock: OK, idReachable: OK,
		}},
		{"a standalone", mongotest.RunStandaloneT(t), map[string]Level{
			idStandalone: Problem, idLogin: OK, idSetSize: "", idWriteConcern: "", idRetryWrites: "", idClock: OK,
		}},
	} {
		r := Check(facts(t, c.rs.URI()))
		for id, want := range c.levels {
			if got := levelOf(r, id); got != want {
				t.Errorf("%s: %s is %q, want %q: %+v", c.name, id, got, want, r.Findings)
			}
		}
	}
}

func TestARefusedCommandIsNotChecked(t *testing.T) {
	refused := mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Message: "not authorized on admin"}})
	set, sharded := mongotest.RunReplicaSetT(t, 3), mongotest.RunShardedT(t, 1, 2)
	for _, rs := range []*mongotest.Deployment{set, sharded} {
		for _, command := range []string{"replSetGetConfig", "getDefaultRWConcern", "listShards", "buildInfo"} {
			defer rs.Use(command, refused)()
		}
	}
	r := Check(facts(t, set.URI()))
	for id, want := range map[string]Level{idSetConfig: Note, idWriteConcern: Note, idSetSize: OK, idVersionsMixed: OK} {
		if got := levelOf(r, id); got != want {
			t.Errorf("%s is %q, want %q: %+v", id, got, want, r.Findings)
		}
	}
	if r := Check(facts(t, sharded.URI())); levelOf(r, idShards) != Note {
		t.Errorf("%+v", r.Findings)
	}
}

func TestAWrongPasswordIsAFinding(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.Users(mongotest.User{Name: "u", Password: "right"}))
	for password, want := range map[string]Level{"right": OK, "wrong": Problem} {
		uri := strings.Replace(rs.URI(), "://", "://u:"+password+"@", 1)
		r := Check(facts(t, uri))
		for id, want := range map[string]Level{idLogin: want, idClock: OK, idPrimary: OK, idSetSize: OK} {
			if levelOf(r, id) != want {
				t.Errorf("%s: %s: %+v", password, id, r.Findings)
			}
		}
	}
	if r := Check(facts(t, rs.URI())); levelOf(r, idLogin) != Problem {
		t.Errorf("without a user: %+v", r.Findings)
	}
}

func TestTheConfigurationOfASetHasDefaults(t *testing.T) {
	document, err := bson.Marshal(bson.M{
		"members":  bson.A{bson.M{"host": "a"}, bson.M{"host": "b", "votes": 0, "priority": 0.5, "slaveDelay": int64(5)}},
		"settings": bson.M{"getLastErrorDefaults": bson.M{"w": "majority"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var c setConfig
	if err := bson.Unmarshal(document, &c); err != nil {
		t.Fatal(err)
	}
	var f SetFacts
	c.into(&f)
	want := []SetMember{{Address: "a", Votes: 1, Priority: 1}, {Address: "b", Priority: 0.5, Delay: 5 * time.Second}}
	if !slices.Equal(f.Members, want) || f.DefaultW != "majority" || f.JournalOff {
		t.Errorf("%+v", f)
	}
}

// A server tells its time in milliseconds.
func TestTheErrorOfAClockIsAMillisecondAtLeast(t *testing.T) {
	for _, s := range facts(t, mongotest.RunStandaloneT(t).URI()).Servers {
		if s.ClockErr != nil || s.ClockError < time.Millisecond {
			t.Errorf("%+v", s)
		}
	}
}

func TestADeadMemberIsAFinding(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	rs.Kill((rs.Primary() + 1) % 3)
	if r := Check(facts(t, rs.URI())); levelOf(r, idReachable) != Warning || levelOf(r, idPrimary) != OK {
		t.Errorf("%+v", r.Findings)
	}
}

func TestTheEndOfACertificateIsRead(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.TLS())
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, rs.CACertificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	f := facts(t, rs.URI()+"&tls=true&tlsCAFile="+file)
	want := certificateOf(t, rs)
	for _, s := range f.Servers {
		if s.CertificateErr != nil || !s.CertificateEnd.Equal(want) {
			t.Errorf("%s: %v %v, want %v", s.Address, s.CertificateEnd, s.CertificateErr, want)
		}
	}
}

// The connections to single servers check as the connection string says: none of them asks a responder.
func TestTheOptionsOfTheRevocationCheckAreThoseOfTheConnectionString(t *testing.T) {
	for _, c := range []struct {
		query  string
		server mongotest.OCSPOptions
	}{
		{"&tlsDisableCertificateRevocationCheck=true", mongotest.OCSPOptions{Staple: true}},
		{"&tlsDisableOCSPEndpointCheck=true", mongotest.OCSPOptions{}},
	} {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.OCSP(c.server))
		rs.OCSPResponder().Answer(mongotest.OCSPRevoked)
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(file, rs.CACertificate(), 0o600); err != nil {
			t.Fatal(err)
		}
		f := facts(t, rs.URI()+"&tlsCAFile="+file+c.query)
		for _, s := range f.Servers {
			if s.Err != nil {
				t.Errorf("%s, %s: %v", c.query, s.Address, s.Err)
			}
		}
		if n := rs.OCSPResponder().Requests(); len(f.Servers) != 3 || n != 0 {
			t.Errorf("%s: %d servers, %d requests", c.query, len(f.Servers), n)
		}
	}
}

func certificateOf(t *testing.T, rs *mongotest.Deployment) time.Time {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(rs.CACertificate())
	host, _, _ := net.SplitHostPort(rs.Addr())
	c, err := tls.Dial("tcp", rs.Addr(), &tls.Config{RootCAs: pool, ServerName: host, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].NotAfter
}

func TestAWrongConnectionStringIsFoundFirst(t *testing.T) {
	for _, uri := range []string{"http://a", "mongodb://a/?maxPoolSize=x", "mongodb://a/?w=0&journal=true"} {
		var wrong *OptionsError
		if _, err := Survey(t.Context(), uri, SurveyOptions{Timeout: testTimeout}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestTheStepsOfASurvey(t *testing.T) {
	var steps []string
	_, err := Survey(t.Context(), mongotest.RunShardedT(t, 1, 1).URI(), SurveyOptions{Timeout: testTimeout, Progress: func(s string) { steps = append(steps, s) }})
	if err != nil || len(steps) != 4 || steps[0] != "looking for the servers" || !strings.HasPrefix(steps[2], "asking the shard ") {
		t.Errorf("%v: %q", err, steps)
	}
}

func TestBehindALoadBalancerServersAreNotToldApart(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 2, mongotest.LoadBalancer(0, 1))
	f := facts(t, "mongodb://"+rs.LoadBalancerAddr(0)+"/?loadBalanced=true")
	r := Check(f)
	for id, want := range map[string]Level{idLogin: OK, idClock: Note, idMongos: "", idSeeds: "", idSetSize: "", idRetryWrites: OK} {
		if got := levelOf(r, id); got != want {
			t.Errorf("%s is %q, want %q: %+v", id, got, want, r.Findings)
		}
	}
	if f.View.Kind != "LoadBalanced" || f.View.Members[0].Role != "load balancer" || f.View.Choices[0].Why != "it is the only server" {
		t.Errorf("%+v", f.View)
	}
}
