package fulltext

import "strings"

// occurrence is how often a word is in one text.
type occurrence struct {
	count     float64
	frequency float64 // 1 for the first time, and half as much for each further one
	next      float64
}

// Terms returns the score of each word of a document.
func (ix *Index) Terms(doc []byte, w Work) (map[string]float64, error) {
	scores := make(map[string]float64)
	err := ix.texts(doc, w, func(t text) error { return t.score(scores, w) })
	return scores, err
}

// score adds what the words of a text count: the more, the more often and the larger a part of it they are.
func (t *text) score(scores map[string]float64, w Work) error {
	found := make(map[string]*occurrence)
	total := 0.0
	err := t.in.words(t.value, form{}, false, w, func(stem string) bool {
		o := found[stem]
		if o == nil {
			o = &occurrence{next: 1}
			found[stem] = o
		}
		o.count++
		o.frequency += o.next
		o.next /= 2
		total++
		return true
	})
	for stem, o := range found {
		share := 0.5*o.count/total + 0.5
		whole := 1.0
		if len(t.value) == len(stem) && strings.EqualFold(t.value, stem) {
			whole += 0.1
		}
		scores[stem] += t.weight * o.frequency * share * whole
	}
	return err
}
