package nodes

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// mathFunctions are what an expression can call.
var mathFunctions = map[string]func(args []any) (any, error){
	"sum":   sum,
	"min":   func(args []any) (any, error) { return extreme("min", args, -1) },
	"max":   func(args []any) (any, error) { return extreme("max", args, 1) },
	"abs":   absolute,
	"round": round,
	"pow":   func(args []any) (any, error) { return exactly("pow", 2, args, power) },
	"sqrt":  realFunc("sqrt", math.Sqrt),
	"ceil":  wholeFunc("ceil", math.Ceil),
	"floor": wholeFunc("floor", math.Floor),
	"log":   logarithm,
	"log2":  realFunc("log2", math.Log2),
	"log10": realFunc("log10", math.Log10),
	"sin":   realFunc("sin", math.Sin),
	"cos":   realFunc("cos", math.Cos),
	"tan":   realFunc("tan", math.Tan),
	"int": func(args []any) (any, error) {
		return exactly("int", 1, args, func(a []any) (any, error) { return pyval.ToInt(a[0]) })
	},
	"float": func(args []any) (any, error) {
		return exactly("float", 1, args, func(a []any) (any, error) { return pyval.ToFloat(a[0]) })
	},
}

func exactly(name string, n int, args []any, fn func([]any) (any, error)) (any, error) {
	if len(args) != n {
		return nil, node.Raise("TypeError", "%s() takes exactly %d arguments (%d given)", name, n, len(args))
	}
	return fn(args)
}

func number(v any) (float64, error) {
	f, ok := pyval.Float(v)
	if !ok {
		return 0, node.Raise("TypeError", "must be real number, not %s", pyval.TypeName(v))
	}
	return f, nil
}

// realFunc is a function of math: outside of its domain it raises.
func realFunc(name string, fn func(float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		return exactly(name, 1, args, func(a []any) (any, error) {
			x, err := number(a[0])
			if err != nil {
				return nil, err
			}
			y := fn(x)
			if math.IsNaN(y) && !math.IsNaN(x) || math.IsInf(y, 0) && !math.IsInf(x, 0) {
				return nil, node.ValueError("math domain error")
			}
			return y, nil
		})
	}
}

// wholeFunc rounds to an integer.
func wholeFunc(name string, fn func(float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		return exactly(name, 1, args, func(a []any) (any, error) {
			if f, ok := a[0].(float64); ok {
				return pyval.ToInt(fn(f))
			}
			if _, err := number(a[0]); err != nil {
				return nil, err
			}
			return pyval.ToInt(a[0])
		})
	}
}

func logarithm(args []any) (any, error) {
	if len(args) != 2 {
		return realFunc("log", math.Log)(args)
	}
	top, err := realFunc("log", math.Log)(args[:1])
	if err != nil {
		return nil, err
	}
	bottom, err := realFunc("log", math.Log)(args[1:])
	if err != nil {
		return nil, err
	}
	return arithmetic("/", top, bottom)
}

// spread gives the elements of a single list argument, else the arguments.
func spread(args []any) []any {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			return list
		}
	}
	return args
}

func sum(args []any) (total any, err error) {
	total = int64(0)
	for _, v := range spread(args) {
		if total, err = arithmetic("+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func extreme(name string, args []any, sign int) (any, error) {
	list := spread(args)
	if len(args) == 1 {
		if _, ok := args[0].([]any); !ok {
			return nil, node.Raise("TypeError", "'%s' object is not iterable", pyval.TypeName(args[0]))
		}
	}
	if len(list) == 0 {
		return nil, node.ValueError("%s() arg is an empty sequence", name)
	}
	best := list[0]
	for _, v := range list {
		if _, err := number(v); err != nil {
			return nil, err
		}
		if order, ok := pyval.Compare(v, best); ok && order == sign {
			best = v
		}
	}
	return best, nil
}

func absolute(args []any) (any, error) {
	return exactly("abs", 1, args, func(a []any) (any, error) {
		if f, ok := a[0].(float64); ok {
			return math.Abs(f), nil
		}
		n, ok := pyval.Big(a[0])
		if !ok {
			return nil, node.Raise("TypeError", "bad operand type for abs(): '%s'", pyval.TypeName(a[0]))
		}
		return pyval.Int(new(big.Int).Abs(n)), nil
	})
}

// round is Python's: halves go to the even neighbour, decimals go by the exact value of the float.
func round(args []any) (any, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, node.Raise("TypeError", "round() takes 1 or 2 arguments (%d given)", len(args))
	}
	f, isFloat := args[0].(float64)
	if !isFloat {
		if _, err := number(args[0]); err != nil {
			return nil, err
		}
	}
	if len(args) == 1 || args[1] == nil {
		if isFloat {
			f = math.RoundToEven(f)
			return pyval.ToInt(f)
		}
		return pyval.ToInt(args[0])
	}
	places, ok := pyval.Big(args[1])
	if !ok {
		return nil, node.Raise("TypeError", "'%s' object cannot be interpreted as an integer", pyval.TypeName(args[1]))
	}
	digits := int(min(max(places.Int64(), -400), 400))
	if !isFloat {
		return roundInt(args[0], digits)
	}
	return roundFloat(f, digits), nil
}

func roundFloat(f float64, digits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	if digits >= 0 {
		out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		return out
	}
	scale := math.Pow(10, float64(-digits))
	if math.IsInf(scale, 0) {
		return 0
	}
	return math.RoundToEven(f/scale) * scale
}

func roundInt(v any, digits int) (any, error) {
	n, _ := pyval.Big(v)
	if digits >= 0 {
		return pyval.Int(n), nil
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
	quotient, rest := new(big.Int).DivMod(n, unit, new(big.Int))
	if half := new(big.Int).Lsh(rest, 1).Cmp(unit); half > 0 || half == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return pyval.Int(quotient.Mul(quotient, unit)), nil
}

// power is pow(base, exponent), which the node bounds.
func power(args []any) (any, error) {
	e, err := number(args[1])
	if err != nil {
		return nil, err
	}
	if math.Abs(e) > maxExponent {
		return nil, node.ValueError("Exponent %s exceeds maximum allowed (%d)", pyval.Str(args[1]), maxExponent)
	}
	return arithmetic("**", args[0], args[1])
}

func compareValues(op string, a, b any) (bool, error) {
	switch op {
	case "==":
		return pyval.Equal(a, b), nil
	case "!=":
		return !pyval.Equal(a, b), nil
	case "in":
		return contains(a, b)
	}
	sa, isA := a.(string)
	sb, isB := b.(string)
	var order int
	var ok bool
	if isA && isB {
		order, ok = strings.Compare(sa, sb), true
	} else {
		_, numA := pyval.Float(a)
		_, numB := pyval.Float(b)
		if !numA || !numB {
			return false, node.Raise("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, pyval.TypeName(a), pyval.TypeName(b))
		}
		order, ok = pyval.Compare(a, b)
	}
	switch op {
	case "<":
		return ok && order < 0, nil
	case "<=":
		return ok && order <= 0, nil
	case ">":
		return ok && order > 0, nil
	default:
		return ok && order >= 0, nil
	}
}

func contains(a, b any) (bool, error) {
	switch b := b.(type) {
	case []any:
		for _, v := range b {
			if pyval.Equal(a, v) {
				return true, nil
			}
		}
		return false, nil
	case string:
		if s, ok := a.(string); ok {
			return strings.Contains(b, s), nil
		}
	}
	return false, node.Raise("TypeError", "argument of type '%s' is not iterable", pyval.TypeName(b))
}

// arithmetic is a binary operator on numbers, with Python's types: integers stay exact, "/" gives a float.
func arithmetic(op string, a, b any) (any, error) {
	x, intA := pyval.Big(a)
	y, intB := pyval.Big(b)
	if intA && intB {
		return integers(op, x, y)
	}
	fa, okA := pyval.Float(a)
	fb, okB := pyval.Float(b)
	if !okA || !okB {
		return nil, node.Raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, pyval.TypeName(a), pyval.TypeName(b))
	}
	if math.IsInf(fa, 0) && intA || math.IsInf(fb, 0) && intB {
		return nil, node.Raise("OverflowError", "int too large to convert to float")
	}
	return floats(op, fa, fb)
}

func integers(op string, x, y *big.Int) (any, error) {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		if x.BitLen()+y.BitLen() > maxBits {
			return nil, tooLarge()
		}
		z.Mul(x, y)
	case "//", "%":
		if y.Sign() == 0 {
			return nil, node.Raise("ZeroDivisionError", "integer division or modulo by zero")
		}
		quotient, rest := floorDivision(x, y)
		if z = quotient; op == "%" {
			z = rest
		}
	case "/":
		if y.Sign() == 0 {
			return nil, node.Raise("ZeroDivisionError", "division by zero")
		}
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		if math.IsInf(f, 0) {
			return nil, node.Raise("OverflowError", "integer division result too large for a float")
		}
		return f, nil
	case "**":
		return integerPower(x, y)
	case "&":
		z.And(x, y)
	case "|":
		z.Or(x, y)
	case "^":
		z.Xor(x, y)
	default:
		return shift(op, x, y)
	}
	return pyval.Int(z), nil
}

func tooLarge() error {
	return node.Raise("simpleeval.NumberTooHigh", "Sorry! the result of this expression is too large")
}

// floorDivision rounds the quotient down; the rest has the sign of y.
func floorDivision(x, y *big.Int) (quotient, rest *big.Int) {
	quotient, rest = new(big.Int).QuoRem(x, y, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() != y.Sign() {
		quotient.Sub(quotient, big.NewInt(1))
		rest.Add(rest, y)
	}
	return quotient, rest
}

func integerPower(x, y *big.Int) (any, error) {
	if y.Sign() < 0 {
		fx, _ := pyval.Float(pyval.Int(x))
		fy, _ := pyval.Float(pyval.Int(y))
		return floats("**", fx, fy)
	}
	if x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > maxBits || int64(x.BitLen())*y.Int64() > maxBits) {
		return nil, tooLarge()
	}
	if x.BitLen() <= 1 && y.Sign() > 0 {
		// 0, 1 and -1: only whether the exponent is odd matters, however large it is.
		y = new(big.Int).Sub(big.NewInt(2), new(big.Int).SetUint64(uint64(y.Bit(0))))
	}
	return pyval.Int(new(big.Int).Exp(x, y, nil)), nil
}

func shift(op string, x, y *big.Int) (any, error) {
	if y.Sign() < 0 {
		return nil, node.ValueError("negative shift count")
	}
	if op == ">>" {
		if !y.IsInt64() || y.Int64() > maxBits {
			return pyval.Int(new(big.Int).Rsh(x, maxBits)), nil
		}
		return pyval.Int(new(big.Int).Rsh(x, uint(y.Int64()))), nil
	}
	if !y.IsInt64() || y.Int64() > maxBits || int64(x.BitLen())+y.Int64() > maxBits {
		return nil, tooLarge()
	}
	return pyval.Int(new(big.Int).Lsh(x, uint(y.Int64()))), nil
}

func floats(op string, a, b float64) (any, error) {
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		if b == 0 {
			return nil, node.Raise("ZeroDivisionError", "division by zero")
		}
		return a / b, nil
	case "//", "%":
		return floorFloats(op, a, b)
	case "**":
		if a == 0 && b < 0 {
			return nil, node.Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
		}
		z := math.Pow(a, b)
		if math.IsNaN(z) && !math.IsNaN(a) && !math.IsNaN(b) {
			return nil, node.ValueError("the result is not a real number")
		}
		if math.IsInf(z, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return nil, node.Raise("OverflowError", "(34, 'Numerical result out of range')")
		}
		return z, nil
	}
	return nil, node.Raise("TypeError", "unsupported operand type(s) for %s: 'float' and 'float'", op)
}

func floorFloats(op string, a, b float64) (any, error) {
	if b == 0 {
		return nil, node.Raise("ZeroDivisionError", "float floor division by zero")
	}
	rest := math.Mod(a, b)
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	if op == "%" {
		if rest == 0 {
			rest = math.Copysign(0, b)
		}
		return rest, nil
	}
	return math.Round((a - rest) / b), nil
}
