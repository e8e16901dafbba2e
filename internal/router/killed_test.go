package router

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Of each cursor counts what the member says that has it.
func TestRepliesToKillCursorsAreMerged(t *testing.T) {
	found := make(map[int64]string)
	for _, reply := range []bson.D{
		{{Key: "cursorsKilled", Value: bson.A{int64(1)}}, {Key: "cursorsNotFound", Value: bson.A{int64(2), int64(3), int64(4), int64(5)}}, {Key: "ok", Value: 1}},
		{{Key: "cursorsNotFound", Value: bson.A{int64(1), int64(4)}}, {Key: "cursorsAlive", Value: bson.A{int64(2)}}, {Key: "cursorsUnknown", Value: bson.A{int64(3)}}},
		{{Key: "cursorsNotFound", Value: bson.A{int64(1), int64(2), int64(3), int64(4)}}, {Key: "cursorsKilled", Value: bson.A{"x", int64(5)}}},
	} {
		noteKilled(found, marshal(t, reply))
	}
	want := marshal(t, bson.D{
		{Key: "cursorsKilled", Value: bson.A{int64(1), int64(5)}},
		{Key: "cursorsNotFound", Value: bson.A{int64(4)}},
		{Key: "cursorsAlive", Value: bson.A{int64(2)}},
		{Key: "cursorsUnknown", Value: bson.A{int64(3)}},
		{Key: "ok", Value: 1.0},
	})
	if got := killedReply([]int64{1, 2, 3, 4, 5}, found); !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", bson.Raw(got), bson.Raw(want))
	}
}

// One member is asked alone only if it has all cursors.
func TestTheMemberOfAllCursors(t *testing.T) {
	r := routerWith(map[int64]place{1: {address: "a"}, 2: {address: "a"}, 3: {address: "b"}})
	for _, c := range []struct {
		ids    []int64
		member string
	}{{nil, ""}, {[]int64{1}, "a"}, {[]int64{1, 2}, "a"}, {[]int64{1, 3}, ""}, {[]int64{1, 9}, ""}, {[]int64{9, 1}, ""}} {
		if got := r.memberOfAll(c.ids); got != c.member {
			t.Errorf("%v: %q, want %q", c.ids, got, c.member)
		}
	}
}
