package explain

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/aggregation-pipeline-optimization/

// Moved returns the stages of a pipeline in the order in which they are executed: each $match and each $sort is as near to the beginning
// as it can be without another result.
func Moved(stages []query.Value) []query.Value {
	list := slices.Clone(stages)
	for i := range list {
		for at := i; at > 0 && passes(list[at], list[at-1]); at-- {
			list[at], list[at-1] = list[at-1], list[at]
		}
	}
	return list
}

// passes reports whether a stage may stand before the one in front of it.
func passes(stage, before query.Value) bool {
	name, v := stageOf(stage)
	other, spec := stageOf(before)
	switch {
	case name == "$match" && other == "$sort":
		return true
	case name == "$match" && other != "$match":
		paths, plain := filterPaths(nil, v.Data)
		return plain && leaves(other, spec, paths)
	case name == "$sort" && other == "$unwind":
		var paths []string
		for it := wire.Elements(v.Data); it.Next(); {
			paths = append(paths, string(it.Key))
		}
		return leaves(other, spec, paths)
	}
	return false
}

func stageOf(stage query.Value) (string, query.Value) {
	it := wire.Elements(stage.Data)
	it.Next()
	return string(it.Key), query.Of(it.Element)
}

// filterPaths returns the paths that a filter is about, and whether it is about nothing else.
func filterPaths(paths []string, filter []byte) ([]string, bool) {
	for it := wire.Elements(filter); it.Next(); {
		key := string(it.Key)
		switch {
		case !strings.HasPrefix(key, "$"):
			paths = append(paths, key)
		case key == "$and" || key == "$or" || key == "$nor":
			v := query.Of(it.Element)
			for _, each := range query.Elements(v.Data) {
				var plain bool
				if paths, plain = filterPaths(paths, each.Data); !plain {
					return paths, false
				}
			}
		default:
			return paths, false
		}
	}
	return paths, true
}

// leaves reports whether a stage leaves each document's values at some paths as they are.
func leaves(stage string, spec query.Value, paths []string) bool {
	switch stage {
	case "$addFields", "$set":
		return !sharedFields(spec, paths)
	case "$project":
		return keepsAll(spec, paths)
	case "$unwind":
		return !onSamePath(unwound(spec), paths)
	case "$lookup":
		as := query.Lookup(spec.Data, "as")
		return !onSamePath([]string{string(as.Text())}, paths)
	case "$redact":
		return true // what it leaves out has no match, and what it keeps is looked at again
	}
	return false
}

// unwound returns the paths that an $unwind changes.
func unwound(spec query.Value) []string {
	path, place := spec, query.Value{}
	if spec.IsDocument() {
		path, place = query.Lookup(spec.Data, "path"), query.Lookup(spec.Data, "includeArrayIndex")
	}
	list := []string{strings.TrimPrefix(string(path.Text()), "$")}
	if place.IsString() {
		list = append(list, string(place.Text()))
	}
	return list
}

func sharedFields(spec query.Value, paths []string) bool {
	var names []string
	for it := wire.Elements(spec.Data); it.Next(); {
		names = append(names, string(it.Key))
	}
	return onSamePath(names, paths)
}

// keepsAll reports whether a projection keeps some paths as they are.
func keepsAll(spec query.Value, paths []string) bool {
	inclusive := false
	for it := wire.Elements(spec.Data); it.Next(); {
		v := query.Of(it.Element)
		if !v.IsNumber() && v.Type != trueType || strings.Contains(string(it.Key), ".") {
			return false
		}
		inclusive = inclusive || v.True()
	}
	return !slices.ContainsFunc(paths, func(path string) bool {
		name, _, _ := strings.Cut(path, ".")
		v := query.Lookup(spec.Data, name)
		if v.Missing() {
			return inclusive && name != "_id"
		}
		return !v.True()
	})
}

// onSamePath reports whether one of some paths leads to, or through, one of the others.
func onSamePath(some, others []string) bool {
	return slices.ContainsFunc(some, func(a string) bool {
		return slices.ContainsFunc(others, func(b string) bool {
			return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
		})
	})
}

// GroupedBy returns the field whose values an index can give one by one to a $group, "" if that needs all documents.
func GroupedBy(stage query.Value) string {
	name, spec := stageOf(stage)
	if name != "$group" {
		return ""
	}
	key := ""
	for it := wire.Elements(spec.Data); it.Next(); {
		v := query.Of(it.Element)
		if string(it.Key) == "_id" {
			key = fieldOf(v)
			continue
		}
		if op, _ := stageOf(v); op != "$first" && op != "$last" {
			return ""
		}
	}
	return key
}

// fieldOf returns the field that an expression is, "" if it is another expression.
func fieldOf(v query.Value) string {
	path, is := strings.CutPrefix(string(v.Text()), "$")
	if !v.IsString() || !is || strings.HasPrefix(path, "$") {
		return ""
	}
	return path
}
