package prove

import "testing"

// A hard failover after the acknowledgement shows what is lost, and one after the replication what is applied twice: a cell needs both.
func TestAHardFailoverNeedsEachOfItsLateMoments(t *testing.T) {
	for _, c := range []struct {
		name    string
		moments []moment
		want    bool
	}{
		{"early ones alone", []moment{beforeExecution, beforeExecution}, false},
		{"no late one after the replication", []moment{beforeExecution, afterAcknowledgement, beforeExecution}, false},
		{"no late one after the acknowledgement", []moment{beforeExecution, afterReplication, afterReplication}, false},
		{"each", []moment{beforeExecution, afterAcknowledgement, afterReplication}, true},
	} {
		var h Hits
		for _, m := range c.moments {
			h.add(&planned{kind: FailedOver, moment: m}, true)
		}
		if h.enough(FailedOver, 2) != c.want {
			t.Errorf("%s: %+v is enough: %t", c.name, h, !c.want)
		}
	}
	var unverified Hits
	unverified.add(&planned{kind: FailedOver, moment: afterReplication}, false)
	if unverified.struckAt(afterReplication) || unverified.Unverified != 1 {
		t.Errorf("%+v", unverified)
	}
}

// A write that its replicas did not get in time is lost, and applied once at most, however late the failover came.
func TestAFailoverBeforeTheReplicationIsNotVerified(t *testing.T) {
	for _, m := range []moment{afterAcknowledgement, afterReplication} {
		h := &hit{planned: planned{kind: FailedOver, moment: m}, healed: true}
		for _, lost := range []bool{false, true} {
			journal := map[messageID]entry{h.message: {applied: true, lost: lost}}
			if got, want := h.confirmed(journal, false), !lost || m == afterAcknowledgement; got != want {
				t.Errorf("%v, lost %t: confirmed %t", m, lost, got)
			}
		}
	}
}
