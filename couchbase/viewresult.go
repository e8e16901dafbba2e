package couchbase

import "encoding/json"

// ViewResult is the result of a view. It must be closed, or read to its end. It is not safe for concurrent use.
type ViewResult struct {
	stream rowStream
	row    ViewRow
	err    error // of decoding a row
}

// Next reads the next row. It returns false at the end and after an error, which [ViewResult.Err] returns.
func (r *ViewResult) Next() bool {
	r.row = ViewRow{}
	if r.err != nil || !r.stream.next() {
		return false
	}
	var row struct {
		ID    string          `json:"id"`
		Key   json.RawMessage `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	if r.err = json.Unmarshal(r.stream.rows.Row(), &row); r.err != nil {
		r.stream.close()
		return false
	}
	r.row = ViewRow{ID: row.ID, key: row.Key, value: row.Value}
	return true
}

// Row returns the current row.
func (r *ViewResult) Row() ViewRow { return r.row }

// Err returns the error that ended the rows, or nil. An error of the service is a pointer to a [ViewError].
func (r *ViewResult) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.stream.err()
}

// Close ends the query if it is still under way, and returns what Err does.
func (r *ViewResult) Close() error {
	if err := r.stream.close(); r.err == nil {
		return err
	}
	return r.err
}

// MetaData returns what the result has beside its rows. It is known after the last row.
func (r *ViewResult) MetaData() (*ViewMetaData, error) {
	b, err := r.stream.metaData()
	if err != nil {
		return nil, err
	}
	var m struct {
		TotalRows uint64 `json:"total_rows"`
		Debug     any    `json:"debug_info"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	return &ViewMetaData{TotalRows: m.TotalRows, Debug: m.Debug}, nil
}

// Raw returns the result as bytes. The ViewResult cannot be used any more.
func (r *ViewResult) Raw() *ViewResultRaw { return &ViewResultRaw{r.stream.give()} }

// ViewResultRaw is a result as bytes. It must be closed, or read to its end.
type ViewResultRaw struct{ stream rowStream }

// NextBytes returns the next row, or nil at the end and after an error.
func (vrr *ViewResultRaw) NextBytes() []byte { return vrr.stream.nextBytes() }

// Err returns the error that ended the rows, or nil.
func (vrr *ViewResultRaw) Err() error { return vrr.stream.err() }

// Close ends the query if it is still under way, and returns what Err does.
func (vrr *ViewResultRaw) Close() error { return vrr.stream.close() }

// MetaData returns what the result has beside its rows, as one JSON object. It is known after the last row.
func (vrr *ViewResultRaw) MetaData() ([]byte, error) { return vrr.stream.metaData() }

// ViewMetaData is what a result has beside its rows.
type ViewMetaData struct {
	TotalRows uint64 // of the view
	Debug     any    // only with [ViewOptions.Debug]
}

// ViewRow is one row of a view.
type ViewRow struct {
	ID         string // of the document; "" for rows that were reduced
	key, value json.RawMessage
}

// Key decodes the row's key.
func (vr *ViewRow) Key(valuePtr any) error { return decodePart(vr.key, valuePtr) }

// Value decodes the row's value.
func (vr *ViewRow) Value(valuePtr any) error { return decodePart(vr.value, valuePtr) }

func decodePart(b json.RawMessage, value any) error {
	if b == nil {
		return ErrNoResult
	}
	return decode(b, value)
}
