package unified

import (
	"cmp"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
)

// eventAssertions are the keys that an expected event may have.
type eventAssertions struct {
	Command                   bson.RawValue       `bson:"command"`
	CommandName               *string             `bson:"commandName"`
	DatabaseName              *string             `bson:"databaseName"`
	Reply                     bson.RawValue       `bson:"reply"`
	HasServiceID              *bool               `bson:"hasServiceId"`
	HasServerConnectionID     *bool               `bson:"hasServerConnectionId"`
	Reason                    *string             `bson:"reason"`
	InterruptInUseConnections *bool               `bson:"interruptInUseConnections"`
	Awaited                   *bool               `bson:"awaited"`
	PreviousDescription       *descriptionAsserts `bson:"previousDescription"`
	NewDescription            *descriptionAsserts `bson:"newDescription"`
}

type descriptionAsserts struct {
	Type *string `bson:"type"`
}

// expectedEvent reads {name: assertions}.
func expectedEvent(doc bson.Raw) (string, eventAssertions, error) {
	var want eventAssertions
	elements, err := doc.Elements()
	if err != nil {
		return "", want, err
	}
	if len(elements) != 1 {
		return "", want, fmt.Errorf("an expected event has one key: %v", doc)
	}
	assertions, ok := elements[0].Value().DocumentOK()
	if !ok {
		return "", want, fmt.Errorf("an expected event is a document: %v", doc)
	}
	return elements[0].Key(), want, decode(assertions, &want)
}

func (m *matcher) matchEvent(name string, want eventAssertions, got observed) error {
	if name != got.name {
		return fmt.Errorf("want %s", name)
	}
	switch e := got.event.(type) {
	case *event.CommandStartedEvent:
		return cmp.Or(
			m.matchIfWanted("command", want.Command, e.Command),
			equal("commandName", want.CommandName, e.CommandName),
			equal("databaseName", want.DatabaseName, e.DatabaseName),
			connection(want, e.ServiceID, e.ServerConnectionID),
		)
	case *event.CommandSucceededEvent:
		return cmp.Or(
			m.matchIfWanted("reply", want.Reply, e.Reply),
			finished(want, &e.CommandFinishedEvent),
		)
	case *event.CommandFailedEvent:
		return finished(want, &e.CommandFinishedEvent)
	case *event.PoolEvent:
		return cmp.Or(
			equal("reason", want.Reason, e.Reason),
			equal("interruptInUseConnections", want.InterruptInUseConnections, e.Interruption),
			hasServiceID(want, e.ServiceID),
		)
	}
	return matchServerEvent(want, got.event)
}

func matchServerEvent(want eventAssertions, got any) error {
	switch e := got.(type) {
	case *event.ServerDescriptionChangedEvent:
		return descriptions(want, e.PreviousDescription.Kind, e.NewDescription.Kind)
	case *event.TopologyDescriptionChangedEvent:
		return descriptions(want, e.PreviousDescription.Kind, e.NewDescription.Kind)
	case *event.ServerHeartbeatStartedEvent:
		return equal("awaited", want.Awaited, e.Awaited)
	case *event.ServerHeartbeatSucceededEvent:
		return equal("awaited", want.Awaited, e.Awaited)
	case *event.ServerHeartbeatFailedEvent:
		return equal("awaited", want.Awaited, e.Awaited)
	case *event.TopologyOpeningEvent, *event.TopologyClosedEvent:
		return nil
	}
	return fmt.Errorf("events of type %T are not supported by this runner", got)
}

// matchIfWanted compares a command or reply. The client leaves nothing of one that is sensitive.
func (m *matcher) matchIfWanted(what string, want bson.RawValue, got bson.Raw) error {
	if want.Type == 0 {
		return nil
	}
	if len(got) == 0 {
		got = bson.Raw{5, 0, 0, 0, 0}
	}
	if err := m.match(want, documentValue(got), true); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func equal[V comparable](what string, want *V, got V) error {
	if want != nil && *want != got {
		return fmt.Errorf("%s: want %v, got %v", what, *want, got)
	}
	return nil
}

func finished(want eventAssertions, e *event.CommandFinishedEvent) error {
	return cmp.Or(
		equal("commandName", want.CommandName, e.CommandName),
		equal("databaseName", want.DatabaseName, e.DatabaseName),
		connection(want, e.ServiceID, e.ServerConnectionID),
	)
}

func connection(want eventAssertions, service *bson.ObjectID, id *int64) error {
	return cmp.Or(
		hasServiceID(want, service),
		equal("hasServerConnectionId", want.HasServerConnectionID, id != nil && *id > 0),
	)
}

func hasServiceID(want eventAssertions, id *bson.ObjectID) error {
	return equal("hasServiceId", want.HasServiceID, id != nil && !id.IsZero())
}

func descriptions(want eventAssertions, before, after string) error {
	if d := want.PreviousDescription; d != nil {
		if err := equal("previousDescription", d.Type, before); err != nil {
			return err
		}
	}
	if d := want.NewDescription; d != nil {
		return equal("newDescription", d.Type, after)
	}
	return nil
}

// describe is an event in a failure's text.
func describe(o observed) string {
	switch e := o.event.(type) {
	case *event.CommandStartedEvent:
		return fmt.Sprintf("%s of %v", o.name, e.Command)
	case *event.CommandSucceededEvent:
		return fmt.Sprintf("%s of %s: %v", o.name, e.CommandName, e.Reply)
	case *event.CommandFailedEvent:
		return fmt.Sprintf("%s of %s: %v", o.name, e.CommandName, e.Failure)
	}
	return o.name
}

// matchEvents compares a client's events of one kind with those that a case expects.
func (m *matcher) matchEvents(want expectedEvents, got []observed) error {
	for i, doc := range want.Events {
		name, assertions, err := expectedEvent(doc)
		if err != nil {
			return err
		}
		if i >= len(got) {
			return fmt.Errorf("event %d: want %v, there are %d", i, doc, len(got))
		}
		if err := m.matchEvent(name, assertions, got[i]); err != nil {
			return fmt.Errorf("event %d: %w; the event is %s", i, err, describe(got[i]))
		}
	}
	if !want.IgnoreExtraEvents && len(got) > len(want.Events) {
		return fmt.Errorf("event %d: nothing more is wanted, got %s", len(want.Events), describe(got[len(want.Events)]))
	}
	return nil
}
