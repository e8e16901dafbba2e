package javascript

// NewWithMemory returns an engine for whose calls the heap may grow by some bytes.
func NewWithMemory(bytes uint64) *Engine { return &Engine{memory: bytes} }
