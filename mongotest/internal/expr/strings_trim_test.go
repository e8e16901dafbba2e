package expr

import "testing"

// A character may stand more than once among those to cut off.
func TestTrimRight(t *testing.T) {
	for _, c := range []struct{ s, chars, want string }{
		{"héllo", "héllo", ""}, {"héllo", "llo", "hé"}, {"abc", "cc", "ab"}, {"abc", "", "abc"}, {"", "a", ""}, {"aéé", "éé", "a"},
	} {
		points, err := trimSet(c.chars)
		if got := trimRight(c.s, points); err != nil || got != c.want {
			t.Errorf("%q without %q at the end is %q, want %q; %v", c.s, c.chars, got, c.want, err)
		}
	}
}
