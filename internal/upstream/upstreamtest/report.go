package upstreamtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Report is a webhook as a service sends it.
type Report struct {
	Address string
	ID      string // of the event: the same for every attempt
	At      time.Time
	Body    []byte
	// Sign signs a request whose body is Body; nil where the service signs nothing.
	Sign func(r *http.Request, id string, at time.Time, body []byte)

	spoil []func(*http.Request)
}

// Send sends it and gives the status of the answer.
func (p Report) Send(ctx context.Context) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Address, bytes.NewReader(p.Body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if p.Sign != nil {
		p.Sign(r, p.ID, p.At, p.Body)
	}
	for _, spoil := range p.spoil {
		spoil(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// then gives the report with something done to it after it was signed.
func (p Report) then(spoil func(*http.Request)) Report {
	p.spoil = append(p.spoil[:len(p.spoil):len(p.spoil)], spoil)
	return p
}

// Forged is what somebody sends who knows everything but the key: a wrong signature or, where the service signs nothing, a
// wrong token at the end of the address.
func (p Report) Forged() Report {
	if p.Sign == nil {
		address, err := url.Parse(p.Address)
		if err == nil {
			address.Path = flip(address.Path)
			p.Address = address.String()
		}
		return p
	}
	return p.then(func(r *http.Request) {
		for name := range r.Header {
			if strings.HasSuffix(strings.ToLower(name), "signature") {
				r.Header.Set(name, flip(r.Header.Get(name)))
			}
		}
	})
}

// flip changes a character in the last third of a text, where no padding is.
func flip(text string) string {
	at, b := len(text)-10, []byte(text)
	if at < 0 {
		return text + "A"
	}
	if b[at] == 'a' {
		b[at] = 'b'
	} else {
		b[at] = 'a'
	}
	return string(b)
}

// Aged is the report signed so long before; a negative age is in the future.
func (p Report) Aged(age time.Duration) Report {
	p.At = p.At.Add(-age)
	return p
}

// Truncated is the report of which half arrives.
func (p Report) Truncated() Report {
	return p.then(func(r *http.Request) { replaceBody(r, p.Body[:len(p.Body)/2]) })
}

// Respaced is the report as somebody on its way wrote it anew, after it was signed.
func (p Report) Respaced() Report {
	return p.then(func(r *http.Request) { replaceBody(r, Spread(p.Body)) })
}

// Spaced is the report as a service writes it that loves white space.
func (p Report) Spaced() Report {
	p.Body = Spread(p.Body)
	return p
}

// Chatty is the report with members that nobody has heard of.
func (p Report) Chatty() Report {
	p.Body = Enrich(p.Body)
	return p
}

// Huge is the report with so many bytes of white space before it.
func (p Report) Huge(size int) Report {
	p.Body = append(bytes.Repeat([]byte(" "), size), p.Body...)
	return p
}

// Named is the report of another event.
func (p Report) Named(id string) Report {
	p.ID = id
	return p
}

func replaceBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = nil
}
