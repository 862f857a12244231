// Package archive writes what a person gets of all that is kept about them: a ZIP whose parts are written as they are read, so that
// none of it is ever whole in memory.
package archive

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Writer writes one archive. It is for one goroutine.
type Writer struct {
	zip *zip.Writer
	at  time.Time
}

// New begins an archive; at is the time that its files bear.
func New(to io.Writer, at time.Time) *Writer { return &Writer{zip.NewWriter(to), at} }

// Close ends the archive, without which it can't be read. It does not close what is written to.
func (w *Writer) Close() error { return w.zip.Close() }

// Part adds what a room keeps about an account, read in a transaction that changes nothing.
type Part func(ctx context.Context, tx pgx.Tx, accountID string, to *Writer) error

// JSON adds a file with an array: an object for each row of a query, one a line, with the columns' names as keys.
func (w *Writer) JSON(ctx context.Context, tx pgx.Tx, name, query string, args ...any) error {
	file, err := w.begin(name, zip.Deflate)
	if err != nil {
		return err
	}
	separator := "[\n"
	err = each(ctx, tx, `SELECT row_to_json(r)::text FROM (`+query+`) r`, args, func(rows pgx.Rows) error {
		var row string
		if err := rows.Scan(&row); err != nil {
			return err
		}
		_, err := io.WriteString(file, separator+row)
		separator = ",\n"
		return err
	})
	if err == nil {
		_, err = io.WriteString(file, strings.TrimPrefix(separator, ",\n")+"\n]\n")
	}
	return named(err, name)
}

// CSV adds a file with a line for each row of a query, under the columns' names. All columns are text, and none is NULL. What somebody
// wrote must be no formula in a program that calculates: such texts begin with an apostrophe, which these programs hide.
func (w *Writer) CSV(ctx context.Context, tx pgx.Tx, name, query string, args ...any) error {
	file, err := w.begin(name, zip.Deflate)
	if err != nil {
		return err
	}
	out, begun := csv.NewWriter(file), false
	err = each(ctx, tx, query, args, func(rows pgx.Rows) error {
		if !begun {
			begun = true
			if err := out.Write(columnsOf(rows)); err != nil {
				return err
			}
		}
		line := make([]string, len(rows.FieldDescriptions()))
		into := make([]any, len(line))
		for i := range line {
			into[i] = &line[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, text := range line {
			if isFormula(text) {
				line[i] = "'" + text
			}
		}
		return out.Write(line)
	})
	if out.Flush(); err == nil {
		err = out.Error()
	}
	return named(err, name)
}

func isFormula(text string) bool {
	if text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil
}

// File adds what r yields. Files of people are packed already: they are stored as they are.
func (w *Writer) File(name string, r io.Reader) error {
	file, err := w.begin(name, zip.Store)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return named(err, name)
}

func (w *Writer) begin(name string, method uint16) (io.Writer, error) {
	file, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: w.at})
	return file, named(err, name)
}

func each(ctx context.Context, tx pgx.Tx, query string, args []any, do func(pgx.Rows) error) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func columnsOf(rows pgx.Rows) []string {
	var names []string
	for _, f := range rows.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

func named(err error, name string) error {
	return errs.Wrap(err, "write %s", name)
}
