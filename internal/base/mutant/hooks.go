package mutant

import "reflect"

// The packages that have defects register here, when they are initialised, how to switch them on, so that they need not
// export it. Nothing is written later, so that reading needs no lock. The key is the type of the defects, for example [Server]. The
// hooks are values of any type, because the types of those packages cannot be named here; the type parameter of the functions below
// names them.
var hooks = make(map[reflect.Type]any)

// RegisterServer is for the initialisation of a package of servers: option makes the option that gives servers their defects.
func RegisterServer[Defects, Option any](option func(Defects) Option) {
	hooks[reflect.TypeFor[Defects]()] = option
}

// ServerOption returns the option that gives servers these defects, for the functions that run some. Option is the type of an option
// of the package whose defects they are, for example mongotest.Option: any other type panics.
func ServerOption[Option, Defects any](m Defects) Option {
	return hooks[reflect.TypeFor[Defects]()].(func(Defects) Option)(m)
}

// RegisterClient is for the initialisation of a package of clients: connector makes the function that connects a client with defects.
func RegisterClient[Defects, Connect any](connector func(Defects) Connect) {
	hooks[reflect.TypeFor[Defects]()] = connector
}

// ClientConnect returns a function like mongo.Connect or couchbase.Open, whose clients have these defects. Connect is the type of
// that function: any other type panics.
func ClientConnect[Connect, Defects any](m Defects) Connect {
	return hooks[reflect.TypeFor[Defects]()].(func(Defects) Connect)(m)
}
