// Package fulltext finds words in the texts of documents, as a text index of version 3 has them: it splits texts into words, stems them,
// weighs them, and reads the searches of $text. All functions are pure; an Index and a Search are immutable.
//
// The stems are those of github.com/blevesearch/snowballstem.
package fulltext
