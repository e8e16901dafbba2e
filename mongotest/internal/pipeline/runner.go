package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Source is what stages read besides their input. All reads are of one consistent snapshot.
type Source interface {
	// Collection returns a collection's documents, none if there is no such collection.
	Collection(db, coll string) [][]byte
	// Stage returns the documents of a stage that describes the server ($collStats, $indexStats, $currentOp,
	// $listSessions, $changeStream, ...), by its name and specification.
	Stage(db, coll, name string, spec Value) ([][]byte, error)
	// Near returns the documents of a collection that match a filter and that the expression near finds by the index of key, or
	// by the only one if that is "". Text returns those that match a filter with a $text. Both tell what they found out about
	// each; vars are those of the filter.
	Near(db, coll, key string, near func() ([]byte, error), f *query.Filter, vars any) ([][]byte, error)
	Text(db, coll string, f *query.Filter, vars any) ([][]byte, error)
	// Searching returns what counts that the first of some stages have found their documents in a collection. It is called for each
	// time that they have.
	Searching(db, coll string, stages []Value) func()
	// Fail makes an error that of the whole command, unless it came about while documents were evaluated.
	Fail(err error) error
	// Engine returns the engine on which the command runs its JavaScript.
	Engine() *javascript.Engine
}

// Context is what a run may look at.
type Context struct {
	Source      Source
	Now         int64          // $$NOW in milliseconds since the Unix epoch
	ClusterTime Value          // $$CLUSTER_TIME; Missing where there is none
	Bare        bool           // neither $$NOW nor $$CLUSTER_TIME has a value
	Rand        func() float64 // numbers from 0 to 1, never 1, for $rand and $sample
	NewID       func() [12]byte
	Collation   query.Collation // by which strings are compared; nil if by their bytes
	Work        *query.Work     // asked now and then whether the run may go on
}

// runner is the state of one run, with the variables of its scope in env.
type runner struct {
	Context
	env      *expr.Env
	matching query.Matching
}

func (c Context) runner(vars []Value) *runner {
	env := &expr.Env{Now: c.Now, ClusterTime: c.ClusterTime, Bare: c.Bare, Rand: c.Rand, NewID: c.NewID, Vars: vars, Work: c.Work, Collation: c.Collation}
	if c.Source != nil {
		env.Scripting = c.Source
	}
	return &runner{Context: c, env: env, matching: query.Matching{Vars: env, Work: c.Work}}
}

// with returns a runner with the values of a command's let.
func (c Context) with(vars any) *runner {
	env := vars.(*expr.Env)
	if c.Work == nil {
		c.Work = env.Work
	}
	env.Work, env.Collation = c.Work, c.Collation
	return &runner{Context: c, env: env, matching: query.Matching{Vars: vars, Work: c.Work}}
}

// compare compares two values, strings by the collation.
func (r *runner) compare(a, b Value) int { return query.CompareBy(r.Collation, a, b) }

// key appends a key of a value to dst, the same one for values that are equal by the collation.
func (r *runner) key(dst []byte, v Value) []byte {
	return query.AppendKey(dst, query.Keyed(r.Collation, v))
}

// eval returns an expression's value for a document.
func (r *runner) eval(e expr.Expression, doc []byte) (Value, error) {
	r.env.Root = doc
	return e.Eval(r.env)
}

// within returns a runner for a pipeline inside this one whose scope has n variables of this scope and the values more.
func (r *runner) within(n int, values []Value) *runner {
	return r.runner(slices.Concat(r.env.Vars[:n], values))
}

// random returns a whole number from 0 to n-1.
func (r *runner) random(n int) int {
	if r.Rand == nil {
		return 0
	}
	return int(r.Rand() * float64(n))
}

func int64Value(n int64) Value { return query.Int64(n) }

// count returns n as the real server's counters do: as an int if it fits.
func count(n int) Value {
	if n == int(int32(n)) {
		return query.Int32(int32(n))
	}
	return query.Int64(int64(n))
}

func isDate(v Value) bool { return v.Type == bson.TypeDateTime }
