package filter

// The operators as expr calls them. Their Go types are those for which its
// virtual machine has a direct call; a *value in an interface is a pointer, for
// which nothing is allocated.

func ofOne(f func(*value) (value, bool)) func(any) any {
	return func(a any) any {
		x := a.(*value)
		v, ok := f(x)
		return x.s.put(v, ok)
	}
}

func ofTwo(f func(a, b *value) (value, bool)) func(a, b any) any {
	return func(a, b any) any {
		x, y := a.(*value), b.(*value)
		v, ok := f(x, y)
		return home(x, y).put(v, ok)
	}
}

// put keeps a result.
func (s *scratch) put(v value, ok bool) *value {
	if !ok {
		return s.fail()
	}
	r := s.result()
	*r = v
	r.s = s
	return r
}

var (
	callDecimal   = ofOne(toFloat)
	callLength    = ofOne(length)
	callAndOctets = ofTwo(andOctets)
	callCut       = func(a, b any) any {
		x := a.(*value)
		v, ok := cutAll(x, *b.(*[]slicePart))
		return x.s.put(v, ok)
	}
	callWritten = func(a, b any) any {
		x := a.(*value)
		v, ok := written(x, b.(Type))
		return x.s.put(v, ok)
	}
	callNonzero = func(a any) bool { return nonzero(a.(*value)) }
)

// calls are the operators and functions by name. Those of integers serve times,
// which are nanoseconds.
var calls = map[string]struct {
	name         string
	whole, float any
}{
	"+":        {"Add", ofTwo(addInts), ofTwo(addFloats)},
	"-":        {"Subtract", ofTwo(subtractInts), ofTwo(subtractFloats)},
	"*":        {"Multiply", ofTwo(multiplyInts), ofTwo(multiplyFloats)},
	"/":        {"Divide", ofTwo(divideInts), ofTwo(divideFloats)},
	"%":        {"Remainder", ofTwo(remainderInts), nil},
	"&":        {"And", ofTwo(andInts), nil},
	"negative": {"Negative", ofOne(negate), nil},
	"abs":      {"Absolute", ofOne(absolute), nil},
	"upper":    {"Upper", ofOne(upper), nil},
	"lower":    {"Lower", ofOne(lower), nil},
}

// operatorOf is an operator for constants.
func operatorOf(op string, t Type) func(a, b *value) (value, bool) {
	if t == TypeFloat {
		return map[string]func(a, b *value) (value, bool){"+": addFloats, "-": subtractFloats, "*": multiplyFloats, "/": divideFloats}[op]
	}
	return map[string]func(a, b *value) (value, bool){"+": addInts, "-": subtractInts, "*": multiplyInts, "/": divideInts, "%": remainderInts, "&": andInts}[op]
}
