package inspect

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// healthy returns the facts of a set of three members in which nothing is wrong.
func healthy(uri string) *Facts {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	f := &Facts{
		At: now, Options: options.Client().ApplyURI(uri), Concern: DefaultConcern{W: "majority"},
		View: &View{Kind: "ReplicaSetWithPrimary", SetName: "rs0"},
		Sets: []SetFacts{{Name: "rs0", HasPrimary: true, ElectionTimeout: 10 * time.Second}},
	}
	for i, address := range []string{"a:1", "b:1", "c:1"} {
		role := "secondary"
		if i == 0 {
			role = "primary"
		}
		f.View.Members = append(f.View.Members, Member{Address: address, Role: role})
		f.Servers = append(f.Servers, ServerFacts{
			Address: address, Role: role, Release: "8.0", ClockError: time.Millisecond, CertificateEnd: now.AddDate(1, 0, 0),
		})
		f.Sets[0].Members = append(f.Sets[0].Members, SetMember{Address: address, Votes: 1, Priority: 1})
	}
	return f
}

const goodURI = "mongodb://a:1,b:1,c:1/?replicaSet=rs0&timeoutMS=30000"

func withRole(role string) func(*Facts) {
	return func(f *Facts) {
		f.Sets, f.View.Kind = nil, map[string]string{"standalone": "Single", "mongos": "Sharded"}[role]
		for i := range f.View.Members {
			f.View.Members[i].Role = role
		}
	}
}

func member(i int, change func(*SetMember)) func(*Facts) {
	return func(f *Facts) { change(&f.Sets[0].Members[i]) }
}

func only(n int) func(*Facts) {
	return func(f *Facts) {
		f.View.Members, f.Servers, f.Sets[0].Members = f.View.Members[:n], f.Servers[:n], f.Sets[0].Members[:n]
	}
}

func clientCertificate(days int) func(*Facts) {
	return func(f *Facts) {
		own := tls.Certificate{Leaf: &x509.Certificate{NotAfter: f.At.AddDate(0, 0, days)}}
		f.Options.SetTLSConfig(&tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12})
	}
}

var errRefused = errors.New("not authorized\non admin")

var errUnauthorized = mongo.CommandError{Code: 13, Name: "Unauthorized", Message: "command requires authentication"}

// checkCase is a rule: the facts, and the finding.
type checkCase struct {
	name   string
	uri    string // goodURI if it is empty
	change func(*Facts)
	id     string
	level  Level
	says   string
}

var checkCases = []checkCase{
	{"a standalone", "", withRole("standalone"), idStandalone, Problem, "standalone"},
	{"a direct connection to a member", "mongodb://a:1/?directConnection=true", func(f *Facts) { f.View.Kind = "Single" }, idDirect, Problem, "directConnection=true"},
	{"one host of three", "mongodb://a:1/?replicaSet=rs0", nil, idSeeds, Warning, "1 host of 3"},
	{"the only host of one", "mongodb://a:1/?replicaSet=rs0", only(1), idSeeds, OK, "1 host of 1"},
	{"a direct connection to a mongos", "mongodb://a:1/?directConnection=true", func(f *Facts) { withRole("mongos")(f); f.View.Members = f.View.Members[:1] }, idMongos, Warning, "1 mongos"},
	{"a refused login", "", func(f *Facts) { f.LoginErr = errRefused }, idLogin, Problem, "not authorized on admin"},
	{"a login that the connection string lacks", "", func(f *Facts) { f.ConcernErr = errUnauthorized }, idLogin, Problem, "has no user"},
	{"a user who may not read everything", "mongodb://u:p@a:1,b:1,c:1/?replicaSet=rs0", func(f *Facts) { f.ConcernErr = errUnauthorized }, idLogin, OK, "answers a command"},
	{"a server that does not answer", "", func(f *Facts) { f.Servers[1].Err = errRefused }, idReachable, Warning, "does not answer"},
	{"no primary", "", func(f *Facts) { f.Sets[0].HasPrimary = false }, idPrimary, Problem, "no primary"},
	{"a shard that cannot be reached", "", func(f *Facts) { f.Sets[0] = SetFacts{Name: "rs1", Shard: true, Err: errRefused} }, idPrimary, Problem, "cannot be used"},
	{"one mongos", "", func(f *Facts) { withRole("mongos")(f); f.View.Members = f.View.Members[:1] }, idMongos, Warning, "1 mongos"},
	{"three mongos", "", withRole("mongos"), idMongos, OK, "3 mongos"},
	{"the list of shards is refused", "", func(f *Facts) { withRole("mongos")(f); f.ShardsErr = errRefused }, idShards, Note, "not checked: not authorized on admin"},
	{"two shards", "", func(f *Facts) { withRole("mongos")(f); f.Shards = []string{"a", "b"} }, idShards, OK, "2 shards"},
	{"the configuration is refused", "", func(f *Facts) { f.Sets[0].ConfigErr = errRefused }, idSetConfig, Note, "not checked: not authorized on admin"},
	{"three members", "", nil, idSetSize, OK, "3 members, 3 with"},
	{"two members", "", only(2), idSetSize, Warning, "2 members, 2 with"},
	{"one member", "", only(1), idSetSize, Problem, "1 member, 1 with"},
	{"two voters", "", only(2), idVoters, Warning, "2 voting members"},
	{"an arbiter", "", member(2, func(m *SetMember) { m.Arbiter, m.Priority = true, 0 }), idArbiters, Warning, "1 arbiter: c:1"},
	{"one member can be primary", "", func(f *Facts) { f.Sets[0].Members[1].Priority, f.Sets[0].Members[2].Priority = 0, 0 }, idElectable, Problem, "1 member can"},
	{"two members can be primary", "", member(2, func(m *SetMember) { m.Priority = 0 }), idElectable, OK, "2 members can"},
	{"an arbiter cannot be primary, whatever its priority", "", func(f *Facts) { f.Sets[0].Members[1].Priority, f.Sets[0].Members[2].Arbiter = 0, true }, idElectable, Problem, "1 member can"},
	{"a hidden member", "", member(2, func(m *SetMember) { m.Hidden, m.Priority = true, 0 }), idHidden, Note, "c:1"},
	{"a delayed member that votes", "", member(2, func(m *SetMember) { m.Delay, m.Priority = time.Hour, 0 }), idDelayed, Warning, "1h0m0s behind"},
	{"a delayed member that does not vote", "", member(2, func(m *SetMember) { m.Delay, m.Votes = time.Second, 0 }), idDelayed, Note, "does not vote"},
	{"w majority of the deployment", "", nil, idWriteConcern, OK, "majority, by the deployment's default"},
	{"w 1 in the connection string", goodURI + "&w=1", nil, idWriteConcern, Problem, "w is 1, by the connection string"},
	{"w 0 in the connection string", goodURI + "&w=0", nil, idWriteConcern, Problem, "not acknowledged"},
	{"w 2 of three", goodURI + "&w=2", nil, idWriteConcern, OK, "which is a majority"},
	{"w 2 of five", goodURI + "&w=2", func(f *Facts) { f.Sets[0].Members = append(f.Sets[0].Members, f.Sets[0].Members[:2]...) }, idWriteConcern, Warning, "less than a majority"},
	{"w 2 of a shard with five and one with three", goodURI + "&w=2", func(f *Facts) {
		small := f.Sets[0]
		f.Sets[0].Members = append(small.Members, small.Members[:2]...)
		f.Sets = append(f.Sets, small)
	}, idWriteConcern, Warning, "less than a majority"},
	{"w 2 of a shard with one and one with three", goodURI + "&w=2", func(f *Facts) {
		f.Sets = append(f.Sets, f.Sets[0])
		f.Sets[0].Members = f.Sets[0].Members[:1]
	}, idWriteConcern, Warning, "one member with data"},
	{"w 1 of one", goodURI + "&w=1", only(1), idWriteConcern, Problem, "one member only"},
	{"w 2 of one", goodURI + "&w=2", only(1), idWriteConcern, Warning, "one member with data"},
	{"w 2 of members that are not known", goodURI + "&w=2", func(f *Facts) { f.Sets[0].Members = nil }, idWriteConcern, Note, "not compared with a majority"},
	{"w 2 of a set that cannot be reached", goodURI + "&w=2", func(f *Facts) { f.Sets[0].Err = errRefused }, idWriteConcern, Note, "not compared with a majority"},
	{"w 2 behind a load balancer", goodURI + "&w=2", func(f *Facts) { f.Sets = nil }, idWriteConcern, Note, "not compared with a majority"},
	{"w 4 of three", goodURI + "&w=4", nil, idConcernMembers, Problem, "w is 4; 3 members with data"},
	{"w 3 of three", goodURI + "&w=3", nil, idConcernMembers, Warning, "w is 3; 3 members with data"},
	{"w 3 of three with a further one without a vote", goodURI + "&w=3", func(f *Facts) { f.Sets[0].Members = append(f.Sets[0].Members, SetMember{Address: "d:1"}) }, idConcernMembers, OK, "4 members with data"},
	{"w 3 with an arbiter", goodURI + "&w=3", member(2, func(m *SetMember) { m.Arbiter = true }), idConcernMembers, Problem, "2 members with data"},
	{"w 2 of three", goodURI + "&w=2", nil, idConcernMembers, OK, "3 members with data"},
	{"the default of a set before 5.0", "", func(f *Facts) { f.Concern.W, f.Sets[0].DefaultW = nil, "majority" }, idWriteConcern, OK, "majority, by getLastErrorDefaults"},
	{"a mode", goodURI + "&w=dcs", nil, idWriteConcern, Note, `mode "dcs"`},
	{"no default write concern", "", func(f *Facts) { f.Concern.W = nil }, idWriteConcern, Problem, "nobody has set one"},
	{"the default is refused", "", func(f *Facts) { f.ConcernErr = errRefused }, idWriteConcern, Note, "not checked: "},
	{"no journal", goodURI + "&journal=false", nil, idJournal, Warning, "journal=false"},
	{"a journal", goodURI + "&journal=true", nil, idJournal, OK, "journal=true"},
	{"no journal for a majority", "", func(f *Facts) { f.Sets[0].JournalOff = true }, idJournal, Warning, "writeConcernMajorityJournalDefault"},
	{"no retries of writes", goodURI + "&retryWrites=false", nil, idRetryWrites, Problem, "retryWrites=false"},
	{"no retries of reads", goodURI + "&retryReads=false", nil, idRetryReads, Warning, "retryReads=false"},
	{"a short selection", goodURI + "&serverSelectionTimeoutMS=5000", nil, idSelection, Warning, "is 5000"},
	{"a selection of less than two elections", goodURI + "&serverSelectionTimeoutMS=19999", nil, idSelection, Warning, "is 19999"},
	{"a selection of two elections", goodURI + "&serverSelectionTimeoutMS=20000", nil, idSelection, OK, "is 20000"},
	{"the longest election of two shards", "", func(f *Facts) {
		f.Sets = append(f.Sets, f.Sets[0])
		f.Sets[0].ElectionTimeout = 20 * time.Second
	}, idSelection, Warning, "may take 20s"},
	{"an endless selection", goodURI + "&serverSelectionTimeoutMS=0", nil, idSelection, Warning, "no limit"},
	{"a selection of an hour", goodURI + "&serverSelectionTimeoutMS=3600000", nil, idSelection, Warning, "longer than a minute"},
	{"a selection of a minute", goodURI + "&serverSelectionTimeoutMS=60000", nil, idSelection, OK, "is 60000"},
	{"a long selection for long elections", goodURI + "&serverSelectionTimeoutMS=80000", func(f *Facts) { f.Sets[0].ElectionTimeout = 40 * time.Second }, idSelection, OK, "is 80000"},
	{"the default selection", "", nil, idSelection, OK, "is 30000"},
	{"an endless connect", goodURI + "&connectTimeoutMS=0", nil, idConnect, Warning, "no limit"},
	{"a short connect", goodURI + "&connectTimeoutMS=200", nil, idConnect, Warning, "is 200"},
	{"a long connect", goodURI + "&connectTimeoutMS=60000", nil, idConnect, Warning, "is 60000"},
	{"operations without a limit", "mongodb://a:1,b:1,c:1/?replicaSet=rs0", nil, idTimeout, Note, "no timeoutMS"},
	{"operations with the limit 0", "mongodb://a:1,b:1,c:1/?replicaSet=rs0&timeoutMS=0", nil, idTimeout, Note, "timeoutMS is 0"},
	{"operations with a short limit", "mongodb://a:1,b:1,c:1/?replicaSet=rs0&timeoutMS=2000", nil, idTimeout, Warning, "is 2000"},
	{"operations with the time of an election", goodURI[:len(goodURI)-5] + "10000", nil, idTimeout, Warning, "is 10000"},
	{"no limit of connections", goodURI + "&maxPoolSize=0", nil, idPool, Warning, "maxPoolSize=0"},
	{"two releases", "", func(f *Facts) { f.Servers[2].Release = "7.0" }, idVersionsMixed, Warning, "8.0 on a:1, b:1; 7.0 on c:1"},
	{"a release with years left", "", nil, idVersionSupport, OK, "8.0 (a:1, b:1, c:1) is maintained until 31 October 2029"},
	{"a release with months left", "", func(f *Facts) { f.At = time.Date(2029, 5, 6, 0, 0, 0, 0, time.UTC) }, idVersionSupport, Note, "until 31 October 2029"},
	{"the last day of a release", "", func(f *Facts) { f.At = time.Date(2029, 10, 31, 23, 0, 0, 0, time.UTC) }, idVersionSupport, Note, "until 31 October 2029"},
	{"the day after the last", "", func(f *Facts) { f.At = time.Date(2029, 11, 1, 0, 0, 0, 0, time.UTC) }, idVersionSupport, Warning, "since 31 October 2029"},
	{"a release of a quarter", "", func(f *Facts) { f.Servers[2].Release = "8.2" }, idVersionSupport, Warning, "8.2 (c:1) is maintained no longer, since 31 July 2026"},
	{"a release that is not in the schedule", "", func(f *Facts) { f.Servers[2].Release = "9.0" }, idVersionSupport, OK, "no end of release 9.0"},
	{"an old release", "", func(f *Facts) { f.Servers[2].Release = "4.4" }, idVersionSupport, Warning, "release 4.4 (c:1)"},
	{"a clock behind", "", func(f *Facts) { f.Servers[1].ClockDifference = -3 * time.Second }, idClock, Warning, "3s behind"},
	{"a clock ahead", "", func(f *Facts) { f.Servers[1].ClockDifference = 3 * time.Second }, idClock, Warning, "3s ahead of"},
	{"a clock that may be right", "", func(f *Facts) { f.Servers[1].ClockDifference, f.Servers[1].ClockError = 3*time.Second, 4*time.Second }, idClock, OK, "no clock"},
	{"no clock", "", func(f *Facts) { f.Servers[1].ClockErr = errRefused }, idClock, Note, "not checked: "},
	{"a certificate for a year", "", nil, idCertificate, OK, "365 days"},
	{"a certificate for three weeks", "", func(f *Facts) { f.Servers[0].CertificateEnd = f.At.AddDate(0, 0, 21) }, idCertificate, Warning, "21 days"},
	{"a certificate for a day", "", func(f *Facts) { f.Servers[0].CertificateEnd = f.At.AddDate(0, 0, 1) }, idCertificate, Problem, "1 day,"},
	{"a certificate that has ended", "", func(f *Facts) { f.Servers[0].CertificateEnd = f.At.AddDate(0, 0, -1) }, idCertificate, Problem, "ended at 2026-11-23"},
	{"a client's certificate for a day", "", clientCertificate(1), idCertificate, Problem, "the client's certificate ends in 1 day,"},
	{"a client's certificate for a year", "", clientCertificate(365), idCertificate, OK, "the client's certificate ends in 365 days"},
	{"a certificate that cannot be read", "", func(f *Facts) { f.Servers[0].CertificateErr = errRefused }, idCertificate, Note, "not checked: "},
}

func TestEachRuleOfTheCheck(t *testing.T) {
	for _, c := range checkCases {
		uri := c.uri
		if uri == "" {
			uri = goodURI
		}
		f := healthy(uri)
		if c.change != nil {
			c.change(f)
		}
		at := slices.IndexFunc(Check(f).Findings, func(got Finding) bool {
			return got.ID == c.id && got.Level == c.level && strings.Contains(got.Fact, c.says) && (got.Cost == "") == (c.level == OK)
		})
		if at < 0 {
			t.Errorf("%s: no finding %s of the level %s that says %q: %+v", c.name, c.id, c.level, c.says, Check(f).Findings)
		}
	}
}

func TestNothingIsWrongWithAHealthySet(t *testing.T) {
	r := Check(healthy(goodURI))
	if r.Failed() || r.Counts[Note] != 0 || r.Counts[OK] != len(r.Findings) || len(r.Findings) < 15 {
		t.Errorf("%+v", r)
	}
}

// A finding must not be there where its question has no answer.
func TestFindingsThatMustNotBeThere(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Facts)
		id     string
		level  Level
	}{
		{"a clock is ahead, so it is not right that none is", func(f *Facts) { f.Servers[1].ClockDifference = time.Hour }, idClock, OK},
		{"the clock of a server that does not answer", func(f *Facts) { f.Servers[1].Err = errRefused }, idClock, OK},
		{"the journal of a set whose configuration is refused", func(f *Facts) { f.Sets[0].ConfigErr = errRefused }, idJournal, OK},
		{"the journal of a set that cannot be reached", func(f *Facts) { f.Sets[0].Err = errRefused }, idJournal, OK},
		{"the direct connection to a mongos", func(f *Facts) { withRole("mongos")(f); f.Options.SetDirect(true) }, idDirect, Problem},
	} {
		f := healthy(goodURI)
		c.change(f)
		if slices.ContainsFunc(Check(f).Findings, func(got Finding) bool { return got.ID == c.id && got.Level == c.level }) {
			t.Errorf("%s: there is a finding %s of the level %s", c.name, c.id, c.level)
		}
	}
}

func TestAStandaloneRetriesNoWritesInAnyCase(t *testing.T) {
	f := healthy(goodURI + "&retryWrites=false")
	withRole("standalone")(f)
	if got := levelOf(Check(f), idRetryWrites); got != "" {
		t.Errorf("%s is %s", idRetryWrites, got)
	}
}

// A hello does not name hidden members, which count for a number.
func TestWithoutTheConfigurationANumberIsNotComparedWithTheMembers(t *testing.T) {
	f := healthy(goodURI + "&w=4")
	f.Sets[0].ConfigErr = errRefused
	if got := levelOf(Check(f), idConcernMembers); got != "" {
		t.Errorf("%s is %s", idConcernMembers, got)
	}
}

func TestEachCheckHasARuleThatIsTested(t *testing.T) {
	for _, d := range Definitions {
		if !slices.ContainsFunc(checkCases, func(c checkCase) bool { return c.id == d.ID && c.level != OK }) {
			t.Errorf("no row of the table makes %s fail", d.ID)
		}
	}
}

func TestAnArbiterIsNoCopyOfTheData(t *testing.T) {
	f := healthy(goodURI + "&w=2")
	f.Sets[0].Members[2].Arbiter = true
	if s := &f.Sets[0]; s.voters() != 3 || s.dataVoters() != 2 || s.majority() != 2 {
		t.Errorf("voters %d, with data %d, majority %d", s.voters(), s.dataVoters(), s.majority())
	}
	f.Sets[0].Members[1].Arbiter = true // one member with data acknowledges for all
	if s := &f.Sets[0]; s.majority() != 1 {
		t.Errorf("majority %d", s.majority())
	}
}

func TestTheTextHasTheMostSeriousFirstAndFits(t *testing.T) {
	f := healthy(goodURI + "&w=1&retryReads=false")
	for _, columns := range []int{40, 100} {
		var b strings.Builder
		if err := Check(f).WriteText(&b, columns, false); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		places := []int{strings.Index(text, "problem write-concern"), strings.Index(text, "warning retry-reads"), strings.Index(text, "ok      seeds")}
		if places[0] < 0 || !slices.IsSorted(places) || strings.Contains(text, "\x1b") {
			t.Errorf("%v:\n%s", places, text)
		}
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > columns {
				t.Errorf("a line is wider than %d columns: %q", columns, line)
			}
		}
	}
	var b strings.Builder
	if err := Check(f).WriteText(&b, 80, true); err != nil || !strings.Contains(b.String(), "\x1b[31mproblem") {
		t.Errorf("no colours: %v %q", err, b.String())
	}
}
