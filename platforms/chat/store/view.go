package store

import "github.com/signalbox/signalbox/users"

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
