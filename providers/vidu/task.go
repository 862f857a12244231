package vidu

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/registry"
)

// task is one kind of work that the service does: a tool.
type task struct {
	path      string // of the API, and the end of the tool's id
	command   string
	title     string
	describe  string
	models    []model // none: the task has no model to choose
	pictures  []registry.InputField
	most      int // pictures in all
	prompt    bool
	shape     bool // aspect_ratio is free
	styles    bool
	templates []string
	upscales  bool
}

// tasks are those that the operator's settings call for.
func tasks(cfg Config) []task {
	list := []task{
		{
			path: "text2video", command: "/viduvideo", title: "Video from text", models: textModels, prompt: true, shape: true, styles: true,
			describe: "Makes a short video from a description. Use it for scenes, clips and moving illustrations.",
		},
		{
			path: "img2video", command: "/viduanimate", title: "Video from a picture", models: imageModels, most: 1,
			pictures: []registry.InputField{picture("image", "Picture", "The first frame of the video.")},
			describe: "Brings a picture to life: it becomes the first frame of a video, and the description says what happens.",
		},
		{
			path: "start-end2video", command: "/vidumorph", title: "Video between two pictures", models: imageModels, most: 2,
			pictures: []registry.InputField{picture("start", "First frame", "How the video begins."), picture("end", "Last frame", "How the video ends.")},
			describe: "Makes a video that begins with one picture and ends with another of about the same shape.",
		},
		{
			path: "reference2video", command: "/viducast", title: "Video with your subjects", models: referenceModels, prompt: true, shape: true, most: 7,
			pictures: []registry.InputField{several(picture("images", "Pictures", "The people, animals or things that appear: one to seven pictures."))},
			describe: "Makes a video in which the people or things of your pictures appear, looking the same throughout.",
		},
	}
	if len(cfg.Templates) > 0 {
		list = append(list, task{
			path: "template2video", command: "/vidueffect", title: "Video effect", templates: cfg.Templates, most: 2,
			pictures: []registry.InputField{several(picture("images", "Pictures", "Who or what the effect is applied to."))},
			describe: "Applies a ready-made effect to a picture and makes a short video of it.",
		})
	}
	if cfg.Upscale {
		list = append(list, task{
			path: "upscale", command: "/viduupscale", title: "Larger video", upscales: true,
			describe: "Makes a video larger and sharper.",
		})
	}
	return list
}

func picture(name, label, description string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeImage, Required: true, DisplayName: label, Description: description}
}

func several(f registry.InputField) registry.InputField {
	f.Multiple = true
	return f
}

func (t task) id() string { return Service + "." + t.path }

func (t task) model(name string) (model, bool) {
	if name == "" && len(t.models) > 0 {
		return t.models[0], true
	}
	i := slices.IndexFunc(t.models, func(m model) bool { return m.name == name })
	if i < 0 {
		return model{}, false
	}
	return t.models[i], true
}

// tool describes the task. Duration and resolution have no default of their own: each model has its own.
func (t task) tool(rate json.Number) registry.Tool {
	kind := "text"
	if len(t.pictures) > 0 {
		kind = "image"
	} else if t.upscales {
		kind = "video"
	}
	return registry.Tool{
		ToolID: t.id(), Service: Service, DisplayName: t.title, Description: t.describe + " Made by Vidu.", CommandName: t.command,
		Listing:      registry.Listing{Category: "video", Kind: "video"},
		InputSchema:  t.inputs(),
		OutputSchema: registry.OutputSchema{{Name: "video", Type: "video", Description: "The video."}},
		CostingModel: &registry.CostingModel{Rate: rate, Unit: registry.UnitRequest, RateSource: registry.RateAPI},
		WebhookStrategy: &registry.WebhookConfig{
			ExpectedStatusField: "state", SuccessValue: "success", DurationTracking: true, ResultPath: []string{"creations", "0", "url"},
		},
		PlatformHints: &registry.PlatformHints{PrimaryInput: kind, SupportsFileCaption: kind != "text", SupportsReplyWithCommand: true},
		Execution:     registry.Execution{TimeoutMs: 30 * 60 * 1000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 5000}},
		Advice:        registry.Advice{IntentTags: []string{"video"}},
	}
}

func (t task) inputs() registry.InputSchema {
	prompt := registry.InputField{Name: "prompt", Type: registry.TypeString, Required: t.prompt, Multiline: true, DisplayName: "Description", Description: "What happens in the video."}
	if t.upscales {
		return registry.InputSchema{
			{Name: "video", Type: registry.TypeVideo, Required: true, DisplayName: "Video", Description: "The video to enlarge."},
			choice("resolution", "Resolution", "How large it becomes.", "1080p", "720p", "1080p"),
		}
	}
	list := registry.InputSchema{prompt}
	if !t.prompt {
		list = append(slices.Clone(registry.InputSchema(t.pictures)), prompt)
	} else {
		list = append(list, t.pictures...)
	}
	if len(t.templates) > 0 {
		list = append(registry.InputSchema{choice("template", "Effect", "Which effect.", t.templates[0], t.templates...)}, list...)
	}
	if len(t.models) > 0 {
		list = append(list, t.settings()...)
	}
	return append(list,
		registry.InputField{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Min: "0", Max: "2147483647", Advanced: true, DisplayName: "Seed", Description: "The same seed gives a similar video."},
		registry.InputField{Name: "bgm", Type: registry.TypeBoolean, Advanced: true, DisplayName: "Music", Description: "Adds music; not with the q3 models.", Default: false})
}

// settings are the inputs of tasks with a choice of models.
func (t task) settings() registry.InputSchema {
	var names, resolutions []string
	longest := 0
	for _, m := range t.models {
		names = append(names, m.name)
		longest = max(longest, slices.Max(m.durations))
		for _, r := range m.resolutions {
			if !slices.Contains(resolutions, r) {
				resolutions = append(resolutions, r)
			}
		}
	}
	list := registry.InputSchema{
		choice("model", "Model", "Who makes it; the models differ in quality, speed and price.", names[0], names...),
		{Name: "duration", Type: registry.TypeNumber, Integer: true, Min: "1", Max: json.Number(strconv.Itoa(longest)), DisplayName: "Seconds", Description: "How long the video is. The models allow different lengths."},
		choice("resolution", "Resolution", "The models allow different resolutions.", "", resolutions...),
	}
	if t.shape {
		list = append(list, choice("aspect_ratio", "Shape", "The video's shape.", "16:9", "16:9", "9:16", "1:1", "4:3", "3:4"))
	}
	if t.styles {
		list = append(list, advanced(choice("style", "Style", "With the q1 model only.", "general", "general", "anime")))
	}
	return append(list,
		advanced(choice("movement_amplitude", "Movement", "How much moves; with the q1 and 2.0 models only.", "auto", "auto", "small", "medium", "large")),
		registry.InputField{Name: "audio", Type: registry.TypeBoolean, Advanced: true, DisplayName: "Sound", Description: "With sound; the q3 models only.", Default: true})
}

// choice is an input with a fixed list of values; an empty fallback is none.
func choice(name, label, description, fallback string, values ...string) registry.InputField {
	f := registry.InputField{Name: name, Type: registry.TypeString, DisplayName: label, Description: description}
	if fallback != "" {
		f.Default = fallback
	}
	for _, v := range values {
		f.Choices = append(f.Choices, registry.Choice{Value: v})
	}
	return f
}

func advanced(f registry.InputField) registry.InputField {
	f.Advanced = true
	return f
}
