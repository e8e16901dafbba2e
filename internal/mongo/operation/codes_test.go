package operation

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// Retryable Reads, "Retryable Error", as it is published today.
func TestEachCodeHasItsReason(t *testing.T) {
	want := map[int32]retry.Reason{
		10107: mongoreason.NotWritablePrimary, 13435: mongoreason.NotWritablePrimary,
		11600: mongoreason.NodeRecovering, 11602: mongoreason.NodeRecovering, 13436: mongoreason.NodeRecovering, 189: mongoreason.NodeRecovering,
		91: mongoreason.NodeRecovering,
		7:  mongoreason.RetryableCode, 6: mongoreason.RetryableCode, 89: mongoreason.RetryableCode, 9001: mongoreason.RetryableCode,
		262: mongoreason.RetryableCode, 134: mongoreason.RetryableCode,
	}
	for code := range int32(15_000) {
		if got := reasonOf(code); got != want[code] {
			t.Errorf("code %d: %v, want %v", code, got, want[code])
		}
	}
}

// Retryable Writes, "RetryableWriteError Labels": the codes of reads but 134.
func TestWhichCodesTheClientLabelsForOldServers(t *testing.T) {
	for code := range int32(15_000) {
		if got, want := labelledByClient(code), code != 134 && reasonOf(code) != retry.ReasonUnknown; got != want {
			t.Errorf("code %d: %v, want %v", code, got, want)
		}
	}
}

// The codes of the servers' category Interruption, and PrimarySteppedDown: the server may have given the command up in the middle.
func TestAfterWhichCodesTheServerMayHaveDoneAPart(t *testing.T) {
	want := []int32{50, 189, 262, 279, 11600, 11601, 11602, 46841}
	for code := range int32(50_000) {
		reply := Reply{Code: code}
		if got := reply.gaveUp(); got != slices.Contains(want, code) {
			t.Errorf("code %d: %v", code, got)
		}
	}
	reply := parsed(t, bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: want[0]}, {Key: "errorLabels", Value: bson.A{"NoWritesPerformed"}}})
	if reply.gaveUp() {
		t.Error("the server says that it has written nothing")
	}
}

// Client Backpressure, "Overload retry policy".
func TestAnOverloadHasBothLabels(t *testing.T) {
	for _, c := range []struct {
		labels bson.A
		want   bool
	}{
		{bson.A{"SystemOverloadedError", "RetryableError"}, true},
		{bson.A{"x", "RetryableError", "SystemOverloadedError"}, true},
		{bson.A{"SystemOverloadedError"}, false},
		{bson.A{"RetryableError"}, false},
		{bson.A{"SystemOverloadedError", "RetryableWriteError"}, false},
		{bson.A{}, false},
	} {
		reply := parsed(t, bson.D{{Key: "ok", Value: 0}, {Key: "errorLabels", Value: c.labels}})
		if reply.overloaded() != c.want {
			t.Errorf("%v: %v", c.labels, !c.want)
		}
	}
}

// Retryable Writes, "Supporting Retryable Writes with unsupported deployments": the code and the beginning of the text.
func TestWhichRefusalMeansThatTheDeploymentHasNoTransactionNumbers(t *testing.T) {
	for _, c := range []struct {
		code    int
		message string
		want    bool
	}{
		{20, "Transaction numbers are only allowed on a replica set member or mongos", true},
		{20, "Cannot do that. Transaction numbers", false},
		{20, "", false},
		{21, "Transaction numbers are only allowed on a replica set member or mongos", false},
	} {
		t.Run(fmt.Sprint(c.code, c.message), func(t *testing.T) {
			reply := parsed(t, bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: c.code}, {Key: "errmsg", Value: c.message}})
			if reply.noTransactionNumbers() != c.want {
				t.Errorf("got %v", !c.want)
			}
		})
	}
}

func TestAReplyWithoutAnErrorHasNone(t *testing.T) {
	reply := parsed(t, bson.D{{Key: "ok", Value: 1}, {Key: "writeConcernError", Value: bson.D{{Key: "errmsg", Value: "x"}}}})
	if reply.writeConcernCode() != 0 || reply.LabelTexts() != nil || reply.overloaded() {
		t.Errorf("%+v", reply)
	}
	if reply = parsed(t, bson.D{{Key: "ok", Value: 1}}); reply.writeConcernCode() != 0 {
		t.Errorf("%+v", reply)
	}
}

func TestParseFindsWhatOneCommandHas(t *testing.T) {
	r := parsed(t, bson.D{
		{Key: "cursor", Value: bson.D{{Key: "a", Value: 1}}},
		{Key: "upserted", Value: bson.A{1}},
		{Key: "writeErrors", Value: bson.A{2}},
		{Key: "$clusterTime", Value: bson.D{{Key: "b", Value: 2}}},
		{Key: "topologyVersion", Value: bson.D{{Key: "c", Value: 3}}},
		{Key: "ok", Value: 0},
	})
	for name, c := range map[string]struct{ got, want []byte }{
		"cursor":          {r.Cursor, marshal(t, bson.D{{Key: "a", Value: 1}})},
		"upserted":        {r.Upserted, marshal(t, bson.D{{Key: "0", Value: 1}})},
		"writeErrors":     {r.WriteErrors, marshal(t, bson.D{{Key: "0", Value: 2}})},
		"$clusterTime":    {r.clusterTime, marshal(t, bson.D{{Key: "b", Value: 2}})},
		"topologyVersion": {r.topologyVersion, marshal(t, bson.D{{Key: "c", Value: 3}})},
	} {
		if string(c.got) != string(c.want) {
			t.Errorf("%s: %v", name, c.got)
		}
	}
	if r.OK || len(r.Body) == 0 {
		t.Errorf("%+v", r)
	}
}
