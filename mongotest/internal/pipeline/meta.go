package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/meta/

// searchesText reports whether a stage is a $match with a $text, whose documents come from the Source.
func searchesText(s step) bool {
	m, ok := s.stage.(*match)
	return ok && m.filter.Text() != nil
}

// searches reports whether the documents of a stage come from an index by which they are searched.
func searches(s step) bool {
	_, near := s.stage.(*geoNear)
	return near || searchesText(s)
}

// CheckMeta refuses a $meta of what no search has found out.
func (p *Pipeline) CheckMeta() error { return checkMeta(p.steps) }

func checkMeta(steps []step) error {
	text, near, matches := false, false, true
	if len(steps) > 0 {
		text = searchesText(steps[0])
		_, near = steps[0].stage.(*geoNear)
	}
	for _, s := range steps {
		if _, has := s.stage.(interface{ steps() []step }); has {
			continue // the pipelines inside are checked alone
		}
		matches = matches && (s.name == "$match" || s.name == "$sort")
		for _, name := range query.Metas(s.spec) {
			known := near
			if name == query.TextScore {
				known = text
			}
			switch {
			case known && s.name != "$match":
			case matches && s.name == "$sort":
				return because("Failed to determine whether query system can provide a DISTINCT_SCAN grouping", query.NoMeta(name))
			default:
				return query.NoMeta(name)
			}
		}
	}
	return nil
}

// checkSearches refuses a search that is not the first stage.
func checkSearches(steps []step) error {
	for i, s := range steps {
		switch {
		case i == 0 || !searches(s):
		case s.name == "$geoNear":
			s.stage.(*geoNear).misplaced = !onlyEmptyMatches(steps[:i])
		default:
			return mongoerr.Errorf(17313, "$match with $text is only allowed as the first pipeline stage")
		}
	}
	return nil
}

func onlyEmptyMatches(steps []step) bool {
	return !slices.ContainsFunc(steps, func(s step) bool { return s.name != "$match" || len(query.ObjectOf(s.spec.Data)) > 0 })
}

// failed makes an error of a search that of the command, unless the search is inside another stage or some document gave rise to the error.
func (r *runner) failed(inside bool, err error) error {
	if err != nil && !inside {
		return r.Source.Fail(err)
	}
	return err
}
