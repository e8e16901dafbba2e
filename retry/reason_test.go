package retry

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

type flags struct {
	name           string
	allows, always bool
}

func flagsOf(r Reason) flags {
	return flags{r.String(), r.AllowsNonIdempotentRetry(), r.AlwaysRetry()}
}

// rfc0049 is the table of retry reasons of RFC 0049, in its order.
var rfc0049 = []flags{
	{"UNKNOWN", false, false},
	{"SOCKET_NOT_AVAILABLE", true, false},
	{"SERVICE_NOT_AVAILABLE", true, false},
	{"NODE_NOT_AVAILABLE", true, false},
	{"KV_NOT_MY_VBUCKET", true, true},
	{"KV_COLLECTION_OUTDATED", true, true},
	{"KV_ERROR_MAP_RETRY_INDICATED", true, false},
	{"KV_LOCKED", true, false},
	{"KV_TEMPORARY_FAILURE", true, false},
	{"KV_SYNC_WRITE_IN_PROGRESS", true, false},
	{"KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", true, false},
	{"SERVICE_RESPONSE_CODE_INDICATED", true, false},
	{"SOCKET_CLOSED_WHILE_IN_FLIGHT", false, false},
	{"CIRCUIT_BREAKER_OPEN", true, false},
	{"QUERY_PREPARED_STATEMENT_FAILURE", true, false},
	{"QUERY_INDEX_NOT_FOUND", true, false},
	{"ANALYTICS_TEMPORARY_FAILURE", true, false},
	{"SEARCH_TOO_MANY_REQUESTS", true, false},
	{"VIEWS_TEMPORARY_FAILURE", true, false},
	{"VIEWS_NO_ACTIVE_PARTITION", true, true},
}

// mongodb are the reasons of the MongoDB specifications. Those that are raised before sending, and those whose answers mean that
// nothing was applied, allow a retry of an operation that is not idempotent.
var mongodb = []flags{
	{"NETWORK_ERROR", false, false},
	{"CONNECTION_FAILED", true, false},
	{"POOL_CLEARED", true, false},
	{"NOT_WRITABLE_PRIMARY", true, false},
	{"NODE_RECOVERING", true, false},
	{"RETRYABLE_CODE", false, false},
	{"RETRYABLE_WRITE_ERROR", false, false},
	{"SYSTEM_OVERLOADED", true, false},
}

func TestTheReasonsOfADatabaseAreThoseOfItsSpecification(t *testing.T) {
	for _, c := range []struct {
		name    string
		reasons []Reason
		want    []flags
	}{
		{"RFC 0049, in its order", DatabaseReasons.Couchbase, rfc0049},
		{"Couchbase's, without the RFC", DatabaseReasons.OwnCouchbase, ownCouchbase},
		{"MongoDB", DatabaseReasons.MongoDB, mongodb},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []flags
			for _, r := range c.reasons {
				got = append(got, flagsOf(r))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the reasons are %+v, want %+v", got, c.want)
			}
		})
	}
}

// ownCouchbase are the reasons of a Couchbase operation that RFC 0049 does not have. They are retried whatever the strategy says.
var ownCouchbase = []flags{{"KV_CONFIG_ONLY", true, true}, {"BUCKET_OPEN_IN_PROGRESS", true, true}, {"NODE_CONNECT_IN_PROGRESS", true, true}}

// general are the reasons that stand in this package, by name.
var general = []string{
	"UNKNOWN", "NETWORK_ERROR", "CONNECTION_FAILED", "SYSTEM_OVERLOADED", "SERVICE_RESPONSE_CODE_INDICATED", "CONFLICT", "RATE_LIMITED",
	"UNAVAILABLE", "ATTEMPT_TIMEOUT", "CIRCUIT_BREAKER_OPEN",
}

func TestTheGeneralReasonsAreThoseThatAnyProgramCanUse(t *testing.T) {
	var got []string
	for _, r := range GeneralReasons() {
		got = append(got, r.String())
	}
	if !slices.Equal(got, general) {
		t.Errorf("the general reasons are %q, want %q", got, general)
	}
	neutral := []flags{
		{"CONFLICT", true, false}, {"RATE_LIMITED", true, false}, {"UNAVAILABLE", false, false}, {"ATTEMPT_TIMEOUT", false, false},
	}
	for i, r := range []Reason{ReasonConflict, ReasonRateLimited, ReasonUnavailable, ReasonAttemptTimeout} {
		if flagsOf(r) != neutral[i] {
			t.Errorf("%+v, want %+v", flagsOf(r), neutral[i])
		}
	}
	if all := len(rfc0049) + len(ownCouchbase) + len(mongodb) + len(neutral); len(KnownReasons()) != all {
		t.Errorf("there are %d reasons, want %d", len(KnownReasons()), all)
	}
}

// The summary of the rules is beside the checkout where the project is developed. A plain clone does not have it.
func TestTheReasonsAreThoseOfTheSummaryOfTheRules(t *testing.T) {
	const rules = "../../shared/retry-rules.md"
	if _, err := os.Stat(rules); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing, and in CI it must not be", rules)
		}
		t.Skipf("%s is missing; the 20 reasons were compared with the table in this file only", rules)
	}
	rows := tableUnder(t, readFile(t, rules), "## 6. Couchbase (RFC 0049)")
	if header := []string{"reason", "non-idempotent too", "always", "raised by"}; !slices.Equal(rows[0], header) {
		t.Fatalf("the table's columns are %q, want %q", rows[0], header)
	}
	yes := map[string]bool{"yes": true, "no": false}
	var want []flags
	for _, row := range rows[1:] {
		allows, ok := yes[row[1]]
		always, ok2 := yes[row[2]]
		if !ok || !ok2 {
			t.Fatalf("a column is neither yes nor no: %q", row)
		}
		want = append(want, flags{row[0], allows, always})
	}
	if !slices.Equal(rfc0049, want) {
		t.Errorf("the summary has\n%+v\nand this file has\n%+v", want, rfc0049)
	}
}

func TestEveryDeclaredReasonIsListed(t *testing.T) {
	known := map[string]int{}
	for _, r := range KnownReasons() {
		known[r.String()]++
	}
	all := declaredReasons(t)
	for _, d := range all {
		if known[d.name] != 1 {
			t.Errorf("%s, %q, is listed %d times, want once", d.variable, d.name, known[d.name])
		}
	}
	if len(all) != len(KnownReasons()) {
		t.Errorf("%d reasons are declared and %d listed", len(all), len(KnownReasons()))
	}
}

func TestNewReason(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []Flag
		want  flags
	}{
		{"no flag", nil, flags{"MINE", false, false}},
		{"allows non-idempotent", []Flag{FlagAllowsNonIdempotent}, flags{"MINE", true, false}},
		{"always includes allows non-idempotent", []Flag{FlagAlways}, flags{"MINE", true, true}},
		{"both", []Flag{FlagAlways, FlagAllowsNonIdempotent}, flags{"MINE", true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReason("MINE", c.flags...)
			if flagsOf(r) != c.want {
				t.Errorf("%+v, want %+v", flagsOf(r), c.want)
			}
			if r == NewReason("MINE", c.flags...) {
				t.Error("another reason with the same name is equal")
			}
			if again := r; again != r {
				t.Error("a copy is not equal")
			}
		})
	}
	if (Reason{}) != ReasonUnknown {
		t.Error("the zero reason is not the unknown one")
	}
}

func TestTheCallerMayChangeTheListOfReasons(t *testing.T) {
	GeneralReasons()[1] = ReasonUnknown
	if GeneralReasons()[1] != ReasonNetworkError {
		t.Error("the caller's change changed the package's list")
	}
}

func TestASetOfReasonsKeepsTheOrder(t *testing.T) {
	locked, cleared := NewReason("LOCKED"), NewReason("CLEARED")
	for _, c := range []struct {
		name    string
		add     []Reason
		want    string
		missing Reason
		size    int
	}{
		{"empty", nil, "", cleared, 0},
		{"one", []Reason{locked}, "LOCKED", cleared, 1},
		{"the same twice", []Reason{locked, locked}, "LOCKED", cleared, 1},
		{"two", []Reason{locked, cleared}, "LOCKED CLEARED", ReasonNetworkError, 2},
		{
			"more than two, some again",
			[]Reason{locked, cleared, ReasonNetworkError, cleared, ReasonOverloaded, ReasonNetworkError, locked},
			"LOCKED CLEARED NETWORK_ERROR SYSTEM_OVERLOADED", ReasonConnectionFailed, 3,
		},
		{"a full set does not contain ReasonUnknown", []Reason{locked, cleared, ReasonUnknown, ReasonOverloaded}, "LOCKED CLEARED SYSTEM_OVERLOADED", ReasonUnknown, 2},
		{"a set does not contain ReasonUnknown", []Reason{ReasonUnknown, locked}, "LOCKED", ReasonUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set Reasons
			for _, r := range c.add {
				set.add(r)
			}
			var all []string
			for r := range set.All() {
				all = append(all, r.String())
				if !set.Has(r) {
					t.Errorf("%v is not in the set", r)
				}
			}
			if got := strings.Join(all, " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if set.Has(c.missing) {
				t.Errorf("%v is in the set", c.missing)
			}
			seen := 0
			for range set.All() {
				if seen++; seen == c.size {
					break // an iteration may end early
				}
			}
			if seen != c.size {
				t.Errorf("%d reasons were seen, want %d", seen, c.size)
			}
		})
	}
}
