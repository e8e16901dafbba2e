package fields

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Type is what the value of a field must be. Unless it says otherwise, null stands for a field that is not there.
type Type uint8

const (
	anything Type = iota // its reader looks at it, null included
	anObject
	anArray // of anything
	objects // an array of documents
	longs   // an array of integers of 64 bits
	aHint
	anUpdate
	aText
	aBool
	aLong
	exactInt  // an integer of 32 bits
	aNumber   // any; its reader gets an integer of 64 bits
	aCount    // the same, and not negative
	anInt     // any; its reader gets one of 32 bits
	aTruth    // a boolean or any number; its reader gets a boolean
	plainBool // a boolean, not null, which errors say in words of their own
	plainObject
	aBinary
	refusable // its reader refuses it, unless it is null
)

// Set is the fields of a command, or of a document in one.
type Set struct {
	name     string // as errors have it
	kinds    map[string]Type
	required []string
	lenient  bool // others are as good as none
	// numbers and truths are the types that an aNumber and an aTruth may have, in the order in which the real server lists them:
	// it differs from command to command.
	numbers, truths string
}

// general are fields that every command may have.
var general = kindsOf(map[Type]string{
	anObject: "lsid $readPreference readConcern writeConcern $clusterTime",
	aLong:    "txnNumber maxTimeMS maxTimeMSOpOnly", aBool: "autocommit startTransaction", anInt: "stmtId", objects: "stmtIds",
})

// NullIsNone reports whether a field that every command may have counts as absent if it is null.
func NullIsNone(field string) bool {
	kind, known := general[field]
	return known && !kind.takesNull()
}

// CheckGeneral refuses a field that every command may have if its value is of the wrong type.
func CheckGeneral(command string, e *wire.Element) error {
	if e.Type == bson.TypeNull && NullIsNone(string(e.Key)) {
		return nil
	}
	return (&Set{name: command, numbers: "long, int, double, decimal"}).convert(general[string(e.Key)], e)
}

// takesNull reports whether a null is a value, and not the same as no field.
func (k Type) takesNull() bool {
	return k == anything || k == plainBool || k == plainObject || k == aHint || k == anUpdate
}

// kindsOf reads the kinds of fields from lists of names.
func kindsOf(lists map[Type]string) map[string]Type {
	all := make(map[string]Type)
	for kind, names := range lists {
		for name := range strings.FieldsSeq(names) {
			all[name] = kind
		}
	}
	return all
}

// Check refuses fields that are unknown, of the wrong type or missing. It returns those that are there, each with a value of
// the type that it is read as. It writes into list.
func (s *Set) Check(list []wire.Element) ([]wire.Element, error) {
	there := list[:0]
	for _, e := range list {
		counts, err := s.one(&e)
		if err != nil {
			return nil, err
		}
		if counts {
			there = append(there, e)
		}
	}
	return there, s.complete(there)
}

// one refuses a field that is unknown or of the wrong type. Otherwise it reports whether the field counts, and gives it a value of the
// type that it is read as.
func (s *Set) one(e *wire.Element) (bool, error) {
	kind, known := s.kinds[string(e.Key)]
	switch {
	case !known && s.lenient:
		return false, nil
	case !known:
		return false, Unknown(s.name, string(e.Key))
	case e.Type == bson.TypeNull && !kind.takesNull():
		return false, nil
	}
	return true, s.convert(kind, e)
}

func (s *Set) complete(there []wire.Element) error {
	for _, name := range s.required {
		if !Has(there, name) {
			return Missing(s.name, name)
		}
	}
	return nil
}

// Document checks the fields of a document and calls read with each.
func (s *Set) Document(doc []byte, read func(e *wire.Element) error) error {
	var room [8]wire.Element
	list := room[:0]
	it := wire.Elements(doc)
	for it.Next() {
		list = append(list, it.Element)
	}
	if it.Err != nil {
		return it.Err
	}
	list, err := s.Check(list)
	for i := 0; err == nil && i < len(list); i++ {
		err = read(&list[i])
	}
	return err
}

// Each is Document for a document whose values are looked at field by field: what read refuses goes before what is wrong behind it.
func (s *Set) Each(doc []byte, read func(e *wire.Element) error) error {
	var there []wire.Element
	it := wire.Elements(doc)
	for it.Next() {
		e := it.Element
		counts, err := s.one(&e)
		if err == nil && counts {
			there = append(there, e)
			err = read(&e)
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(it.Err, s.complete(there))
}

// Has reports whether there is a field of a name.
func Has(list []wire.Element, name string) bool {
	for i := range list {
		if string(list[i].Key) == name {
			return true
		}
	}
	return false
}

// exactly are the types of the kinds that have one.
var exactly = map[Type]bson.Type{
	anObject: bson.TypeEmbeddedDocument, anArray: bson.TypeArray, aText: bson.TypeString, aBool: bson.TypeBoolean,
	aLong: bson.TypeInt64, exactInt: bson.TypeInt32, aBinary: bson.TypeBinary,
}

func (s *Set) convert(kind Type, e *wire.Element) error {
	name := string(e.Key)
	switch kind {
	case anything, refusable:
	case plainBool:
		_, err := Bool(e)
		return err
	case plainObject:
		if e.Document() == nil {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "Expected field %s to be of type object", name)
		}
	case aHint:
		if e.Type != bson.TypeString && e.Document() == nil {
			return ErrNoHint
		}
	case anUpdate:
		return CheckUpdate(query.Of(*e))
	case objects:
		return s.arrayOf(bson.TypeEmbeddedDocument, e)
	case longs:
		return s.arrayOf(bson.TypeInt64, e)
	case aNumber, aCount, anInt:
		return s.number(kind, e)
	case aTruth:
		if e.Type != bson.TypeBoolean && !query.Of(*e).IsNumber() {
			return s.notAmong(s.truths, e)
		}
		setTruth(e)
	case anObject, anArray, aText, aBool, aLong, exactInt, aBinary:
		if want := exactly[kind]; e.Type != want {
			return WrongType(s.name, name, e.Type, query.TypeName(want))
		}
	}
	return nil
}

// Bool reads an argument that is true or false.
func Bool(e *wire.Element) (bool, error) {
	if e.Type != bson.TypeBoolean {
		return false, mongoerr.Errorf(mongoerr.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", e.Key, query.TypeName(e.Type))
	}
	return e.True(), nil
}

// arrayOf refuses a value that is no array of values of a type. Nulls in it are ignored.
func (s *Set) arrayOf(want bson.Type, e *wire.Element) error {
	if e.Type != bson.TypeArray {
		return WrongType(s.name, string(e.Key), e.Type, "array")
	}
	nulls := false
	it := wire.Elements(e.Value)
	for it.Next() {
		if nulls = nulls || it.Type == bson.TypeNull; it.Type != want && it.Type != bson.TypeNull {
			return WrongType(s.name, string(e.Key)+"."+string(it.Key), it.Type, query.TypeName(want))
		}
	}
	if nulls {
		list := slices.DeleteFunc(query.Elements(e.Value), func(v query.Value) bool { return v.Type == bson.TypeNull })
		e.Value = query.Array(list).Data
	}
	return it.Err
}

func (s *Set) notAmong(types string, e *wire.Element) error {
	return mongoerr.Errorf(mongoerr.TypeMismatch,
		"BSON field '%s.%s' is the wrong type '%s', expected types '[%s]'", s.name, e.Key, query.TypeName(e.Type), types)
}

// NotNumber refuses a value that is no number, in a field that every command may have. The set of a command that is not known is
// nil.
func (s *Set) NotNumber(command string, e *wire.Element) error {
	if s == nil {
		s = &Set{name: command, numbers: "long, int, double, decimal"}
	}
	return s.notAmong(s.numbers, e)
}

// number makes an integer of any number, the nearest towards zero.
func (s *Set) number(kind Type, e *wire.Element) error {
	v := query.Of(*e)
	if !v.IsNumber() {
		return s.notAmong(s.numbers, e)
	}
	n := v.Clamped()
	if kind == anInt {
		n = max(math.MinInt32, min(n, math.MaxInt32))
	}
	if kind == aCount && n < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be >= 0, actual value '%d'", e.Key, n)
	}
	e.Type, e.Value = bson.TypeInt64, binary.LittleEndian.AppendUint64(nil, uint64(n))
	return nil
}

// Shortest writes a number as the real server does in some texts.
func Shortest(f float64) string {
	if math.IsNaN(f) {
		return "nan"
	}
	return fmt.Sprintf("%.6g", f)
}

func setTruth(e *wire.Element) {
	if e.Type == bson.TypeBoolean {
		return
	}
	value := []byte{0}
	if query.Of(*e).AsFloat64() != 0 {
		value[0] = 1
	}
	e.Type, e.Value = bson.TypeBoolean, value
}
