package mongotest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// panics returns the text that f panics with, "" if it does not.
func panics(f func()) (text string) {
	defer func() {
		if failure := recover(); failure != nil {
			text, _ = failure.(string)
		}
	}()
	f()
	return ""
}

func TestAnIndexOfNoServerIsNamed(t *testing.T) {
	rs := mongotest.RunShardedT(t, 3, 1, mongotest.InMemory())
	p := mongotest.RunProxyT(t, "127.0.0.1:1")
	for method, f := range map[string]func(i int){
		"Addr":            func(i int) { rs.Addr(i) },
		"Kill":            rs.Kill,
		"Restart":         rs.Restart,
		"Isolate":         rs.Isolate,
		"Partition":       func(i int) { rs.Partition([]int{0}, []int{1, i}) },
		"PartitionOneWay": func(i int) { rs.PartitionOneWay(0, i) },
		"SetLag":          func(i int) { rs.SetLag(i, time.Second) },
		"ReadMember":      func(i int) { rs.ReadMember(i, "test.c") },
		"Counters":        func(i int) { rs.Counters(0, i) },
		"ClearFailPoint":  func(i int) { rs.ClearFailPoint(i, mongotest.FailCommand) },
		"WaitState": func(i int) {
			_, err := rs.WaitState(context.Background(), i, "")
			panic(err.Error())
		},
		"SetFailPoint": func(i int) { panic(rs.SetFailPoint(i, mongotest.FailPoint{}).Error()) },
		"Command": func(i int) {
			_, err := rs.Command(i, "admin", bson.D{{Key: "ping", Value: 1}})
			panic(err.Error())
		},
	} {
		if got, want := panics(func() { f(7) }), "mongotest: "+method+": there is no member 7"; got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
		if got, want := panics(func() { f(-1) }), "mongotest: "+method+": there is no member -1 (Primary returns -1 "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
	for method, f := range map[string]func(){
		"KillMongos: there is no mongos 1":            func() { rs.KillMongos(1) },
		"DropMongosConnections: there is no mongos 1": func() { rs.DropMongosConnections(1) },
		"RestartMongos: there is no mongos -1":        func() { rs.RestartMongos(-1) },
		"MongosAddr: there is no mongos 1":            func() { rs.MongosAddr(1) },
		"Addr: there is no member 1":                  func() { p.Addr(1) },
		"Partition: member 1 is in two groups":        func() { rs.Partition([]int{0, 1}, []int{1, 2}) },
	} {
		if got, want := panics(f), "mongotest: "+method; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	must[any](t)(nil, rs.Insert("test.c", j(`{}`))) // no lock is held
}
