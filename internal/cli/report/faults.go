package report

import "github.com/holdfast-db/holdfast/internal/cli/prove"

// faultPhrase says in words how a fault of the cluster begins, and how it passes.
type faultPhrase struct{ strikes, writable, repaired string }

const newPrimary = "a new primary accepted writes"

// phrases has the faults with words of their own. The others get phraseOf's.
var phrases = map[prove.FaultKind]faultPhrase{
	prove.SteppedDown:   {strikes: "the primary stepped down", writable: newPrimary},
	prove.PrimaryKilled: {strikes: "the primary died", writable: newPrimary, repaired: "the member that had died came back"},
	prove.Partitioned: {
		strikes: "the network cut the primary off from the other members", writable: newPrimary, repaired: "the network connected all members again",
	},
	prove.Outage:     {strikes: "all servers became unreachable"},
	prove.Rebalanced: {strikes: "the cluster moved data to a new node", writable: "the new node accepted writes", repaired: "the rebalance ended"},
	prove.FailedOver: {
		strikes: "a node died, and the cluster failed it over", writable: "other nodes accepted its writes", repaired: "the node that had died came back",
	},
	prove.BlackHoled: {
		strikes: "the network began to hold back all messages to and from a node", writable: "the network delivered the messages that it had held back",
	},
	prove.DocumentLocked: {strikes: "another client locked the document", writable: "the other client unlocked the document"},
}

func phraseOf(kind *prove.FaultKind) faultPhrase {
	if kind == nil {
		return faultPhrase{strikes: "a fault began", writable: "the cluster accepted writes again", repaired: "the fault ended"}
	}
	p := phrases[*kind]
	for _, one := range []struct {
		words *string
		other string
	}{
		{&p.strikes, "the fault “" + kind.String() + "” began"},
		{&p.writable, "the cluster accepted writes again"},
		{&p.repaired, "the fault “" + kind.String() + "” ended"},
	} {
		if *one.words == "" {
			*one.words = one.other
		}
	}
	return p
}
