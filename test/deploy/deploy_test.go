// Package deploy holds the files under deploy/ to what they are for: their schemas, the program's settings and its addresses.
package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/cmd/signalbox/settings"
)

// The schemas under testdata are those of Kubernetes and of the Compose Specification (Apache-2.0), without their descriptions and
// without what is not used here; unknown fields are refused.
const (
	kubernetesSchema = "testdata/kubernetes-1.30.schema.json"
	composeSchema    = "testdata/compose.schema.json"
)

var kinds = map[string]string{ // by "apiVersion kind", where the schema has it
	"v1 ConfigMap": "io.k8s.api.core.v1.ConfigMap", "v1 Secret": "io.k8s.api.core.v1.Secret", "v1 Service": "io.k8s.api.core.v1.Service",
	"apps/v1 Deployment": "io.k8s.api.apps.v1.Deployment", "policy/v1 PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
}

// A program stops within stopLimit of cmd/signalbox/up.go, and is killed no sooner.
const stopSeconds = 9

func TestManifestsAreSound(t *testing.T) {
	t.Parallel()
	for name, doc := range manifests(t) {
		kind, known := kinds[text(doc, "apiVersion")+" "+text(doc, "kind")]
		if !known {
			t.Errorf("%s: %s %s: expected one of %v", name, text(doc, "apiVersion"), text(doc, "kind"), kinds)
			continue
		}
		if err := compile(t, kubernetesSchema, "#/$defs/"+kind).Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Run("a wrong field is refused", func(t *testing.T) {
		doc := manifests(t)["deployment.yaml"]
		at(doc, "spec", "template", "spec")["terminationGraceSeconds"] = json.Number("20")
		if compile(t, kubernetesSchema, "#/$defs/"+kinds["apps/v1 Deployment"]).Validate(doc) == nil {
			t.Error("a field that Kubernetes does not know passed")
		}
	})
}

func TestManifestsFitTheProgram(t *testing.T) {
	t.Parallel()
	docs := manifests(t)
	config, secret, deployment := docs["settings.yaml"], docs["signalbox.yaml"], docs["deployment.yaml"]
	checkNames(t, "settings.yaml", keys(at(config, "data")))
	checkNames(t, "secret/signalbox.yaml", keys(at(secret, "stringData")))
	pod := at(deployment, "spec", "template", "spec")
	container := pod["containers"].([]any)[0].(map[string]any)

	t.Run("each variable from the Secret is in it", func(t *testing.T) {
		found := map[string]bool{}
		for _, item := range container["env"].([]any) {
			name := text(item, "name")
			found[name] = true
			if key := text(at(item, "valueFrom", "secretKeyRef"), "key"); key != name {
				t.Errorf("%s is taken from the key %s", name, key)
			}
		}
		for _, name := range keys(at(secret, "stringData")) {
			if !found[name] {
				t.Errorf("%s of the Secret reaches no process", name)
			}
		}
		checkNames(t, "deployment.yaml", keys(found))
	})
	t.Run("probes ask for addresses that there are", func(t *testing.T) {
		people := read(t, "docs/people.md") // a test of platforms/web holds it to what is served
		for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
			if path := text(at(container, probe, "httpGet"), "path"); !strings.Contains(people, "`GET "+path+"`") {
				t.Errorf("%s asks for %s", probe, path)
			}
		}
	})
	t.Run("all speak of the same pods", func(t *testing.T) {
		labels := at(deployment, "spec", "template", "metadata", "labels")
		for name, selector := range map[string]map[string]any{
			"deployment.yaml": at(deployment, "spec", "selector", "matchLabels"), "service.yaml": at(docs["service.yaml"], "spec", "selector"),
			"disruption.yaml": at(docs["disruption.yaml"], "spec", "selector", "matchLabels"),
		} {
			if !reflect.DeepEqual(selector, labels) {
				t.Errorf("%s selects %v, the pods are %v", name, selector, labels)
			}
		}
	})
	t.Run("a process has the time to stop", func(t *testing.T) {
		if grace, _ := pod["terminationGracePeriodSeconds"].(json.Number).Int64(); grace <= stopSeconds {
			t.Errorf("%d seconds, a stop takes up to %d", grace, stopSeconds)
		}
	})
}

func TestComposeFilesAreSound(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"docker-compose.yml", "deploy/compose.yaml"} {
		doc := decode(t, file)
		if err := compile(t, composeSchema, "").Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for name, service := range at(doc, "services") {
			service := service.(map[string]any)
			if _, ours := service["build"]; ours {
				checkNames(t, file+": "+name, keys(service["environment"].(map[string]any)))
			}
			checkNeeds(t, file+": "+name, doc, service)
		}
	}
}

// checkNeeds expects that what a service waits for, extends and mounts is there.
func checkNeeds(t *testing.T, what string, doc, service map[string]any) {
	t.Helper()
	needs, _ := service["depends_on"].(map[string]any)
	for other := range needs {
		if at(doc, "services")[other] == nil {
			t.Errorf("%s waits for %s, which is not there", what, other)
		}
	}
	if base, ok := service["extends"].(map[string]any); ok {
		file := filepath.Join("deploy", text(base, "file"))
		if at(decode(t, file), "services")[text(base, "service")] == nil {
			t.Errorf("%s extends %s of %s, which is not there", what, text(base, "service"), file)
		}
	}
	volumes, _ := service["volumes"].([]any)
	for _, v := range volumes {
		name, _, _ := strings.Cut(v.(string), ":")
		if _, there := at(doc, "volumes")[name]; !there && !strings.HasPrefix(name, ".") {
			t.Errorf("%s mounts the volume %s, which is not declared", what, name)
		}
	}
}

func TestUnitIsSound(t *testing.T) {
	t.Parallel()
	unit := read(t, "deploy/systemd/signalbox.service")
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(unit, -1) {
		for pair := range strings.FieldsSeq(line[1]) {
			name, _, _ := strings.Cut(pair, "=")
			names = append(names, name)
		}
	}
	checkNames(t, "signalbox.service", names)
	for _, line := range []string{"NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "DynamicUser=yes"} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Logf("systemd itself was not asked: %v", err)
		return
	}
	// The binary is where this machine has none; all else is as it is.
	file := filepath.Join(t.TempDir(), "signalbox.service")
	if err := os.WriteFile(file, []byte(strings.Replace(unit, "/usr/local/bin/signalbox", analyze, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// checkNames expects names of settings.
func checkNames(t *testing.T, where string, names []string) {
	t.Helper()
	if len(names) == 0 {
		t.Errorf("%s sets nothing", where)
	}
	known := map[string]bool{}
	addNames(known, reflect.TypeFor[settings.Settings]())
	for _, name := range names {
		if !known[name] {
			t.Errorf("%s sets %s, which is no setting", where, name)
		}
	}
}

func addNames(known map[string]bool, of reflect.Type) {
	for field := range of.Fields() {
		if field.Type.Kind() == reflect.Struct {
			addNames(known, field.Type)
		}
		known[field.Tag.Get("env")] = true
	}
	delete(known, "")
}

// manifests are the documents for Kubernetes by the names of their files.
func manifests(t *testing.T) map[string]map[string]any {
	t.Helper()
	docs := map[string]map[string]any{}
	for _, pattern := range []string{"deploy/kubernetes/*.yaml", "deploy/kubernetes/*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			docs[filepath.Base(file)] = decode(t, strings.TrimPrefix(file, "../../"))
		}
	}
	return docs
}

// decode reads a YAML file of one document as JSON has it; repeated keys are refused.
func decode(t *testing.T, file string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(read(t, file)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc.(map[string]any)
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func compile(t *testing.T, file, fragment string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(file + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// at follows names into a document; what is not there is an empty map.
func at(doc any, path ...string) map[string]any {
	for _, name := range path {
		m, _ := doc.(map[string]any)
		doc = m[name]
	}
	m, _ := doc.(map[string]any)
	return m
}

func text(doc any, name string) string {
	s, _ := at(doc)[name].(string)
	return s
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}
