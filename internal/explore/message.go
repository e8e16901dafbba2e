package explore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Message is one message of a program, known by what it does, so that a later run finds it again.
type Message struct {
	Command string // such as "update"
	Target  string // what it concerns, such as "shop.orders"; it may have slashes
	Ordinal int    // among the messages of a run with the same command and target, from 1

	// The rest tells which failures concern the message. It is no part of its name.

	Write       bool // it can change data when it is executed, so not a statement within a transaction
	Session     bool // it belongs to a session
	Transaction bool // it belongs to a transaction
	Cursor      bool // it reads on from an open cursor
	Document    bool // it is for one document, by its key
	Durable     bool // it is a write that is not answered before other nodes have it
}

// String returns the name, such as "update/shop.orders/1".
func (m Message) String() string {
	return escape(m.Command, "/"+reserved) + "/" + escape(m.Target, reserved) + "/" + strconv.Itoa(m.Ordinal)
}

// Same reports whether two messages have the same name.
func (m Message) Same(other Message) bool {
	return m.Command == other.Command && m.Target == other.Target && m.Ordinal == other.Ordinal
}

// Words returns the message in words, such as "update shop.orders" or "update shop.orders, the second".
func (m Message) Words() string {
	words := strings.TrimSpace(m.Command + " " + m.Target)
	switch m.Ordinal {
	case 1:
		return words
	case 2:
		return words + ", the second"
	case 3:
		return words + ", the third"
	}
	return fmt.Sprintf("%s, number %d", words, m.Ordinal)
}

// ParseMessage reads a name that [Message.String] made.
func ParseMessage(name string) (m Message, err error) {
	first, last := strings.Index(name, "/"), strings.LastIndex(name, "/")
	if first < 1 || first == last {
		return m, fmt.Errorf("explore: %q is not a message such as update/shop.orders/1", name)
	}
	number := name[last+1:]
	if m.Ordinal, err = strconv.Atoi(number); err != nil || m.Ordinal < 1 || number != strconv.Itoa(m.Ordinal) {
		return Message{}, fmt.Errorf("explore: in the message %q, %q is not a number from 1 on", name, number)
	}
	if m.Command, err = unescape(name[:first]); err == nil {
		m.Target, err = unescape(name[first+1 : last])
	}
	if err != nil {
		return Message{}, fmt.Errorf("explore: in the message %q: %w", name, err)
	}
	return m, nil
}

// reserved are the bytes with a meaning in the name of a case, and the one that escapes them. The command ends at the first slash.
const reserved = ":+%'"

// escape replaces the reserved bytes of a command or a target, and what a shell, a terminal, or JSON would change.
func escape(text, reserved string) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		part := text[i : i+size]
		invalid := r == utf8.RuneError && size == 1
		if !invalid && r != ' ' && unicode.IsPrint(r) && !strings.ContainsRune(reserved, r) {
			b.WriteString(part)
			continue
		}
		for _, c := range []byte(part) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unescape(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", fmt.Errorf("%q has a %% without two hexadecimal digits", text)
		}
		c, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q has a %% without two hexadecimal digits", text)
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}

// Event is one line of what happened in a run.
type Event struct {
	At      time.Duration // since the begin of the run
	Who     string        // "program", "cluster", or a server such as "member 1"
	Message *Message      // nil if the event is no message
	Words   string
	Struck  bool // the failure happened here
	Changed bool // the server changed data
	Lost    bool // the request or the reply was lost
}

// String returns the event on one line.
func (e *Event) String() string {
	what := e.Words
	if e.Message != nil {
		what = e.Message.Words() + ": " + e.Words
	}
	if e.Struck {
		what += "   <-- the failure"
	}
	return fmt.Sprintf("%10s  %-9s  %s", e.At.Round(10*time.Microsecond), e.Who, what)
}
