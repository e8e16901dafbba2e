package mongotest_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

const faultsPage = "../docs/FAULTS.md"

func TestThePageOfFaultsShowsTheExamplesAsTheyRun(t *testing.T) {
	page, file := readFile(t, faultsPage), readFile(t, "faults_example_test.go")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)\n```").FindAllStringSubmatch(page, -1)
	examples := regexp.MustCompile(`func (Example\w+)`).FindAllStringSubmatch(file, -1)
	if len(blocks) != len(examples) || len(blocks) < 10 {
		t.Errorf("the page has %d examples, the file has %d", len(blocks), len(examples))
	}
	for _, b := range blocks {
		lines := strings.Split(b[1], "\n")
		for i, line := range lines {
			if line != "" {
				lines[i] = "\t" + line
			}
		}
		if !strings.Contains(file, strings.Join(lines, "\n")) {
			t.Errorf("this example is not in the file:\n%s", b[1])
		}
	}
	for _, e := range examples {
		if !strings.Contains(page, "["+e[1]+"](#") {
			t.Errorf("the page's table does not refer to %s", e[1])
		}
	}
}

func TestThePageOfFaultsLinksToItsOwnHeadings(t *testing.T) {
	page := readFile(t, faultsPage)
	headings := make(map[string]bool)
	for _, h := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(page, -1) {
		headings[strings.ReplaceAll(strings.ToLower(h[1]), " ", "-")] = true
	}
	for _, link := range regexp.MustCompile(`\(#([^)]*)\)`).FindAllStringSubmatch(page, -1) {
		if !headings[link[1]] {
			t.Errorf("there is no heading for #%s", link[1])
		}
	}
}

// Every fault that a test can make has a place on the page.
func TestThePageOfFaultsNamesEveryFault(t *testing.T) {
	page := readFile(t, faultsPage)
	names := []string{
		"Kill", "Restart", "StepDown", "Isolate", "Partition", "PartitionOneWay", "Heal", "SetLag", "KillMongos", "RestartMongos",
		"DropConnections", "DropMongosConnections",
		"Use", "SetFailPoint", "FaultOnce", "Times", "While", "Always", "Decide", "RunBlackPipe", "RunProxy",
	}
	fault := reflect.TypeFor[mongotest.Fault]()
	for i := range fault.NumField() {
		names = append(names, fault.Field(i).Name)
	}
	for _, name := range names {
		if !regexp.MustCompile("`[^`]*\\b" + name + "\\b[^`]*`").MatchString(page) {
			t.Errorf("the page does not name %s", name)
		}
	}
}
