package setconfig

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestAMembersConfigurationIsChecked(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *Member)
		want   string
	}{
		{"the default", func(*Member) {}, ""},
		{"an arbiter gets priority 0", func(c *Member) { c.Arbiter = true }, ""},
		{"a hidden member with priority 0", func(c *Member) { c.Hidden, c.Priority = true, 0 }, ""},
		{"a hidden member that may be elected", func(c *Member) { c.Hidden = true }, "priority must be 0 when hidden=true"},
		{"a delayed member that may be elected", func(c *Member) { c.Delay = time.Second }, "priority must be 0 when secondaryDelaySecs is used"},
		{"a member without a vote that may be elected", func(c *Member) { c.Votes = 0 }, "priority must be 0 when non-voting (votes:0)"},
		{"two votes", func(c *Member) { c.Votes = 2 }, "votes must be 0 or 1; found 2"},
		{"a priority above the limit", func(c *Member) { c.Priority = 1001 }, "priority must be between 0 and 1000; found 1001"},
		{"an arbiter without a vote", func(c *Member) { c.Arbiter, c.Votes = true, 0 }, "Arbiter must vote (cannot have 0 votes)"},
	} {
		c := New(0)
		test.change(&c)
		got := ""
		if err := c.Check(); err != nil {
			got = err.Message
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if c.Arbiter && c.Electable() {
			t.Errorf("%s: an arbiter may be elected", test.name)
		}
	}
}

func TestTheMembersOfASetAreCheckedTogether(t *testing.T) {
	list := make([]Member, 8)
	for i := range list {
		list[i] = New(int64(i))
	}
	if err := CheckAll(list[:7]); err != nil {
		t.Error(err)
	}
	if CheckAll(list) == nil {
		t.Error("eight members may vote")
	}
	list[0].Priority = 0
	if CheckAll(list[:1]) == nil {
		t.Error("there need be no member that can be elected")
	}
}

func TestTagsAreFoundByTheirNames(t *testing.T) {
	c := New(0)
	if c.Tag("dc") != "" || c.HasTags(tags(t, "dc", "east")) || !c.HasTags(nil) {
		t.Error("a member without tags has some")
	}
	c.Tags = tags(t, "dc", "east")
	if c.Tag("dc") != "east" || !c.HasTags(tags(t, "dc", "east")) || c.HasTags(tags(t, "dc", "west")) {
		t.Error("the tags of a member are not those that it was given")
	}
}

func tags(t *testing.T, name, value string) []byte {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: name, Value: value}})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
