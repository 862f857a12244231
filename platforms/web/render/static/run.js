// A run's page follows its events, and becomes the finished page when it is over.
import { localTimes } from "./page.js";

const look = { links: [], at: 0 };

// Beside a tool's form only the run is drawn anew, on its own page all of it.
const beside = document.getElementById("tries") !== null;
let events; // of the run that is shown

function enliven() {
  events?.close();
  const run = document.getElementById("run");
  if (!run) return;
  if (run.dataset.final === "false") follow(run.dataset.run);
  else { lightbox(); for (const figure of document.querySelectorAll(".compare")) compare(figure); }
}

function follow(id) {
  const state = document.getElementById("state"), stage = document.getElementById("stage"), bar = document.getElementById("bar");
  const asked = document.getElementById("run").dataset.question; // another question, or none any more, is another page
  const stages = JSON.parse(state.dataset.stages || "{}"); // in the reader's language
  let previewAt = 0;
  const own = new EventSource(`/api/runs/${id}/events`);
  events = own;
  own.addEventListener("run", (event) => {
    const r = JSON.parse(event.data);
    const over = ["succeeded", "failed", "canceled", "timed_out"].includes(r.status);
    if (over || (r.question?.id || "") !== asked || (!bar && r.status !== "awaiting_confirmation")) {
      own.close();
      finish(id);
      return;
    }
    if (!bar) return;
    const percent = r.progress === null ? null : Math.round(r.progress * 100);
    const place = r.queuePosition ? state.dataset.place.replace("#", r.queuePosition) : "";
    state.textContent = state.dataset[r.status];
    stage.textContent = [percent === null ? "" : `${percent} %`, place || stages[r.stage] || r.stage, rest(state, r.remainingSeconds || 0)].filter(Boolean).join(" · ");
    const told = document.getElementById("told");
    told.textContent = r.notice ? told.dataset[r.notice] : "";
    if (percent === null) bar.removeAttribute("value"); else bar.value = percent;
    if (Date.now() - previewAt > 900) {
      previewAt = Date.now();
      preview(id);
    }
  });
  // The browser tries a broken stream again by itself, but not one that was refused.
  own.addEventListener("error", () => {
    if (own.readyState === EventSource.CLOSED && events === own) setTimeout(() => { if (events === own) finish(id); }, 15000);
  });
}

// rest says how long it will go on, as i18n.Voice.Rest does.
function rest(state, seconds) {
  if (seconds < 2) return "";
  if (seconds >= 90) return state.dataset.restMinutes.replace("#", Math.round(seconds / 60));
  return state.dataset.rest.replace("#", seconds < 10 ? seconds : Math.round(seconds / 5) * 5);
}

// finish takes over the page as the server now draws it, without a flash. What came as the answer to a form has the form's address.
async function finish(id) {
  const address = `/run/${id}`;
  if (!beside && location.pathname !== address) history.replaceState(null, "", address);
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (document.getElementById("run").dataset.run !== id) return; // another one is looked at by now
  if (!answer.ok) { location.replace(address); return; }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!document.startViewTransition || matchMedia("(prefers-reduced-motion: reduce)").matches) { put(page); return; }
  const fade = document.startViewTransition(() => put(page));
  for (const end of [fade.ready, fade.finished]) end.catch(() => {}); // a fade that is cut short has swapped all the same
}

// put shows the run of a page that was read, in place of the one that is shown.
export function put(page) {
  for (const without of page.querySelectorAll("noscript")) without.remove(); // read without scripts, what they hold would count here
  const part = beside ? "run" : "main";
  document.getElementById(part).replaceWith(page.getElementById(part));
  const balance = page.getElementById("balance");
  if (balance) document.getElementById("balance")?.replaceWith(balance);
  localTimes();
  enliven();
  dispatchEvent(new CustomEvent("shown"));
}

async function preview(id) {
  const answer = await fetch(`/api/runs/${id}/preview`);
  const img = document.getElementById("preview");
  if (answer.status !== 200 || !img) return;
  const old = img.src;
  img.src = URL.createObjectURL(await answer.blob());
  img.hidden = false;
  document.getElementById("nothing").hidden = true;
  if (old.startsWith("blob:")) URL.revokeObjectURL(old);
}

// The large view: arrows go on, Escape closes (the dialog does that itself).

function lightbox() {
  const fresh = document.getElementById("look");
  const dialog = fresh?.cloneNode(true); // without the listeners of the run before
  fresh?.replaceWith(dialog);
  look.links = [...document.querySelectorAll("a[data-look]")];
  look.links.forEach((link, index) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    turn(dialog, index);
    dialog.showModal();
  }));
  if (!dialog) return;
  const many = look.links.length > 1;
  const before = dialog.querySelector(".before"), after = dialog.querySelector(".after");
  before.hidden = after.hidden = !many;
  before.addEventListener("click", () => turn(dialog, look.at - 1));
  after.addEventListener("click", () => turn(dialog, look.at + 1));
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => look.links[look.at]?.focus());
  dialog.addEventListener("keydown", (event) => {
    if (!many) return;
    if (event.key === "ArrowLeft") turn(dialog, look.at - 1);
    if (event.key === "ArrowRight") turn(dialog, look.at + 1);
  });
}

function turn(dialog, index) {
  look.at = (index + look.links.length) % look.links.length;
  const link = look.links[look.at], img = dialog.querySelector("img");
  img.src = link.href;
  img.alt = link.querySelector("img").alt;
  dialog.querySelector("p").textContent = look.links.length > 1 ? `${link.dataset.look} · ${look.at + 1} / ${look.links.length}` : link.dataset.look;
}

// Pictures of one shape lie one over the other, with a slider between them; others stay side by side.
export async function compare(figure) {
  const pictures = [...figure.querySelectorAll("img")];
  const range = figure.querySelector("input[type=range]");
  await Promise.all(pictures.map((img) => img.decode().catch(() => {})));
  const [before, after] = pictures.map((img) => img.naturalWidth / img.naturalHeight);
  if (!(Math.abs(before / after - 1) < 0.03)) return;
  figure.classList.add("over");
  range.hidden = false;
  const set = () => figure.style.setProperty("--at", `${range.value}%`);
  range.addEventListener("input", set);
  const drag = (event) => {
    const box = figure.querySelector(".pair").getBoundingClientRect();
    range.value = Math.round(100 * (event.clientX - box.left) / box.width);
    set();
  };
  const pair = figure.querySelector(".pair");
  pair.addEventListener("pointerdown", (event) => { event.preventDefault(); pair.setPointerCapture(event.pointerId); drag(event); });
  pair.addEventListener("pointermove", (event) => { if (pair.hasPointerCapture(event.pointerId)) drag(event); });
  set();
}

enliven();
