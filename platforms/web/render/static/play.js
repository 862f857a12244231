// The playground: a tool's form makes one try after the other beside it, and nothing is left.
import { compare, put } from "./run.js";

const form = document.getElementById("inputs");
const start = document.getElementById("start");
const strip = document.getElementById("strip");
const pairing = document.getElementById("pairing");
const trouble = document.getElementById("trouble");
const label = start.textContent;
const shown = () => document.getElementById("run").dataset;

// read gives a page and where it is; null where the way there failed, which is told.
async function read(address, options = {}) {
  trouble.hidden = true;
  try {
    const answer = await fetch(address, { ...options, headers: { Accept: "text/html" } });
    return { at: new URL(answer.url), page: new DOMParser().parseFromString(await answer.text(), "text/html") };
  } catch {
    tell(trouble.dataset.offline);
    return null;
  }
}

function tell(text) {
  trouble.textContent = text;
  trouble.hidden = false;
}

// A try. The address of a form is read as an attribute: an input that is called action would stand before the property.

form.addEventListener("submit", async (event) => {
  if (event.submitter && event.submitter !== start) return; // settings and presets are the page's own
  event.preventDefault();
  const answer = await read(form.getAttribute("action"), { method: "POST", body: new FormData(form) });
  setTimeout(() => { // after the form has marked it as busy
    start.textContent = label;
    start.disabled = false;
  });
  if (!answer) return;
  if (answer.page.querySelector("#run[data-run]")) begun(answer.page);
  else if (answer.page.getElementById("inputs")) explain(answer.page);
  else location.assign(answer.at); // to sign in again, as a rule
});

function begun(page) {
  clear();
  put(page);
  const id = shown().run;
  history.pushState(null, "", `${location.pathname}?run=${id}`);
  form.elements.form__id.value = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  parent(id);
  form.dispatchEvent(new Event("input")); // a fresh price for the next one
  const run = document.getElementById("run").firstElementChild;
  if (run.getBoundingClientRect().top > innerHeight || run.getBoundingClientRect().bottom < 0) run.scrollIntoView({ block: "start" });
}

// parent names the try before, so that the next one can be compared with it.
function parent(id) {
  form.querySelector("[name=parent__run]")?.remove();
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = "parent__run";
  field.value = id;
  form.append(field);
}

function clear() {
  document.getElementById("problem")?.remove();
  for (const field of form.querySelectorAll(".field.wrong")) {
    field.classList.remove("wrong");
    field.querySelector(".problem")?.remove();
    field.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
  }
}

// explain shows what the server says against the form, and leaves all in it as it is.
function explain(page) {
  clear();
  for (const id of ["quote", "basis"]) document.getElementById(id).textContent = page.getElementById(id).textContent; // which may be what is wrong
  document.getElementById("shown").value = page.getElementById("shown").value;
  const problem = page.getElementById("problem");
  if (problem) form.closest(".play").before(problem);
  for (const wrong of page.querySelectorAll(".field.wrong")) {
    const field = form.querySelector(`.field[data-name="${CSS.escape(wrong.dataset.name)}"]`);
    if (!field) continue;
    field.classList.add("wrong");
    field.append(wrong.querySelector(".problem"));
    field.closest("details")?.setAttribute("open", "");
    field.querySelector("input:not([type=hidden]):not([type=range]), textarea, select")?.setAttribute("aria-invalid", "true");
  }
  problem?.focus();
  form.querySelector("[aria-invalid]")?.scrollIntoView({ block: "center" });
}

// What is done with a run: again, vary, cancel, confirm, share. What leads elsewhere, such as deleting it, goes there.
document.addEventListener("submit", async (event) => {
  if (!event.target.closest("#run")) return;
  event.preventDefault();
  const answer = await read(event.target.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(event.target, event.submitter)) });
  if (!answer) return;
  if (!answer.page.querySelector("#run[data-run]")) { location.assign(answer.at); return; }
  put(answer.page);
  const problem = answer.page.querySelector("main > .problem");
  if (problem) tell(problem.textContent);
  if (new URLSearchParams(location.search).get("run") !== shown().run) history.pushState(null, "", `${location.pathname}?run=${shown().run}`);
});

// Earlier tries

async function show(id) {
  const answer = await read(`/run/${encodeURIComponent(id)}`);
  if (answer?.page.querySelector("#run[data-run]")) put(answer.page);
}

addEventListener("shown", () => {
  const fresh = document.querySelector("#run template")?.content.firstElementChild;
  if (!fresh) return;
  const known = strip.querySelector(`[data-try="${fresh.dataset.try}"]`);
  if (known) known.replaceWith(fresh);
  else strip.prepend(fresh);
  document.getElementById("tries").hidden = false;
  pairing.hidden = strip.children.length < 2;
  for (const tile of strip.children) tile.toggleAttribute("aria-current", tile === fresh);
  keepSeeds();
});

strip.addEventListener("click", (event) => {
  const tile = event.target.closest("[data-try]");
  if (!tile || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (pairing.ariaPressed === "true") { pair(tile); return; }
  show(tile.dataset.try);
  history.pushState(null, "", `${location.pathname}?run=${tile.dataset.try}`);
});

addEventListener("popstate", () => {
  const id = new URLSearchParams(location.search).get("run");
  if (id) show(id);
  else location.reload();
});

// Two results under one slider: the one that is shown, and the one that is picked.

function press(on) {
  pairing.ariaPressed = String(on);
  document.getElementById("pairsay").textContent = on ? pairing.dataset.say : "";
}
pairing.addEventListener("click", () => press(pairing.ariaPressed !== "true"));
addEventListener("keydown", (event) => { if (event.key === "Escape") press(false); });

function pair(tile) {
  const now = strip.querySelector("[aria-current]");
  if (!tile.dataset.picture || !now?.dataset.picture || tile === now) return;
  const figure = document.getElementById("pair").content.firstElementChild.cloneNode(true);
  const [before, after] = figure.querySelectorAll("img");
  before.src = tile.dataset.picture;
  after.src = now.dataset.picture;
  figure.id = "paired";
  document.getElementById("paired")?.remove();
  document.getElementById("run").firstElementChild.prepend(figure);
  compare(figure);
  press(false);
  figure.scrollIntoView({ block: "nearest" });
}

// The seed: locked, it stays what it was; else each try draws its own.

const locks = [...form.querySelectorAll("[data-lock]")];
const boxOf = (lock) => document.getElementById(lock.dataset.lock);

function keepSeeds() {
  const seeds = JSON.parse(shown().seeds || "{}");
  for (const lock of locks) {
    const box = boxOf(lock);
    if (lock.ariaPressed !== "true" || box.value !== "" || !(lock.dataset.seed in seeds)) continue;
    box.value = seeds[lock.dataset.seed];
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

for (const lock of locks) {
  const box = boxOf(lock);
  lock.hidden = false;
  lock.ariaPressed = String(box.value !== "");
  lock.addEventListener("click", () => {
    lock.ariaPressed = String(lock.ariaPressed !== "true");
    if (lock.ariaPressed === "true") { keepSeeds(); return; }
    box.value = "";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  box.addEventListener("input", () => { if (box.value !== "") lock.ariaPressed = "true"; });
}

if (shown().show) show(shown().show);
