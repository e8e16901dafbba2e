package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// serverLog is the log of a server: lines of text or, like mongod's log, lines with a JSON document. From the latter
// tools know that the server is ready or has become primary.
type serverLog struct {
	mu  sync.Mutex
	w   io.Writer
	as  logFormat
	tls bool // the server supports TLS
}

type logFormat uint8

const (
	asText logFormat = iota
	asJSON
)

// line is one log entry. Component, id and message are those of mongod if it has the same entry.
type line struct {
	component string
	id        int
	message   string
	attr      map[string]any
	text      string // the entry in a log of text
}

func (l *serverLog) print(e line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.as == asText {
		fmt.Fprintln(l.w, e.text)
		return
	}
	type date struct {
		At string `json:"$date"`
	}
	w := json.NewEncoder(l.w)
	w.SetEscapeHTML(false) // a URI must not be escaped
	_ = w.Encode(struct {
		T         date           `json:"t"`
		Severity  string         `json:"s"`
		Component string         `json:"c"`
		ID        int            `json:"id"`
		Context   string         `json:"ctx"`
		Message   string         `json:"msg"`
		Attr      map[string]any `json:"attr,omitempty"`
	}{date{time.Now().Format("2006-01-02T15:04:05.000-07:00")}, "I", e.component, e.id, "main", e.message, e.attr})
}

// The ids of mongod's log entries.
const (
	idStarting   = 4615611
	idWaiting    = 23016
	idTransition = 21358
	idPrimary    = 21331
	idExiting    = 23138
)

const volatile = "Nothing is stored: it is gone when this ends."

// ready logs the URI, and that the server accepts connections.
func (l *serverLog) ready(uri string, port int) {
	l.print(line{"CONTROL", idStarting, "MongoDB starting", map[string]any{"port": port, "uri": uri, "by": "holdfast mock. " + volatile}, uri})
	ssl := "off"
	if l.tls {
		ssl = "on"
	}
	l.print(line{"NETWORK", idWaiting, "Waiting for connections", map[string]any{"port": port, "ssl": ssl}, "Waiting for connections. " + volatile})
}

// became logs a new state of a member.
func (l *serverLog) became(state, before string) {
	l.print(line{
		"REPL", idTransition, "Replica set state transition",
		map[string]any{"newState": state, "oldState": before},
		fmt.Sprintf("Transition to %s from %s", state, before),
	})
	if state == statePrimary {
		const done = "Transition to primary complete; database writes are now permitted"
		l.print(line{"REPL", idPrimary, done, nil, done})
	}
}

// ended logs the reason why the server ends.
func (l *serverLog) ended(reason string) {
	l.print(line{"CONTROL", idExiting, "Shutting down", map[string]any{"exitCode": exitOK, "reason": reason}, "Ends: " + reason})
}

// The states of a member that this program uses.
const (
	stateStartup = "STARTUP"
	statePrimary = "PRIMARY"
	stateDown    = "DOWN"
)
