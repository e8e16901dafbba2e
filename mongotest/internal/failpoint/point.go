package failpoint

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Point is a fail point as a member has it.
type Point struct {
	Times       int64   // how often it still acts; -1 for always
	Skip        int64   // how many commands it lets pass first
	Probability float64 // of acting where it would; 0 means 1

	Commands          map[string]bool
	AppName           string
	Thread            string // the name of the connection's thread
	Namespace         string
	Code              mongoerr.Code
	HasCode           bool
	Closes            bool
	Stays             bool // closeConnection was said to be false
	Block             time.Duration
	Labels            []string // nil if not given
	WriteConcernError []byte
}

// New returns a fail point that always acts, on no command.
func New() *Point { return &Point{Times: -1, Commands: make(map[string]bool)} }

// Mode reads "off", "alwaysOn" or {times, skip, activationProbability}, and reports whether it was off.
func (p *Point) Mode(e *wire.Element) (bool, error) {
	switch string(e.Text()) {
	case "off":
		return true, nil
	case "alwaysOn":
		return false, nil
	}
	doc := e.Document()
	if doc == nil {
		return false, mongoerr.Errorf(mongoerr.BadValue, "the mode of a fail point must be 'off', 'alwaysOn' or a document")
	}
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) == "activationProbability" {
			if err := p.activation(&it.Element); err != nil {
				return false, err
			}
			continue
		}
		n, ok := it.Int64()
		if !ok || n < 0 {
			return false, mongoerr.Errorf(mongoerr.BadValue, "the mode's '%s' must be a number that is not negative", it.Key)
		}
		switch string(it.Key) {
		case "times":
			p.Times = n
		case "skip":
			p.Skip = n
		default:
			return false, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the mode '%s' of a fail point is not supported", it.Key)
		}
	}
	return p.Times == 0, it.Err
}

func (p *Point) activation(e *wire.Element) error {
	v := query.Of(*e)
	if v.Type != bson.TypeDouble {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "activationProbability must be a double")
	}
	p.Probability = math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
	if !(p.Probability >= 0 && p.Probability <= 1) {
		return mongoerr.Errorf(mongoerr.BadValue, "activationProbability must be between 0.0 and 1.0; found %v", p.Probability)
	}
	if p.Probability == 0 {
		p.Times = 0
	}
	return nil
}

// Data reads which commands are concerned, and how.
func (p *Point) Data(e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return fields.WrongType("configureFailPoint", "data", e.Type, "object")
	}
	if err := query.CheckDocument(doc); err != nil {
		return err
	}
	it := wire.Elements(append([]byte(nil), doc...))
	for it.Next() {
		p.datum(&it.Element)
	}
	return it.Err
}

// datum takes one of the data. The real server ignores those that no fail point has.
func (p *Point) datum(e *wire.Element) {
	n, _ := e.Int64()
	switch string(e.Key) {
	case "failCommands":
		for _, name := range query.Elements(e.Value) {
			p.Commands[fields.NewestName(string(name.Text()))] = true
		}
	case "errorCode", "failBeforeCommitExceptionCode":
		p.Code, p.HasCode = mongoerr.Code(n), true
	case "closeConnection":
		p.Closes, p.Stays = e.True(), !e.True()
	case "blockConnection":
		if !e.True() {
			p.Block = -1
		}
	case "blockTimeMS":
		if p.Block >= 0 {
			p.Block = time.Duration(n) * time.Millisecond
		}
	case "errorLabels":
		p.Labels = []string{}
		for _, label := range query.Elements(e.Value) {
			p.Labels = append(p.Labels, string(label.Text()))
		}
	case "writeConcernError":
		p.WriteConcernError = e.Document()
	case "appName":
		p.AppName = string(e.Text())
	case "namespace":
		p.Namespace = string(e.Text())
	case "threadName":
		p.Thread = string(e.Text())
	}
}

// Take counts a command down and reports whether the fail point acts on it.
func (p *Point) Take() bool {
	switch {
	case p.Skip > 0:
		p.Skip--
		return false
	case p.Times == 0, p.Probability > 0 && rand.Float64() >= p.Probability:
		return false
	case p.Times > 0:
		p.Times--
	}
	return true
}
