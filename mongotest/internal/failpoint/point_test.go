package failpoint

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// element returns a value as the field of a command.
func element(t *testing.T, value any) *wire.Element {
	t.Helper()
	typ, data, err := bson.MarshalValue(value)
	if err != nil {
		t.Fatal(err)
	}
	return &wire.Element{Type: typ, Key: []byte("field"), Value: data}
}

func TestAFailPointActsAsOftenAsItsModeSays(t *testing.T) {
	for _, test := range []struct {
		name string
		mode any
		off  bool
		acts string // on each of five commands
	}{
		{"always", "alwaysOn", false, "+++++"},
		{"off", "off", true, ""},
		{"twice", bson.D{{Key: "times", Value: 2}}, false, "++---"},
		{"twice, after one command", bson.D{{Key: "times", Value: 2}, {Key: "skip", Value: 1}}, false, "-++--"},
		{"from the third on", bson.D{{Key: "skip", Value: 2}}, false, "--+++"},
		{"never", bson.D{{Key: "times", Value: 0}}, true, ""},
		{"with certainty", bson.D{{Key: "activationProbability", Value: 1.0}}, false, "+++++"},
	} {
		p := New()
		off, err := p.Mode(element(t, test.mode))
		if err != nil || off != test.off {
			t.Errorf("%s: off %t, %v", test.name, off, err)
		}
		got := ""
		for range len(test.acts) {
			if p.Take() {
				got += "+"
			} else {
				got += "-"
			}
		}
		if got != test.acts {
			t.Errorf("%s: %s, want %s", test.name, got, test.acts)
		}
	}
}

func TestAModeThatIsNoneIsRefused(t *testing.T) {
	for name, mode := range map[string]any{
		"another word":                     "sometimes",
		"a negative number":                bson.D{{Key: "times", Value: -1}},
		"an unknown field":                 bson.D{{Key: "often", Value: 1}},
		"a probability above 1":            bson.D{{Key: "activationProbability", Value: 1.5}},
		"a probability that is an integer": bson.D{{Key: "activationProbability", Value: 1}},
	} {
		if _, err := New().Mode(element(t, mode)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestTheDataOfAFailPoint(t *testing.T) {
	p := New()
	err := p.Data(element(t, bson.D{
		{Key: "failCommands", Value: bson.A{"findandmodify", "insert"}}, {Key: "errorCode", Value: 91}, {Key: "errorLabels", Value: bson.A{}},
	}))
	if err != nil || !p.Commands["findAndModify"] || !p.Commands["insert"] || p.Commands["find"] || !p.HasCode || p.Code != 91 || p.Labels == nil {
		t.Errorf("the data are read as %+v, %v", p, err)
	}
	p = New()
	if err := p.Data(element(t, bson.D{{Key: "errmsg", Value: "x"}, {Key: "errorCode", Value: 8}})); err != nil || p.Code != 8 {
		t.Errorf("with an unknown datum the data are read as %+v, %v", p, err)
	}
}
