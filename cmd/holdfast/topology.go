package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/inspect"
)

type topologyCommand struct {
	deployment

	Follow  bool          `help:"Print each change until an interrupt."`
	Timeout time.Duration `default:"10s" help:"How long the servers are looked for."`
	JSON    bool          `name:"json" help:"Print JSON: one object, or with --follow one on each line."`
	NoColor bool          `name:"no-color" help:"Write no colours. NO_COLOR in the environment does the same."`
}

// Help returns the part of the help that is not about a flag.
func (*topologyCommand) Help() string {
	return `It shows each member with its role, its round trip, its version, the pool that this program has for it, and its tags; and for each read
preference mode the members that a client would choose from, and why not the others. Tags, maxStalenessSeconds and localThresholdMS
of the connection string count. It needs no login.`
}

// Run prints the deployment as a client sees it.
func (c *topologyCommand) Run(s *session) error {
	w, err := c.open(s, "holdfast topology", c.Timeout)
	if err != nil {
		return err
	}
	defer w.Close(s.ctx)
	if err := c.ready(s, w); err != nil {
		return err
	}
	if c.Follow {
		return c.follow(s, w)
	}
	return written(c.print(s, w.View()))
}

// written returns the error of an output.
func written(err error) error {
	if err != nil {
		return cannotRun(err)
	}
	return nil
}

const lookingForServers = "looking for the servers"

func (c *topologyCommand) ready(s *session, w *inspect.Watcher) error {
	ctx, cancel := context.WithTimeout(s.ctx, c.Timeout)
	defer cancel()
	status := newStatusLine(s)
	status.show(lookingForServers)
	err := w.Ready(ctx)
	status.end()
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return errInterrupted
	}
	return cannotRun(err)
}

func (c *topologyCommand) print(s *session, v *inspect.View) error {
	if c.JSON {
		return writeJSON(s, v)
	}
	t := terminalOf(s.stdout, s.getenv)
	return v.WriteText(s.stdout, t.columns, t.coloured(c.NoColor, s.getenv))
}

// followed is a line of `topology --follow --json`. Its first line has the change "start".
type followed struct {
	inspect.Change

	Topology *inspect.View `json:"topology"` // after the change
}

// follow prints the deployment and then each change of it.
func (c *topologyCommand) follow(s *session, w *inspect.Watcher) error {
	view := w.View()
	err := c.start(s, view)
	for err == nil {
		select {
		case <-s.ctx.Done():
			return nil
		case <-w.Changed():
			next := w.View()
			err = c.printChanges(s, inspect.Changes(view, next), next)
			view = next
		}
	}
	return written(err)
}

func (c *topologyCommand) start(s *session, view *inspect.View) error {
	if c.JSON {
		return writeJSON(s, followed{inspect.Change{At: view.At, Change: "start"}, view})
	}
	if err := c.print(s, view); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.stdout, "\nChanges, until an interrupt:")
	return err
}

func (c *topologyCommand) printChanges(s *session, changes []inspect.Change, view *inspect.View) (err error) {
	for _, change := range changes {
		if err != nil {
			return err
		}
		if c.JSON {
			err = writeJSON(s, followed{change, view})
			continue
		}
		_, err = fmt.Fprintf(s.stdout, "%s  %s\n", change.At.Format("15:04:05.000"), change)
	}
	return err
}

// writeJSON writes a value on one line.
func writeJSON(s *session, v any) error {
	e := json.NewEncoder(s.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
