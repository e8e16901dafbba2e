package differential

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// aboutServer are the stages that tell about the server, not about documents: other tests have cases of them.
var aboutServer = map[string]bool{
	"$changeStream": true, "$changeStreamSplitLargeEvent": true, "$currentOp": true, "$listLocalSessions": true, "$listSessions": true,
	"$planCacheStats": true,
}

var operatorWord = regexp.MustCompile(`\$[a-zA-Z]+`)

// documented returns the operators of each row of the README's table of the language, which other tests hold against the code, and
// the commands.
func documented(t testing.TB) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lists := make(map[string][]string)
	commands := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			commands = false
			continue
		}
		first := strings.TrimSpace(cells[1])
		switch {
		case first == "command":
			commands = true
		case commands && !strings.HasPrefix(first, "-"):
			for name := range strings.SplitSeq(strings.NewReplacer("(", ", ", ")", "").Replace(first), ", ") {
				lists["command"] = append(lists["command"], strings.TrimSpace(name))
			}
		case rows[first] != "":
			listed, _, _ := strings.Cut(cells[2], "Refused by name")
			lists[first] = append(lists[first], operatorWord.FindAllString(listed, -1)...)
		}
	}
	return lists
}
