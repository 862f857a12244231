package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// everywhere is the pattern of addresses where there is nothing.
const everywhere = "/"

// serve serves the addresses of a table. One that does not say its method and what it does is an error.
func (s *Server) serve(table []door.Route) (*http.ServeMux, error) {
	mux := http.NewServeMux()
	forms := map[door.Form]func(door.Route) http.HandlerFunc{door.Open: s.open, door.Visitor: s.visitor, door.Page: s.page, door.API: s.program}
	for _, a := range table {
		form := forms[a.Form]
		switch {
		case a.Use < door.Public || a.Use > door.Watch:
			return nil, fmt.Errorf("web: the address %q does not say what it does, which decides who may come: found the Use %d", a.Pattern, a.Use)
		case !strings.Contains(a.Pattern, " /") && a.Pattern != everywhere:
			return nil, fmt.Errorf("web: the address %q does not say its method, as in %q", a.Pattern, "GET "+a.Pattern)
		case form == nil:
			return nil, fmt.Errorf("web: the address %q does not say how it answers: found the Form %d", a.Pattern, a.Form)
		}
		handler := form(a)
		if a.Pattern == everywhere {
			handler = otherMethod(mux, handler)
		}
		mux.Handle(a.Pattern, handler)
	}
	return mux, nil
}

// otherMethod tells programs by which methods an address of the API is asked where they tried another; nothing answers all other requests.
func otherMethod(mux *http.ServeMux, nothing http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var takes []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			_, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
			runs := method == http.MethodPost && strings.HasPrefix(r.URL.Path, registry.RunPrefix) // which no pattern tells
			if runs || strings.HasPrefix(r.URL.Path, "/api/") && strings.HasPrefix(pattern, method+" /api/") {
				takes = append(takes, method)
			}
		}
		if len(takes) == 0 {
			nothing(w, r)
			return
		}
		list := strings.Join(takes, ", ")
		w.Header().Set("Allow", list)
		problem.Write(w, problem.Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Detail: "This address takes " + list + ", not " + r.Method + ". GET /openapi.json describes the API."})
	}
}

// open lets everybody in.
func (s *Server) open(a door.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.Handler(w, r, users.Account{}); err != nil {
			s.render.Fail(w, r, err)
		}
	}
}

// visitor lets people in, signed in or not, bounds how often an address may try, and shows errors as pages.
func (s *Server) visitor(a door.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.door.AdmitToTry(w, r, a.Use)
		if err == nil {
			err = a.Handler(w, r, who)
		}
		if err != nil {
			s.render.FailPage(w, r, err)
		}
	}
}

// page lets callers in who may come, and leads others to the sign-in page. Where only operators may come, others are told that
// there is nothing.
func (s *Server) page(a door.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.door.AdmitToPage(w, r, a.Use)
		switch {
		case errors.Is(err, door.ErrSignedOut):
			toSignin(w, r)
			return
		case errors.Is(err, door.ErrNoOperator):
			s.render.NotFound(w, r)
			return
		case err == nil:
			err = a.Handler(w, r, who)
		}
		if err != nil {
			s.render.FailPage(w, r, err)
		}
	}
}

// toSignin leads somebody who is signed out to the sign-in page, and back afterwards.
func toSignin(w http.ResponseWriter, r *http.Request) {
	target := "/signin"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		target += "?next=" + url.QueryEscape(r.URL.RequestURI())
	} else if done := r.URL.Query().Get("done"); done != "" {
		target += "?done=" + url.QueryEscape(done)
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// program lets callers in who may come, as often as they may ask, and answers others with problem+json.
func (s *Server) program(a door.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.door.AdmitToAPI(w, r, a.Use)
		if err == nil {
			err = a.Handler(w, r, who)
		}
		if err != nil {
			problem.Fail(w, r, s.cfg.Logger, err)
		}
	}
}
