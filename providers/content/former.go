package content

// FormerNames are names that other sets of tools for sites have, with what does the same here. None of them can be called.
func FormerNames() map[string]string {
	return map[string]string{
		"cms_getPage": "getPage", "cms_listPages": "getPage with all", "cms_createPage": "createPage", "cms_updatePage": "updatePage", "cms_deletePage": "deletePage",
		"cms_createPageWithContent": "createPage, then createSection and updateSection for what stands on it",
		"cms_listSectionTemplates":  "getSectionTemplate with all", "cms_getSectionFields": "getSectionTemplate with id or key", "cms_getPageSections": "getSection with pageId",
		"cms_getSectionContent": "getSection with includeContent", "cms_addSectionToPage": "createSection", "cms_updateSectionContent": "updateSection with content",
		"cms_updateSectionImage": "updateSection with imageId and imageField", "cms_addImageToSection": "updateSection with imageId and imageField",
		"cms_deletePageSection": "deleteSection", "cms_deletePageSections": "deleteSection",
		"cms_findImage": "getImage with query", "cms_searchImages": "getImage with query and limit", "cms_listAllImages": "getImage with all",
		"cms_replaceImage": "getImage, then updateSection with imageId and imageField", "cms_deleteImage": "deleteImage",
		"cms_getNavigation": "getNavItem with navigationId and all", "cms_addNavigationItem": "createNavItem", "cms_updateNavigationItem": "updateNavItem", "cms_removeNavigationItem": "deleteNavItem",
		"cms_toggleNavigationItem": "updateNavItem with visible",
		"cms_createPost":           "createPost", "cms_updatePost": "updatePost", "cms_publishPost": "updatePost with status published", "cms_archivePost": "updatePost with status archived",
		"cms_deletePost": "deletePost", "cms_listPosts": "getPost with all", "cms_getPost": "getPost with slug",
		"cms_getCollectionEntries": "getEntry with collectionId", "cms_getEntryContent": "getEntry with includeContent",
		"pexels_searchPhotos": "browseImages with provider pexels", "pexels_downloadPhoto": "importImage with provider pexels",
		"unsplash_searchPhotos": "browseImages with provider unsplash", "unsplash_downloadPhoto": "importImage with provider unsplash",
		"web_quickSearch": "searchWeb with mode quick", "web_deepResearch": "searchWeb with mode deep", "web_fetchContent": "fetchContent", "http_get": "httpGet", "http_post": "httpPost",
		"search_vector": "the get tools: getImage with query, or getPage, getPost, getEntry and getSection", "cms_findResource": "the get tool of what is looked for: getPage, getSection, getImage, getPost, getNavItem or getEntry",
		"plan_analyzeTask": "acknowledgeRequest to say what was understood; the plan is made without a tool",
		"final_answer":     "finalAnswer", "tool_search": "searchTools", "acknowledge": "acknowledgeRequest",
	}
}
