package lifetest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/comfydeploy"
	"github.com/signalbox/signalbox/providers/comfydeploy/comfydeploytest"
	"github.com/signalbox/signalbox/providers/comfyrouter"
	"github.com/signalbox/signalbox/providers/comfyrouter/comfyroutertest"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/fal/faltest"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/replicate/replicatetest"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/tripo/tripotest"
	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// subject is a service that works for a while, with its simulator.
type subject struct {
	*house
	jobs upstreamtest.Jobs
	// open makes the provider, which sends by client (nil: its own).
	open   func(client *http.Client, now func() time.Time, assets *runstest.Assets) (service, error)
	direct func() *http.Client // leads to the simulator without a network
	// price is what a run costs, unsaid what it costs where the service does not say.
	price, unsaid billing.NanoUSD
	renew         func() // gives the webhooks a new secret; nil where they have none of their own
	signsBody     bool   // a report that was written anew on its way is a forgery
	large         int    // bytes of an answer that is not read; where that takes long, of one that is
}

var prompt = map[string]any{"prompt": "a cat"}

// subjects are all such services.
var subjects = map[string]func(t *testing.T) *subject{
	"vidu": newVidu, "tripo": newTripo, "replicate": newReplicate, "fal": newFal, "comfyrouter": newComfyRouter, "comfydeploy": newComfyDeploy, "a tool file": newFile,
}

// guard lets fetch what simulators made.
func guard() *http.Client { return outbound.NewClient([]string{"127.0.0.1"}) }

// in gives the subject in a house of its own, whose runs are polled as often as poll says.
func (s *subject) in(t *testing.T, poll time.Duration) *subject {
	t.Helper()
	s.house = newHouse(t, poll, func(now func() time.Time, assets *runstest.Assets) service {
		made, err := s.open(nil, now, assets)
		if err != nil {
			t.Fatal(err)
		}
		return made
	})
	return s
}

func newVidu(t *testing.T) *subject {
	t.Helper()
	server := vidutest.New(t)
	s := &subject{jobs: server, direct: server.Direct, large: 8 << 20, price: billing.Dollar * 30 / 100, unsaid: billing.Dollar / 2}
	s.open = func(client *http.Client, now func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := vidu.New(vidu.Config{Key: vidutest.Key, BaseURL: server.BaseURL(), USDPerCredit: "0.005", HTTP: client, Guard: guard(), Now: now})
		return service{vidu.Service, only(p, "vidu.text2video"), runs.Provider{Submitter: p}}, err
	}
	return s
}

func newTripo(t *testing.T) *subject {
	t.Helper()
	server := tripotest.New(t)
	s := &subject{jobs: server, direct: server.Direct, large: 8 << 20, price: billing.Dollar / 4, unsaid: billing.Dollar * 40 / 100}
	s.open = func(client *http.Client, now func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := tripo.New(tripo.Config{Key: tripotest.Key, BaseURL: server.BaseURL(), USDPerCredit: "0.01", HTTP: client, Guard: guard(), Now: now})
		return service{tripo.Service, only(p, "tripo.text_to_model"), runs.Provider{Submitter: p}}, err
	}
	return s
}

func newReplicate(t *testing.T) *subject {
	t.Helper()
	server := replicatetest.New(t)
	s := &subject{jobs: server, direct: server.Direct, large: 32 << 20, price: 2_500_000, unsaid: 2_500_000, signsBody: true, renew: server.Renew}
	s.open = func(client *http.Client, now func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := replicate.New(replicate.Config{
			Token: replicatetest.Token, BaseURL: server.BaseURL(), Models: []string{"painter/sketch"}, USDPerSecond: "0.001", HTTP: client, Guard: guard(), Now: now,
		})
		return service{replicate.Service, p, runs.Provider{Submitter: p}}, err
	}
	return s
}

func newFal(t *testing.T) *subject {
	t.Helper()
	server := faltest.New(t)
	s := &subject{jobs: server, direct: server.Direct, large: 32 << 20, price: 4_000_000, signsBody: true, renew: server.Renew}
	s.open = func(client *http.Client, now func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := fal.New(fal.Config{
			Key: faltest.Key, QueueURL: server.QueueURL(), DocsURL: server.DocsURL(), RestURL: server.RestURL(), Models: []string{faltest.Model}, USDPerSecond: "0.002",
			HTTP: client, Guard: guard(), Now: now,
		})
		return service{fal.Service, p, runs.Provider{Submitter: p}}, err
	}
	return s
}

func newComfyRouter(t *testing.T) *subject {
	t.Helper()
	server := comfyroutertest.New(t)
	server.Estimate = map[string]any{"source": "estimated", "min_amount": 0.01, "max_amount": 0.3}
	s := &subject{jobs: server, direct: server.Direct, large: 32 << 20, price: billing.Dollar / 50, unsaid: billing.Dollar / 4}
	s.open = func(client *http.Client, now func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := comfyrouter.New(comfyrouter.Config{
			Key: comfyroutertest.Key, BaseURL: server.BaseURL(), Models: []string{comfyroutertest.Model}, USDPerRun: "0.25", HTTP: client, Guard: guard(), Now: now,
		})
		return service{comfyrouter.Service, p, runs.Provider{Submitter: p}}, err
	}
	return s
}

func newComfyDeploy(t *testing.T) *subject {
	t.Helper()
	server := comfydeploytest.New(t)
	server.Quiet = true
	server.Deployments = []map[string]any{{
		"id": "11111111-1111-4111-8111-111111111111", "workflow_id": "w1", "environment": "production", "machine_id": "m1",
		"workflow": map[string]any{"name": "Paint"}, "input_types": []any{map[string]any{"input_id": "prompt", "type": "string", "class_type": "ComfyUIDeployExternalText"}},
	}}
	server.Machines = []map[string]any{{"id": "m1", "gpu": "H100", "status": "ready"}}
	s := &subject{jobs: server, direct: server.Direct, large: 4 << 20, price: 23_380_000}
	s.open = func(client *http.Client, _ func() time.Time, _ *runstest.Assets) (service, error) {
		p, err := comfydeploy.New(comfydeploy.Config{Key: comfydeploytest.Key, BaseURL: server.BaseURL(), HTTP: client, Guard: guard()})
		return service{comfydeploy.Service, p, runs.Provider{Submitter: p}}, err
	}
	return s
}

// file describes Vidu's text to video as data. Its callbacks are believed by the token in their address.
const file = `
tool:
  toolId: clouds
  displayName: Clouds
  commandName: /clouds
  inputSchema: {prompt: {type: string, required: true}}
  outputSchema: {video: {type: video}}
  costingModel: {rate: 0.5, unit: request, rateSource: api}
  webhookStrategy:
    expectedStatusField: state
    successValue: success
    pendingValues: [created, queueing, scheduling]
    resultPath: [creations, "0", url]
    costPath: [credits]
    idPath: [task_id]
http:
  baseURL: %s
  headers: {Authorization: "Token %s"}
  submit: {path: /text2video, body: {model: viduq3-pro, prompt: "{{prompt}}", payload: "{{run.handle}}", callback_url: "{{run.callback}}"}}
  poll: {path: "/tasks/{{task.id}}/creations"}
  cancel: {path: "/tasks/{{task.id}}/cancel", body: {id: "{{task.id}}"}}
  usdPerCost: 0.005
`

func newFile(t *testing.T) *subject {
	t.Helper()
	server, dir := vidutest.New(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clouds.tool.yaml"), fmt.Appendf(nil, file, server.BaseURL(), vidutest.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &subject{jobs: unsigned{server}, direct: server.Direct, large: 4 << 20, price: billing.Dollar * 30 / 100, unsaid: billing.Dollar / 2}
	s.open = func(client *http.Client, now func() time.Time, assets *runstest.Assets) (service, error) {
		if client == nil {
			client = guard()
		}
		files := httptools.New(httptools.Config{Dir: dir, Store: &registrytest.Specs{}, Guard: client, Now: now})
		return service{httptools.Service, files, runs.Provider{Submitter: files.Jobs()}}, nil
	}
	return s
}

// unsigned is a Vidu that signs nothing.
type unsigned struct{ *vidutest.Server }

// Report is the service's without a signature.
func (u unsigned) Report(id string) (upstreamtest.Report, bool) {
	report, ok := u.Server.Report(id)
	report.Sign = nil
	return report, ok
}

// one is a loader that gives one tool of another.
type one struct {
	registry.Loader
	id string
}

func only(l registry.Loader, id string) registry.Loader { return one{l, id} }

// Load gives the one tool.
func (o one) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := o.Loader.Load(ctx)
	for _, tool := range tools {
		if tool.ToolID == o.id {
			return []registry.Tool{tool}, err
		}
	}
	return nil, err
}

// job is a run that its service has taken.
type job struct {
	*subject
	run    runs.Run
	id     string
	before int
}

// begin accepts a run and waits until its service has taken it, and was asked for it once.
func (s *subject) begin(t *testing.T) *job {
	t.Helper()
	j := &job{subject: s, before: len(s.jobs.Jobs())}
	answered := s.jobs.Answered()
	j.run = s.accept(t, prompt)
	clocktest.Until(t, "the service has taken it", func() bool { return len(s.jobs.Jobs()) > j.before && s.jobs.Answered() >= answered+2 })
	j.id = s.jobs.Jobs()[j.before]
	return j
}

// forgetsAgain has the service lose the job that it gets in place of the one that it has forgotten. It gets none where the lost one had begun and
// the tool must not be repeated, and no third one.
func (j *job) forgetsAgain(t *testing.T) {
	t.Helper()
	var now runs.Run
	clocktest.Until(t, "it ends", func() bool {
		jobs := j.jobs.Jobs()
		if len(jobs) > j.before {
			j.jobs.Forget(jobs[len(jobs)-1])
		}
		var err error
		now, err = j.runs.Get(t.Context(), j.run.ID)
		return err == nil && now.Status.Final()
	})
	if now.Attempt > 2 || (now.Attempt == 2) != (now.Notice == runs.NoticeLost) {
		t.Errorf("attempt %d, and the owner was told %q", now.Attempt, now.Notice)
	}
}

// report is the webhook about the job as it stands.
func (j *job) report(t *testing.T) upstreamtest.Report {
	t.Helper()
	report, ok := j.jobs.Report(j.id)
	if !ok {
		t.Fatal("the service reports nothing")
	}
	report.At = j.clock.Now()
	return report
}

// send sends reports and expects one answer to all.
func (j *job) send(t *testing.T, want int, reports ...upstreamtest.Report) {
	t.Helper()
	for _, report := range reports {
		if got, err := report.Send(t.Context()); err != nil || got != want {
			t.Errorf("a report was answered %d, %v; expected %d", got, err, want)
		}
	}
}

// goesOn expects the run to be under way still.
func (j *job) goesOn(t *testing.T) {
	t.Helper()
	if now, err := j.runs.Get(t.Context(), j.run.ID); err != nil || now.Status.Final() {
		t.Errorf("it is %s, %v; expected it to go on", now.Status, err)
	}
}

// ends is house.ends for a run that its service made once.
func (j *job) ends(t *testing.T, code registry.Code, price billing.NanoUSD) {
	t.Helper()
	j.house.ends(t, j.run, code, price)
	if made := len(j.jobs.Jobs()) - j.before; made != 1 {
		t.Errorf("the service made it %d times", made)
	}
	if left := j.jobs.Waiting(); left != 0 {
		t.Errorf("%d faults were not met", left)
	}
}
