// The site's editor: a list of things on the left, the one that is worked on in the middle, what visitors would see on the right.
import { ask, items, say, site } from "./api.js";
import { choice, deed, field, make, tell } from "./parts.js";
import { whole } from "./whole.js";

const things = document.getElementById("things");
const work = document.getElementById("work");
const seen = document.getElementById("seen");
const preview = document.getElementById("preview");

const kinds = { pages: "pages", posts: "posts", pictures: "media", whole: "" }; // the site as a whole is no list
let kind = "pages";
let templates = new Map();
let pictures = [];

function look(address) {
  seen.hidden = !address;
  if (!address) return;
  const frame = preview.cloneNode(); // a new one leaves no entry in the browser's history
  frame.src = address;
  document.getElementById("preview").replaceWith(frame);
}

async function list() {
  const all = kinds[kind] ? await items(kinds[kind]) : [];
  const tabs = Object.keys(kinds).map((k) => make("button", { type: "button", "aria-pressed": String(k === kind), onclick: () => { kind = k; begin(); } }, say[k]));
  const rows = kind === "pictures" ? [] : all.map((one) => {
    const button = deed(one.name || one.title, async () => {
      things.querySelector("[aria-current]")?.removeAttribute("aria-current");
      button.setAttribute("aria-current", "true");
      await open(one);
    });
    return make("li", {}, button);
  });
  things.replaceChildren(make("div", { className: "tabs" }, ...tabs), make("ul", {}, ...rows), ...adding());
  return all;
}

function adding() {
  if (kind === "pictures" || kind === "whole") return [];
  const label = kind === "pages" ? say.newPage : say.newPost;
  const name = field("new", label, "text", "");
  return [make("form", { onsubmit: async (event) => {
    event.preventDefault();
    const title = name.read();
    if (!title) return;
    try {
      const slug = slugOf(title);
      if (kind === "pages") await ask("POST", "pages", { name: title, slug });
      else await ask("POST", "posts", { collectionSlug: "blog", title, slug, content: { body: "" } });
      const made = (await list()).find((one) => one.slug === slug);
      if (made) await open(made);
    } catch (error) {
      tell(error.message, true);
    }
  } }, name, make("button", {}, say.add))];
}

function slugOf(title) {
  const slug = title.normalize("NFD").toLowerCase().replace(/\p{Mn}/gu, "").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  return slug || `${kind.slice(0, -1)}-${Date.now().toString(36)}`;
}

const open = (one) => (kind === "pages" ? openPage(one.id) : openPost(one.slug));

const state = (one) => make("span", { className: "state" }, say[one.status === "published" ? "published" : "draft"]);

// saving sends a change of the version that is shown. Where somebody else was first, both are shown, and nothing is overwritten unasked.
async function saving(box, path, version, change, reread, again) {
  try {
    await ask("PATCH", path, change, version);
  } catch (error) {
    if (!error.newer) throw error;
    const theirs = await reread();
    const differs = Object.keys(change.content ?? change).map((name) => [name, (change.content ?? change)[name], (change.content ? theirs.content : theirs)?.[name]])
      .filter(([, mine, other]) => JSON.stringify(mine ?? null) !== JSON.stringify(other ?? null));
    const told = make("dl", { className: "differs" }, ...differs.flatMap(([name, mine, other]) => [make("dt", {}, name), make("dd", {}, `${say.yours}: ${show(mine)}`), make("dd", {}, `${say.theirs}: ${show(other)}`)]));
    box.prepend(told);
    const chosen = await choice(box, say.newer, say.takeTheirs, say.keepMine);
    told.remove();
    if (chosen === 1) await ask("PATCH", path, change, theirs.version);
    await again();
    if (chosen === 1) tell(say.saved);
    return;
  }
  await again();
  tell(say.saved);
}

const show = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

// languages chooses in which language something is edited; adding one begins it.
function languages(one, locale, reopen) {
  const known = (one.translations ?? []).map((t) => t.locale);
  if (locale && !known.includes(locale)) known.push(locale);
  const select = make("select", { id: "locale", "aria-label": say.language, onchange: () => reopen(select.value).catch((error) => tell(error.message, true)) },
    ...["", ...known].map((l) => make("option", { value: l, selected: l === locale }, l ? languageName(l) : say.ownLanguage)));
  const more = field("newLocale", say.addLanguage, "text", "");
  return make("form", { className: "row languages", onsubmit: async (event) => {
    event.preventDefault();
    const wanted = more.read();
    if (wanted) await reopen(wanted.trim().toLowerCase()).catch((error) => tell(error.message, true));
  } }, select, more, make("button", {}, say.add));
}

function languageName(locale) {
  try {
    return new Intl.DisplayNames([locale], { type: "language" }).of(locale);
  } catch {
    return locale;
  }
}

// saidIn is what something says in a language; a new one says nothing and has version 0.
const saidIn = (one, locale) => (one.translations ?? []).find((t) => t.locale === locale) ?? { locale, title: "", content: {}, version: 0, status: "draft" };

// languageDeeds are what can be done with a language of something as a whole.
function languageDeeds(t, path, publishing, again, back) {
  const shown = t.status === "published";
  return [
    deed(shown ? say.unpublish : say.publish, async () => {
      await ask("PATCH", path, { locale: t.locale, status: shown ? "draft" : "published", ...publishing }, t.version);
      await again();
    }),
    ...(t.id ? [history("translation", t.id, again), deed(say.removeLanguage, async () => {
      await ask("PATCH", path, { locale: t.locale, status: "archived" }, t.version);
      await back();
    }, { className: "last" })] : []),
  ];
}

// openPageIn edits what a page says in another language; what is left empty is said in the site's own.
function openPageIn(page, locale) {
  const path = `pages/${page.id}`;
  const t = saidIn(page, locale);
  const again = () => openPage(page.id, locale);
  const fresh = async () => saidIn((await items(`${path}?includeContent=true`))[0], locale);
  const name = field("name", say.name, "text", t.title);
  hint(name, page.name);
  const head = make("div", { className: "head" });
  head.append(make("h2", {}, page.name, " ", state(t)), languages(page, locale, (l) => openPage(page.id, l)), name, make("div", { className: "row" },
    deed(say.save, () => saving(head, path, t.version, { locale, name: name.read() ?? "" }, async () => { const now = await fresh(); return { ...now, name: now.title }; }, again), { className: "first" }),
    ...languageDeeds(t, path, {}, again, () => openPage(page.id))));
  const sections = page.sections.map((s) => {
    const template = templates.get(s.templateKey) ?? { name: s.templateKey, fields: [] };
    const said = t.content?.[s.pageSectionId] ?? {};
    const inputs = template.fields.map((f) => {
      if (f.type === "list") return listField(f, said[f.name] ?? s.content?.[f.name]);
      const input = field(f.name, f.description || f.name, f.type, said[f.name], pictures);
      hint(input, s.content?.[f.name]);
      return input;
    });
    const box = make("li", { className: "section", lang: locale, "data-id": s.pageSectionId });
    const content = () => Object.fromEntries(template.fields.map((f, i) => [f.name, inputs[i].read()]).filter(([, value], i) => value !== null || said[template.fields[i].name] !== undefined));
    box.append(make("h3", {}, template.name), ...inputs, make("div", { className: "row" }, deed(say.save, () => saving(box, `${path}/sections/${s.pageSectionId}`, t.version, { locale, content: content() },
      async () => { const now = await fresh(); return { version: now.version, content: now.content?.[s.pageSectionId] ?? {} }; }, again), { className: "first" })));
    return box;
  });
  work.replaceChildren(head, make("ol", { id: "sections" }, ...sections));
  look(t.previewUrl ?? page.previewUrl);
}

// hint shows in an empty field what is said in the site's own language.
function hint(label, text) {
  const input = label.querySelector("input[type=text], textarea");
  if (input && typeof text === "string") input.placeholder = text;
}

async function openPage(id, locale = "") {
  const page = (await items(`pages/${id}?includeContent=true`))[0];
  if (locale) return openPageIn(page, locale);
  const again = () => openPage(id);
  const name = field("name", say.name, "text", page.name);
  const address = field("slug", say.address, "text", page.slug);
  const sections = make("ol", { id: "sections" }, ...page.sections.map((s) => section(page, s, again)));
  const kindOf = make("select", { "aria-label": say.addSection }, ...[...templates.values()].map((t) => make("option", { value: t.key }, t.name)));
  const head = make("div", { className: "head" });
  head.append(make("h2", {}, page.name, " ", state(page)), languages(page, "", (l) => openPage(id, l)), name, address, make("div", { className: "row" },
    deed(say.save, () => saving(head, `pages/${id}`, page.version, { name: name.read(), slug: address.read() }, async () => (await items(`pages/${id}`))[0], async () => { await list(); await again(); }), { className: "first" }),
    ...(page.sections.length === 0 ? [] : [deed(page.status === "published" ? say.unpublish : say.publish, async () => {
      await ask("PATCH", `pages/${id}`, { status: page.status === "published" ? "unpublished" : "published" }, page.version);
      await list();
      await again();
    })]),
    history("page", id, again), removing(`pages/${id}`)));
  work.replaceChildren(head, sections, make("div", { className: "row" }, kindOf, deed(say.addSection, async () => {
    await ask("POST", `pages/${id}/sections`, { templateKey: kindOf.value, content: {} });
    await again();
  })));
  look(page.previewUrl);
}

// section is one section with its fields. It moves by dragging, and by buttons.
function section(page, s, again) {
  const template = templates.get(s.templateKey) ?? { name: s.templateKey, fields: [] };
  const inputs = template.fields.map((f) => (f.type === "list" ? listField(f, s.content?.[f.name]) : field(f.name, f.description || f.name, f.type, s.content?.[f.name], pictures)));
  const path = `pages/${page.id}/sections/${s.pageSectionId}`;
  const content = () => Object.fromEntries(template.fields.map((f, i) => [f.name, inputs[i].read()]));
  const reread = async () => (await items(`pages/${page.id}/sections?includeContent=true`)).find((one) => one.pageSectionId === s.pageSectionId);
  const save = () => saving(box, path, s.version, { content: content() }, reread, again);
  const box = make("li", { className: "section", draggable: true, "data-id": s.pageSectionId });
  const place = page.sections.indexOf(s);
  const move = (to) => reorder(page, s.pageSectionId, to, again);
  box.append(
    make("div", { className: "row" }, make("h3", {}, template.name, " ", state(s)), make("span", {},
      deed("↑", () => move(place - 1), { "aria-label": `${say.up}: ${template.name}`, disabled: place === 0 }),
      deed("↓", () => move(place + 1), { "aria-label": `${say.down}: ${template.name}` }))),
    ...inputs,
    make("div", { className: "row" }, deed(say.save, save, { className: "first" }),
      deed(s.status === "published" ? say.unpublish : say.publish, async () => {
        await ask("POST", `${path}/publish`, { status: s.status === "published" ? "unpublished" : "published" });
        await list();
        await again();
      }),
      history("section", s.pageSectionId, again), removing(path, again)));
  drags(box, page, again);
  if (s.status !== "published") live(box, save);
  return box;
}

// live saves a draft when its writer pauses: nobody but them sees it. What visitors see is saved by its button alone.
function live(box, save) {
  box.addEventListener("change", (event) => {
    if (event.target.matches("textarea, input, select")) save().catch((error) => tell(error.message, true));
  });
}

function drags(box, page, again) {
  box.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", box.dataset.id));
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    const to = page.sections.findIndex((s) => s.pageSectionId === box.dataset.id);
    reorder(page, event.dataTransfer.getData("text/plain"), to, again).catch((error) => tell(error.message, true));
  });
}

async function reorder(page, id, to, again) {
  const order = page.sections.map((s) => s.pageSectionId).filter((one) => one !== id);
  if (order.length === page.sections.length) return;
  order.splice(Math.max(0, Math.min(to, order.length)), 0, id);
  await ask("POST", `pages/${page.id}/sections/order`, { order });
  await again();
  document.querySelector(`[data-id="${id}"] button:not(:disabled)`)?.focus();
  tell(say.moved);
}

// listField is a list of objects, each with the fields of the template's list.
function listField(f, value) {
  const rows = make("div", {});
  const add = (one) => {
    const parts = f.fields.map((part) => field(part.name, part.description || part.name, part.type, one?.[part.name], pictures));
    const row = make("fieldset", {}, make("legend", {}, f.description || f.name), ...parts);
    row.read = () => Object.fromEntries(f.fields.map((part, i) => [part.name, parts[i].read()]).filter(([, v]) => v !== null));
    row.append(deed(say.remove, () => { row.remove(); }));
    rows.append(row);
  };
  (value ?? []).forEach(add);
  const box = make("div", {}, rows, deed(say.add, () => add({})));
  box.read = () => [...rows.children].map((row) => row.read());
  return box;
}

// openPostIn edits what a post says in another language.
function openPostIn(post, locale) {
  const path = `posts/${post.slug}`;
  const t = saidIn(post, locale);
  const again = () => openPost(post.slug, locale);
  const title = field("title", say.title, "text", t.title);
  const body = field("body", say.text, "markdown", t.content?.body);
  const due = t.status === "published" ? null : field("publishAt", say.publishAt, "date", local(t.publishAt));
  hint(title, post.title);
  hint(body, post.content?.body);
  const head = make("div", { className: "head", lang: locale });
  const change = () => {
    const made = { locale, title: title.read() ?? "", content: { body: body.read() } };
    const at = due?.read() ?? null;
    if (due && at !== local(t.publishAt)) Object.assign(made, { publishAt: at && new Date(at).toISOString(), confirmed: true });
    return made;
  };
  head.append(make("h2", {}, post.title, " ", state(t)), languages(post, locale, (l) => openPost(post.slug, l)), title, body, ...(due ? [due] : []), make("div", { className: "row" },
    deed(say.save, () => saving(head, path, t.version, change(), async () => saidIn((await items(path))[0], locale), again), { className: "first" }),
    ...languageDeeds(t, path, { confirmed: true }, again, () => openPost(post.slug))));
  work.replaceChildren(head);
  look(t.previewUrl ?? post.previewUrl);
}

async function openPost(slug, locale = "") {
  const post = (await items(`posts/${slug}`))[0];
  if (locale) return openPostIn(post, locale);
  const again = () => openPost(slug);
  const inputs = {
    title: field("title", say.title, "text", post.title), body: field("body", say.text, "markdown", post.content?.body),
    category: field("category", say.category, "text", post.category), author: field("author", say.author, "text", post.author),
    cover: field("cover", say.cover, "image", post.featuredImage, pictures),
    ...(post.status === "published" ? {} : { publishAt: field("publishAt", say.publishAt, "date", local(post.publishAt)) }),
  };
  const head = make("div", { className: "head" });
  const change = () => {
    const cover = inputs.cover.read();
    const made = { title: inputs.title.read(), category: inputs.category.read() ?? "", author: inputs.author.read() ?? "", content: { body: inputs.body.read() ?? "" } };
    if (cover !== (post.featuredImage ?? null)) made.content.cover = cover ? { url: cover, alt: pictures.find((one) => one.id === cover)?.description || made.title } : null;
    const due = inputs.publishAt?.read() ?? null;
    if (inputs.publishAt && due !== local(post.publishAt)) Object.assign(made, { publishAt: due && new Date(due).toISOString(), confirmed: true });
    return made;
  };
  const reread = async () => (await items(`posts/${slug}`))[0];
  const save = () => saving(head, `posts/${slug}`, post.version, change(), reread, async () => { await list(); await again(); });
  const shown = post.status === "published";
  head.append(make("h2", {}, post.title, " ", state(post)), languages(post, "", (l) => openPost(slug, l)), ...Object.values(inputs), make("div", { className: "row" },
    deed(say.save, save, { className: "first" }),
    deed(shown ? say.unpublish : say.publish, async () => {
      await ask("PATCH", `posts/${slug}`, { status: shown ? "draft" : "published", confirmed: true }, post.version);
      await list();
      await again();
    }),
    history("entry", post.id, again), removing(`posts/${slug}`)));
  if (!shown) live(head, save);
  work.replaceChildren(head);
  look(post.previewUrl);
}

// local is a time as fields for times have it, null for none.
function local(time) {
  if (!time) return null;
  const at = new Date(time);
  return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

// removing deletes in two steps: what would go is shown first.
function removing(path, after) {
  const button = deed(say.delete, async () => {
    const shown = await ask("DELETE", path);
    if (!shown.requiresConfirmation) throw new Error(shown.items?.map((one) => one.error).join(" ") || say.failed);
    if ((await choice(button.closest(".section, .head, li"), say.deleteAsk, say.cancel, say.delete)) !== 1) return;
    await ask("DELETE", `${path}?confirmed=true`);
    if (after) await after();
    else await begin();
  }, { className: "last" });
  return button;
}

// history shows the versions of something, each of which can be brought back.
function history(what, id, again) {
  const button = deed(say.history, async () => {
    const versions = await items(`history/${what}/${id}`);
    const rows = versions.map((v) => make("li", { className: "row" }, make("span", {}, new Date(v.changedAt).toLocaleString(document.documentElement.lang)),
      deed(say.restore, async () => {
        await ask("POST", `history/${v.id}/restore`);
        await again();
        tell(say.saved);
      }, { "aria-label": `${say.restore}: ${new Date(v.changedAt).toLocaleString(document.documentElement.lang)}` })));
    const box = button.closest(".section, .head");
    box.querySelector(".versions")?.remove();
    box.append(make("ul", { className: "versions", "aria-label": say.history }, ...(rows.length ? rows : [make("li", {}, say.none)])));
  });
  return button;
}

async function openPictures() {
  look("");
  const file = make("input", { type: "file", accept: "image/png,image/jpeg,image/webp,image/gif", multiple: true, onchange: async () => {
    try {
      for (const one of file.files) {
        const form = new FormData();
        form.append("buffer", one);
        await ask("POST", "media", form);
      }
      await begin();
    } catch (error) {
      tell(error.message, true);
    }
  } });
  const rows = pictures.map((one) => {
    const words = field("description", say.description, "markdown", one.description);
    const from = { model: say.byModel, name: say.byName }[one.describedBy] ?? "";
    return make("li", {}, make("img", { src: one.url, alt: one.description ?? "", loading: "lazy" }), words, make("small", {}, [from, ...(one.tags ?? [])].filter(Boolean).join(" · ")), make("div", { className: "row" },
      deed(say.save, async () => {
        await ask("PATCH", `media/${encodeURIComponent(one.id)}`, { description: words.read() ?? "" });
        tell(say.saved);
      }), removing(`media/${encodeURIComponent(one.id)}`)));
  });
  work.replaceChildren(make("h2", {}, say.pictures), make("label", {}, say.upload, file), deed(say.results, openResults), make("ul", { className: "pictures" }, ...rows));
}

async function openWhole() {
  look("");
  work.replaceChildren(...(await whole(removing, openWhole)));
}

// openResults offers the pictures that one's own runs made.
async function openResults() {
  const { runs = [] } = await ask("GET", "/api/runs?limit=50");
  const outputs = runs.flatMap((run) => run.outputs ?? []).filter((o) => o.type === "image" && stored(o));
  work.replaceChildren(make("h2", {}, say.results), make("ul", { className: "pictures" }, ...outputs.map((o) => make("li", {},
    make("img", { src: o.url, alt: o.alt ?? "", loading: "lazy" }),
    deed(say.pick, async () => {
      await ask("POST", "media", { buffer: stored(o) });
      await begin();
    })))), outputs.length ? "" : make("p", {}, say.none));
}

// stored is the reference of a result's file, whose address has its hash.
function stored(output) {
  const hash = output.url?.match(/\/([0-9a-f]{64})\//)?.[1];
  return hash && `asset:${hash}`;
}

// choosing offers the sites that one works on. Who has no role in the house comes to the first of the others.
async function choosing() {
  const sites = await items("sites");
  const here = site || "house";
  if (!site && sites.length && sites[0].slug !== here) {
    location.replace(`?site=${encodeURIComponent(sites[0].slug)}`);
    return false;
  }
  if (sites.length > 1) {
    const select = make("select", { id: "site", "aria-label": say.site, onchange: () => { location.search = select.value === "house" ? "" : `?site=${encodeURIComponent(select.value)}`; } },
      ...sites.map((one) => make("option", { value: one.slug, selected: one.slug === here }, one.title || one.slug)));
    document.querySelector("header").append(select);
  }
  return true;
}

async function begin() {
  try {
    const [media, forms] = await Promise.all([items("media?limit=200"), items("templates")]);
    pictures = media;
    templates = new Map(forms.map((t) => [t.key, t]));
    const all = await list(); // last: what it offers needs the others
    if (kind === "pictures") return await openPictures();
    if (kind === "whole") return await openWhole();
    work.replaceChildren(...[make("h2", {}, say[kind]), all.length ? "" : make("p", {}, say.none)]);
    look("");
  } catch (error) {
    tell(error.status === 403 ? say.noRole : error.message, true);
  }
}

if (await choosing().catch(() => true)) begin();
