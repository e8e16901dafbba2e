package topology

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

func manyMongoses(n int) *Description {
	d := &Description{Type: Sharded}
	for i, addr := range manyAddresses(n) {
		d.Servers = append(d.Servers, &Server{
			Address: addr, Type: Mongos, HasRTT: true, RTT: time.Duration(i) * time.Millisecond,
			MinWireVersion: MinWireVersion, MaxWireVersion: MaxWireVersion,
		})
	}
	return d
}

// Whatever was selected before, Mongoses selects what Select does.
func TestMongosesSelectsWhatSelectDoes(t *testing.T) {
	d, set := manyMongoses(30), manyMongoses(30)
	set.Type = ReplicaSetNoPrimary
	threshold := 15 * time.Millisecond
	for _, d := range []*Description{d, set} {
		var m Mongoses
		for range 2 {
			for _, s := range []*Selection{
				{Write: true, LocalThreshold: threshold},
				{Write: true, LocalThreshold: 2 * threshold},
				{ReadPref: readpref.Secondary(), LocalThreshold: threshold},
				{Write: true, LocalThreshold: threshold, Deprioritized: []string{d.Servers[0].Address}},
				{ReadPref: readpref.Nearest(readpref.WithMaxStaleness(-2 * time.Second)), LocalThreshold: threshold},
				{ReadPref: readpref.Secondary(), WritesOutput: true, LocalThreshold: threshold},
			} {
				got, gotErr := m.Select(d, s, nil)
				want, wantErr := Select(d, s, nil)
				if !slices.Equal(got, want) || (gotErr == nil) != (wantErr == nil) {
					t.Errorf("%v, %s: got %d servers, %v; want %d, %v", d.Type, s, len(got), gotErr, len(want), wantErr)
				}
			}
		}
	}
}

// An operation among a thousand mongoses costs no memory for each.
func TestMongosesFindsThemOnce(t *testing.T) {
	d, s := manyMongoses(1_000), &Selection{Write: true, LocalThreshold: time.Hour}
	var m Mongoses
	allocs := testing.AllocsPerRun(100, func() {
		if found, err := m.Select(d, s, nil); err != nil || len(found) != 1_000 {
			t.Errorf("%d were found, %v", len(found), err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
