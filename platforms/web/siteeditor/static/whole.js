// The site as a whole: what it is called, and its menu.
import { ask, items, say, site } from "./api.js";
import { deed, field, make, tell } from "./parts.js";

const menu = "navigations/main";

// whole gives what is worked on. removing makes a button that deletes, again shows all as it is by then.
export async function whole(removing, again) {
  const [sites, entries, pages] = await Promise.all([items("sites"), items(menu), items("pages")]);
  const one = sites.find((s) => s.slug === (site || "house"));
  return [make("h2", {}, say.whole), ...(one?.role === "owner" ? [naming(one, again)] : []), menuOf(entries, pages, removing, again)];
}

function naming(one, again) {
  const inputs = { title: field("title", say.title, "text", one.title), description: field("description", say.about, "text", one.description), language: field("language", say.ownLanguage, "text", one.language) };
  return make("div", { className: "head" }, ...Object.values(inputs), make("div", { className: "row" }, deed(say.save, async () => {
    await ask("PATCH", `/api/site${site && `?site=${encodeURIComponent(site)}`}`, Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.read() ?? ""])));
    await again();
    tell(say.saved);
  }, { className: "first" })));
}

// menuOf is the menu, whose items move by buttons, and what can come into it.
function menuOf(entries, pages, removing, again) {
  const rows = entries.map((item) => {
    const beside = entries.filter((other) => other.parentId === item.parentId);
    const place = beside.indexOf(item);
    const move = (to) => async () => {
      await ask("PATCH", `${menu}/items/${item.id}`, { sortOrder: to }, item.version);
      await again();
      tell(say.moved);
    };
    return make("li", { className: "row" }, make("span", {}, item.parentId ? `– ${item.label}` : item.label),
      deed("↑", move(place - 1), { "aria-label": `${say.up}: ${item.label}`, disabled: place === 0 }),
      deed("↓", move(place + 1), { "aria-label": `${say.down}: ${item.label}`, disabled: place === beside.length - 1 }), removing(`${menu}/items/${item.id}`, again));
  });
  const absent = pages.filter((page) => !entries.some((item) => item.targetId === page.id));
  const choice = make("select", { "aria-label": say.addToMenu }, ...absent.map((page) => make("option", { value: page.id }, page.name)));
  const adding = make("div", { className: "row" }, choice, deed(say.addToMenu, async () => {
    const page = absent.find((one) => one.id === choice.value);
    await ask("POST", `${menu}/items`, { label: page.name, targetType: "page", targetId: page.id });
    await again();
  }));
  return make("div", { className: "section" }, make("h3", {}, say.menu), make("ol", { id: "menu" }, ...rows), ...(absent.length ? [adding] : []));
}
