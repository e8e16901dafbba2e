package fulltext

import (
	"maps"
	"slices"
	"strings"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/text/

// Search is a compiled $search.
type Search struct {
	form
	terms    []string // sorted; a document must have one of them; in lower case and without diacritics, as the index has them
	positive []string // these words in the form in which this search compares them
	negative []string // words that a document must not have, in that form
	phrases  []string // which a document must have
	without  []string // phrases that it must not have
}

// NewSearch compiles the text of a search.
func NewSearch(search string, in *Language, caseSensitive, diacriticSensitive bool) *Search {
	s := &Search{form: form{caseSensitive, diacriticSensitive}}
	r := reader{text: search}
	r.read()
	s.terms = termsOf(r.positive.String(), in, form{})
	s.positive = termsOf(r.positive.String(), in, s.form)
	s.negative = termsOf(r.negative.String(), in, s.form)
	s.phrases, s.without = r.phrases, r.without
	for _, list := range [][]string{s.phrases, s.without} {
		for i := range list {
			list[i] = s.of(list[i])
		}
	}
	return s
}

func termsOf(sentence string, in *Language, f form) []string {
	set := make(map[string]bool)
	_ = in.words(sentence, f, false, noWork{}, func(stem string) bool {
		set[stem] = true
		return true
	})
	return slices.Sorted(maps.Keys(set))
}

// reader splits the text of a search into words, phrases in quotation marks, and those of both that a minus in front negates.
type reader struct {
	text               string
	positive, negative strings.Builder // words, with spaces between them
	phrases, without   []string

	negated  bool
	inPhrase bool
	began    int // where the phrase did
}

const spaces = " \f\v\t\r\n"

func (r *reader) read() {
	space := true // in front of what is read
	for at := r.skip(0); at < len(r.text); {
		start := at
		at++
		if r.text[start] != '-' && r.text[start] != '"' {
			for at < len(r.text) && strings.IndexByte(spaces+`-"`, r.text[at]) < 0 {
				at++
			}
		}
		r.token(start, at, space)
		next := r.skip(at)
		space, at = next > at, next
	}
}

func (r *reader) skip(at int) int {
	for at < len(r.text) && strings.IndexByte(spaces, r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) token(start, end int, space bool) {
	switch r.text[start] {
	case '-':
		if !r.inPhrase && space {
			r.negated = true
		}
	case '"':
		r.quote(start, space)
	default:
		r.word(r.text[start:end], space)
	}
}

func (r *reader) quote(at int, space bool) {
	switch {
	case !r.inPhrase:
		r.inPhrase, r.began = true, at+1
		r.negated = r.negated && !space
		return
	case r.negated:
		r.without = append(r.without, r.text[r.began:at])
	default:
		r.phrases = append(r.phrases, r.text[r.began:at])
	}
	r.inPhrase = false
}

func (r *reader) word(word string, space bool) {
	if r.inPhrase && r.negated {
		return
	}
	r.negated = r.negated && !space
	to := &r.positive
	if r.negated {
		to = &r.negative
	}
	to.WriteString(word)
	to.WriteByte(' ')
}

// Asked is what a search asks for. Terms and Negated are sorted; phrases are in the order of the text.
type Asked struct{ Terms, Negated, Phrases, Without []string }

// Asked returns what the search asks for.
func (s *Search) Asked() Asked { return Asked{s.terms, s.negative, s.phrases, s.without} }

// Result is what a search found in a document.
type Result struct {
	Score float64
	Rank  int     // the index in the search's terms of the first one that the document has
	Own   float64 // the score of that word
}

// Match reports whether a document matches.
func (s *Search) Match(ix *Index, doc []byte, w Work) (Result, bool, error) {
	terms, err := ix.Terms(doc, w)
	if err != nil {
		return Result{}, false, err
	}
	var r Result
	found := false
	for i, t := range s.terms {
		score, ok := terms[t]
		if !ok {
			continue
		}
		if !found {
			found, r.Rank, r.Own = true, i, score
		}
		r.Score += score
	}
	if !found {
		return r, false, nil
	}
	ok, err := s.holds(ix, doc, w)
	return r, ok, err
}

// holds reports whether a document that has one of the terms also meets the rest of the search: case and diacritics, negated words, phrases.
func (s *Search) holds(ix *Index, doc []byte, w Work) (bool, error) {
	sensitive := s.caseSensitive || s.diacriticSensitive
	if !sensitive && len(s.negative)+len(s.phrases)+len(s.without) == 0 {
		return true, nil
	}
	met := !sensitive
	refused := false
	phrases := make([]bool, len(s.phrases))
	err := ix.texts(doc, w, func(t text) error {
		if err := s.look(&t, w, &met, &refused); err != nil {
			return err
		}
		return s.lookForPhrases(&t, w, phrases, &refused)
	})
	return met && !refused && !slices.Contains(phrases, false), err
}

// look looks for words in one text.
func (s *Search) look(t *text, w Work, met, refused *bool) error {
	if len(s.negative) == 0 && *met {
		return nil
	}
	return t.in.words(t.value, s.form, true, w, func(stem string) bool {
		if _, ok := slices.BinarySearch(s.positive, stem); ok {
			*met = true
		}
		if _, ok := slices.BinarySearch(s.negative, stem); ok {
			*refused = true
		}
		return !*refused
	})
}

func (s *Search) lookForPhrases(t *text, w Work, found []bool, refused *bool) error {
	if len(s.phrases)+len(s.without) == 0 {
		return nil
	}
	value := s.of(t.value)
	for i, p := range s.phrases {
		if err := w.Do(1 + len(value)/256); err != nil {
			return err
		}
		found[i] = found[i] || strings.Contains(value, p)
	}
	for _, p := range s.without {
		if err := w.Do(1 + len(value)/256); err != nil {
			return err
		}
		*refused = *refused || strings.Contains(value, p)
	}
	return nil
}
