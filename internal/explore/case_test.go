package explore

import (
	"strings"
	"testing"
)

func TestABadCaseIsRefused(t *testing.T) {
	failures := []Failure{{Name: "reply-lost"}}
	for text, want := range map[string]string{
		"":                       `explore: "" is not a case such as update/shop.orders/1:reply-lost`,
		"update/shop.orders/1":   `explore: "update/shop.orders/1" is not a case such as update/shop.orders/1:reply-lost`,
		"update:reply-lost":      `explore: "update" is not a message such as update/shop.orders/1`,
		"update/a/1:reply-loss":  `explore: the case "update/a/1:reply-loss": there is no failure "reply-loss"`,
		"update/a/1:":            `explore: the case "update/a/1:": there is no failure ""`,
		"update/a/1:reply-lost+": `explore: "" is not a case such as update/shop.orders/1:reply-lost`,
	} {
		if c, err := ParseCase(text, failures); err == nil || err.Error() != want || c != nil {
			t.Errorf("%q: %v, %v, want %s", text, c, err, want)
		}
	}
}

func TestFailuresThatCannotBeExploredAreRefused(t *testing.T) {
	for _, c := range []struct {
		list []Failure
		want string // "" if the list is right
	}{
		{nil, "there is none"},
		{[]Failure{{Name: "reply-lost"}, {Name: "e-1", Weight: 3}}, ""},
		{[]Failure{{Name: "a"}, {Name: "b"}, {Name: "a"}}, `two have the name "a"`},
		{[]Failure{{Name: "a", Weight: -1}}, "the weight of a is -1; it must not be negative"},
		{[]Failure{{Name: ""}}, `the name "" must have lower-case letters, digits, and single hyphens between them`},
		{[]Failure{{Name: "Reply"}}, `the name "Reply" must have`},
		{[]Failure{{Name: "a--b"}}, `the name "a--b" must have`},
		{[]Failure{{Name: "a:b"}}, `the name "a:b" must have`},
	} {
		err := CheckFailures(c.list)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "explore: Failures: "+c.want)) {
			t.Errorf("%v: %v, want %q", c.list, err, c.want)
		}
	}
}
