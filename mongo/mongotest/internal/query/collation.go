package query

// Collation puts sort keys in the place of strings, so that comparing these compares the strings as the collation says.
type Collation interface {
	// Document returns a document with the sort key of each of its strings.
	Document(doc []byte) []byte
	// Filter returns a filter with the sort keys of what it compares with.
	Filter(filter []byte) ([]byte, error)
}

// ParseCollated is ParseWith for a filter that compares strings by a collation; nil for none.
func (f *Filter) ParseCollated(doc []byte, h Hooks, c Collation) error {
	if c == nil {
		return f.ParseWith(doc, h)
	}
	written := &Filter{}
	if err := written.ParseWith(doc, h); err != nil {
		return err
	}
	keyed, err := c.Filter(doc)
	if err != nil {
		return err
	}
	if err := f.ParseWith(keyed, h); err != nil {
		return err
	}
	f.collation, f.written = c, written
	return nil
}

// asWritten returns the filter with the strings that it was written with.
func (f *Filter) asWritten() *Filter {
	if f.written != nil {
		return f.written
	}
	return f
}

// Collated returns a sort order that compares strings by a collation.
func (s *Sort) Collated(c Collation) *Sort {
	if s == nil || c == nil {
		return s
	}
	return &Sort{keys: s.keys, collation: c}
}
