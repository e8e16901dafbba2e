package explore

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestTheNameOfAMessage(t *testing.T) {
	for _, c := range []struct {
		message Message
		want    string
	}{
		{Message{Command: "update", Target: "shop.orders", Ordinal: 1}, "update/shop.orders/1"},
		{Message{Command: "ping", Ordinal: 12}, "ping//12"},
		{Message{Command: "find", Target: "a/b.c:d+e%f'g h\n", Ordinal: 1}, "find/a/b.c%3Ad%2Be%25f%27g%20h%0A/1"},
		{Message{Command: "find", Target: "größe.\xff\u0085", Ordinal: 2}, "find/größe.%FF%C2%85/2"},
		{Message{Command: "no/command", Target: "x", Ordinal: 1}, "no%2Fcommand/x/1"},
	} {
		if got := c.message.String(); got != c.want {
			t.Errorf("the name is %q, want %q", got, c.want)
		}
	}
}

func TestAMessageInWords(t *testing.T) {
	m := Message{Command: "update", Target: "shop.orders"}
	for ordinal, want := range map[int]string{
		1: "update shop.orders", 2: "update shop.orders, the second", 3: "update shop.orders, the third", 4: "update shop.orders, number 4",
	} {
		if m.Ordinal = ordinal; m.Words() != want {
			t.Errorf("%q, want %q", m.Words(), want)
		}
	}
	if got := (Message{Command: "ping", Ordinal: 1}).Words(); got != "ping" {
		t.Errorf("without a target: %q", got)
	}
}

func TestABadNameOfAMessageIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"":                        `explore: "" is not a message such as update/shop.orders/1`,
		"update":                  `explore: "update" is not a message such as update/shop.orders/1`,
		"/shop.orders/1":          `explore: "/shop.orders/1" is not a message such as update/shop.orders/1`,
		"update/shop.orders/1/":   `explore: in the message "update/shop.orders/1/", "" is not a number from 1 on`,
		"update/shop.orders/0":    `explore: in the message "update/shop.orders/0", "0" is not a number from 1 on`,
		"update/shop.orders/+1":   `explore: in the message "update/shop.orders/+1", "+1" is not a number from 1 on`,
		"update/shop.orders/01":   `explore: in the message "update/shop.orders/01", "01" is not a number from 1 on`,
		"update/shop.orders/last": `explore: in the message "update/shop.orders/last", "last" is not a number from 1 on`,
		"update/100%/1":           `explore: in the message "update/100%/1": "100%" has a % without two hexadecimal digits`,
		"update/%G0/1":            `explore: in the message "update/%G0/1": "%G0" has a % without two hexadecimal digits`,
		"%4/shop.orders/1":        `explore: in the message "%4/shop.orders/1": "%4" has a % without two hexadecimal digits`,
	} {
		m, err := ParseMessage(name)
		if err == nil || err.Error() != want || m != (Message{}) {
			t.Errorf("%q: %+v, %v, want %s", name, m, err, want)
		}
	}
}

// A name can be printed, stands in single quotes in a shell, and leads back to its message.
func FuzzNamesLeadBackToTheirMessages(f *testing.F) {
	f.Add("update", "shop.orders", 1)
	f.Add("find", "a/b:c+d%41'e\x00\xff\u2028", 7)
	f.Add("ping", "", 1)
	failures := []Failure{{Name: "reply-lost"}, {Name: "error-91"}}
	f.Fuzz(func(t *testing.T, command, target string, ordinal int) {
		if command == "" || ordinal < 1 {
			t.Skip()
		}
		m := Message{Command: command, Target: target, Ordinal: ordinal}
		name := m.String()
		if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\'' || r == ' ' || !unicode.IsPrint(r) }) {
			t.Errorf("the name %q", name)
		}
		if got, err := ParseMessage(name); err != nil || got != m {
			t.Errorf("%q leads to %+v, %v, want %+v", name, got, err, m)
		}
		c := Case{{m, "reply-lost"}, {m, "error-91"}}
		got, err := ParseCase(c.String(), failures)
		if err != nil || len(got) != 2 || got[0] != c[0] || got[1] != c[1] {
			t.Errorf("%q leads to %v, %v", c, got, err)
		}
	})
}

func TestAnEventOnOneLine(t *testing.T) {
	m := Message{Command: "insert", Target: "shop.orders", Ordinal: 2}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{At: 1234567 * time.Nanosecond, Who: "member 1", Message: &m, Words: "executed"}, "    1.23ms  member 1   insert shop.orders, the second: executed"},
		{Event{Who: "cluster", Words: "the primary died", Struck: true}, "        0s  cluster    the primary died   <-- the failure"},
	} {
		if got := c.event.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
