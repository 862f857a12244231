package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Ledger tells balances: billing.Ledger.
type Ledger interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// accountAPI is the part of the API about the caller's money and files.
type accountAPI struct {
	site   door.Site
	ledger Ledger
	points billing.Points
	media  request.Media
	links  files.Links
}

func (a *accountAPI) balance(w http.ResponseWriter, r *http.Request, who users.Account) error {
	b, err := a.ledger.Balance(r.Context(), who.ID)
	if err != nil {
		return err
	}
	body := map[string]any{"balanceNanoUsd": b.Available, "heldNanoUsd": b.Held}
	if p := a.points; p.Enabled() {
		body["points"] = pointsBody{Balance: p.Of(b.Available), Held: p.Of(b.Held), Worth: p.Worth()}
	}
	door.WriteJSON(w, http.StatusOK, body)
	return nil
}

// pointsBody is a balance in points, as decimals.
type pointsBody struct {
	Balance string `json:"balance"`
	Held    string `json:"held"`
	Worth   string `json:"usdPerPoint"`
}

// upload stores one file, sent as multipart member "file" or as the body itself.
func (a *accountAPI) upload(w http.ResponseWriter, r *http.Request, who users.Account) error {
	r.Body = http.MaxBytesReader(w, r.Body, door.MaxBody)
	content, name := r.Body, r.URL.Query().Get("name")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		file, header, err := r.FormFile("file")
		if err != nil {
			return door.TooLargeOr(err, `send the file as the form's member "file"`)
		}
		defer r.MultipartForm.RemoveAll()
		content, name = file, header.Filename
	}
	defer content.Close()
	ref, info, err := a.media.PutMedia(r.Context(), who.ID, content, name)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return door.TooLargeOr(err, "")
	}
	if err != nil {
		return err
	}
	if info.Bytes == 0 {
		return registry.Errorf(registry.CodeInvalidInput, "the file is empty")
	}
	door.WriteJSON(w, http.StatusCreated, map[string]any{"ref": ref, "url": a.site.Absolute(r, a.links.File(who.ID, ref, info.Name)), "info": info})
	return nil
}
