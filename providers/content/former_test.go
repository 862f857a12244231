package content_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/registry"
)

func TestFormerNames(t *testing.T) {
	t.Parallel()
	former := content.FormerNames()
	list, err := content.New(content.Config{}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct{ name, first string }{ // and the tool that its answer names first
		{"D155 cms_getPage", "getPage"},
		{"D156 cms_listPages", "getPage"},
		{"D157 cms_createPage", "createPage"},
		{"D158 cms_createPageWithContent", "createPage"},
		{"D159 cms_updatePage", "updatePage"},
		{"D160 cms_deletePage", "deletePage"},
		{"D161 cms_listSectionTemplates", "getSectionTemplate"},
		{"D162 cms_getSectionFields", "getSectionTemplate"},
		{"D163 cms_getPageSections", "getSection"},
		{"D164 cms_getSectionContent", "getSection"},
		{"D165 cms_addSectionToPage", "createSection"},
		{"D166 cms_updateSectionContent", "updateSection"},
		{"D167 cms_updateSectionImage", "updateSection"},
		{"D168 cms_addImageToSection", "updateSection"},
		{"D169 cms_deletePageSection", "deleteSection"},
		{"D170 cms_deletePageSections", "deleteSection"},
		{"D171 cms_findImage", "getImage"},
		{"D172 cms_searchImages", "getImage"},
		{"D173 cms_listAllImages", "getImage"},
		{"D174 cms_replaceImage", "getImage"},
		{"D175 cms_deleteImage", "deleteImage"},
		{"D176 cms_getNavigation", "getNavItem"},
		{"D177 cms_addNavigationItem", "createNavItem"},
		{"D178 cms_updateNavigationItem", "updateNavItem"},
		{"D179 cms_removeNavigationItem", "deleteNavItem"},
		{"D180 cms_toggleNavigationItem", "updateNavItem"},
		{"D181 cms_createPost", "createPost"},
		{"D182 cms_updatePost", "updatePost"},
		{"D183 cms_publishPost", "updatePost"},
		{"D184 cms_archivePost", "updatePost"},
		{"D185 cms_deletePost", "deletePost"},
		{"D186 cms_listPosts", "getPost"},
		{"D187 cms_getPost", "getPost"},
		{"D188 cms_getCollectionEntries", "getEntry"},
		{"D189 cms_getEntryContent", "getEntry"},
		{"D190 pexels_searchPhotos", "browseImages"},
		{"D191 pexels_downloadPhoto", "importImage"},
		{"D192 unsplash_searchPhotos", "browseImages"},
		{"D193 unsplash_downloadPhoto", "importImage"},
		{"D194 web_quickSearch", "searchWeb"},
		{"D195 web_deepResearch", "searchWeb"},
		{"D196 web_fetchContent", "fetchContent"},
		{"D197 http_get", "httpGet"},
		{"D198 http_post", "httpPost"},
		{"D199 search_vector", "getImage"},
		{"D200 cms_findResource", "getPage"},
		{"D201 plan_analyzeTask", "acknowledgeRequest"},
		{"D202 tool_search", "searchTools"},
		{"D203 final_answer", "finalAnswer"},
		{"D204 acknowledge", "acknowledgeRequest"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, old, _ := strings.Cut(row.name, " ")
			named := regexp.MustCompile(`\b[a-z]+[A-Z][A-Za-z]+\b`).FindAllString(former[old], -1)
			if len(named) == 0 || named[0] != row.first {
				t.Errorf("%s is answered with %q", old, former[old])
			}
			// What is answered by one of our tools names inputs that it has.
			i := slices.IndexFunc(list, func(one registry.Tool) bool { return one.ToolID == row.first })
			_, inputs, with := strings.Cut(former[old], row.first+" with ")
			if i < 0 || !with || len(named) > 1 {
				return
			}
			for _, input := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(inputs, -1) {
				if _, has := list[i].InputSchema.Get(input); !has && !slices.Contains([]string{"and", "or", "published", "archived"}, input) {
					t.Errorf("%s has no input %s", row.first, input)
				}
			}
		})
	}
	t.Run("D2 none of them is a tool, nor an alias of one", func(t *testing.T) {
		if len(former) != len(rows) {
			t.Errorf("%d names, expected %d", len(former), len(rows))
		}
		for _, tool := range list {
			if former[tool.ToolID] != "" || len(tool.Aliases) > 0 {
				t.Errorf("%s, %v", tool.ToolID, tool.Aliases)
			}
		}
	})
}
