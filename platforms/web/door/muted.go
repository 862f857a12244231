package door

import (
	"net/http"
	"strings"
)

// muteLeaves are the addresses that change something and stay open to who is muted, whatever they may otherwise: looking, taking with
// one, taking back, leaving. What is not among them reaches others or uses what the house has. docs/people.md has the same list.
// A deed stands here by its name.
var muteLeaves = lines(`
	POST /mcp
	DELETE /mcp
	POST /chat/
	POST /chat/use/{id}
	POST /api/quote/{id}
	POST /tool/{id}/price
	POST /api/runs/{id}/cancel
	POST /run/{id}/cancel
	POST /api/missions/{id}/cancel
	POST /chains/missions/{id}/cancel
	POST /api/runs/{id}/answer
	POST /run/{id}/answer
	POST /run/{id}/unshare
	POST /run/{id}/delete
	POST /run/{id}/outputs/{n}/delete
	DELETE /api/runs/{id}
	DELETE /api/runs/{id}/outputs/{n}
	DELETE /api/conversations/{id}
	PUT /api/runs/{id}/outputs/{n}/favorite
	PUT /api/runs/{id}/outputs/{n}/rating
	POST /gallery/{id}/{n}/mark
	POST /gallery/zip
	POST /gallery/delete
	DELETE /api/keys/{id}
	POST /account/keys/{id}/revoke
	DELETE /api/webhooks/{id}
	POST /api/webhooks/{id}/disable
	POST /account/webhooks/{id}/pause
	POST /account/webhooks/{id}/remove
	DELETE /api/chains/{id}
	POST /chains/{id}/keep
	POST /chains/{id}/delete
	DELETE /api/knowledge/sources/{name}
	POST /tool/{id}/settings
	POST /tool/{id}/settings/reset
	POST /tool/{id}/presets
	POST /tool/{id}/presets/delete
	POST /account/language
	POST /account/limits
	POST /sessions/{id}/end
	POST /sessions/end-others
	POST /account/code
	POST /account/unlink
	POST /link/join
	POST /account/confirm
	POST /account/erase
	POST /account/export
	POST /api/me/export
	POST /buy/redeem
`)

func lines(text string) map[string]bool {
	list := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		list[strings.TrimSpace(line)] = true
	}
	return list
}

// unmuted refuses who is muted what a mute stops.
func (d *Door) unmuted(r *http.Request, c caller, use Use) error {
	switch {
	case safeMethod(r.Method) || c.kind == nobody || use == Public || use == Enter || use == OperatorRead || use == OperatorChange || use == Watch,
		muteLeaves[strings.Replace(r.Pattern, "{deed}", r.PathValue("deed"), 1)]:
		return nil
	}
	return d.cfg.Accounts.MayRun(r.Context(), c.account.ID)
}
