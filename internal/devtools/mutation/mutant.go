package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// mutant is one changed line.
type mutant struct {
	source   *source
	file     *file
	function string // the declaration that it is in
	operator string
	at, end  int // the bytes that are replaced
	with     string
}

func (m *mutant) mutated() []byte {
	return slices.Concat(m.file.text[:m.at], []byte(m.with), m.file.text[m.end:])
}

// lines returns the line before and after, without the space around it.
func (m *mutant) lines() (before, after string) {
	begin, end := m.line()
	text := m.file.text
	before = string(text[begin:end])
	after = string(text[begin:m.at]) + m.with + string(text[m.end:end])
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

// line returns where the line begins and ends.
func (m *mutant) line() (begin, end int) {
	begin = bytes.LastIndexByte(m.file.text[:m.at], '\n') + 1
	end = len(m.file.text)
	if n := bytes.IndexByte(m.file.text[m.end:], '\n'); n >= 0 {
		end = m.end + n
	}
	return begin, end
}

// String returns the place and the line's difference.
func (m *mutant) String() string {
	before, after := m.lines()
	number := bytes.Count(m.file.text[:m.at], []byte{'\n'}) + 1
	return fmt.Sprintf("%s:%d (%s)\n  - %s\n  + %s", m.file.name, number, m.operator, before, after)
}

// site is a place where one operator can change the code, in one or more ways.
type site struct {
	key     string
	mutants []*mutant
}

// key names a mutant's site by the line that it is on, so that it stays the same when other lines change.
func (m *mutant) key() string {
	begin, end := m.line()
	line := string(m.file.text[begin:end])
	column := m.at - begin - (len(line) - len(strings.TrimLeft(line, "\t")))
	return strings.Join([]string{m.source.path, m.function, m.operator, strings.TrimSpace(line), fmt.Sprint(column)}, "\x00")
}

// sitesOf returns every site of packages, in the order of the files.
func sitesOf(sources []*source) []site {
	var all []site
	for _, s := range sources {
		all = append(all, s.sites()...)
	}
	return all
}

// sites returns every site of a package. Of sites with the same key the later ones get a number.
func (s *source) sites() []site {
	var all []site
	seen := map[string]int{}
	for _, f := range s.files {
		for _, mutants := range fileMutants(s, f) {
			key := mutants[0].key()
			seen[key]++
			all = append(all, site{key: fmt.Sprintf("%s\x00%d", key, seen[key]), mutants: mutants})
		}
	}
	return all
}

// draw returns one mutant of each site, in the order in which the seed draws them. The place of a site depends on its own
// key only: as long as a line does not change, the same seed draws it.
func draw(all []site, o options) []*mutant {
	type ranked struct {
		rank   uint64
		mutant *mutant
	}
	var order []ranked
	for _, s := range all {
		rank := hash(o.seed, s.key)
		order = append(order, ranked{rank, s.mutants[rank%uint64(len(s.mutants))]})
	}
	slices.SortFunc(order, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	drawn := make([]*mutant, len(order))
	for i, o := range order {
		drawn[i] = o.mutant
	}
	return drawn
}

func hash(seed uint64, key string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, key))
	return binary.BigEndian.Uint64(sum[:])
}
