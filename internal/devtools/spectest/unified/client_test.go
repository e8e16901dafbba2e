package unified

import (
	"strings"
	"testing"
)

// TestTheMongosesOfAClient: a case with a fail point never depends on which mongos its client happens to choose.
func TestTheMongosesOfAClient(t *testing.T) {
	const find, failPoint = `{"name": "find", "object": "c"}`, `{"name": "failPoint", "object": "testRunner"}`
	no, yes := false, true
	for _, test := range []struct {
		name       string
		multiple   *bool
		operations string
		one        bool
	}{
		{"nothing said, no fail point", nil, find, false},
		{"nothing said, a fail point", nil, find + "," + failPoint, true},
		{"one", &no, find, true},
		{"several, a fail point", &yes, failPoint, false},
	} {
		f, err := Parse([]byte(strings.Replace(`{"tests": [{"description": "d", "operations": [OPERATIONS]}]}`, "OPERATIONS", test.operations, 1)))
		if err != nil {
			t.Fatal(err)
		}
		c := &run{test: &f.Tests[0]}
		if one := c.usesOneMongos(&clientDescription{UseMultipleMongoses: test.multiple}); one != test.one {
			t.Errorf("%s: one mongos is %t, want %t", test.name, one, test.one)
		}
	}
}
