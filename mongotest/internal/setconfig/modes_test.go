package setconfig

import (
	"slices"
	"testing"
)

func TestAPatternCountsTheDifferentValuesOfItsTags(t *testing.T) {
	members := []Member{{Tags: tags(t, "dc", "a")}, {Tags: tags(t, "dc", "a")}, {Tags: tags(t, "dc", "b"), Removed: true}, {}}
	for _, test := range []struct {
		rule    string
		pattern map[string]int
		met     bool
	}{
		{"one value", map[string]int{"dc": 1}, true},
		{"two members of one value are one", map[string]int{"dc": 2}, false},
		{"no value needs a member with tags", map[string]int{"dc": 0}, true},
		{"a tag of nobody", map[string]int{"rack": 1}, false},
		{"all tags", map[string]int{"dc": 1, "rack": 1}, false},
	} {
		if got := NewPattern(test.pattern).Met(Named(members)); got != test.met {
			t.Errorf("%s: it is met: %t, want %t", test.rule, got, test.met)
		}
	}
	if (Pattern{}).Met(slices.Values([]*Member{{}})) {
		t.Error("members without tags satisfy a pattern")
	}
	if err := NewPattern(map[string]int{"rack": 1}).Check(Named(members)); err == nil || err.Message != "No replica set tag key rack in config" {
		t.Errorf("the error of a tag of nobody is %v", err)
	}
	if got := NewPattern(map[string]int{"rack": 2, "dc": 1}).String(); got != `{"dc": 1, "rack": 2}` {
		t.Errorf("a pattern is written %s", got)
	}
}
