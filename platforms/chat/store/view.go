package store

import "github.com/signalbox/signalbox/users"

// SiteView is what a message about the site shows: a list of things, one of them, or, without a Kind, what there is.
type SiteView struct {
	Site  string   `json:"site,omitempty"` // its slug; empty: the house's
	Kind  string   `json:"kind,omitempty"`
	Item  string   `json:"item,omitempty"`  // the key of the thing that is shown
	Items []string `json:"items,omitempty"` // keys of what the buttons mean, by number
	Page  int      `json:"page,omitempty"`  // of the list
}

// SettingsView is what a message with settings shows: a tool's inputs or, with Field, one of them.
type SettingsView struct {
	Tool     string `json:"tool,omitempty"`
	Advanced bool   `json:"advanced,omitempty"` // also the inputs marked so
	Field    string `json:"field,omitempty"`
	Page     int    `json:"page,omitempty"`   // of the choices
	Fields   int    `json:"fields,omitempty"` // page of the inputs
	// Place is the chat whose settings they are, of its admins; zero: the person's own.
	Place users.Place `json:"place,omitzero"`
}
