package report

import (
	"html/template"
	"slices"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/timeline"
)

// The lanes of a chart, from above: who does what.
const (
	strategyLane = iota
	clientLane
	serverLane
	clusterLane
)

var laneNames = [...]string{"writer and strategy", "client", "servers", "cluster"}

func laneOf(k prove.EventKind) int {
	switch k {
	case prove.OperationBegan, prove.OperationEnded, prove.EventsOmitted:
		return strategyLane
	case prove.CallBegan, prove.CallEnded:
		return clientLane
	case prove.MessageArrived, prove.MessageExecuted, prove.Swept:
		return serverLane
	case prove.ClusterStruck, prove.ClusterWritable, prove.ClusterRepaired:
	}
	return clusterLane
}

// chart draws the events of a story. Their numbers are those of the steps in words.
func chart(s *prove.Story) template.HTML {
	c := timeline.Chart{Spans: spans(s.Events)}
	lanes := clusterLane // the cluster has a lane only if it has events
	for i := range s.Events {
		e := &s.Events[i]
		lane := laneOf(e.Kind)
		lanes = max(lanes, lane+1)
		c.Events = append(c.Events, timeline.Event{At: e.At, Lane: lane, Mark: shapeOf(e), Way: wayOf(e), From: clientLane})
	}
	c.Lanes = laneNames[:lanes]
	return c.Draw()
}

// spans returns the times from the begin to the end of the operation, of each call, and of each fault of the cluster.
func spans(events []prove.StoryEvent) (list []timeline.Span) {
	for i, e := range events {
		end, long := endOf(e.Kind)
		if !long {
			continue
		}
		s := timeline.Span{From: i, To: -1}
		if k := slices.IndexFunc(events[i:], func(later prove.StoryEvent) bool { return later.Kind == end }); k >= 0 {
			s.To = i + k
		}
		list = append(list, s)
	}
	return list
}

// endOf returns the kind of event that ends what an event begins.
func endOf(begin prove.EventKind) (end prove.EventKind, long bool) {
	switch begin {
	case prove.OperationBegan:
		return prove.OperationEnded, true
	case prove.CallBegan:
		return prove.CallEnded, true
	case prove.ClusterStruck:
		return prove.ClusterWritable, true
	case prove.MessageArrived, prove.MessageExecuted, prove.ClusterWritable, prove.ClusterRepaired, prove.CallEnded, prove.OperationEnded,
		prove.Swept, prove.EventsOmitted:
	}
	return 0, false
}

// wayOf returns the line of a message from the client to the server.
func wayOf(e *prove.StoryEvent) timeline.Way {
	switch {
	case e.Kind != prove.MessageArrived:
		return timeline.NoWay
	case e.Message.Effect == prove.NotExecuted || e.Message.NoReply || delayed(e):
		return timeline.Dashed
	}
	return timeline.Solid
}

func shapeOf(e *prove.StoryEvent) timeline.Mark {
	switch {
	case e.Message.Effect == prove.Applies:
		return timeline.Filled
	case e.Kind == prove.ClusterStruck, e.Error != "", e.Fault != nil && laneOf(e.Kind) == serverLane:
		return timeline.Square
	}
	return timeline.Circle
}
