package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

// edit puts a deliberate defect behind its switch into one file. A text that a change of the code has removed is an error, which
// TestTheDefectsCanBeWritten notices.
type edit struct {
	file   string // from the repository's root
	before string // stands in the file once
	after  string
}

// edits are those of all defects of package defect.
var edits = []edit{
	{
		"mongotest/internal/call/access.go",
		"if !x.Command.HasTxn || x.Result.Within != nil {",
		"if !x.Command.HasTxn || x.Result.Within != nil || defect.On(defect.NoDeduplication) {",
	},
	{
		"mongotest/internal/call/writeconcern.go",
		"return m.Commit >= x.Result.Applied\n",
		"return m.Commit >= x.Result.Applied || defect.On(defect.AcknowledgeBeforeMajority)\n",
	},
	{
		"mongotest/internal/replica/election.go",
		"	m.catchUpLocked()\n	m.AppendLocked(Noop(begun(term)))\n",
		`	if defect.On(defect.DeduplicationLostAtFailover) && term > 1 {
			clear(m.Data.Sessions)
			clear(m.Transactions)
		}
		m.catchUpLocked()
		m.AppendLocked(Noop(begun(term)))
`,
	},
	{
		"mongotest/internal/replica/replication.go",
		"func (m *Member) rollBackLocked(from *Member) {\n",
		`func (m *Member) rollBackLocked(from *Member) {
			last := m.Data.Log.Last()
			if defect.On(defect.RollbackForgetsSessions) {
				defer func() {
					if m.Data.Log.Last() < last {
						clear(m.Data.Sessions)
					}
				}()
			}
			if defect.On(defect.RollbackKeepsData) {
				var log []*store.Entry
				for at := m.Data.Log.Base + 1; at <= last; at++ {
					log = append(log, m.Data.Log.At(at))
				}
				defer func() { m.keepLocked(log[len(log)-int(last-m.Data.Log.Last()):]) }()
			}
`,
	},
	{
		"mongotest/internal/replica/replication.go",
		"// commitLocked moves",
		`// keepLocked makes the primary apply again what was rolled back.
func (m *Member) keepLocked(undone []*store.Entry) {
	_, p := m.SourceLocked()
	if p == nil || len(undone) == 0 {
		return
	}
	for _, e := range undone {
		c := p.Data.Collections[e.NS]
		if c == nil || e.Op != store.Put {
			continue
		}
		current, changed := c.Document(e.Key), e.After
		if current != nil {
			var err error
			if changed, err = defect.ChangedAgain(current, e.Before, e.After); err != nil {
				continue
			}
		}
		again := &store.Entry{Op: store.Put, NS: e.NS, Key: e.Key, Before: current, After: changed}
		again.Concern(c.Def)
		p.AppendLocked(again)
	}
	p.PublishLocked()
}

// commitLocked moves`,
	},
	{
		"internal/mongo/operation/attempt.go",
		"r.noRetry == retry.StopNone && r.txnNumber == 0 {",
		"r.noRetry == retry.StopNone && (r.txnNumber == 0 || defect.On(defect.NewTxnNumberOnRetry)) {",
	},
	{
		"internal/mongo/operation/writeconcern.go",
		"		return wc.retriedCommit()\n	}\n",
		`		return wc.retriedCommit()
	}
	if r.number > 0 && wc.WriteConcern != nil && defect.On(defect.LowerWriteConcernOnRetry) {
		wc.WriteConcern = writeconcern.W1()
	}
`,
	},
	{
		"internal/router/operation.go",
		"		op.Retryable = !f.unacknowledged()\n",
		`		op.Retryable = !f.unacknowledged()
		if changesMany(q) && defect.On(defect.MultiUpdateRetried) {
			op.Idempotency = retry.Idempotent
		}
`,
	},
	{
		"internal/router/statechange.go",
		"	return topology.IsNotPrimary(code, \"\", true) ||",
		"	return !defect.On(defect.StateChangeLetThrough) && topology.IsNotPrimary(code, \"\", true) || !defect.On(defect.StateChangeLetThrough) &&",
	},
	{
		"internal/mongo/cluster/conn.go",
		"	case h.ResponseTo != responseTo:\n",
		"	case h.ResponseTo != responseTo && !defect.On(defect.ResponseToUnchecked):\n",
	},
	{
		"internal/router/search.go",
		"	if s := c.router.serverAt(c.router.cursors.member(id)); s != nil {\n",
		`	if s := c.router.serverAt(c.router.cursors.member(id)); s != nil {
		for _, other := range c.router.members() {
			if other.Address() != s.Address() && !c.router.cursors.watches(id) && defect.On(defect.GetMoreToAnotherMember) {
				s = other
				break
			}
		}
`,
	},
	{
		"internal/mongo/operation/request.go",
		"now != (primaryID{}) && now != p.primary {",
		"now != (primaryID{}) && now != p.primary && !defect.On(defect.PinKeptPastNewPrimary) {",
	},
	{
		"internal/mongo/operation/request.go",
		"q.readsOnly && outlived(",
		"q.readsOnly && !defect.On(defect.PinKeptPastNewPrimary) && outlived(",
	},
	{
		"couchbasetest/exec.go",
		"	return x.command.run(x)\n",
		`	reply := x.command.run(x)
	if x.entry != nil && x.entry.Seq%10 == 0 && reply.Status == memd.StatusSuccess && defect.On(defect.NotMyVBucketAfterApply) {
		return x.notMyVBucket()
	}
	return reply
`,
	},
	{
		"couchbasetest/durability.go",
		"	x.aside()\n	result, ok := x.ahead.wait()\n",
		`	x.aside()
	if defect.On(defect.DurableBeforeMajority) {
		end := x.cluster.begin() // WaitIdle waits for the write
		x.cluster.wg.Go(func() {
			defer end()
			_, _ = x.ahead.wait()
		})
		return reply
	}
	result, ok := x.ahead.wait()
`,
	},
	{
		"internal/couchbase/operation/run.go",
		"	op := r.op\n",
		`	op := r.op
	if increments := op.Opcode == memd.OpIncrement || op.Opcode == memd.OpDecrement || op.Opcode == memd.OpSubdocMultiMutation; increments && defect.On(defect.IncrementsIdempotent) {
		changed := *op
		op = &changed
		op.Idempotency = retry.Idempotent
	}
`,
	},
	{
		"internal/couchbase/operation/run.go",
		"	\"github.com/holdfast-db/holdfast/internal/couchbase/kv\"\n",
		"	\"github.com/holdfast-db/holdfast/internal/couchbase/kv\"\n	\"github.com/holdfast-db/holdfast/internal/couchbase/memd\"\n",
	},
	{
		"internal/couchbase/operation/classify.go",
		"	m := meaningOf(status, r.op.Opcode, r.op.CAS)\n",
		`	m := meaningOf(status, r.op.Opcode, r.op.CAS)
	if m.unsettled && defect.On(defect.SyncWriteAmbiguousRetried) {
		m.unsettled, m.reason = false, couchbasereason.KVSyncWriteInProgress
	}
`,
	},
	{
		"internal/couchbase/operation/final.go",
		"		e.TimedOut = true\n",
		"		e.TimedOut, e.Ambiguous = true, e.Ambiguous && !defect.On(defect.TimeoutsUnambiguous)\n",
	},
	{
		"internal/couchbase/cluster/maps.go",
		"if err := m.Supersedes(old); err != nil {",
		"if err := m.Supersedes(old); err != nil && !(defect.On(defect.OlderMapAccepted) && old.Bucket == m.Bucket && old.Version.Newer(m.Version)) {",
	},
	{
		"internal/cli/prove/audit.go",
		"	if !b.known {\n",
		"	if !b.known || defect.On(defect.AuditNotCompared) {\n",
	},
	{
		"internal/cli/prove/story_compare.go",
		"	if !t.book.known {\n",
		"	if !t.book.known || defect.On(defect.AuditNotCompared) || defect.On(defect.PlannedFaultsCounted) {\n",
	},
	{
		"internal/cli/prove/injector.go",
		"	h := newHit(m, f)\n",
		`	h := newHit(m, f)
	if defect.On(defect.PlannedFaultsCounted) {
		i.happened(h)
	}
`,
	},
	{
		"internal/cli/prove/counts.go",
		"!known || h.confirmed(",
		"!known || defect.On(defect.PlannedFaultsCounted) || h.confirmed(",
	},
	{
		"internal/cli/prove/mongo_collections.go",
		"	return options.Collection().SetReadConcern(level)\n",
		`	if defect.On(defect.AuditReadsSecondary) {
		return options.Collection().SetReadConcern(level).SetReadPreference(readpref.Secondary())
	}
	return options.Collection().SetReadConcern(level)
`,
	},
	{
		"internal/cli/prove/mongo_collections.go",
		"	\"go.mongodb.org/mongo-driver/v2/mongo/readconcern\"\n",
		"	\"go.mongodb.org/mongo-driver/v2/mongo/readconcern\"\n	\"go.mongodb.org/mongo-driver/v2/mongo/readpref\"\n",
	},
}

const importDefect = "\n\nimport \"github.com/holdfast-db/holdfast/internal/devtools/defect\"\n"

// withDefects returns the files of the repository at root that have defects, with these in them, by their absolute names.
func withDefects(root string) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, e := range edits {
		text, begun := changed[e.file]
		if !begun {
			var err error
			if text, err = os.ReadFile(filepath.Join(root, e.file)); err != nil {
				return nil, err
			}
			clause := bytes.Index(text, []byte("\npackage ")) + 1
			end := clause + bytes.IndexByte(text[clause:], '\n')
			text = append(append(append([]byte{}, text[:end]...), importDefect...), text[end:]...)
		}
		if n := bytes.Count(text, []byte(e.before)); n != 1 {
			return nil, fmt.Errorf("%s has the text of a defect %d times, want once:\n%s", e.file, n, e.before)
		}
		changed[e.file] = bytes.Replace(text, []byte(e.before), []byte(e.after), 1)
	}
	files := map[string][]byte{}
	for name, text := range changed {
		var err error
		if files[filepath.Join(root, name)], err = format.Source(text); err != nil {
			return nil, fmt.Errorf("%s with its defects: %w", name, err)
		}
	}
	return files, nil
}

// writeDefects writes the overlay of all defects into a folder, which it makes, and prints the name of the file for `go test -overlay`.
func writeDefects(folder string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	changed, err := withDefects(root)
	if err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	overlay, err := writeOverlay(folder, changed)
	if err != nil {
		return err
	}
	fmt.Println(overlay)
	return nil
}
