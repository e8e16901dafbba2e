package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isDelimiter reports whether a character stands between words.
func (l *Language) isDelimiter(r rune) bool {
	switch {
	case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'):
		return false
	case r == '\'':
		return !l.apostrophe
	}
	return unicode.In(r, unicode.White_Space, unicode.Pattern_Syntax, unicode.Dash, unicode.Hyphen, unicode.Quotation_Mark, unicode.Terminal_Punctuation)
}

// foldCase returns a text whose letters have no case.
func foldCase(text string) string { return strings.Map(foldRune, text) }

func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r == 'İ' || r == 'ı': // they are others only in Turkish
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// stripDiacritics returns a text without the marks of its letters.
func stripDiacritics(text string) string {
	if isASCII(text) {
		return strings.Map(keepPlain, text)
	}
	return norm.NFC.String(strings.Map(keepPlain, norm.NFD.String(text)))
}

// keepPlain drops a character that only marks another one.
func keepPlain(r rune) rune {
	if r >= utf8.RuneSelf && unicode.Is(unicode.Diacritic, r) || r == '^' || r == '`' {
		return -1
	}
	return r
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// form says which differences between words count.
type form struct{ caseSensitive, diacriticSensitive bool }

// of returns a text without the differences that do not count.
func (f form) of(text string) string {
	if !f.caseSensitive {
		text = foldCase(text)
	}
	if !f.diacriticSensitive {
		text = stripDiacritics(text)
	}
	return text
}
