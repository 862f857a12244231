package httptools

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/providers/httptools/formula"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

// checker gathers what is wrong with a spec.
type checker struct {
	spec  spec
	tool  registry.Tool
	wrong []error
}

func (c *checker) bad(field, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf("http.%s: %s", field, fmt.Sprintf(format, args...)))
}

// check tells everything that is wrong with a spec, but for secrets that are not set.
func (s spec) check(tool registry.Tool) []error {
	c := &checker{spec: s, tool: tool}
	c.service()
	if strategy := c.strategy(); strategy {
		c.outputs()
		c.costing()
		c.requests()
		c.tables()
		c.prices()
	}
	return c.wrong
}

// service checks where the service is and what it gets.
func (c *checker) service() {
	s := c.spec
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		c.bad("baseURL", "is %q; expected an http or https address", s.BaseURL)
	}
	for _, host := range s.Hosts {
		name := strings.TrimPrefix(host, "*.")
		if u, err := url.Parse("https://" + name); err != nil || u.Host != name || strings.Contains(name, "*") || !strings.Contains(name, ".") {
			c.bad("hosts", "has %q; expected hosts like eu.clouds.example or *.clouds.example", host)
		}
	}
	if s.Media != "" && s.Media != "data" && s.Media != "url" && s.Media != "base64" {
		c.bad("media", "is %q; expected data, url or base64", s.Media)
	}
	if s.ResultEncoding != "" && s.ResultEncoding != "hex" && s.ResultEncoding != "base64" {
		c.bad("resultEncoding", "is %q; expected base64 or hex", s.ResultEncoding)
	}
	for _, name := range s.variables() {
		set := func(string) (string, bool) { return "set", true }
		if _, err := readSecret(name, set); err != nil {
			c.bad("headers, query, jwt or a body", "%v", err)
		}
	}
	if s.Callback != nil {
		if err := s.Callback.checkScheme(); err != nil {
			c.bad("callback", "%v", err)
		}
	}
	if s.JWT != nil && (s.JWT.Issuer == "" || s.JWT.Secret == "" || s.JWT.Minutes < 0) {
		c.bad("jwt", "needs issuer and secret, such as ${CLOUDS_ACCESS_KEY} and ${CLOUDS_SECRET_KEY}")
	}
}

// strategy checks that answers can be read; false: what follows from it can't be judged.
func (c *checker) strategy() bool {
	s, w, waits := c.spec, c.tool.WebhookStrategy, c.spec.waits(c.tool)
	if s.Poll != nil && (w == nil || len(w.IDPath) == 0) {
		c.bad("poll", "needs tool.webhookStrategy with idPath: where submit's answer has the id to ask for")
	} else if waits && w == nil {
		c.bad("submit", "has {{run.callback}}, which needs tool.webhookStrategy: how what is called back is read")
	}
	if s.Result != nil && w == nil {
		c.bad("result", "needs tool.webhookStrategy: how its answer is read")
	}
	if waits && w == nil {
		return false
	}
	if s.Cancel != nil && !waits {
		c.bad("cancel", "needs poll, or {{run.callback}} in submit: a tool that answers at once can't be cancelled")
	}
	if s.Cancel != nil && s.Poll == nil && waits && len(w.IDPath) == 0 && slices.Contains(s.Cancel.names(), "task.id") {
		c.bad("cancel", "needs tool.webhookStrategy with idPath: where submit's answer has the id of the run")
	}
	return true
}

func (c *checker) outputs() {
	for _, out := range c.tool.OutputSchema {
		if _, err := registry.ParseSchema(out.Schema); out.Schema != nil && err != nil {
			c.wrong = append(c.wrong, fmt.Errorf("tool.outputSchema.%s.schema: %w", out.Name, err))
		}
	}
	if len(c.tool.OutputSchema) == 0 {
		c.wrong = append(c.wrong, errors.New("tool.outputSchema: name the result, for example image: {type: image}"))
	}
}

func (c *checker) costing() {
	model := c.tool.CostingModel
	if model != nil && model.RateSource != registry.RateAPI {
		if model.Unit == registry.UnitToken {
			c.wrong = append(c.wrong, errors.New("tool.costingModel.unit: token can't be counted here; price it by request, or by what the service says with rateSource api and costPath"))
		}
		if model.Unit == registry.UnitSecond && c.spec.waits(c.tool) && !c.tool.WebhookStrategy.DurationTracking {
			c.wrong = append(c.wrong, errors.New("tool.costingModel.unit: second needs durationTracking: true in tool.webhookStrategy, or every run is free"))
		}
	}
	if c.spec.USDPerCost != "" {
		if rate, err := decimal.Parse(c.spec.USDPerCost); err != nil || rate.Sign() < 0 {
			c.bad("usdPerCost", "is %q; expected US dollars like 0.005", c.spec.USDPerCost)
		}
	}
	if c.spec.Price != nil && (model == nil || model.RateSource != registry.RateAPI) {
		c.bad("price", "needs tool.costingModel with rateSource: api, and the usual price as its rate")
	}
}

// requests checks each request, and looks for placeholders that stand for nothing.
func (c *checker) requests() {
	always := []string{"run.id", "run.handle", "run.callback", "item", "index"}
	later := append(slices.Clone(always), "task.id", "submitted")
	s := c.spec
	c.request("submit", &s.Submit, always)
	c.request("poll", s.Poll, later)
	c.request("cancel", s.Cancel, later)
	c.request("result", s.Result, append(slices.Clone(later), "polled"))
	if s.Upload == nil {
		return
	}
	during := append(slices.Clone(always), "file", "uploaded")
	for i := range s.Upload.Steps {
		c.request(fmt.Sprintf("upload.steps[%d]", i), &s.Upload.Steps[i], during)
	}
	c.placeholders("upload.as", request{Path: s.Upload.As}.names(), during)
	for _, name := range s.Upload.Inputs {
		if f, known := c.tool.InputSchema.Get(name); !known || !f.Type.IsMedia() {
			c.bad("upload.inputs", "%s is no input of the tool that is a file", name)
		}
	}
	if len(s.Upload.Inputs) == 0 || len(s.Upload.Steps) == 0 || s.Upload.As == "" {
		c.bad("upload", "needs inputs, steps, and as: what stands for a file in submit")
	}
}

func (c *checker) request(name string, r *request, known []string) {
	if r == nil {
		return
	}
	if !strings.HasPrefix(r.Path, "/") && r.Path != "" {
		c.bad(name+".path", "is %q; expected a path that begins with /", r.Path)
	}
	if r.Path != "" && r.URL != "" || r.Form && r.Multipart {
		c.bad(name, "has both path and url, or both form and multipart; expected one of them")
	}
	if r.EverySeconds < 0 || r.EverySeconds > 0 && name != "poll" {
		c.bad(name+".everySeconds", "is for poll, and not negative")
	}
	for _, found := range refs(r.text()) {
		if len(found.keys) > 0 && c.spec.Tables[found.name] == nil {
			c.bad(name, "{{%s[...]}} is none of http.tables", found.name)
		}
		forms := []string{"", "text", "path", "data", "base64", "mime", "url"}
		if r.Multipart {
			forms = append(forms, "file")
		}
		if !slices.Contains(forms, found.form) {
			c.bad(name, "{{%s|%s}}: expected one of the forms%s", found.name, found.form, strings.Join(forms, " "))
		}
	}
	c.placeholders(name, r.names(), known)
}

// placeholders looks for names that are neither inputs nor among the known ones, whose parts they may be.
func (c *checker) placeholders(at string, names, known []string) {
	for _, name := range names {
		_, input := base(c.tool.InputSchema, name)
		if !input && !slices.ContainsFunc(known, func(k string) bool { return name == k || strings.HasPrefix(name, k+".") }) {
			c.bad(at, "{{%s}} is no input of the tool", name)
		}
	}
}

func (c *checker) tables() {
	for name, rows := range c.spec.Tables {
		if len(rows) == 0 {
			c.bad("tables."+name, "has no rows")
		}
	}
}

func (c *checker) prices() {
	for name, text := range c.spec.Most {
		if f, known := c.tool.InputSchema.Get(name); !known || !f.Multiple {
			c.bad("most", "%s is no input of the tool that takes several", name)
		}
		c.formula("most", text, nil)
	}
	p := c.spec.Price
	if p == nil {
		return
	}
	if p.AsOf == "" || p.USD == "" {
		c.bad("price", "needs asOf, the date of its figures, and usd, what a run costs")
	}
	if f, known := c.tool.InputSchema.Get(p.Results); p.Results != "" && (!known || f.Type != registry.TypeNumber) {
		c.bad("price.results", "%s is no input of the tool that is a number", p.Results)
	}
	if (p.Charge == "") != (len(p.Answer) == 0) {
		c.bad("price", "charge and answer go together: the formula, and where an answer has its names")
	}
	c.formula("price.usd", p.USD, nil)
	if p.Charge != "" {
		c.formula("price.charge", p.Charge, p.Answer)
	}
}

func (c *checker) formula(at, text string, answer map[string][]string) {
	f, err := formula.Parse(text)
	if err != nil {
		c.bad(at, "%v", err)
		return
	}
	for _, use := range f.Uses() {
		names := use.Args
		switch {
		case use.IsTable && c.spec.Tables[use.Name] == nil:
			c.bad(at, "%s is none of http.tables", use.Name)
		case len(use.Args) == 0:
			names = []string{use.Name}
		case !use.IsTable && !slices.Contains([]string{"characters 1", "count 1", "pixels 1", "pixels 2"}, fmt.Sprint(use.Name, " ", len(use.Args))):
			c.bad(at, "%s is none of ceil, floor, min, max, characters(input), count(input), pixels(input), pixels(width, height)", use)
		}
		for _, name := range names {
			_, input := base(c.tool.InputSchema, name)
			if _, answered := answer[name]; !input && !answered {
				c.bad(at, "%s is no input of the tool", name)
			}
		}
	}
}

// warnings are about files that can be read, but may not do what was meant.
func (s spec) warnings(tool registry.Tool) []string {
	const taken = "the answer to submit is taken as the result"
	switch w := tool.WebhookStrategy; {
	case s.waits(tool):
	case s.Submit.callsBack():
		return []string{"http.submit: has {{run.callback}}, but what is called back is not read without tool.webhookStrategy: " + taken}
	case w != nil && w.DefaultStatus != w.SuccessValue && s.Result == nil:
		return []string{"http: has neither poll nor {{run.callback}} in submit: " + taken + ", and a run that goes on after it is never heard of again"}
	}
	return nil
}

// Check reads one file and tells everything that is wrong with it, and what may be, for people who write such files.
func Check(path string) (tools []registry.Tool, warnings []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	list, err := parse(filepath.Base(path), data)
	for _, d := range list {
		tools = append(tools, d.tool)
		if err == nil {
			err = d.spec.unset(os.LookupEnv)
		}
	}
	if err != nil {
		return tools, nil, err
	}
	for _, d := range list {
		warnings = append(warnings, d.spec.warnings(d.tool)...)
		warnings = append(warnings, d.tryExample()...)
	}
	return tools, warnings, nil
}

// unset names the secrets that a spec takes and that are not there.
func (s spec) unset(lookup func(string) (string, bool)) error {
	var missing []error
	for _, name := range s.variables() {
		_, err := readSecret(name, lookup)
		missing = append(missing, err)
	}
	return errors.Join(missing...)
}

// tryExample reads the example as the answer of a run, and tells what would keep the run from its results.
func (d described) tryExample() []string {
	if d.example == nil {
		return nil
	}
	reading := strategy.Reading{State: registry.RunSucceeded}
	var err error
	if w := d.tool.WebhookStrategy; w != nil {
		reading, err = (strategy.Reader{WebhookConfig: *w}).Read(d.example, time.Time{}, time.Time{})
	} else {
		reading.Result, err = decode(d.example)
	}
	if err != nil {
		return []string{"example: " + err.Error()}
	}
	if reading.State != registry.RunSucceeded {
		return []string{fmt.Sprintf("example: it is read as %s, not as a success; expected an answer with successValue and a result", reading.State)}
	}
	outputs, err := (&Tools{}).outputsOf(spec{ResultEncoding: d.spec.ResultEncoding}, d.tool.OutputSchema, reading.Result)
	if err != nil {
		return []string{"example: " + err.Error()}
	}
	var warnings []string
	for _, declared := range d.tool.OutputSchema {
		if !slices.ContainsFunc(outputs, func(o registry.Output) bool { return o.Name == declared.Name }) {
			warnings = append(warnings, fmt.Sprintf("example: it has nothing for the output %s", declared.Name))
		}
	}
	return warnings
}
