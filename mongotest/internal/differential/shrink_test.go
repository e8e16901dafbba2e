package differential

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// shrink returns a shorter history whose last command still shows a difference. tries bounds the work.
func shrink(history []bson.D, tries int, differs func([]bson.D) bool) []bson.D {
	try := func(h []bson.D) bool {
		tries--
		return tries >= 0 && differs(h)
	}
	last := history[len(history)-1]
	for _, short := range [][]bson.D{{last}, append(slices.Clone(history[:min(2, len(history)-1)]), last)} {
		if len(short) < len(history) && try(short) {
			history = short
		}
	}
	for changed := true; changed && tries > 0; {
		changed = false
		for size := len(history) / 2; size > 1; size /= 2 {
			for at := len(history) - 1 - size; at >= 0; at -= size {
				if shorter := slices.Delete(slices.Clone(history), at, at+size); try(shorter) {
					history, changed = shorter, true
				}
			}
		}
		for i := len(history) - 2; i >= 0; i-- {
			if shorter := slices.Delete(slices.Clone(history), i, i+1); try(shorter) {
				history, changed = shorter, true
			}
		}
		for i := len(history) - 1; i >= 0; i-- {
			for again := true; again; {
				again = false
				for smaller := range simpler(arguments(history[i])) {
					if !inTheSameOrder(arguments(history[i]), smaller.(bson.D)) {
						continue
					}
					next := slices.Clone(history)
					next[i] = withArguments(history[i], smaller.(bson.D))
					if try(next) {
						history, changed, again = next, true, true
						break
					}
				}
			}
		}
	}
	return history
}

// inTheSameOrder reports whether a command still says in what order it reads: without, the real server may choose any.
func inTheSameOrder(args, smaller bson.D) bool {
	count := func(d bson.D) (n int) {
		for _, e := range d {
			if e.Key == "sort" || e.Key == "hint" {
				n++
			}
		}
		return n
	}
	return count(args) == count(smaller)
}

// arguments is what of a command may be made simpler: not its name, what that is about, and the database.
func arguments(command bson.D) bson.D { return command[1 : len(command)-1] }

func withArguments(command, args bson.D) bson.D {
	return append(append(bson.D{command[0]}, args...), command[len(command)-1])
}

// simpler yields what a value may be made to: without an element, with an element's own element in its place, or with a
// simpler element.
func simpler(v any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case bson.D:
			for i := range v {
				if !yield(any(slices.Delete(slices.Clone(v), i, i+1))) {
					return
				}
			}
			for i := range v {
				for inner := range replacements(v[i].Value) {
					next := slices.Clone(v)
					next[i].Value = inner
					if !yield(any(next)) {
						return
					}
				}
			}
		case bson.A:
			for i := range v {
				if !yield(any(slices.Delete(slices.Clone(v), i, i+1))) {
					return
				}
			}
			for i := range v {
				for inner := range replacements(v[i]) {
					next := slices.Clone(v)
					next[i] = inner
					if !yield(any(next)) {
						return
					}
				}
			}
		}
	}
}

// replacements yields simpler values for one inside another: what it holds, and what simpler makes of it.
func replacements(v any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		var inside []any
		switch v := v.(type) {
		case bson.D:
			for _, e := range v {
				inside = append(inside, e.Value)
			}
		case bson.A:
			inside = append(inside, v...)
		case int32:
			if v != 0 && v != 1 {
				inside = append(inside, int32(1))
			}
		default:
			return
		}
		for _, each := range inside {
			if !yield(each) {
				return
			}
		}
		simpler(v)(yield)
	}
}
