package fulltext

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// https://www.mongodb.com/docs/manual/reference/text-search-languages/

// Language decides where words end, which of them are not looked for, and what their stems are.
type Language struct {
	Name       string
	apostrophe bool // belongs to a word
	stem       func(word string) string
	stopWords  map[string]bool
}

var (
	none      = &Language{Name: "none", stem: func(word string) string { return word }}
	inEnglish = &Language{Name: "english", apostrophe: true, stem: stemEnglish, stopWords: englishStopWords}
)

// others are the languages that the real server has too, with their short names.
var others = map[string]string{
	"danish": "da", "dutch": "nl", "finnish": "fi", "french": "fr", "german": "de", "hungarian": "hu", "italian": "it", "norwegian": "nb",
	"portuguese": "pt", "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv", "turkish": "tr",
}

// LanguageOf returns the language of a name. If it is nil, known reports whether the real server has it.
func LanguageOf(name string) (l *Language, known bool) {
	name = strings.ToLower(name)
	switch name {
	case "none":
		return none, true
	case "english", "en":
		return inEnglish, true
	}
	for long, short := range others {
		if name == long || name == short {
			return nil, true
		}
	}
	return nil, false
}

const (
	// A word longer than longWord is stemmed by its end alone, for the stemmer looks at a whole word again and again.
	longWord = 128
	wordEnd  = 32
	// wordStart stands for a word's start that has two syllables.
	wordStart = "babab"
)

func stemEnglish(word string) string {
	if len(word) <= longWord || !hasSyllables(word[:len(word)-wordEnd]) {
		return snowball(word)
	}
	cut := len(word) - wordEnd
	for cut > 0 && word[cut]&0xC0 == 0x80 {
		cut--
	}
	start := strings.TrimPrefix(word[:cut], "'")
	return start + strings.TrimPrefix(snowball(wordStart+word[cut:]), wordStart)
}

// hasSyllables reports whether a text has twice a vowel in front of a consonant.
func hasSyllables(text string) bool {
	found, vowel := 0, false
	for i := range len(text) {
		is := strings.IndexByte("aeiou", text[i]) >= 0
		if vowel && !is && text[i] != 'y' {
			found++
		}
		vowel = is
	}
	return found >= 2
}

func snowball(word string) string {
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}
