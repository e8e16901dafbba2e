package pipeline

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/skip/

type skip int64

func parseSkip(_ *parser, _ string, spec Value) (stage, error) {
	n, err := parseAmount("$skip", 5107200, spec)
	return skip(n), err
}

func (s skip) run(_ *runner, in stream) stream {
	return func(yield func([]byte, error) bool) {
		left := s
		for doc, err := range in {
			if err == nil && left > 0 {
				left--
				continue
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}
