package fulltext

import (
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func document(t testing.TB, fields bson.D) []byte {
	t.Helper()
	b, err := bson.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func searchIn(t *testing.T, text, search string) (float64, bool) {
	t.Helper()
	english, _ := LanguageOf("en")
	ix := &Index{Weights: map[string]float64{"t": 1}, Language: "english", Override: "language"}
	r, ok, err := NewSearch(search, english, false, false).Match(ix, document(t, bson.D{{Key: "t", Value: text}}), noWork{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Score, ok
}

func TestASearchFindsWords(t *testing.T) {
	for _, c := range []struct {
		about, text, search string
		want                bool
	}{
		{"one of several words is enough", "a lazy dog", "fox dog", true},
		{"stems are compared", "The foxes jumped", "fox", true},
		{"case does not count", "FOX", "fox", true},
		{"marks do not count", "Café", "cafe", true},
		{"a stop word is never found", "the dog", "the", false},
		{"a negated word must not be there", "fox dog", "fox -dog", false},
		{"a minus inside a word negates nothing", "fox dog", "fox-dog", true},
		{"every phrase must be there", "quick brown fox", `"quick brown" "lazy dog"`, false},
		{"a phrase may end inside a word", "quick brown foxes", `brown "own fox"`, true},
		{"a negated phrase must not be there", "quick brown fox", `fox -"quick brown"`, false},
		{"a search of negated words alone finds nothing", "dog", "-fox", false},
	} {
		if _, got := searchIn(t, c.text, c.search); got != c.want {
			t.Errorf("%s: got %t", c.about, got)
		}
	}
}

func TestTheScoreCountsHowMuchOfATextAWordIs(t *testing.T) {
	for text, want := range map[string]float64{
		"fox":                        1.1,
		"The quick brown foxes jump": 0.625,
		"lazy dogs fox, fox foxes":   (1 + 0.5 + 0.25) * (0.5*3/5 + 0.5),
	} {
		if got, _ := searchIn(t, text, "fox"); math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestALongWordHasTheStemOfItsEnd(t *testing.T) {
	for _, start := range []string{strings.Repeat("abcde", 100), strings.Repeat("y", 300), "'" + strings.Repeat("babby", 60), strings.Repeat("é", 150)} {
		for _, end := range []string{"running", "nations", "'s", "generalization", "tied", "sses", "y", "fulness"} {
			if got, want := stemEnglish(start+end), snowball(start+end); got != want {
				t.Errorf("%.9s...%s: got ...%s, want ...%s", start, end, got[max(0, len(got)-20):], want[max(0, len(want)-20):])
			}
		}
	}
}

func TestADocumentMaySayItsLanguage(t *testing.T) {
	ix := &Index{Weights: map[string]float64{"t": 1}, Language: "english", Override: "language"}
	for language, want := range map[any]string{
		"none": "", "french": "", "xx": "language override unsupported: xx", 5: "found language override field in document with non-string type",
	} {
		got := ""
		if err := ix.Check(document(t, bson.D{{Key: "t", Value: "x"}, {Key: "language", Value: language}})); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: got %q, want %q", language, got, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`fox -"lazy dog" "a`, "the quick brown fox", true)
	english, _ := LanguageOf("en")
	f.Fuzz(func(t *testing.T, search, text string, sensitive bool) {
		ix := &Index{Weights: map[string]float64{everyField: 1}, Language: "english", Override: "language"}
		doc := document(t, bson.D{{Key: "t", Value: text}})
		r, ok, err := NewSearch(search, english, sensitive, sensitive).Match(ix, doc, noWork{})
		if err != nil || ok && !(r.Score > 0) {
			t.Errorf("score %v, error %v", r.Score, err)
		}
	})
}
