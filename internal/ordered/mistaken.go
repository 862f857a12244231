package ordered

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// ErrPicture is the error of Mistaken for a picture.
var ErrPicture = errors.New("this is a picture, not JSON")

// Mistaken refuses, in words that help, what people give by mistake where JSON is expected: an empty file, a web page, a picture,
// a text in UTF-16. It is nil for anything else.
func Mistaken(data []byte) error {
	data = bytes.TrimPrefix(data, []byte(mark))
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(start) == 0:
		return errors.New("the file is empty")
	case start[0] == '<':
		return errors.New("this is a web page or XML, not JSON: download the file itself, not the page that shows it")
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("the text is UTF-16: save it as UTF-8")
	case bytes.HasPrefix(data, []byte("\x89PNG")) || bytes.HasPrefix(data, []byte("RIFF")):
		return ErrPicture
	}
	return nil
}

// Int gives a value that is an integer, also one written 2.0.
func Int(v any) (n int, ok bool) {
	number, _ := v.(json.Number)
	if i, err := strconv.Atoi(string(number)); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
