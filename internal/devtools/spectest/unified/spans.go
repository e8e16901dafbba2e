package unified

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Span is a span of a trace, with those below it, in the order in which they began.
type Span struct {
	Name       string
	Attributes bson.D
	Nested     []Span
}

// Tracing makes what traces one client, with the texts of its commands or without. Spans returns the traces that have ended.
type Tracing func(queryText bool) (tracer *telemetry.Tracer, spans func() []Span, err error)

type observedTracing struct {
	EnableCommandPayload bool `bson:"enableCommandPayload"`
}

// traced returns the tracer of a client, nil if the case does not observe it.
func (c *run) traced(e *clientEntity, d *clientDescription) (*telemetry.Tracer, error) {
	if d.ObserveTracingMessages.Type == 0 {
		return nil, nil //nolint:nilnil // a client takes nil
	}
	if c.runner.Tracing == nil {
		return nil, errors.New("observeTracingMessages is not supported by this runner")
	}
	doc, ok := d.ObserveTracingMessages.DocumentOK()
	if !ok {
		return nil, fmt.Errorf("observeTracingMessages is %v; it must be a document", d.ObserveTracingMessages)
	}
	var o observedTracing
	if err := decode(doc, &o); err != nil {
		return nil, fmt.Errorf("observeTracingMessages: %w", err)
	}
	tracer, spans, err := c.runner.Tracing(o.EnableCommandPayload)
	e.spans = spans
	return tracer, err
}

type expectedTracing struct {
	Client           string         `bson:"client"`
	IgnoreExtraSpans bool           `bson:"ignoreExtraSpans"`
	Spans            []expectedSpan `bson:"spans"`
}

type expectedSpan struct {
	Name       string         `bson:"name"`
	Attributes bson.Raw       `bson:"attributes"`
	Nested     []expectedSpan `bson:"nested"`
}

func (c *run) checkSpans() error {
	for _, want := range c.test.ExpectTracingMessages {
		client, err := entityNamed[*clientEntity](c.entities, want.Client)
		if err != nil {
			return err
		}
		if client.spans == nil {
			return fmt.Errorf("%s is not traced", want.Client)
		}
		if err := (&matcher{c.entities}).matchSpans(want.Spans, client.spans(), want.IgnoreExtraSpans); err != nil {
			return fmt.Errorf("%s: %w", want.Client, err)
		}
	}
	return nil
}

// matchSpans compares spans with those that a case expects, in their order. If others are ignored, each expected one is the next that matches.
func (m *matcher) matchSpans(want []expectedSpan, got []Span, ignoreOthers bool) error {
	for i := range want {
		err := fmt.Errorf("span %d: want %s, there is none", i, want[i].Name)
		for len(got) > 0 {
			err = m.matchSpan(&want[i], &got[0], ignoreOthers)
			got = got[1:]
			if err == nil || !ignoreOthers {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	if len(got) > 0 && !ignoreOthers {
		return fmt.Errorf("span %d: nothing more is wanted, got %s", len(want), got[0].Name)
	}
	return nil
}

func (m *matcher) matchSpan(want *expectedSpan, got *Span, ignoreOthers bool) error {
	if err := equal("name", &want.Name, got.Name); err != nil {
		return err
	}
	attributes, err := bson.Marshal(got.Attributes)
	if err != nil {
		return err
	}
	if err := m.match(documentValue(want.Attributes), documentValue(attributes), true); err != nil {
		return fmt.Errorf("%s: %w", got.Name, err)
	}
	if err := m.matchSpans(want.Nested, got.Nested, ignoreOthers); err != nil {
		return fmt.Errorf("%s: %w", got.Name, err)
	}
	return nil
}
