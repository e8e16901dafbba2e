package couchbase

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// DurabilityLevel says which nodes must have a write before the server acknowledges it.
type DurabilityLevel uint8

// The levels.
const (
	DurabilityLevelUnknown                    DurabilityLevel = iota // the same as none
	DurabilityLevelNone                                              // the active node has it in memory
	DurabilityLevelMajority                                          // a majority has it in memory
	DurabilityLevelMajorityAndPersistOnMaster                        // a majority has it in memory, and the active node on disk
	DurabilityLevelPersistToMajority                                 // a majority has it on disk
)

// durability is how safe a write must be: by a level that the server keeps, or by counts that the client observes. Not both.
type durability struct {
	level       memd.DurabilityLevel
	persistTo   uint
	replicateTo uint
}

// observed reports whether the client must look at the copies.
func (d durability) observed() bool { return d.persistTo != 0 || d.replicateTo != 0 }

// maxReplicas is the largest number of replicas that a bucket can have.
const maxReplicas = 3

// parseDurability checks the options about durability.
func parseDurability(level DurabilityLevel, persistTo, replicateTo uint) (durability, error) {
	d := durability{persistTo: persistTo, replicateTo: replicateTo}
	switch level {
	case DurabilityLevelUnknown, DurabilityLevelNone:
	case DurabilityLevelMajority:
		d.level = memd.DurabilityMajority
	case DurabilityLevelMajorityAndPersistOnMaster:
		d.level = memd.DurabilityMajorityPersist
	case DurabilityLevelPersistToMajority:
		d.level = memd.DurabilityPersistMajority
	default:
		return durability{}, invalid("DurabilityLevel %d does not exist", level)
	}
	switch {
	case d.observed() && d.level != 0:
		return durability{}, invalid("DurabilityLevel and PersistTo or ReplicateTo exclude each other")
	case persistTo > maxReplicas+1:
		return durability{}, impossible("PersistTo is %d, but a document is on at most %d nodes", persistTo, maxReplicas+1)
	case replicateTo > maxReplicas:
		return durability{}, impossible("ReplicateTo is %d, but a document has at most %d replicas", replicateTo, maxReplicas)
	}
	return d, nil
}

// impossible returns an error about an option that no bucket can fulfil.
func impossible(format string, args ...any) error {
	return fmt.Errorf("%w%w", invalid(format, args...), silent{ErrDurabilityImpossible})
}

// name returns the level's name in spans and in the settings of buckets, or "" for none.
func (d durability) name() string {
	switch d.level {
	case memd.DurabilityMajority:
		return "majority"
	case memd.DurabilityMajorityPersist:
		return "majorityAndPersistActive"
	case memd.DurabilityPersistMajority:
		return "persistToMajority"
	}
	return ""
}
