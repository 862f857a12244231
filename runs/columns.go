package runs

// column is one value of each row, as the arrays are that unnest takes: one statement writes many rows.
func column[R, T any](rows []R, value func(R) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// orNull is the text, or null where it is empty.
func orNull(text []byte) *string {
	if text == nil {
		return nil
	}
	s := string(text)
	return &s
}
