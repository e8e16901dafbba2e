package inspect

// Level says how serious a finding is.
type Level string

// The levels. Only the last two make `holdfast check` fail.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Warning Level = "warning"
	Problem Level = "problem"
)

// Definition describes a check. Cost and Mend are the same for all its findings.
type Definition struct {
	ID    string
	About string // the subject of the check
	Cost  string // the loss if the check fails
	Mend  string
}

// Finding is the result of a check. Its JSON form is stable: fields and ids may be added.
type Finding struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	// Subject is the server or the shard that the finding is about, "" for the whole deployment and the connection string.
	Subject string `json:"subject,omitempty"`
	Fact    string `json:"fact"`
	Cost    string `json:"cost,omitempty"` // "" if the level is ok
	Mend    string `json:"mend,omitempty"` // "" if the level is ok
}

// The ids of the checks.
const (
	idStandalone     = "standalone"
	idDirect         = "direct-connection"
	idSeeds          = "seeds"
	idLogin          = "login"
	idReachable      = "member-reachable"
	idPrimary        = "primary"
	idMongos         = "mongos-count"
	idShards         = "shards"
	idSetConfig      = "set-config"
	idSetSize        = "set-size"
	idVoters         = "voters-odd"
	idArbiters       = "arbiters"
	idElectable      = "electable-members"
	idHidden         = "hidden-members"
	idDelayed        = "delayed-members"
	idWriteConcern   = "write-concern"
	idConcernMembers = "write-concern-members"
	idJournal        = "journal"
	idRetryWrites    = "retry-writes"
	idRetryReads     = "retry-reads"
	idSelection      = "server-selection-timeout"
	idConnect        = "connect-timeout"
	idTimeout        = "operation-timeout"
	idPool           = "pool-size"
	idVersionsMixed  = "versions-mixed"
	idVersionSupport = "version-supported"
	idClock          = "clock"
	idCertificate    = "certificate"
)

// Definitions are all checks, in the order of the report.
var Definitions = []Definition{
	{
		idStandalone, "whether there is a replica set",
		"The server's death stops all operations, and the loss of its disk loses all data. It cannot recognise a repeated write: a write whose reply was lost is either not retried, or perhaps applied twice.",
		"Run a replica set of three members, also on one machine for a start. Until then make updates that must be exact with mongo/once.",
	},
	{
		idDirect, "whether the connection string has directConnection=true",
		"The client sees one member of the set only. It does not follow an election: when that member steps down, writes fail until it is the primary again.",
		"Remove directConnection=true, and name the set by replicaSet=NAME.",
	},
	{
		idSeeds, "how many hosts of the set the connection string names",
		"While that host is down, a program that starts cannot find the others.",
		"Name each member in the connection string, or use a mongodb+srv name.",
	},
	{
		idLogin, "whether the deployment answers a command with these credentials",
		"Operations fail, although the servers are there.",
		"Correct the user, the password or authSource, or wait for a primary.",
	},
	{
		idReachable, "whether each server answers from here",
		"The set has one member less for elections and for write concern majority, and reads cannot go there.",
		"Start the server, or correct its address in the set's configuration: clients use the addresses that the members have there.",
	},
	{
		idPrimary, "whether the set has a primary",
		"All writes fail, and reads with the default read preference too.",
		"Bring enough members back: a majority of the voting members elects a primary.",
	},
	{
		idMongos, "how many mongos, or routers, the client knows",
		"The death of the only one stops all operations.",
		"Run a second one, and name both in the connection string.",
	},
	{
		idShards, "the list of the shards",
		"The sets of the shards are not checked.",
		"Give the user the role clusterMonitor, or let somebody with that role run the check.",
	},
	{
		idSetConfig, "the configuration of the set",
		"Votes, hidden members and delays are not known, so their checks are less exact.",
		"Give the user the role clusterMonitor, or let somebody with that role run the check.",
	},
	{
		idSetSize, "how many members of the set have data and a vote",
		"With fewer than three, the death of one member stops majority writes or leaves a single copy of the data.",
		"Add members until three have data and a vote.",
	},
	{
		idVoters, "whether the number of voting members is odd",
		"An even number survives no more deaths than one member less, and a network that splits the set in halves leaves no primary.",
		"Add a voting member with data, or set votes: 0 and priority: 0 for one.",
	},
	{
		idArbiters, "whether the set has arbiters",
		"An arbiter votes but has no data: after the death of a member with data, writes with write concern majority may wait for ever.",
		"Replace the arbiter by a member with data.",
	},
	{
		idElectable, "how many members can become primary",
		"If only one member can be the primary, its death stops all writes until somebody acts.",
		"Give at least two more members a priority above 0.",
	},
	{
		idHidden, "whether members are hidden",
		"Clients neither see nor read hidden members; they help elections and majority writes only if they vote.",
		"Nothing, if it is on purpose (backups, reports).",
	},
	{
		idDelayed, "whether members are delayed",
		"A delayed member that votes acknowledges a majority write only after its delay, so writes wait when another member is down.",
		"Set votes: 0 for the delayed member, and have enough voting members without it.",
	},
	{
		idWriteConcern, "the write concern of the connection string, else of the deployment",
		"A primary's death loses writes that it acknowledged before a majority of the members had them.",
		"Add w=majority to the connection string, or set it with setDefaultRWConcern.",
	},
	{
		idConcernMembers, "whether as many members have data as the write concern asks for",
		"With more than there are, no write gets its acknowledgement. With as many as there are, the death of any member stops all writes.",
		"Use w=majority.",
	},
	{
		idJournal, "whether acknowledged writes are in the journal",
		"If a majority of the members lose power at once, acknowledged writes are lost.",
		"Remove journal=false from the connection string, and leave writeConcernMajorityJournalDefault of the set at true.",
	},
	{
		idRetryWrites, "whether the client retries writes",
		"Each election and each broken connection makes writes fail, and the program does not know whether they were applied.",
		"Remove retryWrites=false.",
	},
	{
		idRetryReads, "whether the client retries reads",
		"Each election and each broken connection makes reads fail that a second attempt would answer.",
		"Remove retryReads=false.",
	},
	{
		idSelection, "whether the client waits long enough, and not for ever, for a server",
		"If it is shorter than an election, operations fail during each election. Without a limit an operation waits for ever when no server is there.",
		"Set serverSelectionTimeoutMS between twice the set's election timeout and a minute; the default is 30000.",
	},
	{
		idConnect, "how long the client waits for a connection",
		"Without a limit, or with a long one, a machine that has vanished holds operations. A limit under a second fails when one packet is lost.",
		"Set connectTimeoutMS between 1000 and 30000; the default is 10000.",
	},
	{
		idTimeout, "whether operations have a time limit",
		"Without a limit, a server that accepts a command and then answers nothing holds the operation until its connection breaks, which can take minutes. A limit shorter than an election fails during each election.",
		"Set timeoutMS in the connection string to more than the set's election timeout, or give each operation a context with a deadline.",
	},
	{
		idPool, "whether the number of connections is limited",
		"Without a limit, a slow server gets more and more connections from each client, which makes it slower.",
		"Remove maxPoolSize=0; the default is 100 for each server.",
	},
	{
		idVersionsMixed, "whether all servers have the same version",
		"It is right during an upgrade. Afterwards the newer servers keep to the features of the older ones, and a failover changes the behaviour.",
		"Finish the upgrade, and set the feature compatibility version.",
	},
	{
		idVersionSupport, "whether MongoDB still maintains the servers' release",
		"Faults that lose data or stop servers are no longer mended in this release.",
		"Upgrade, one release after the other.",
	},
	{
		idClock, "how far the servers' clocks are from this machine's",
		"Ages that two machines compare are wrong: expiry by TTL indexes, time stamps of the data, the age from which a sweep finishes pending updates.",
		"Run a time service (chrony, systemd-timesyncd, w32time) on each machine.",
	},
	{
		idCertificate, "when the certificates of the servers and of the client end",
		"From that moment no client that checks certificates connects.",
		"Renew the certificate, and let the server read it again (rotateCertificates, or a restart). For the client's, restart the program.",
	},
}

// definitionOf returns the definition of an id.
func definitionOf(id string) Definition {
	for _, d := range Definitions {
		if d.ID == id {
			return d
		}
	}
	panic("inspect: no definition of the check " + id)
}
