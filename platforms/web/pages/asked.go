package pages

import (
	"context"
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Asked is what the pages need of questions.Store.
type Asked interface {
	Get(ctx context.Context, id, accountID string) (questions.Question, error)
	List(ctx context.Context, accountID, before string) ([]questions.Question, error)
	Within(ctx context.Context, id string) ([]questions.Question, error)
}

// questionsPath is where an account's questions to models are listed.
const questionsPath = "/history/questions"

// QuestionPath is the page of a question: what was done for it, and what it cost.
func QuestionPath(id string) string { return questionsPath + "/" + id }

// askedPages are the pages of questions to models, for those who asked. Operators see all questions.
type askedPages struct {
	shared
	asked Asked
}

func (s *askedPages) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET "+questionsPath, door.View, s.list),
		door.ForPeople("GET "+questionsPath+"/{id}", door.View, s.page),
	}
}

type askedList struct {
	Questions []questions.Question
	More      string // the next page's address
}

// askedLength is how many questions one page shows: as many as the store gives.
const askedLength = 50

func (s *askedPages) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.asked.List(r.Context(), a.ID, r.URL.Query().Get("before"))
	if err != nil {
		return missing(err)
	}
	page := askedList{Questions: list}
	if len(list) == askedLength {
		page.More = questionsPath + "?before=" + list[len(list)-1].ID
	}
	return s.pages.Show(w, r, a, "asked", render.View{Title: s.render.Voice(r, a).Line("ask.title"), Place: "history", Data: &page})
}

// questionPage is a question with those that agents were asked for it.
type questionPage struct {
	questions.Question
	Parts  []questions.Question
	Others bool // it is somebody else's, and the reader an operator
}

func (s *askedPages) page(w http.ResponseWriter, r *http.Request, a users.Account) error {
	owner := a.ID
	if a.Operator {
		owner = ""
	}
	q, err := s.asked.Get(r.Context(), r.PathValue("id"), owner)
	if err != nil {
		return missing(err)
	}
	page := questionPage{Question: q, Others: q.AccountID != a.ID}
	if page.Parts, err = s.asked.Within(r.Context(), q.ID); err != nil {
		return err
	}
	return s.pages.Show(w, r, a, "question", render.View{Title: s.render.Voice(r, a).Line("ask.title"), Place: "history", Data: &page})
}

// missing has a question that is not there answered as a run that is not.
func missing(err error) error {
	if errors.Is(err, questions.ErrNotFound) {
		return runs.ErrNotFound
	}
	return err
}
