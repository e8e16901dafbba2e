package fulltext

import "unicode/utf8"

// Work counts steps of an evaluation; after an error the evaluation must end.
type Work interface{ Do(steps int) error }

// words calls visit with the stem of each word of a text, until it returns false. Stop words are left out unless all is true.
func (l *Language) words(text string, f form, all bool, w Work, visit func(stem string) bool) error {
	for at := 0; at < len(text); {
		start, end := l.nextWord(text, at)
		at = end
		if start == end {
			continue
		}
		if err := w.Do(1 + (end-start)/64); err != nil {
			return err
		}
		if stem := l.term(text[start:end], f, all); stem != "" && !visit(stem) {
			return nil
		}
	}
	return nil
}

// nextWord returns where the next word from a position on begins and ends.
func (l *Language) nextWord(text string, at int) (start, end int) {
	start = at
	for start < len(text) {
		r, n := utf8.DecodeRuneInString(text[start:])
		if !l.isDelimiter(r) {
			break
		}
		start += n
	}
	end = start
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if l.isDelimiter(r) {
			break
		}
		end += n
	}
	return start, end
}

// term returns a word as it is looked for, "" for a stop word that is left out. The stemmer needs the marks of letters, and it knows only small ones.
func (l *Language) term(word string, f form, all bool) string {
	folded := foldCase(word)
	if !all && l.stopWords[folded] {
		return ""
	}
	if !f.caseSensitive {
		word = folded
	}
	word = l.stem(word)
	if !f.diacriticSensitive {
		word = stripDiacritics(word)
	}
	return word
}
