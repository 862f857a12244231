package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load asks one server the same thing over and over. It speaks HTTP/1.1 by hand, since a whole client would
// take more of the machine than the servers that are compared.
type load struct {
	address string // host:port
	request []byte
}

// run asks over a number of connections at a time and gives the answers per second.
func (l load) run(ctx context.Context, clients int, length time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var answers atomic.Int64
	errs := make([]error, clients)
	var wait sync.WaitGroup
	began := time.Now()
	for i := range clients {
		wait.Go(func() { errs[i] = l.client(ctx, &answers) })
	}
	wait.Wait()
	return float64(answers.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}

func (l load) client(ctx context.Context, answers *atomic.Int64) error {
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	for ctx.Err() == nil {
		if _, err := conn.Write(l.request); err != nil {
			return err
		}
		if err := skipAnswer(r); err != nil {
			return err
		}
		answers.Add(1)
	}
	return nil
}

// skipAnswer reads one answer, which must be a good one of a known length.
func skipAnswer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("the server answered %q", status)
	}
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the answer has no Content-Length")
	}
	_, err = io.CopyN(io.Discard, r, int64(length))
	return err
}

func requestFor(host, path, key string) []byte {
	request := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	if key != "" {
		request += "Authorization: Bearer " + key + "\r\n"
	}
	return []byte(request + "\r\n")
}
