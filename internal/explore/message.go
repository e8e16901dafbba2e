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
	Target  string // what it concerns, such as "shop.orders"
	Ordinal int    // among the messages of a run with the same command and target, from 1

	// The rest tells which failures concern the message. It is no part of its name.

	Write       bool // it can change data when it is executed, so not a statement within a transaction
	Session     bool // it belongs to a session
	Transaction bool // it belongs to a transaction
	Cursor      bool // it reads on from an open cursor
}

// String returns the name, such as "update/shop.orders/1".
func (m Message) String() string {
	return escape(m.Command) + "/" + escape(m.Target) + "/" + strconv.Itoa(m.Ordinal)
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
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] == "" {
		return m, fmt.Errorf("explore: %q is not a message such as update/shop.orders/1", name)
	}
	ordinal, err := strconv.Atoi(parts[2])
	if err != nil || ordinal < 1 || parts[2] != strconv.Itoa(ordinal) {
		return m, fmt.Errorf("explore: in the message %q, %q is not a number from 1 on", name, parts[2])
	}
	m.Ordinal = ordinal
	for i, part := range []*string{&m.Command, &m.Target} {
		if *part, err = unescape(parts[i]); err != nil {
			return Message{}, fmt.Errorf("explore: in the message %q: %w", name, err)
		}
	}
	return m, nil
}

// reserved are the bytes with a meaning in the name of a case, and the one that escapes them.
const reserved = "/:+%'"

// escape replaces the reserved bytes of a command or a target, and what a shell, a terminal, or JSON would change.
func escape(text string) string {
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
