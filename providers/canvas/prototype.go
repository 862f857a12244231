package canvas

import (
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// prototypes say what a click leads to.
func prototypes() []operation {
	common := "shapeId! trigger! delay "
	list := []operation{
		{id: "add-navigate-to-interaction", name: "addNavigateToInteraction", title: "Lead to a board", inputs: common + "destinationBoardId! preserveScrollPosition animation", run: interact(scene.NavigateTo),
			description: "Lets a shape lead to another board in a prototype. Use it for buttons and links."},
		{id: "add-close-overlay-interaction", name: "addCloseOverlayInteraction", title: "Close an overlay", inputs: common + "destinationBoardId animation", run: interact(scene.CloseOverlay),
			description: "Lets a shape close an overlay in a prototype. Use it for the close button of a dialogue."},
		{id: "add-previous-screen-interaction", name: "addPreviousScreenInteraction", title: "Lead back", inputs: common, run: interact(scene.PreviousScreen),
			description: "Lets a shape lead back to the screen before in a prototype. Use it for back buttons."},
		{id: "add-open-url-interaction", name: "addOpenUrlInteraction", title: "Open an address", inputs: common + "url!", run: interact(scene.OpenURL),
			description: "Lets a shape open a web address in a prototype. Use it for links that leave the design."},
		{id: "add-open-overlay-interaction", name: "addOpenOverlayInteraction", title: "Open an overlay", inputs: common + "destinationBoardId! animation", run: interact(scene.OpenOverlay), switched: true,
			description: "Lets a shape open a board over the present one in a prototype. Use it for dialogues. Penpot's plugin API has a defect here."},
		{id: "add-toggle-overlay-interaction", name: "addToggleOverlayInteraction", title: "Toggle an overlay", inputs: common + "destinationBoardId! animation", run: interact(scene.ToggleOverlay), switched: true,
			description: "Lets a shape open or close a board over the present one in a prototype. Use it for menus. Penpot's plugin API has a defect here."},
		{id: "create-flow", name: "createFlow", title: "Create flow", inputs: "name! boardId!", run: createFlow, description: "Lets a prototype begin at a board, by a name. Use it once the boards lead to each other."},
		{id: "remove-flow", name: "removeFlow", title: "Remove flow", inputs: "flowName!", run: removeFlow, description: "Takes a prototype's beginning away, by its name. Use it to tidy up; the boards stay."},
	}
	for i := range list {
		list[i].kind, list[i].failure = drawing, "Failed to add interaction"
	}
	list[6].failure, list[7].failure = "Failed to create flow", "Failed to remove flow"
	return list
}

func interact(action string) func(*turn) (reply, error) {
	return func(t *turn) (reply, error) {
		in, err := read[struct {
			ShapeID string `json:"shapeId"`
			scene.Interaction
		}](t)
		if err != nil {
			return reply{}, err
		}
		in.Action = action
		_, delay := t.inputs["delay"]
		sh, err := t.scene.Interact(in.ShapeID, in.Interaction, delay)
		if err != nil {
			return reply{}, err
		}
		return t.about(sh, "%q has the interaction %s on %s", sh.Name, action, in.Trigger), nil
	}
}

func createFlow(t *turn) (reply, error) {
	in, err := read[scene.Flow](t)
	if err != nil {
		return reply{}, err
	}
	f, err := t.scene.CreateFlow(in.Name, in.Board)
	if err != nil {
		return reply{}, err
	}
	return reply{message: "Flow \"" + f.Name + "\" created", payload: map[string]any{"flow": f}}, nil
}

func removeFlow(t *turn) (reply, error) {
	in, err := read[struct {
		Name string `json:"flowName"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	return reply{message: "Flow \"" + in.Name + "\" removed", payload: map[string]any{"flowName": in.Name}}, t.scene.RemoveFlow(in.Name)
}

// tokens are the tools for design tokens.
func tokens() []operation {
	list := []operation{
		{id: "get-tokens-sets", name: "getTokensSets", title: "Token sets", reads: true, run: func(t *turn) (reply, error) {
			return reply{message: count(len(t.scene.Page.Sets), "token set"), payload: map[string]any{"sets": orEmpty(t.scene.Page.Sets)}}, nil
		}, description: "Lists the sets of design tokens with their values. Use it before tokens are applied or changed."},
		{id: "create-tokens-set", name: "createTokensSet", title: "Create token set", inputs: "name! tokens=tokenList! activate", run: createTokens, description: "Makes a set of design tokens: type, name and value of each. Use it for colours and sizes that a design shares."},
		{id: "activate-tokens-set", name: "activateTokensSet", title: "Activate token set", inputs: "setId! exclusive", run: activateTokens, description: "Makes a token set count and, with exclusive, no other. Use it to change between themes."},
		{id: "remove-tokens-set", name: "removeTokensSet", title: "Remove token set", inputs: "setId!", run: removeTokens, description: "Deletes a token set. Use it when it is not needed any more; shapes keep the values they have."},
		{id: "modify-tokens-set", name: "modifyTokensSet", title: "Modify token set", inputs: "setId! tokensToModify tokensToRemove", run: modifyTokens, description: "Changes, adds and removes tokens of a set. Use it to adjust values by their names."},
		{id: "apply-tokens", name: "applyTokens", title: "Apply tokens", inputs: "shapeIds! assignments!", run: applyTokens, description: "Gives shapes the values of tokens, such as fill, width or font-size. Use it to style shapes alike."},
	}
	for i := range list {
		list[i].kind, list[i].failure = drawing, "Failed to change tokens"
	}
	list[0].kind = function
	return list
}

func createTokens(t *turn) (reply, error) {
	in, err := read[struct {
		Name     string        `json:"name"`
		Tokens   []scene.Token `json:"tokens"`
		Activate *bool         `json:"activate"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	set, err := t.scene.CreateTokenSet(in.Name, in.Tokens, in.Activate == nil || *in.Activate)
	return aboutSet(set, "created"), err
}

func aboutSet(set scene.TokenSet, done string) reply {
	return reply{message: "Token set \"" + set.Name + "\" " + done, payload: map[string]any{"setId": set.ID, "set": set}}
}

// setInputs are those of tools for one token set.
type setInputs struct {
	ID        string              `json:"setId"`
	Exclusive bool                `json:"exclusive"`
	Modify    []scene.TokenChange `json:"tokensToModify"`
	Remove    []string            `json:"tokensToRemove"`
}

func activateTokens(t *turn) (reply, error) {
	in, err := read[setInputs](t)
	if err != nil {
		return reply{}, err
	}
	set, err := t.scene.ActivateTokenSet(in.ID, in.Exclusive)
	return aboutSet(set, "activated"), err
}

func removeTokens(t *turn) (reply, error) {
	in, err := read[setInputs](t)
	if err != nil {
		return reply{}, err
	}
	set, err := t.scene.RemoveTokenSet(in.ID)
	return aboutSet(set, "removed"), err
}

func modifyTokens(t *turn) (reply, error) {
	in, err := read[setInputs](t)
	if err != nil {
		return reply{}, err
	}
	set, err := t.scene.ModifyTokenSet(in.ID, in.Modify, in.Remove)
	return aboutSet(set, "modified"), err
}

func applyTokens(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeIDs    []string           `json:"shapeIds"`
		Assignments []scene.Assignment `json:"assignments"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	shapes, err := t.scene.ApplyTokens(in.ShapeIDs, in.Assignments)
	if err != nil {
		return reply{}, err
	}
	return t.aboutAll(shapes, "Tokens applied to %d shapes", len(shapes)), nil
}
