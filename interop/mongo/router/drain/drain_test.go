// Package drain ends and restarts routers that are processes, one after the other, while drivers work.
package drain

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/driverload"
	"github.com/holdfast-db/holdfast/interop/internal/holdfastprocess"
)

// site is two routers in front of a replica set, all of them processes.
type site struct {
	*testing.T
	program  holdfastprocess.Program
	upstream string
	sockets  [2]string // a port could be taken by another program while its router is away
	routers  [2]*holdfastprocess.Process
}

var (
	setURI = regexp.MustCompile(`^mongodb://\S+`)
	ready  = regexp.MustCompile(` Ready: writes go to `)
)

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, program: holdfastprocess.Build(t, "../../../..")}
	s.upstream = s.program.Start(t, "mock", "--port", "0").Await(setURI)[0]
	folder := t.TempDir()
	for i := range s.routers {
		s.sockets[i] = filepath.Join(folder, fmt.Sprint("router", i, ".sock"))
		s.start(i)
	}
	return s
}

func (s *site) start(i int) {
	s.Helper()
	s.routers[i] = s.program.Start(s.T, "router", "--upstream", s.upstream, "--listen", "unix:"+s.sockets[i])
	s.routers[i].Await(ready)
}

// endLimit is --quiesce.
const endLimit = 15 * time.Second

// restart ends a router with SIGTERM, and starts another one in its place.
func (s *site) restart(i int) {
	s.Helper()
	began := time.Now()
	code, lines := s.routers[i].End(syscall.SIGTERM)
	if took := time.Since(began); code != 0 || took > endLimit {
		s.Errorf("router %d ended with the code %d after %v; want 0, and at most %v", i, code, took, endLimit)
	}
	checkLog(s.T, lines)
	s.start(i)
}

// life is what a router prints from its start to its end, without the times.
var life = []*regexp.Regexp{
	regexp.MustCompile(`^Waiting for clients at mongodb://\S+\.sock/, for mongodb://\S+$`),
	regexp.MustCompile(`^Ready: writes go to 127\.0\.0\.1:\d+$`),
	regexp.MustCompile(`^Quiesces: it serves its \d+ clients for up to 15s; another signal ends it at once$`),
	regexp.MustCompile(`^Ends: signal$`),
}

func checkLog(t *testing.T, lines []string) {
	t.Helper()
	if len(lines) != len(life) {
		t.Errorf("the router printed %d lines, want %d:\n%s", len(lines), len(life), strings.Join(lines, "\n"))
		return
	}
	last := time.Time{}
	for i, line := range lines {
		stamp, text, _ := strings.Cut(line, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		if err != nil || at.Before(last) || !life[i].MatchString(text) {
			t.Errorf("line %d is %q, want %v after %v", i, line, life[i], last)
		}
		last = at
	}
}

// uri names both routers.
func (s *site) uri() string {
	return "mongodb://" + url.PathEscape(s.sockets[0]) + "," + url.PathEscape(s.sockets[1]) + "/"
}

// seed inserts what the loaders read.
func (s *site) seed() {
	s.Helper()
	var all []any
	for i := range driverload.Documents {
		all = append(all, bson.D{{Key: "_id", Value: i}})
	}
	if _, err := s.collection(driverload.Seeded).InsertMany(s.Context(), all); err != nil {
		s.Fatal(err)
	}
}

// collection is one of the set, without a router.
func (s *site) collection(name string) *mongo.Collection {
	s.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(s.upstream))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Disconnect(s.Context()) })
	return c.Database(driverload.Database).Collection(name)
}

// checkOnce checks that each round of the load was applied once: two documents, and two increments.
func (s *site) checkOnce(rounds int64) {
	s.Helper()
	found, err := s.collection(driverload.Collection).Aggregate(s.Context(), mongo.Pipeline{{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: nil},
		{Key: "documents", Value: bson.D{{Key: "$sum", Value: 1}}},
		{Key: "increments", Value: bson.D{{Key: "$sum", Value: "$n"}}},
	}}}})
	if err != nil {
		s.Fatal(err)
	}
	var sums []struct{ Documents, Increments int64 }
	if err := found.All(s.Context(), &sums); err != nil || len(sums) != 1 {
		s.Fatalf("%v, %v", sums, err)
	}
	if sums[0].Documents != 2*rounds || sums[0].Increments != 2*rounds {
		s.Errorf("%+v, want %d of each", sums[0], 2*rounds)
	}
}

// TestRestartsUnderLoad: no operation fails when first one router is ended by SIGTERM and started again, then the other.
func TestRestartsUnderLoad(t *testing.T) {
	s := newSite(t)
	s.seed()
	l := startLoad(s)
	for i := range s.routers {
		l.awaitConnections(s.sockets[i])
		l.awaitConnections(s.sockets[1-i])
		l.awaitOperations(200)
		s.restart(i)
	}
	l.awaitConnections(s.sockets[1])
	l.awaitOperations(200)
	l.stop()
	s.checkOnce(l.rounds.Load())
	t.Logf("%d rounds of operations; the drivers lost %d operations of their own", l.rounds.Load(), l.lost.Load())
	for _, r := range s.routers {
		if code, lines := r.End(syscall.SIGTERM); code != 0 {
			t.Errorf("a router ended with the code %d:\n%s", code, strings.Join(lines, "\n"))
		}
	}
}
