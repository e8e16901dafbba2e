package differential

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// caseFolders are where the cases of the README's rows of the language are; a stage in a file of one is counted wherever it is.
var caseFolders = map[string][]string{
	"filter": {"language", "commands"}, "update": {"language"}, "projection": {"language"}, "stages": {"stages", "commands"},
	"expressions": {"expressions"}, "accumulators": {"expressions", "stages"},
}

// notThere are the commands that the real server compared with does not have, or of which no document tells the reply.
var notThere = map[string]string{
	"saslStart": "no users", "saslContinue": "no users", "authenticate": "no users", "logout": "no users", "createUser": "no users", "updateUser": "no users",
	"dropUser": "no users", "usersInfo": "no users", "dropAllUsersFromDatabase": "no users",
	"grantRolesToUser": "no users", "revokeRolesFromUser": "no users", "connectionStatus": "no users",
	"createRole": "no users", "updateRole": "no users", "dropRole": "no users", "dropAllRolesFromDatabase": "no users", "rolesInfo": "no users",
	"grantPrivilegesToRole": "no users", "revokePrivilegesFromRole": "no users", "grantRolesToRole": "no users", "revokeRolesFromRole": "no users",
	"mapReduce": "no JavaScript",
	"collMod":   "it has no collMod", "profile": "it has no profile",
	"startSession": "no sessions", "endSessions": "no sessions", "refreshSessions": "no sessions", "killSessions": "no sessions",
	"killAllSessions": "no sessions", "commitTransaction": "no transactions", "abortTransaction": "no transactions",
	"hello": "what it is", "isMaster": "what it is", "buildInfo": "what it is", "serverStatus": "what it is", "hostInfo": "what it is",
	"getCmdLineOpts": "what it is", "whatsmyuri": "what it is", "listCommands": "what it is", "getLog": "what it is",
	"top": "what it did", "currentOp": "what it does", "shutdown": "it would be gone",
	"createSearchIndexes": "no search indexes", "updateSearchIndex": "no search indexes", "dropSearchIndex": "no search indexes",
	"listSearchIndexes": "no search indexes",
	"replSetStepDown":   "no replica set", "replSetFreeze": "no replica set", "replSetGetStatus": "no replica set",
	"replSetGetConfig": "no replica set", "replSetInitiate": "no replica set", "replSetReconfig": "no replica set",
	"getDefaultRWConcern": "no replica set", "setDefaultRWConcern": "no replica set", "appendOplogNote": "no replica set",
	"configureFailPoint": "no fail points", "testVersion2": "no test commands", "testDeprecation": "no test commands",
}

// tally counts cases by name.
type tally struct{ all, succeeded map[string]int }

func (c tally) count(name string, l *caseLine) {
	c.all[name]++
	if strings.Contains(l.theirs(), `"ok": 1`) && !strings.Contains(l.theirs(), `"writeErrors"`) {
		c.succeeded[name]++
	}
}

// TestEverythingSupportedHasCases counts the cases of what the README calls supported: three of each operator and two of each
// command, of which one succeeds.
func TestEverythingSupportedHasCases(t *testing.T) {
	c := tally{make(map[string]int), make(map[string]int)}
	for _, f := range caseFiles(t) {
		folder, _, _ := strings.Cut(f.name, "/")
		for _, l := range f.lines {
			if l.isCommand() {
				c.count("command "+commandName.FindStringSubmatch(l.text)[1], l)
				for _, operator := range uniqueOperators(l.text) {
					c.count(folder+" "+operator, l)
				}
			}
		}
	}
	for row, operators := range documented(t) {
		for _, operator := range operators {
			if aboutServer[operator] {
				continue
			}
			all, succeeded := 0, 0
			for _, folder := range caseFolders[row] {
				all += c.all[folder+" "+operator]
				succeeded += c.succeeded[folder+" "+operator]
			}
			if row == "command" {
				all, succeeded = 1+c.all["command "+operator], c.succeeded["command "+operator]
			}
			if why := notThere[operator]; (all < 3 || succeeded < 1) == (why == "" || row != "command") {
				t.Errorf("%s %s has %d cases, of which %d succeed; it is not there: %q", row, operator, all, succeeded, why)
			}
		}
	}
}

var commandName = regexp.MustCompile(`^\{ *"(\w+)"`)

func uniqueOperators(text string) []string {
	var names []string
	for _, m := range operatorIn.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
