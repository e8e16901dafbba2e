package fields

import (
	"os"
	"strings"
	"testing"
)

// nullCases are the recorded cases in which a real server gets a field that is null.
const nullCases = "../differential/testdata/cases/commands/null_fields.txt"

// notRecorded are fields whose replies with null depend on the server that is asked, and those of commands that the real server compared with
// does not have.
var notRecorded = map[string]bool{
	"listDatabases filter": true, "create autoIndexId": true,
	"mapReduce": true, "getDefaultRWConcern": true, "setDefaultRWConcern": true, "profile": true,
}

// TestEachFieldHasACaseWithNull checks that the recorded cases have each field that is known here as null.
func TestEachFieldHasACaseWithNull(t *testing.T) {
	text, err := os.ReadFile(nullCases)
	if err != nil {
		t.Fatal(err)
	}
	commands := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		name, _, found := strings.Cut(strings.TrimPrefix(line, `{"`), `"`)
		if found && strings.HasPrefix(line, "{") {
			commands[name] = append(commands[name], line)
		}
	}
	checkNulls(t, commands, sets)
	inner := map[string]*Set{"update": Update, "delete": Delete, "create": Timeseries, "find": ReadPreference, "insert": WriteConcern}
	checkNulls(t, commands, inner)
	checkNulls(t, commands, map[string]*Set{"create": Clustered, "bulkWrite": NSInfo, "find": ReadConcern})
	for _, s := range BulkOps {
		checkNulls(t, commands, map[string]*Set{"bulkWrite": s})
	}
	checkNulls(t, commands, Cursor)
}

func checkNulls(t *testing.T, commands map[string][]string, of map[string]*Set) {
	t.Helper()
	for command, s := range of {
		for field := range s.kinds {
			if notRecorded[command] || notRecorded[command+" "+field] || field == "sampleId" {
				continue
			}
			has := false
			for _, line := range commands[command] {
				has = has || strings.Contains(line, `"`+field+`": null`)
			}
			if !has {
				t.Errorf("%s has no case in which %s of %s is null", nullCases, field, s.name)
			}
		}
	}
}

func TestAGeneralFieldThatIsNullCountsAsAbsent(t *testing.T) {
	for field, want := range map[string]bool{"lsid": true, "txnNumber": true, "autocommit": true, "maxTimeMS": true, "comment": false, "filter": false} {
		if got := NullIsNone(field); got != want {
			t.Errorf("NullIsNone(%q) is %v, want %v", field, got, want)
		}
	}
}
