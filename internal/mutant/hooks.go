package mutant

// The packages that have defects register here, when they are initialised, how to switch them on, so that they need not
// export it. Nothing is written later, so that reading needs no lock. The hooks are values of any type, because the types of
// those packages cannot be named here; the type parameter of the functions below names them.
var serverHook, clientHook any

// RegisterServer is for package mongotest's initialisation: option makes the option that gives servers their defects.
func RegisterServer[Option any](option func(Server) Option) { serverHook = option }

// ServerOption returns the option that gives servers these defects, for the functions of package mongotest that run some.
// Option is mongotest.Option: any other type panics.
func ServerOption[Option any](m Server) Option { return serverHook.(func(Server) Option)(m) }

// RegisterClient is for package mongo's initialisation: connector makes the function that connects a client with defects.
func RegisterClient[Connect any](connector func(Client) Connect) { clientHook = connector }

// ClientConnect returns a function like mongo.Connect, whose clients have these defects. Connect is the type of
// mongo.Connect: any other type panics.
func ClientConnect[Connect any](m Client) Connect { return clientHook.(func(Client) Connect)(m) }
