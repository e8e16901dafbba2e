package documents

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// collection is what the tests use of a collection, of either client.
type collection struct {
	insertOne  func(document any) (id any, err error)
	insertMany func(documents any) (ids []any, err error)
	find       func(batchSize int32) (cursor, error)
	findRaw    func() (bson.Raw, error)
	drop       func() error
}

// cursor is a cursor of either client.
type cursor interface {
	All(ctx context.Context, results any) error
	Next(ctx context.Context) bool
	TryNext(ctx context.Context) bool
	Decode(v any) error
	Close(ctx context.Context) error
	Err() error
}

// pair is the two clients.
type pair struct{ theirs, ours collection }

func connect(t *testing.T, o *options.ClientOptions) pair {
	t.Helper()
	o = options.MergeClientOptions(options.Client().ApplyURI(mongotest.RunReplicaSetT(t, 1).URI()), o)
	return pair{theirs: connectOfficial(t, o), ours: connectOurs(t, o)}
}

// both runs f with the official driver, then with our client, and returns the two results.
func both[T any](p pair, f func(c collection) T) (theirs, ours T) {
	return f(p.theirs), f(p.ours)
}

func connectOfficial(t *testing.T, o *options.ClientOptions) collection {
	t.Helper()
	client, err := official.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return collectionOf(client.Database("documents").Collection("c"))
}

func connectOurs(t *testing.T, o *options.ClientOptions) collection {
	t.Helper()
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return collectionOf(client.Database("documents").Collection("c"))
}

// native is a client's own collection, with that client's types of a cursor and of a single result.
type native[C cursor, S interface{ Raw() (bson.Raw, error) }] interface {
	InsertOne(context.Context, any, ...options.Lister[options.InsertOneOptions]) (*official.InsertOneResult, error)
	InsertMany(context.Context, any, ...options.Lister[options.InsertManyOptions]) (*official.InsertManyResult, error)
	Find(context.Context, any, ...options.Lister[options.FindOptions]) (C, error)
	FindOne(context.Context, any, ...options.Lister[options.FindOneOptions]) S
	Drop(context.Context, ...options.Lister[options.DropCollectionOptions]) error
}

func collectionOf[C cursor, S interface{ Raw() (bson.Raw, error) }](coll native[C, S]) collection {
	ctx := context.Background()
	return collection{
		insertOne: func(document any) (any, error) {
			r, err := coll.InsertOne(ctx, document)
			if err != nil {
				return nil, err
			}
			return r.InsertedID, nil
		},
		insertMany: func(documents any) ([]any, error) {
			r, err := coll.InsertMany(ctx, documents)
			if err != nil {
				return nil, err
			}
			return r.InsertedIDs, nil
		},
		find: func(batchSize int32) (cursor, error) {
			return coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(batchSize).SetSort(bson.D{{Key: "_id", Value: 1}}))
		},
		findRaw: func() (bson.Raw, error) { return coll.FindOne(ctx, bson.D{}).Raw() },
		drop:    func() error { return coll.Drop(ctx) },
	}
}

// numbered is a document of the tests of cursors.
type numbered struct {
	ID   int    `bson:"_id"`
	Note string `bson:"note,omitempty"`
	Sub  struct{ A, B int }
	Map  map[string]int
	List []int
}

func newNumbered(n int) numbered {
	d := numbered{ID: n}
	d.Sub.A = n
	if n%2 == 0 {
		d.Map, d.List = map[string]int{fmt.Sprint(n): n}, []int{n, n + 1}
	}
	return d
}

// dirty returns a slice with elements that have values, also beyond its length.
func dirty(length, capacity int) []numbered {
	s := make([]numbered, capacity)
	for i := range s {
		s[i] = numbered{Note: fmt.Sprint("old ", i), Map: map[string]int{"old": i}, List: []int{7, 8, 9}}
		s[i].Sub.B = i
	}
	return s[:length]
}

func pointerTo[T any](v T) *T { return &v }

func TestAllHasTheResultOfTheOfficialDriver(t *testing.T) {
	clients := connect(t, nil)
	for _, c := range []struct {
		name    string
		results func() any
	}{
		{"a nil slice", func() any { return new([]numbered) }},
		{"an empty slice", func() any { return &[]numbered{} }},
		{"a slice with elements", func() any { return pointerTo(dirty(3, 3)) }},
		{"a slice that is longer than the result", func() any { return pointerTo(dirty(9, 12)) }},
		{"a slice with values beyond its length", func() any { return pointerTo(dirty(1, 4)) }},
		{"an empty slice with values beyond its length", func() any { return pointerTo(dirty(0, 9)) }},
		{"pointers", func() any { return new([]*numbered) }},
		{"pointers that exist", func() any { return &[]*numbered{{Note: "old"}, nil, {Note: "old"}} }},
		{"a slice in an interface", func() any { return pointerTo[any](dirty(2, 3)) }},
		{"a nil slice in an interface", func() any { return pointerTo[any]([]bson.M(nil)) }},
		{"bson.D", func() any { return new([]bson.D) }},
		{"bson.M that exist", func() any { return &[]bson.M{{"old": 1}, nil} }},
		{"interfaces", func() any { return new([]any) }},
		{"interfaces with values", func() any { return &[]any{int64(1), &numbered{Note: "old"}, nil} }},
		{"raw documents", func() any { return new([]bson.Raw) }},
		{"a named slice", func() any { return new(bson.A) }},
		{"an interface that is nil", func() any { return new(any) }},
		{"an interface with a number", func() any { return pointerTo[any](1) }},
		{"an interface with a pointer to a slice", func() any { return pointerTo[any](new([]bson.D)) }},
		{"a slice of numbers", func() any { return new([]int) }},
		{"a slice of channels", func() any { return new([]chan int) }},
		{"a slice that is no pointer", func() any { return []bson.D{} }},
		{"a pointer to a struct", func() any { return new(numbered) }},
		{"a pointer to an array", func() any { return new([5]bson.D) }},
		{"a nil pointer", func() any { return (*[]bson.D)(nil) }},
		{"nil", func() any { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			theirs, ours := both(clients, func(coll collection) readResult {
				for i := range 5 {
					if _, err := coll.insertOne(newNumbered(i)); err != nil {
						t.Fatal(err)
					}
				}
				defer coll.drop()
				cursor, err := coll.find(2)
				if err != nil {
					t.Fatal(err)
				}
				results := c.results()
				err = cursor.All(nil, results) //nolint:staticcheck // both accept it
				return readResult{results, err != nil}
			})
			if !reflect.DeepEqual(theirs, ours) {
				t.Errorf("\nours   %s\ntheirs %s", ours, theirs)
			}
		})
	}
}

type readResult struct {
	results any
	failed  bool
}

func (r readResult) String() string {
	if v := reflect.ValueOf(r.results); v.Kind() == reflect.Pointer && !v.IsNil() {
		return fmt.Sprintf("%+v, failed %v", v.Elem(), r.failed)
	}
	return fmt.Sprintf("%+v, failed %v", r.results, r.failed)
}

// A program that decodes each document into the same variable gets what the official driver gives it.
func TestOneVariableForAllDocuments(t *testing.T) {
	clients := connect(t, nil)
	theirs, ours := both(clients, func(coll collection) []numbered {
		defer coll.drop()
		for i := range 5 {
			if _, err := coll.insertOne(newNumbered(i)); err != nil {
				t.Fatal(err)
			}
		}
		cursor, err := coll.find(2)
		if err != nil {
			t.Fatal(err)
		}
		var all []numbered
		var d numbered
		for cursor.Next(nil) || cursor.TryNext(nil) { //nolint:staticcheck // both accept a nil context
			if err := cursor.Decode(&d); err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		if err := errors.Join(cursor.Err(), cursor.Close(nil)); err != nil { //nolint:staticcheck // both accept a nil context
			t.Fatal(err)
		}
		return all
	})
	if len(ours) != 5 || !reflect.DeepEqual(theirs, ours) {
		t.Errorf("\nours   %+v\ntheirs %+v", ours, theirs)
	}
}

type upperID string

// The _ids have the types that the registry and the BSON options choose.
func TestInsertedIDs(t *testing.T) {
	registry := bson.NewRegistry()
	registry.RegisterTypeMapEntry(bson.TypeString, reflect.TypeFor[upperID]())
	for name, o := range map[string]*options.ClientOptions{
		"no options":       options.Client(),
		"a registry":       options.Client().SetRegistry(registry),
		"DefaultDocumentM": options.Client().SetBSONOptions(&options.BSONOptions{DefaultDocumentM: true}),
		"BinaryAsSlice":    options.Client().SetBSONOptions(&options.BSONOptions{BinaryAsSlice: true}),
		"ObjectIDAsHex":    options.Client().SetBSONOptions(&options.BSONOptions{ObjectIDAsHexString: true}),
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := both(connect(t, o), func(coll collection) []any {
				var ids []any
				for _, id := range []any{
					"x", int32(1), int64(2), 2.5,
					bson.ObjectID{1},
					[]byte("b"),
					bson.D{{Key: "a", Value: "b"}},
					time.UnixMilli(7), true,
					bson.Binary{Subtype: 4, Data: make([]byte, 16)},
					bson.Timestamp{T: 1},
					bson.NewDecimal128(1, 2),
					bson.MinKey{},
				} {
					one, err := coll.insertOne(bson.D{{Key: "a", Value: 1}, {Key: "_id", Value: id}})
					if err != nil {
						t.Fatal(err)
					}
					if err := coll.drop(); err != nil {
						t.Fatal(err)
					}
					many, err := coll.insertMany([]any{bson.M{"_id": id}})
					if err != nil {
						t.Fatal(err)
					}
					if err := coll.drop(); err != nil {
						t.Fatal(err)
					}
					ids = append(append(ids, one), many...)
				}
				return ids
			})
			if !reflect.DeepEqual(theirs, ours) {
				t.Errorf("\nours   %#v\ntheirs %#v", ours, theirs)
			}
		})
	}
}

// The tags of a struct mean the same to both.
func TestTags(t *testing.T) {
	clients := connect(t, nil)
	type inner struct {
		X int `bson:"x"`
	}
	for _, document := range []any{
		struct {
			ID     int    `bson:"_id"`
			Dash   string `bson:"-,omitempty"`
			Hidden string `bson:"-"`
		}{1, "dash", "hidden"},
		struct {
			ID    int `bson:"_id"`
			inner `bson:",inline"`
			In    inner          `bson:",inline"`
			Rest  map[string]int `bson:",inline"`
		}{ID: 1, In: inner{2}, Rest: map[string]int{"y": 3}},
		struct {
			ID    int            `bson:"_id"`
			Nil   *inner         `bson:"nil"`
			Gone  *inner         `bson:"gone,omitempty"`
			Map   map[string]int `bson:"map"`
			Slice []int          `bson:"slice"`
			Small int64          `bson:"small,minsize"`
			Zero  time.Time      `bson:"zero,omitempty"`
			Any   any            `bson:"any"`
		}{ID: 1, Small: 7},
	} {
		theirs, ours := both(clients, func(coll collection) bson.Raw {
			defer coll.drop()
			if _, err := coll.insertOne(document); err != nil {
				t.Fatal(err)
			}
			raw, err := coll.findRaw()
			if err != nil {
				t.Fatal(err)
			}
			return raw
		})
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("\nours   %v\ntheirs %v", ours, theirs)
		}
	}
}
