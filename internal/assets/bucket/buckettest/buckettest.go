// Package buckettest is a strict object store: it speaks the part of S3 that package bucket needs, checks each signature
// (AWS Signature Version 4, in headers and in addresses), hashes and sizes of content, and can fail like the real ones.
package buckettest

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Store is an object store with one bucket. Make it with New.
type Store struct {
	URL *url.URL

	mu      sync.Mutex
	objects map[string][]byte
	uploads map[string]map[int][]byte
	parts   int // that were ever taken
	fault   func(r *http.Request) Fault
	t       testing.TB
}

// Fault is how a request fails.
type Fault struct {
	Status int  // answered instead, when above 0
	Cut    int  // the answer's content ends after so many bytes, when above 0
	Silent bool // nothing is answered until the client leaves
}

// New starts a Store that ends with the test.
func New(t testing.TB) *Store {
	t.Helper()
	s := &Store{objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}, t: t}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL, _ = url.Parse(server.URL)
	return s
}

// Fail has each request asked whether it fails; nil: none does.
func (s *Store) Fail(fault func(r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Names lists the objects in order.
func (s *Store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Parts is how many parts of large objects were taken.
func (s *Store) Parts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts
}

// Change replaces an object's content, as a broken disk would.
func (s *Store) Change(name string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = content
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		switch f := fault(r); {
		case f.Silent:
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		case f.Status > 0:
			io.Copy(io.Discard, r.Body)
			refuse(w, f.Status, "SlowDown", "as the test wants it")
			return
		case f.Cut > 0:
			w = &cutter{ResponseWriter: w, left: f.Cut}
		}
	}
	if err := verify(r, time.Now()); err != nil {
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", err.Error())
		return
	}
	content, err := body(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadDigest", err.Error())
		return
	}
	bucket, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != Bucket {
		refuse(w, http.StatusNotFound, "NoSuchBucket", bucket)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve(w, r, name, content)
}

// body reads a request's content and checks it by the hashes that came with it; without one it is refused.
func body(r *http.Request) ([]byte, error) {
	content, err := io.ReadAll(r.Body)
	if err != nil || len(content) == 0 {
		return content, err
	}
	checked := false
	if want := r.Header.Get("X-Amz-Content-Sha256"); len(want) == 64 {
		sum := sha256.Sum256(content)
		if hex.EncodeToString(sum[:]) != want {
			return nil, fmt.Errorf("the content's SHA-256 is not %s", want)
		}
		checked = true
	}
	if want := r.Header.Get("Content-Md5"); want != "" {
		sum := md5.Sum(content)
		if base64.StdEncoding.EncodeToString(sum[:]) != want {
			return nil, fmt.Errorf("the content's MD5 is not %s", want)
		}
		checked = true
	}
	if !checked {
		return nil, fmt.Errorf("nothing says what the content's hash is")
	}
	return content, nil
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	query := r.URL.Query()
	upload := query.Get("uploadId")
	switch {
	case name == "" && r.Method == http.MethodHead:
	case r.Method == http.MethodPost && query.Has("uploads"):
		id := strconv.Itoa(len(s.uploads) + 1)
		s.uploads[id] = map[int][]byte{}
		answer(w, struct {
			XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket, Key, UploadId string
		}{Bucket: Bucket, Key: name, UploadId: id})
	case upload != "" && s.uploads[upload] == nil:
		refuse(w, http.StatusNotFound, "NoSuchUpload", upload)
	case r.Method == http.MethodPut && upload != "":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		s.uploads[upload][n] = content
		s.parts++
		w.Header().Set("ETag", tagOf(content))
	case r.Method == http.MethodPost && upload != "":
		s.complete(w, name, upload, content)
	case r.Method == http.MethodDelete && upload != "":
		delete(s.uploads, upload)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		s.objects[name] = content
		w.Header().Set("ETag", tagOf(content))
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case s.objects[name] == nil:
		refuse(w, http.StatusNotFound, "NoSuchKey", name)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		for header, parameter := range map[string]string{
			"Content-Type": "response-content-type", "Content-Disposition": "response-content-disposition", "Cache-Control": "response-cache-control",
		} {
			if value := query.Get(parameter); value != "" {
				w.Header().Set(header, value)
			}
		}
		w.Header().Set("ETag", tagOf(s.objects[name]))
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(s.objects[name]))
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method)
	}
}

// complete makes an object of an upload's parts, which the request lists.
func (s *Store) complete(w http.ResponseWriter, name, upload string, content []byte) {
	var asked struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(content, &asked); err != nil {
		refuse(w, http.StatusBadRequest, "MalformedXML", err.Error())
		return
	}
	var whole []byte
	for i, p := range asked.Part {
		part := s.uploads[upload][p.PartNumber]
		switch {
		case part == nil || p.PartNumber != i+1 || strings.Trim(p.ETag, `"`) != strings.Trim(tagOf(part), `"`):
			refuse(w, http.StatusBadRequest, "InvalidPart", strconv.Itoa(p.PartNumber))
			return
		case len(part) < SmallestPart && i < len(asked.Part)-1:
			refuse(w, http.StatusBadRequest, "EntityTooSmall", strconv.Itoa(len(part)))
			return
		}
		whole = append(whole, part...)
	}
	delete(s.uploads, upload)
	s.objects[name] = whole
	answer(w, struct {
		XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: Bucket, Key: name, ETag: tagOf(whole)})
}

func tagOf(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: message})
}

// cutter ends the connection in the middle of an answer.
type cutter struct {
	http.ResponseWriter
	left int
}

// Write implements http.ResponseWriter.
func (c *cutter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.ResponseWriter.Write(p[:n])
	if n < len(p) {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}
