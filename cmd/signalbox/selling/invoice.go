package selling

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// A page of A4 in pixels of CSS, and the lines on it.
const (
	pageWidth, pageHeight = 794, 1123
	margin, column        = 80, 200
	textSize, lineHeight  = 15, 26
	titleSize             = 30
)

// Invoice is the receipt of one of an account's payments as a PDF, in a language: the operator's lines, what was bought and paid, and the tax lines
// of that time.
func (s *Seller) Invoice(ctx context.Context, accountID, language string, number int64) ([]byte, error) {
	list, err := s.cfg.Store.List(ctx, payments.Query{AccountID: accountID, Before: number + 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].Number != number {
		return nil, payments.ErrNoPayment
	}
	customer, err := s.cfg.Users.ByID(ctx, accountID)
	if err != nil {
		return nil, err
	}
	sheet, err := newSheet(s.cfg.Fonts)
	if err == nil {
		err = s.write(sheet, list[0], language, strings.TrimSpace(customer.DisplayName))
	}
	if err != nil {
		return nil, fmt.Errorf("receipt %d: %w", number, err)
	}
	picture, err := (&draw.Drawer{Fonts: s.cfg.Fonts}).Draw(ctx, sheet.Scene, draw.Options{Board: sheet.board, Format: draw.PDF})
	return picture.Content, err
}

// write writes the lines of a receipt.
func (s *Seller) write(to *sheet, p payments.Payment, language, customer string) error {
	voice := s.cfg.Texts.Voice(language)
	lines := []line{{text: voice.Line("pay.invoice.title"), size: titleSize}, {}}
	for _, own := range s.cfg.Seller {
		lines = append(lines, line{text: own})
	}
	lines = append(lines, line{},
		line{voice.Line("pay.invoice.number"), p.Receipt(), 0},
		line{voice.Line("pay.page.date"), p.PaidAt.UTC().Format("2006-01-02"), 0},
		line{voice.Line("pay.invoice.for"), customer, 0},
		line{voice.Line("pay.invoice.way"), string(p.Source) + " " + short(p.Ref), 0}, line{},
		line{voice.Line("pay.page.what"), p.Title, 0},
		line{voice.Line("pay.page.credit"), p.Credit.String(), 0},
		line{voice.Line("pay.page.paid"), p.Price(), 0},
	)
	for tax := range strings.SplitSeq(p.Tax, "\n") {
		lines = append(lines, line{"", tax, 0})
	}
	if p.Back() > 0 {
		lines = append(lines, line{voice.Line("pay.page.back"), p.Back().String(), 0})
	}
	return to.write(lines)
}

// short is as much of a source's id as a line has room for.
func short(ref string) string { return ref[:min(len(ref), 40)] }

// line is a heading with what it is about, or a text by itself.
type line struct {
	text, value string
	size        int // 0: textSize
}

// sheet is a page that is written from top to bottom.
type sheet struct {
	*scene.Scene
	board string
}

func newSheet(fonts scene.Typesetter) (*sheet, error) {
	s := &sheet{Scene: scene.New(fonts, scene.Page{})}
	white := "#ffffff"
	board, err := s.Create(scene.Board, scene.Props{X: at(0), Y: at(0), Width: at(pageWidth), Height: at(pageHeight), Color: &white})
	if err != nil {
		return nil, err
	}
	s.board = board.ID
	return s, nil
}

func (s *sheet) write(lines []line) error {
	y := margin
	for _, l := range lines {
		height := max(lineHeight, 2*l.size)
		for i, text := range []string{l.text, l.value} {
			if text = plain.Line(text); text == "" { // a name looks like no other line
				continue
			}
			size, black := scene.Figure(max(l.size, textSize)), "#111111"
			shape, err := s.Create(scene.TextShape, scene.Props{
				X: at(margin + i*column), Y: at(y), Width: at(pageWidth - 2*margin - i*column), Text: &text, FontSize: &size, Color: &black, ParentID: &s.board,
			})
			if err != nil {
				return err
			}
			height = max(height, int(shape.Height)+lineHeight-textSize)
		}
		y += height
	}
	return nil
}

func at(n int) *float64 {
	f := float64(n)
	return &f
}

// Lines are the operator's lines, as SELLER_TEXT has them.
func Lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "|"), func(l string) bool { return strings.TrimSpace(l) == "" })
}
