package card

// Bounds of what is shown, in runes and in numbers.
const (
	maxAnswer  = 256 << 10 // bytes of an answer that is read at all
	maxCards   = 6
	maxFields  = 24
	maxItems   = 12
	maxActions = 6
	maxLine    = 200  // of titles and values
	maxLabel   = 60   // of labels
	maxText    = 1500 // of texts of several lines
	maxURL     = 2000 // bytes
	maxInputs  = 4096 // bytes of an action's inputs as JSON
)

// Kind is what a card is about.
type Kind string

// The kinds. Data is what no service meant as a card: it is shown by its members.
const (
	Data         Kind = ""
	Plain        Kind = "card"
	Receipt      Kind = "receipt"
	Confirmation Kind = "confirmation"
)

// Named reports whether people are told the kind.
func (k Kind) Named() bool { return k == Receipt || k == Confirmation }

// Answer is what a service answered.
type Answer struct {
	Cards   []Card
	Actions []Action
	Cut     bool // something was shortened or left out
}

// Card is one thing to show. Members that the service did not give are empty.
type Card struct {
	Kind      Kind
	Title     string
	Subtitle  string
	Text      string // may have several lines
	Status    string
	Reference string // such as a booking's
	Fields    []Field
	Items     []Item
	Total     string // with its currency
	Links     []Link
}

// Field is a labelled value.
type Field struct {
	Label string
	Value string // where URL is set, its host
	URL   string
}

// Item is a line of a receipt or an entry of a list.
type Item struct {
	Title    string
	Text     string
	Quantity string
	Amount   string // with its currency
	URL      string
}

// Link leads elsewhere. Its Host belongs beside the label, which is the service's word.
type Link struct {
	Label string // empty: none was given
	Host  string
	URL   string
	Image bool // it is the address of a picture
}

// Action is a follow-up that a person may start.
type Action struct {
	Label  string
	Tool   string         // id of the tool
	Inputs map[string]any // JSON values, with json.Number
	// InPlace tells that what comes of it is to be seen in place of what it stands under.
	InPlace bool
}
