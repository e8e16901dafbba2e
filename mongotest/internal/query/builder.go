package query

// Builder makes a document of any number of fields. Unlike Object.Set, its Set does not take longer the more there are.
type Builder struct {
	fields Object
	at     map[string]int // nil as long as there are few
}

// Set replaces the value of a field, or adds the field at the end.
func (b *Builder) Set(name string, v Value) {
	if b.at == nil {
		if b.fields = b.fields.Set(name, v); len(b.fields) > 2*many {
			b.index()
		}
		return
	}
	i, ok := b.at[name]
	if !ok {
		i = len(b.fields)
		b.at[name] = i
		b.fields = append(b.fields, Field{Name: name})
	}
	b.fields[i].Value = v
}

func (b *Builder) index() {
	b.at = make(map[string]int, 2*len(b.fields))
	for i, f := range b.fields {
		if _, again := b.at[f.Name]; !again { // of two fields of a name, the first is the one to set
			b.at[f.Name] = i
		}
	}
}

// Add adds the fields of an object that has each name once, to a Builder without fields. It keeps the object.
func (b *Builder) Add(o Object) {
	if b.fields = o; len(o) > 2*many {
		b.index()
	}
}

// Get returns the value of a field, a Missing one if there is none.
func (b *Builder) Get(name string) Value {
	if b.at == nil {
		return b.fields.Get(name)
	}
	if i, ok := b.at[name]; ok {
		return b.fields[i].Value
	}
	return Value{}
}

// Made is Object.Made.
func (b *Builder) Made() Value { return b.fields.Made() }

// Document is Object.Document.
func (b *Builder) Document() Value { return b.fields.Document() }
