package pipeline

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// growthInputs make values of about n bytes, by the names that the growth cases give them.
var growthInputs = map[string]func(n int) Value{
	"same":    func(n int) Value { return query.Text(strings.Repeat("a", n)) },
	"letters": func(n int) Value { return query.Text(randomLetters(n)) },
	"spaces":  func(n int) Value { return query.Text(strings.Repeat(" ", n)) },
	"wide":    func(n int) Value { return query.Text(strings.Repeat("é", n/2)) },
	"cut":     func(n int) Value { return query.Text(strings.Repeat("é", n/2) + "\xc3") },
	"halfB":   func(n int) Value { return query.Text(strings.Repeat("a", n/2-1) + "b") },
	"hex":     func(n int) Value { return query.Text(strings.Repeat("0f", n/2)) },
	"base64":  func(n int) Value { return query.Text(base64.StdEncoding.EncodeToString(make([]byte, n*3/4))) },
	"digits":  func(n int) Value { return query.Text(strings.Repeat("1", n)) },
	"zeros":   func(n int) Value { return query.Text(strings.Repeat("0", n) + "1") },
	"years":   func(n int) Value { return query.Text(strings.Repeat("%Y", n/2)) },
	"percent": func(n int) Value { return query.Text(strings.Repeat("%%", n/2)) },
	"binary":  func(n int) Value { return binaryOf(make([]byte, n)) },
	"ints": func(n int) Value {
		return arrayOf(n/12, func(i int) Value { return query.Int32(int32(i * 7919 % (n/12 + 1))) })
	},
	"rising": func(n int) Value { return arrayOf(n/12, func(i int) Value { return query.Int32(int32(i)) }) },
	"doubles": func(n int) Value {
		return arrayOf(n/16, func(i int) Value { return query.Double(float64(i*7919%n) + 0.5) })
	},
	"equal": func(n int) Value { return arrayOf(n/12, func(int) Value { return query.Int32(7) }) },
	"yes":   func(n int) Value { return arrayOf(n/12, func(int) Value { return query.Int32(1) }) },
	"no":    func(n int) Value { return arrayOf(n/12, func(int) Value { return query.Int32(0) }) },
	"nulls": func(n int) Value { return arrayOf(n/8, func(int) Value { return null }) },
	"texts": func(n int) Value {
		return arrayOf(n/40, func(i int) Value { return query.Text(fmt.Sprintf("a long prefix that is equal %06d", i*7919%n)) })
	},
	"arrays": func(n int) Value {
		return arrayOf(n/32, func(i int) Value { return array([]Value{query.Int32(7), query.Int32(int32(i * 7919 % n))}) })
	},
	"documents": func(n int) Value {
		return arrayOf(n/32, func(i int) Value {
			return object{}.Set("k", query.Int32(7)).Set("v", query.Int32(int32(i*7919%n))).Document()
		})
	},
	"pairs": func(n int) Value {
		return arrayOf(n/40, func(i int) Value { return array([]Value{query.Text(fmt.Sprintf("k%d", i)), query.Int32(int32(i))}) })
	},
	"fields": func(n int) Value {
		return arrayOf(n/40, func(i int) Value {
			return object{}.Set("k", query.Text(fmt.Sprintf("k%d", i))).Set("v", query.Int32(int32(i))).Document()
		})
	},
	"singles": func(n int) Value {
		return arrayOf(n/24, func(i int) Value { return object{}.Set(fmt.Sprintf("k%d", i), query.Int32(int32(i))).Document() })
	},
	"object":    wideDocument,
	"deep":      deepDocument,
	"positions": func(n int) Value { return arrayOf(n/12, func(i int) Value { return query.Int32(int32(i)) }) },
	"more":      func(n int) Value { return arrayOf(n/12, func(i int) Value { return query.Int32(int32(n + i*7919%n)) }) },
	"half":      func(n int) Value { return query.Int32(int32(n / 192)) },
	"minusHalf": func(n int) Value { return query.Int32(-int32(n / 192)) },
	"count":     func(n int) Value { return query.Int32(int32(n / 12)) },
}

func arrayOf(n int, element func(i int) Value) Value {
	values := make([]Value, n)
	for i := range values {
		values[i] = element(i)
	}
	return array(values)
}

func binaryOf(data []byte) Value {
	n := len(data)
	return Value{Type: 5, Data: append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 0}, data...)}
}

func wideDocument(n int) Value {
	o := make(object, n/12)
	for i := range o {
		o[i] = field{Name: fmt.Sprintf("k%d", i), Value: query.Int32(int32(i))}
	}
	return o.Document()
}

// deepDocument nests documents, each of which has a part of the n bytes.
func deepDocument(n int) Value {
	const depth = 60
	v := query.Text(randomLetters(n / depth))
	for range depth {
		v = object{}.Set("s", query.Text(randomLetters(n/depth))).Set("d", v).Document()
	}
	return v
}

// manyFields returns a document of many fields with numbers in their names.
func manyFields(n int, f field) Value {
	o := make(object, n/24)
	for i := range o {
		o[i] = field{Name: strings.ReplaceAll(f.Name, "#", strconv.Itoa(i)), Value: numbered(i, f.Value)}
	}
	return o.Document()
}

// numbered returns a value with a number instead of each "#".
func numbered(i int, v Value) Value {
	switch {
	case v.IsString():
		return query.Text(strings.ReplaceAll(string(v.Text()), "#", strconv.Itoa(i)))
	case v.IsDocument():
		o := query.ObjectOf(v.Data)
		for j, f := range o {
			o[j] = field{Name: strings.ReplaceAll(f.Name, "#", strconv.Itoa(i)), Value: numbered(i, f.Value)}
		}
		return o.Document()
	case v.IsArray():
		elements := query.Elements(v.Data)
		for j, e := range elements {
			elements[j] = numbered(i, e)
		}
		return array(elements)
	}
	return v
}

func randomLetters(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + random.IntN(26))
	}
	return string(b)
}

// growthDocument returns a document with the inputs that a text names as fields.
func growthDocument(n int, text string) []byte {
	o := object{{Name: "_id", Value: query.Int32(1)}}
	for name, input := range growthInputs {
		if strings.Contains(text, "$"+name+`"`) || strings.Contains(text, `"`+name+`"`) || strings.Contains(text, `"`+name+`.`) ||
			strings.Contains(text, "$"+name+".") {
			o = append(o, field{Name: name, Value: input(n)})
		}
	}
	return o.Bytes()
}

// growthValue reads extended JSON in which a string "@name" stands for an input of n bytes.
func growthValue(t testing.TB, n int, text string) Value {
	t.Helper()
	return filledIn(n, query.Elements(parseJSON(t, "["+text+"]"))[0])
}

func filledIn(n int, v Value) Value {
	switch {
	case v.IsString() && strings.HasPrefix(string(v.Text()), "@"):
		if input, ok := growthInputs[string(v.Text())[1:]]; ok {
			return input(n)
		}
	case v.IsDocument():
		o := query.ObjectOf(v.Data)
		if len(o) == 1 && strings.Contains(o[0].Name, "#") {
			return manyFields(n, o[0])
		}
		for i := range o {
			o[i].Value = filledIn(n, o[i].Value)
		}
		return o.Document()
	case v.IsArray():
		elements := query.Elements(v.Data)
		if len(elements) == 1 && elements[0].IsDocument() {
			if each := query.Lookup(elements[0].Data, "@each"); !each.Missing() {
				return arrayOf(n/32, func(i int) Value { return numbered(i, each) })
			}
		}
		for i := range elements {
			elements[i] = filledIn(n, elements[i])
		}
		return array(elements)
	}
	return v
}
