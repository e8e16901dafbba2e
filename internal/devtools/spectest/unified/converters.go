package unified

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// duration reads milliseconds.
func duration(v bson.RawValue) (any, error) {
	ms, ok := wholeNumber(v)
	if !ok {
		return nil, fmt.Errorf("%v is not a number of milliseconds", v)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// collation lowers the keys, because the options' struct has no names of its own for them.
func collation(v bson.RawValue) (any, error) {
	doc, ok := v.DocumentOK()
	if !ok {
		return nil, fmt.Errorf("%v is not a collation", v)
	}
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var lowered bson.D
	for _, e := range elements {
		lowered = append(lowered, bson.E{Key: strings.ToLower(e.Key()), Value: e.Value()})
	}
	raw, err := bson.Marshal(lowered)
	if err != nil {
		return nil, err
	}
	c := new(options.Collation)
	return c, bson.Unmarshal(raw, c)
}

func returnDocument(v bson.RawValue) (any, error) {
	text, _ := v.StringValueOK()
	switch strings.ToLower(text) {
	case "before":
		return options.Before, nil
	case "after":
		return options.After, nil
	}
	return nil, fmt.Errorf("%v is neither Before nor After", v)
}

func cursorType(v bson.RawValue) (any, error) {
	text, _ := v.StringValueOK()
	switch text {
	case "nonTailable":
		return options.NonTailable, nil
	case "tailable":
		return options.Tailable, nil
	case "tailableAwait":
		return options.TailableAwait, nil
	}
	return nil, fmt.Errorf("%v is not a cursor type", v)
}

// structOf reads a document strictly into a new T.
func structOf[T any](v bson.RawValue) (T, error) {
	var t T
	doc, ok := v.DocumentOK()
	if !ok {
		return t, fmt.Errorf("%v is not a document", v)
	}
	return t, decode(doc, &t)
}

func readConcern(v bson.RawValue) (any, error) {
	c, err := structOf[struct {
		Level string `bson:"level"`
	}](v)
	return &readconcern.ReadConcern{Level: c.Level}, err
}

func writeConcern(v bson.RawValue) (any, error) {
	c, err := structOf[struct {
		W          bson.RawValue `bson:"w"`
		Journal    *bool         `bson:"journal"`
		WTimeoutMS *int64        `bson:"wtimeoutMS"`
	}](v)
	if err != nil {
		return nil, err
	}
	if c.WTimeoutMS != nil {
		return nil, errors.New("wtimeoutMS: the client has no such option")
	}
	wc := &writeconcern.WriteConcern{Journal: c.Journal}
	if n, ok := wholeNumber(c.W); ok {
		wc.W = int(n)
	} else if text, ok := c.W.StringValueOK(); ok {
		wc.W = text
	}
	return wc, nil
}

func readPreference(v bson.RawValue) (any, error) {
	p, err := structOf[struct {
		Mode                string              `bson:"mode"`
		TagSets             []map[string]string `bson:"tagSets"`
		MaxStalenessSeconds *int64              `bson:"maxStalenessSeconds"`
	}](v)
	if err != nil {
		return nil, err
	}
	mode, err := readpref.ModeFromString(p.Mode)
	if err != nil {
		return nil, err
	}
	var opts []readpref.Option
	if p.TagSets != nil {
		opts = append(opts, readpref.WithTagSets(tag.NewTagSetsFromMaps(p.TagSets)...))
	}
	if p.MaxStalenessSeconds != nil {
		opts = append(opts, readpref.WithMaxStaleness(time.Duration(*p.MaxStalenessSeconds)*time.Second))
	}
	return readpref.New(mode, opts...)
}

func transactionOptions(v bson.RawValue) (any, error) {
	opts := options.Transaction()
	return opts, setAll(opts, v)
}

func timeSeriesOptions(v bson.RawValue) (any, error) {
	opts := options.TimeSeries()
	return opts, setAll(opts, v)
}

// setAll gives every field of a document to a builder.
func setAll(builder any, v bson.RawValue) error {
	doc, ok := v.DocumentOK()
	if !ok {
		return fmt.Errorf("%v is not a document", v)
	}
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		if err := (&Runner{}).set(builder, e.Key(), e.Value()); err != nil {
			return fmt.Errorf("%s: %w", e.Key(), err)
		}
	}
	return nil
}
