package mongotest

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// where compiles the code of a $where.
func (x *exec) where(v query.Value) (query.Expr, error) {
	if x.inTransaction() {
		return nil, whereRefused("in a transaction")
	}
	if x.result.script == nil {
		x.result.script = new(query.Scripts)
	}
	return x.result.script.Compile(v)
}

// whereRefused is the error of a $where in a place where mongotest does not repeat a search.
func whereRefused(place string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $where %s is not supported", place)
}

// runScriptsFor runs the scripts of a search's filter for all documents that it will find in a scan.
func (x *exec) runScriptsFor(s *search, p scan) error {
	if x.result.script == nil {
		return nil
	}
	for {
		_, _ = x.matches(s, p) // its error is that of the search too
		if !x.result.script.Waiting() {
			return nil
		}
		if err := x.runScripts(); err != nil {
			return err
		}
	}
}

// runScriptsLocked runs the scripts of a write, for which it gives up the mutex.
func (x *exec) runScriptsLocked() error {
	x.conn.set.mu.Unlock()
	err := x.runScripts()
	x.conn.set.mu.Lock()
	if err != nil {
		return err
	}
	return x.writableLocked()
}

func (x *exec) runScripts() error {
	err := x.result.script.Run(x.conn.done, x.limit(), x.conn.set.config.javaScript)
	if x.conn.gone() {
		return errHangUp
	}
	return err
}
