package mongotest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The rules are those of https://www.mongodb.com/docs/manual/reference/command/fsync/.

const (
	lockWrites   = `{"fsync": 1, "lock": true, "$db": "admin"}`
	unlockWrites = `{"fsyncUnlock": 1, "$db": "admin"}`
)

func TestAWriteWaitsForTheUnlock(t *testing.T) {
	for _, write := range []string{
		inc + `}`, retryable(1, ""), `{"create": "d", "$db": "test"}`, `{"drop": "c", "$db": "test"}`,
		`{"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {}, "$db": "test"}`,
		`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "test"}`,
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			c, writer := dial(t, rs, 0), dial(t, rs, 0)
			c.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 0}], "$db": "test"}`)
			c.ok(lockWrites)
			c.ok(lockWrites)
			began := time.Now()
			took := make(chan time.Duration)
			go func() {
				writer.ok("%s", write)
				took <- time.Since(began)
			}()
			for range 2 {
				pass(time.Second)
				c.ok(`{"find": "c", "$db": "test"}`)
				c.ok(unlockWrites)
			}
			if d := <-took; d != 2*time.Second {
				t.Errorf("%s took %v, want 2 s", write, d)
			}
		})
	}
}

func TestALockedServerKeepsTheTimeLimitOfAWrite(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(lockWrites)
		began := time.Now()
		if got := c.run(`%s, "maxTimeMS": 500}`, inc); number(got, "code") != 50 || time.Since(began) != 500*time.Millisecond {
			t.Errorf("after %v the reply is %v", time.Since(began), got)
		}
		c.ok(unlockWrites)
		rs.CheckCount(t, "test.c", 0)
	})
}

func TestAWriteThatWaitsForTheUnlockEndsWithItsClient(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c, writer := dial(t, rs, 0), dial(t, rs, 0)
		c.ok(lockWrites)
		writer.send(0, j(`%s}`, inc))
		pass(time.Second)
		must[any](t)(nil, writer.conn.Close())
		pass(time.Second)
		c.ok(unlockWrites)
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		rs.CheckCount(t, "test.c", 0)
	})
}

func TestAStepDownEndsTheWaitForTheUnlock(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, 0).ok(lockWrites)
		go func() {
			pass(time.Second)
			must[any](t)(nil, rs.StepDown())
		}()
		if got := dial(t, rs, 0).run(`%s}`, inc); number(got, "code") != 10107 {
			t.Errorf("the reply is %v, want the error 10107", got)
		}
	})
}

func TestARestartEndsTheLock(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, 0).ok(lockWrites)
		rs.Kill(0)
		rs.Restart(0)
		must[int](t)(rs.WaitPrimary(t.Context()))
		c := dial(t, rs, 0)
		c.ok(`%s, "maxTimeMS": 100}`, inc)
		if got := c.run(unlockWrites); number(got, "code") != 20 {
			t.Errorf("fsyncUnlock is answered %v, want 20", got)
		}
	})
}

func TestALockedSecondaryDoesNotReplicate(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		secondary := dial(t, rs, 2)
		secondary.ok(lockWrites)
		c := dial(t, rs, 0)
		if code, _ := concerned(c.ok(`%s, "writeConcern": {"w": 3, "wtimeout": 100}}`, inc)); code != 64 {
			t.Errorf("w: 3 has the error %d, want 64", code)
		}
		if code, _ := concerned(c.ok(`%s, "writeConcern": {"w": 2}}`, inc)); code != -1 {
			t.Errorf("w: 2 has the error %d, want none", code)
		}
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		secondary.ok(unlockWrites)
		if code, _ := concerned(c.ok(`%s, "writeConcern": {"w": 3, "wtimeout": 100}}`, inc)); code != -1 {
			t.Errorf("w: 3 has the error %d after the unlock, want none", code)
		}
	})
}

func TestATransactionWaitsForTheUnlock(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play(`-  | PUT 1 1 | n 1
		        A+ | SET 1 2 | n 1
		        -  | {"fsync": 1, "lock": true, "$db": "admin"} | ok
		        A  | FIND | 1:2
		        A  | {"commitTransaction": 1, "maxTimeMS": 100, "$db": "admin"} | 50
		        -  | FIND | 1:1
		        -  | {"fsyncUnlock": 1, "$db": "admin"} | ok
		        A  | COMMIT | ok
		        -  | FIND | 1:2`)
	})
}

func TestNothingExpiresWhileTheServerIsLocked(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 0}], "$db": "test"}`)
		c.ok(`{"insert": "c", "documents": [{"_id": 1, "at": {"$date": {"$numberLong": "0"}}}], "$db": "test"}`)
		c.ok(lockWrites)
		pass(5 * time.Minute)
		rs.CheckCount(t, "test.c", 1)
		c = dial(t, rs, 0)
		c.ok(unlockWrites)
		pass(2 * time.Minute)
		rs.CheckCount(t, "test.c", 0)
	})
}

func TestCurrentOpTellsOfTheLock(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		const ask = `{"currentOp": 1, "$db": "admin"}`
		c.ok(lockWrites)
		if locked, ok := c.ok(ask).Lookup("fsyncLock").BooleanOK(); !ok || !locked {
			t.Error("currentOp of a locked server has no fsyncLock: true")
		}
		c.ok(unlockWrites)
		if _, err := c.ok(ask).LookupErr("fsyncLock"); err == nil {
			t.Error("currentOp of a server that is not locked has fsyncLock")
		}
	})
}

func TestAMongosIsNotLocked(t *testing.T) {
	bubbleSharded(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c := dialAt(t, rs.Dialer().DialContext, rs.MongosAddr(0))
		c.ok(`{"fsync": 1, "$db": "admin"}`)
		for _, command := range []string{lockWrites, unlockWrites} {
			if got := c.run("%s", command); number(got, "code") != 238 {
				t.Errorf("%s is answered %v, want 238", command, got)
			}
		}
	})
}
