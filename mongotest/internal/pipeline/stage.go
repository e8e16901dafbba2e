package pipeline

import (
	"iter"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// stream is documents on their way through a pipeline. After an error there is nothing more.
type stream = iter.Seq2[[]byte, error]

// stage is one compiled stage. It takes no more documents than it needs: an error of a document that no one asks for is
// none.
type stage interface {
	run(r *runner, in stream) stream
}

func streamOf(docs [][]byte) stream {
	return func(yield func([]byte, error) bool) {
		for _, doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// deferred is a stream that is made when it is first asked for.
func deferred(produce func() ([][]byte, error)) stream {
	return func(yield func([]byte, error) bool) {
		docs, err := produce()
		if err != nil {
			yield(nil, err)
			return
		}
		streamOf(docs)(yield)
	}
}

func collect(in stream) ([][]byte, error) {
	var docs [][]byte
	for doc, err := range in {
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// flat applies f to each document; emit takes what becomes of it and reports whether more is wanted.
func flat(in stream, f func(doc []byte, emit func([]byte) bool) error) stream {
	return func(yield func([]byte, error) bool) {
		more := true
		var from []byte
		emit := func(doc []byte) bool {
			more = more && yield(query.KeepMeta(doc, from), nil)
			return more
		}
		for doc, err := range in {
			from = doc
			if err == nil {
				err = f(doc, emit)
			}
			if err != nil {
				if more {
					yield(nil, err)
				}
				return
			}
			if !more {
				return
			}
		}
	}
}

// perDocument is a stage that makes of each document one other, or none if it returns nil.
type perDocument func(r *runner, doc []byte) ([]byte, error)

func (f perDocument) run(r *runner, in stream) stream {
	return flat(in, func(doc []byte, emit func([]byte) bool) error {
		out, err := f(r, doc)
		if err == nil && out != nil {
			emit(out)
		}
		return err
	})
}

// blocking is a stage that takes all documents before it returns the first. It evaluates each before it takes the next, so that of two
// errors that of the earlier document is reported.
type blocking func(r *runner, in stream) ([][]byte, error)

func (f blocking) run(r *runner, in stream) stream {
	return deferred(func() ([][]byte, error) { return f(r, in) })
}

// ofAll is a blocking stage that evaluates nothing before it has all documents.
func ofAll(f func(r *runner, docs [][]byte) ([][]byte, error)) blocking {
	return func(r *runner, in stream) ([][]byte, error) {
		docs, err := collect(in)
		if err != nil {
			return nil, err
		}
		return f(r, docs)
	}
}
