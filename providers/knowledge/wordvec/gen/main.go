// Command gen makes english.gz of a file of GloVe's, such as glove.6B.100d.txt: a word and its numbers on each line, the most frequent word
// first.
//
//	go run ./providers/knowledge/wordvec/gen glove.6B.100d.txt providers/knowledge/wordvec/english.gz
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

const words = 30_000

func main() {
	if len(os.Args) != 3 {
		log.Fatal("expected two arguments: the file of GloVe's, and the one to write")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

var isWord = regexp.MustCompile(`^[a-z]{2,20}$`)

// run takes the mean off all vectors, which brings words together that have nothing in common but that they are frequent, and
// makes them of length 1.
func run(from, to string) error {
	list, vectors, err := read(from)
	if err != nil {
		return err
	}
	mean := make([]float64, wordvec.Dimension)
	for _, v := range vectors {
		for i, x := range unit(v) {
			mean[i] += x / float64(len(vectors))
		}
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	fmt.Fprint(packed, strings.Join(list, "\n"), "\n\n")
	for _, v := range vectors {
		for i := range v {
			v[i] -= mean[i]
		}
		row := make([]byte, len(v))
		for i, x := range unit(v) {
			row[i] = byte(int8(math.Round(max(-1, min(1, 2*x)) * 127))) // hardly any number of such a vector is above 1/2
		}
		if _, err := packed.Write(row); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return out.Close()
}

// read takes the first lines whose word is one of letters.
func read(name string) (list []string, vectors [][]float64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() && len(list) < words {
		fields := strings.Fields(lines.Text())
		if len(fields) != wordvec.Dimension+1 || !isWord.MatchString(fields[0]) {
			continue
		}
		v := make([]float64, wordvec.Dimension)
		for i := range v {
			if v[i], err = strconv.ParseFloat(fields[i+1], 64); err != nil {
				return nil, nil, fmt.Errorf("the vector of %s: %w", fields[0], err)
			}
		}
		list, vectors = append(list, fields[0]), append(vectors, v)
	}
	return list, vectors, lines.Err()
}

// unit gives v the length 1, in its place.
func unit(v []float64) []float64 {
	length := 0.0
	for _, x := range v {
		length += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(length)
	}
	return v
}
