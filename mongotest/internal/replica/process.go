package replica

import (
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
)

// Process is what a server has of a process: it runs or not, and its hello shows a state that changes. Its fields are guarded by the set's
// mutex but for the gate and what is atomic.
type Process struct {
	Addr        string // "host:port"; it does not change once clients can connect
	Gate        testserver.Gate
	Up          bool
	Epoch       int64     // counts its starts and ends
	Started     time.Time // the last time
	Parameters  parameter.Parameters
	RequiresAPI atomic.Bool // what the parameter of that name says
	ProcessID   bson.ObjectID
	Counter     int64         // of the state that its hello shows
	Changed     chan struct{} // closed when that changes
}

// StartLocked makes the process run.
func (p *Process) StartLocked(known parameter.Parameters) {
	p.Up = true
	p.Epoch++
	p.Started, p.Parameters = time.Now(), known
	p.RequiresAPI.Store(known.True(parameter.RequireAPI))
	p.ProcessID, p.Counter = bson.NewObjectID(), 0
	p.Changed = make(chan struct{})
}

// StopLocked ends the process.
func (p *Process) StopLocked() {
	p.Up = false
	p.Epoch++
}

// showLocked tells those who wait for a change of the server's hello that there is one.
func (p *Process) showLocked() {
	p.Counter++
	close(p.Changed)
	p.Changed = make(chan struct{})
}
