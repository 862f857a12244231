//go:build unix

package e2e

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// secret stands in values that must not be printed.
const secret = "hunter2"

// wrongValues are for each environment variable values that the program must refuse.
func wrongValues(t *testing.T) map[string][]string {
	t.Helper()
	dir := newDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no JSON"), 0o644); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	return map[string][]string{
		"REPORTS":                 {"yes", "true"},
		"RESULT_CHECKS_URL":       {"api.openai.com", "ftp://ann:" + secret + "@example.org", "https://api.openai.com/v1"},
		"RESULT_CHECKS_MODEL":     {"omni moderation"},
		"RESULT_CHECKS_API_KEY":   {secret + " and a space"},
		"RESULT_CHECKS_AT":        {"sure", "0", "1.1"},
		"RESULT_CHECKS_DOWN":      {"let go"},
		"HOUSE_KEY":               {"secret", "0011", "zz112233445566778899aabbccddeeff00"},
		"DATABASE_SESSION_URL":    {"mysql://ann:" + secret + "@localhost/x", "nonsense"},
		"DATABASE_URL":            {"mysql://ann:" + secret + "@localhost/x", "postgres://ann:" + secret + "@local host:x/y", "nonsense"},
		"DATA_DIR":                {filepath.Join(file, "below")},
		"LISTEN_ADDR":             {"8080", "127.0.0.1:99999", taken.Addr().String()},
		"PUBLIC_URL":              {"example.org", "ftp://ann:" + secret + "@example.org"},
		"WORKFLOWS_DIR":           {file},
		"TOOLS_DIR":               {filepath.Join(dir, "none"), file},
		"TOOLS_FILE":              {filepath.Join(dir, "none"), dir, file},
		"SYNC_SCHEDULE":           {"often", "* * *"},
		"COMFYUI_URLS":            {"localhost:8188", "http://localhost:8188#fast", "http://localhost:8188#wake=https://pods.example/start?id=1&key=2", "http://localhost:8188#rate=cheap", "http://localhost:8188#only=paint", "http://localhost:8188#wake=http://localhost/" + secret, "http://localhost:8188,ftp://ann:" + secret + "@other"},
		"COMFYUI_USD_PER_SECOND":  {"cheap", "-1", "0,5"},
		"LORAS_FILE":              {filepath.Join(dir, "none"), dir, file},
		"GPU_RATES_FILE":          {filepath.Join(dir, "none"), dir, file},
		"SERVICE_MARGINS_FILE":    {filepath.Join(dir, "none"), dir, file},
		"PRODUCTS_FILE":           {filepath.Join(dir, "none"), dir, file},
		"SELLER_TEXT":             {strings.Repeat("x", 1001)},
		"STRIPE_SECRET_KEY":       {"pk_" + secret},
		"STRIPE_WEBHOOK_SECRET":   {secret},
		"STRIPE_API_URL":          {"stripe", "ftp://ann:" + secret + "@example.org"},
		"SIGNUP_CREDIT_USD":       {"much", "-1", "10000001"},
		"ACCESS":                  {"closed"},
		"RUNS_AT_ONCE":            {"many", "-1"},
		"BATCH_RUNS":              {"many", "0", "1001"},
		"RUNS_PER_DAY":            {"1.5", "-1"},
		"STREAMS_AT_ONCE":         {"1.5", "-1"},
		"API_RATE":                {"fast", "-1"},
		"AUTO_RUN_READ":           {"sometimes"},
		"TRUSTED_PROXIES":         {"proxy.example", "10.0.0.0/33", "::ffff:10.0.0.1/120"},
		"POINT_USD":               {"dear", "0", "-1"},
		"ADMIN_TOKEN":             {secret + " and a space"},
		"BILL_CANCELED":           {"sometimes"},
		"COMFYUI_GONE_AFTER":      {"soon", "-1s"},
		"COMFYUI_WAKE_FOR":        {"soon", "1s"},
		"FLEET_HOOK":              {filepath.Join(dir, "none"), "https://ann:" + secret + "@example.org"},
		"FLEET_HOOK_SECRET":       {secret},
		"FLEET_BUSY_AT":           {"many", "0"},
		"FLEET_BUSY_AFTER":        {"soon", "-1s"},
		"FLEET_IDLE_AFTER":        {"late", "0s"},
		"COMFYUI_SERVERLESS_FILE": {filepath.Join(dir, "none"), dir, file},
		"COMFYUI_HEADERS_FILE":    {filepath.Join(dir, "none"), dir, file},
		"COMFY_ORG_API_KEY":       {secret + " and a space"},
		"KEEP_RESULTS_DAYS":       {"ever", "-1"},
		"KEEP_WORKFLOW_IN_FILES":  {"sometimes"},
		"UPLOAD_MB":               {"much", "-1"},
		"RESULT_MB":               {"much", "-1"},
		"METRICS_ADDR":            {"9100", "127.0.0.1:99999", taken.Addr().String()},
		"METRICS_TOKEN":           {secret + " and a space"},
		"DEFAULT_TOOL":            {"two words"},
		"SUPPORT":                 {"two\nlines"},
		"BUY_TEXT":                {strings.Repeat("x", 1001)},
		"BUY_URL":                 {"shop", "ftp://ann:" + secret + "@x"},
		"TERMS_URL":               {"terms", "ftp://ann:" + secret + "@x"},
		"PRIVACY_URL":             {"privacy", "ftp://ann:" + secret + "@x"},
		"OUTBOUND_ALLOW":          {"http://inner", "a b"},
		"POSTGRES_MIRROR_URL":     {"mirror", "ftp://ann:" + secret + "@mirror"},
		"TELEGRAM_BOT_TOKEN":      {secret, "123:" + secret},
		"TELEGRAM_API_URL":        {"telegram", "ftp://ann:" + secret + "@x"},
		"DISCORD_BOT_TOKEN":       {secret, "MTE5NzU0NTY3ODkwMTIzNDU2Nw." + secret},
		"DISCORD_APP_ID":          {"my-bot", "12"},
		"DISCORD_PUBLIC_KEY":      {"abc", strings.Repeat("g", 64)},
		"S3_ENDPOINT":             {"store.example", "http://ann:" + secret + "@store.example", "http://store.example/bucket"},
		"S3_PUBLIC_ENDPOINT":      {"files.example"},
		"S3_BUCKET":               {"My Bucket"},
		"S3_REGION":               {"eu west"},
		"S3_ACCESS_KEY_ID":        {secret + " and a space"},
		"S3_SECRET_ACCESS_KEY":    {secret + " and a space"},
		"DISCORD_API_URL":         {"discord", "ftp://ann:" + secret + "@x"},
		"DISCORD_CLIENT_SECRET":   {secret},
		"DISCORD_TEST_PURCHASES":  {"sometimes"},
		"DISCORD_SHARDS":          {"many", "0", "4/4", "0,9/4"},
		"ANTHROPIC_API_KEY":       {secret + " and a space"},
		"ANTHROPIC_BASE_URL":      {"anthropic", "ftp://ann:" + secret + "@x"},
		"ANTHROPIC_MODEL":         {"two words", "named-without-a-key"},
		"OPENAI_MODEL":            {"two words", "named-without-a-key"},
		"OPENAI_API_KEY":          {secret + " and a space"},
		"OPENAI_BASE_URL":         {"openai", "ftp://ann:" + secret + "@x"},
		"GEMINI_API_KEY":          {secret + " and a space"},
		"GEMINI_BASE_URL":         {"gemini", "ftp://ann:" + secret + "@x"},
		"COMFYDEPLOY_API_KEY":     {secret + " and a space"},
		"COMFYDEPLOY_API_URL":     {"comfydeploy", "ftp://ann:" + secret + "@x"},
		"VIDU_API_KEY":            {secret + " and a space"},
		"VIDU_API_URL":            {"vidu", "ftp://ann:" + secret + "@x"},
		"VIDU_USD_PER_CREDIT":     {"cheap", "-1"},
		"VIDU_EFFECTS":            {"hug, kiss me"},
		"VIDU_UPSCALE":            {"maybe", "on"},
		"TRIPO_API_KEY":           {secret + " and a space"},
		"TRIPO_API_URL":           {"tripo", "ftp://ann:" + secret + "@x"},
		"TRIPO_USD_PER_CREDIT":    {"cheap", "-1"},
		"OPENAPI_DOCS":            {"ftp://ann:" + secret + "@x/openapi.json", filepath.Join(dir, "none"), dir},
		"OPENAPI_ALLOW":           {"get[*"},
		"UNSPLASH_ACCESS_KEY":     {secret + " and a space"},
		"UNSPLASH_API_URL":        {"unsplash", "ftp://ann:" + secret + "@x"},
		"PEXELS_API_KEY":          {secret + " and a space"},
		"PEXELS_API_URL":          {"pexels", "ftp://ann:" + secret + "@x"},
		"REPLICATE_API_TOKEN":     {secret + " and a space"},
		"REPLICATE_API_URL":       {"replicate", "ftp://ann:" + secret + "@x"},
		"REPLICATE_MODELS":        {"flux", "a/b,c/d/e"},
		"FAL_KEY":                 {secret + " and a space"},
		"FAL_QUEUE_URL":           {"fal", "ftp://ann:" + secret + "@x"},
		"FAL_PRICES_URL":          {"fal"},
		"MODEL_PRICES_FILE":       {"/nowhere/prices.json"},
		"FAL_DOCS_URL":            {"fal", "ftp://ann:" + secret + "@x"},
		"FAL_REST_URL":            {"fal", "ftp://ann:" + secret + "@x"},
		"FAL_MODELS":              {"flux", "fal-ai/flux,a//b"},
		"FAL_USD_PER_SECOND":      {"cheap", "-1"},
		"COMFY_ROUTER_API_KEY":    {secret + " and a space"},
		"COMFY_ROUTER_MODELS":     {"flux", "bfl/flux,a//b"},
		"COMFY_ROUTER_RUN_USD":    {"cheap", "-1"},
		"COMFY_ROUTER_URL":        {"router", "ftp://ann:" + secret + "@x"},
		"AGENTS_DIR":              {file},
		"TOOL_GUIDANCE_FILE":      {filepath.Join(dir, "none"), dir, file},
		"ASK_TOKENS_PER_DAY":      {"many", "-1"},
		"ASK_PAID_BY":             {"nobody"},
		"ASK_USD_PER_QUESTION":    {"cheap", "-1", "0"},
		"ASK_USD_PER_DAY":         {"cheap", "-1"},
		"MODEL_RATES_FILE":        {filepath.Join(dir, "none"), dir, file},
		"KNOWLEDGE_DIR":           {filepath.Join(dir, "none"), file},
		"KNOWLEDGE_FILES":         {filepath.Join(dir, "none"), dir},
		"EMBEDDINGS_URL":          {"embeddings", "ftp://ann:" + secret + "@x"},
		"EMBEDDINGS_MODEL":        {"named-without-a-service"},
		"EMBEDDINGS_API_KEY":      {secret + " and a space"},
		"CONTENT_DIR":             {filepath.Join(dir, "none"), file},
		"SITE_HOST":               {"https://example.org", "a b", "example.org/site"},
		"TAVILY_API_KEY":          {secret + " and a space"},
		"TAVILY_API_URL":          {"tavily", "ftp://ann:" + secret + "@x"},
		"BRAVE_API_KEY":           {secret + " and a space"},
		"BRAVE_API_URL":           {"brave", "ftp://ann:" + secret + "@x"},
		"SEARXNG_URL":             {"searxng", "ftp://ann:" + secret + "@x"},
		"BFL_API_KEY":             {secret + " and a space"},
		"RUNWAY_API_KEY":          {secret + " and a space"},
		"LUMA_API_KEY":            {secret + " and a space"},
		"KLING_ACCESS_KEY":        {secret + " and a space"},
		"KLING_SECRET_KEY":        {secret + " and a space"},
		"ARK_API_KEY":             {secret + " and a space"},
		"IDEOGRAM_API_KEY":        {secret + " and a space"},
		"RECRAFT_API_KEY":         {secret + " and a space"},
		"STABILITY_API_KEY":       {secret + " and a space"},
		"ELEVENLABS_API_KEY":      {secret + " and a space"},
		"MINIMAX_API_KEY":         {secret + " and a space"},
		"LOG_LEVEL":               {"loud"},
		"LOG_FORMAT":              {"xml"},

		"REPLICATE_USD_PER_SECOND": {"cheap", "-1"},

		"ORCHESTRATOR_TOOL_MANIFEST_PATH": {dir},
		"MCP_SERVERS":                     {filepath.Join(dir, "none")},

		"SITE_DESCRIPTIONS_PER_DAY": {"-1", "many"},
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	wrong := wrongValues(t)
	t.Run("every variable is here", func(t *testing.T) {
		t.Parallel()
		var all []string
		for _, file := range []string{"settings/settings.go"} {
			source, err := os.ReadFile(filepath.Join("../../cmd/signalbox", file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`env:"([A-Z0-9_]+)"`).FindAllSubmatch(source, -1) {
				all = append(all, string(m[1]))
			}
		}
		slices.Sort(all)
		if here := slices.Sorted(maps.Keys(wrong)); !slices.Equal(here, all) {
			t.Errorf("the program has\n%v\nthis test\n%v", all, here)
		}
	})
	for variable, values := range wrong {
		t.Run(variable+": one line that names it", func(t *testing.T) {
			t.Parallel()
			for _, value := range values {
				checkRefused(t, variable, value)
			}
		})
	}
	t.Run("several wrong values: a line each", func(t *testing.T) {
		t.Parallel()
		r := run(t, spec{dir: newDir(t), env: []string{"LOG_LEVEL=loud", "SIGNUP_CREDIT_USD=much", "PUBLIC_URL=x", "COMFYUI_URL=http://gpu1:8188"}})
		if n := len(lines(r.stderr)); n != 4 || r.code != 1 || !strings.Contains(r.stderr, "COMFYUI_URL is not a setting; did you mean COMFYUI_URLS?") {
			t.Errorf("%d lines, code %d:\n%s", n, r.code, r.stderr)
		}
	})
	t.Run("an unknown flag or command: two lines and code 2", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"--no-such-flag"}, {"upp"}} {
			r := run(t, spec{dir: newDir(t), args: args})
			if n := len(lines(r.stderr)); n != 2 || r.code != 2 {
				t.Errorf("%d lines, code %d:\n%s", n, r.code, r.stderr)
			}
		}
	})
	t.Run("empty values mean the default", func(t *testing.T) {
		t.Parallel()
		var env []string
		for variable := range wrong {
			if variable != "DATA_DIR" && variable != "LISTEN_ADDR" {
				env = append(env, variable+"=")
			}
		}
		start(t, spec{env: env}).stop(os.Interrupt)
	})
}

func checkRefused(t *testing.T, variable, value string) {
	t.Helper()
	dir := filepath.Join(newDir(t), "data")
	r := runQuick(t, 10*time.Second, spec{dir: dir, plain: true, env: []string{"LOG_LEVEL=error", variable + "=" + value}})
	said := lines(r.stderr)
	if r.code != 1 || len(said) != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "signalbox: ") || !strings.Contains(r.stderr, variable) {
		t.Errorf("%s=%s: code %d:\n%s%s", variable, value, r.code, r.stdout, r.stderr)
	}
	if strings.Contains(r.stderr, secret) {
		t.Errorf("%s: the secret is printed: %s", variable, r.stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s=%s: something was begun in DATA_DIR before it was refused", variable, value)
	}
}
