package runs

import "time"

// columns turns rows into the arrays that unnest takes, one for each column, so that one statement writes
// many rows.
type columns struct{ lists []list }

// list is one column.
type list interface {
	add(value any)
	array() any
}

type listOf[T any] struct{ values []T }

func (l *listOf[T]) add(value any) { l.values = append(l.values, value.(T)) }
func (l *listOf[T]) array() any    { return l.values }

// add adds a row. Every row has the same types in the same order, as the first one tells.
func (c *columns) add(row ...any) {
	if c.lists == nil {
		for _, value := range row {
			c.lists = append(c.lists, listFor(value))
		}
	}
	for i, value := range row {
		c.lists[i].add(value)
	}
}

func listFor(value any) list {
	switch value.(type) {
	case string:
		return &listOf[string]{}
	case bool:
		return &listOf[bool]{}
	case int64:
		return &listOf[int64]{}
	case time.Time:
		return &listOf[time.Time]{}
	case []byte:
		return &listOf[[]byte]{}
	case *string:
		return &listOf[*string]{}
	}
	return &listOf[*time.Time]{}
}

// args gives the arrays.
func (c *columns) args() []any {
	args := make([]any, len(c.lists))
	for i, l := range c.lists {
		args[i] = l.array()
	}
	return args
}

// orNull is the text, or null where it is empty.
func orNull(text []byte) *string {
	if text == nil {
		return nil
	}
	s := string(text)
	return &s
}
