package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// topologyText returns the deployment in words.
func topologyText(v *View) string {
	set := "replica set"
	if v.SetName != "" {
		set += " " + v.SetName
	}
	if r := v.Router; r != nil {
		return "a router" + r.behind()
	}
	switch v.Kind {
	case "ReplicaSetWithPrimary":
		return set + ", with a primary"
	case "ReplicaSetNoPrimary":
		return set + ", without a primary"
	case "Sharded":
		return "sharded cluster"
	case "Single":
		return "a single server"
	case "LoadBalanced":
		return "behind a load balancer"
	}
	return "not known yet"
}

// behind says in words what is behind a router.
func (r *Router) behind() string {
	switch {
	case r.SetName != "" && r.Ready:
		return " in front of replica set " + r.SetName + ", with a primary"
	case r.SetName != "":
		return " in front of replica set " + r.SetName + ", without a primary"
	case r.Ready:
		return " in front of a standalone server"
	}
	return ", which does not know its members yet"
}

// WriteText writes the view for a terminal with this number of columns.
func (v *View) WriteText(w io.Writer, columns int, colour bool) error {
	p := paint.Paint{On: colour}
	var b strings.Builder
	b.WriteString(p.With(paint.Bold, topologyText(v)) + "\n\n")
	b.WriteString(v.memberTable(p, columns))
	b.WriteString("\n" + p.With(paint.Bold, "Where a read goes") + "\n")
	for i := 0; i < len(v.Choices); {
		same := 1
		for i+same < len(v.Choices) && v.Choices[i].sameAs(&v.Choices[i+same]) {
			same++
		}
		writeChoice(&b, v.Choices[i:i+same], p, columns)
		i += same
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var memberHeader = []string{"member", "role", "round trip", "version", "pool", "tags"}

// memberTable returns the members as a table or, if that is too wide, as a list.
func (v *View) memberTable(p paint.Paint, columns int) string {
	rows := [][]string{memberHeader}
	for _, m := range v.Members {
		rows = append(rows, m.cells())
	}
	widths := columnWidths(rows)
	var b strings.Builder
	if total(widths) > columns {
		for i, row := range rows[1:] {
			b.WriteString(p.With(roleStyle(v.Members[i].Role), row[0]) + "\n")
			for j, cell := range row[1:] {
				if cell != "" {
					fmt.Fprintf(&b, "  %-10s  %s\n", memberHeader[j+1], cell)
				}
			}
			v.Members[i].writeError(&b, p, columns)
		}
		return b.String()
	}
	for i, row := range rows {
		line := pad(row, widths)
		if i == 0 {
			b.WriteString(p.With(paint.Dim, line) + "\n")
			continue
		}
		b.WriteString(p.With(roleStyle(v.Members[i-1].Role), line) + "\n")
		v.Members[i-1].writeError(&b, p, columns)
	}
	return b.String()
}

func (m *Member) cells() []string {
	trip := "-"
	if m.RoundTripMS != nil {
		trip = fmt.Sprintf("%v ms", *m.RoundTripMS)
	}
	version := ""
	if m.WireVersion > 0 {
		version = versionText(*m)
	}
	pool := m.Pool.State + ", " + counted(m.Pool.Connections, "connection")
	return []string{m.Address, m.Role, trip, version, pool, tagText(m.Tags)}
}

func (m *Member) writeError(b *strings.Builder, p paint.Paint, columns int) {
	if m.Error != "" {
		b.WriteString(paint.Indented(p.With(paint.Bad, m.Error), "  ", columns))
	}
}

// sameAs reports whether two modes lead to the same members for the same reasons.
func (c *Choice) sameAs(other *Choice) bool {
	return c.Why == other.Why && slices.Equal(c.Members, other.Members) && slices.Equal(c.Others, other.Others)
}

// writeChoice writes modes with the same choice.
func writeChoice(b *strings.Builder, same []Choice, p paint.Paint, columns int) {
	var names []string
	for _, c := range same {
		name := c.Mode
		if c.Default {
			name += " (the connection string's)"
		}
		names = append(names, name)
	}
	c := &same[0]
	to := p.With(paint.Bad, "nowhere")
	if len(c.Members) > 0 {
		to = p.With(paint.Good, strings.Join(c.Members, ", "))
	}
	b.WriteString(paint.Indented(strings.Join(names, ", ")+": "+to, "  ", columns))
	b.WriteString(paint.Indented(p.With(paint.Dim, c.Why), "    ", columns))
	for _, o := range c.Others {
		b.WriteString(paint.Indented(p.With(paint.Dim, "not "+o.Address+": "+o.Why), "    ", columns))
	}
}

func roleStyle(role string) lipgloss.Style {
	switch role {
	case "primary":
		return paint.Good
	case "unknown", "other", "not initiated":
		return paint.Limit
	}
	return lipgloss.NewStyle()
}
