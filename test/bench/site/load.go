package main

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// load asks for an address for a second, eight at a time, and gives how often and how long.
func load(address string) (int64, time.Duration, error) {
	const visitors, lasts = 8, time.Second
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: visitors}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	var group errgroup.Group
	began := time.Now()
	for range visitors {
		group.Go(func() error {
			for time.Since(began) < lasts {
				if err := visit(client, address); err != nil {
					return err
				}
				n.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	return n.Load(), time.Since(began), err
}

func visit(client *http.Client, address string) error {
	res, err := client.Get(address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, res.Status)
	}
	return nil
}
