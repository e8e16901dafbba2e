package mongotest_test

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// scenario is a Tester outside "go test", for example of a program that runs scenarios.
type scenario struct {
	cleanups []func()
	failed   bool
}

func (s *scenario) Helper()                        {}
func (s *scenario) Cleanup(f func())               { s.cleanups = append(s.cleanups, f) }
func (s *scenario) Failed() bool                   { return s.failed }
func (s *scenario) Logf(string, ...any)            {} // a failed one logs the state of the servers
func (s *scenario) Errorf(format string, a ...any) { s.failed = true; fmt.Printf(format+"\n", a...) }
func (s *scenario) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// end calls the functions of Cleanup, the last one first.
func (s *scenario) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// The functions for tests accept anything with these methods, not only a *testing.T.
func ExampleTester() {
	s := &scenario{}
	defer s.end()

	rs := mongotest.RunReplicaSetT(s, 1, mongotest.InMemory())
	if err := rs.Insert("test.c", bson.D{{Key: "_id", Value: 1}}); err != nil {
		s.Fatalf("%v", err)
	}
	rs.CheckCount(s, "test.c", 1)
	fmt.Println("failed:", s.Failed())
	rs.CheckCount(s, "test.c", 2)
	fmt.Println("failed:", s.Failed())

	// Output:
	// failed: false
	// test.c has 1 documents, want 2
	// failed: true
}
