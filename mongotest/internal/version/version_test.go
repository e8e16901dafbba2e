package version

import "testing"

func TestVersionsOfReleases(t *testing.T) {
	for _, test := range []struct {
		text, want string
		wire       int32
	}{
		{"3.6", "3.6.23", 6},
		{"4.2.8", "4.2.8", 8},
		{"7.0", "7.0.25", 21},
		{"9.0", "9.0.0", 29},
	} {
		v, err := Parse(test.text)
		if err != nil || v.String() != test.want || v.WireVersion() != test.wire {
			t.Errorf("%s is %s with wire version %d, %v", test.text, v, v.WireVersion(), err)
		}
	}
	for _, text := range []string{"", "7", "7.0.0.0", "7.x", "-1.0", "1.2", "7.0.70000"} {
		if v, err := Parse(text); err == nil {
			t.Errorf("%q is read as %s", text, v)
		}
	}
}

func TestWhatAVersionHas(t *testing.T) {
	for _, test := range []struct {
		name         string
		v            Version
		since, until Version
		want         bool
	}{
		{"the patch with which it came", Of(4, 0, 7), Of(4, 0, 7), Version{}, true},
		{"an older patch of the same release", Of(4, 0, 6), Of(4, 0, 7), Version{}, false},
		{"a later release, whatever its patch", Of(4, 2, 0), Of(4, 0, 7), Version{}, true},
		{"a version before that with which it went", Of(6, 1, 0), Version{}, Of(6, 2, 0), true},
		{"the version with which it went", Of(6, 2, 0), Version{}, Of(6, 2, 0), false},
		{"all have what has always been there", Of(3, 6, 0), Version{}, Version{}, true},
	} {
		if got := test.v.Within(test.since, test.until); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
