// The conversation: messages as they come, buttons without leaving the page, files dropped or pasted, commands
// completed while they are typed. What things look like is drawn by the server.
import "./page.js";

const talk = document.querySelector(".talk");
const log = document.getElementById("log");
const composer = document.getElementById("composer");
const say = document.getElementById("say");
const files = document.getElementById("files");
const picked = document.getElementById("picked");
const offers = document.getElementById("offers");
const told = document.getElementById("told");
const replying = document.getElementById("replying");

function begin() {
  times(log);
  listen(Number(talk.dataset.after));
  document.addEventListener("submit", submitted);
  log.addEventListener("click", clicked);
  log.addEventListener("change", chosen);
  composer.addEventListener("keydown", typed);
  say.addEventListener("input", complete);
  say.addEventListener("blur", () => setTimeout(hideOffers, 150));
  files.addEventListener("change", showPicked);
  document.getElementById("noreply").addEventListener("click", (event) => {
    event.preventDefault();
    reply(null);
  });
  for (const type of ["dragover", "drop"]) addEventListener(type, dropped);
  addEventListener("dragleave", (event) => event.relatedTarget || talk.classList.remove("over"));
  addEventListener("paste", (event) => addFiles(event.clipboardData?.files) && event.preventDefault());
  for (const img of log.querySelectorAll("img")) img.addEventListener("load", toEnd, { once: true });
  if (!location.hash || location.hash === "#composer") toEnd();
  if (say.value) say.setSelectionRange(say.value.length, say.value.length);
  if (matchMedia("(pointer: fine)").matches) say.focus({ preventScroll: true });
}

// Events. The browser comes back by itself after a break and tells what it knows.
function listen(after) {
  const events = new EventSource(`/chat/events?after=${after}`);
  const offline = document.getElementById("offline");
  let known = after;
  events.addEventListener("message", (event) => {
    known = Number(event.lastEventId);
    place(JSON.parse(event.data));
  });
  events.addEventListener("working", working);
  events.addEventListener("moved", () => location.reload());
  events.addEventListener("current", () => { offline.hidden = true; });
  events.addEventListener("error", () => {
    offline.hidden = false;
    if (events.readyState === EventSource.CLOSED) setTimeout(() => listen(known), 3000);
  });
  addEventListener("pagehide", () => events.close(), { once: true });
}

// A sign of work stays for a while, or until something is said.
let resting;
function working() {
  talk.classList.add("working");
  clearTimeout(resting);
  resting = setTimeout(() => talk.classList.remove("working"), 5000);
}

function place(message) {
  if (!message.mine) talk.classList.remove("working");
  const near = innerHeight + scrollY > document.documentElement.scrollHeight - 120;
  const now = document.getElementById(`m${message.id}`);
  if (!message.html) {
    now?.remove();
    return;
  }
  const drawn = document.createElement("template");
  drawn.innerHTML = message.html;
  const article = drawn.content.querySelector("article");
  times(article);
  if (now) {
    const place = focusIn(now);
    now.setAttribute("aria-live", article.querySelector(".files") ? "polite" : "off"); // not each percent is read out
    now.replaceChildren(...article.childNodes);
    focusAgain(now, place);
  } else {
    const first = log.querySelector("article");
    if (first && Number(first.id.slice(1)) > message.id) return; // older than what the page shows
    document.getElementById("nothing")?.remove();
    log.append(article);
  }
  if (!near && (now || !message.mine)) return;
  const above = now && now !== log.lastElementChild && now.querySelector(".files"); // a drawing that changes: it is looked at, whatever was said since
  const show = above ? () => above.scrollIntoView({ block: "nearest" }) : toEnd;
  show();
  for (const img of document.querySelectorAll(`#m${message.id} img`)) img.addEventListener("load", show, { once: true });
}

// Times of today need no date.
const today = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" });
const earlier = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
function times(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    time.textContent = (moment.toDateString() === new Date().toDateString() ? today : earlier).format(moment);
  }
}

function toEnd() { scrollTo({ top: document.documentElement.scrollHeight }); }

// A button that is drawn anew keeps the focus, if it is still there.
function focusIn(article) {
  const focused = article.contains(document.activeElement) && document.activeElement;
  return focused ? { value: focused.value, text: focused.textContent } : null;
}

function focusAgain(article, place) {
  if (!place) return;
  const all = [...article.querySelectorAll("button, select")];
  const same = all.find((b) => b.textContent === place.text) ?? all.find((b) => b.value === place.value) ?? all[0];
  (same ?? say).focus({ preventScroll: true });
}

// Forms are sent in the background.
async function submitted(event) {
  const form = event.target;
  if (!form.action.includes("/chat/")) return;
  event.preventDefault();
  if (form === composer && !say.value.trim() && !files.files.length) return;
  const body = new FormData(form, event.submitter);
  const said = form === composer ? written() : "";
  const nonce = form.dataset.said === said && form.dataset.nonce || crypto.randomUUID(); // sent again after a failure, it is the same
  Object.assign(form.dataset, { nonce, said });
  body.set("nonce__", nonce);
  event.submitter?.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    if (form.dataset.nonce === nonce) delete form.dataset.nonce;
    if (form.classList.contains("silence")) location.reload();
    if (form === composer && written() === said) sent(); // what was typed meanwhile stays
    if (form.closest("dialog")) form.closest("dialog").close();
    tell(answer.text, answer.alert);
    if (answer.dialog) open(answer.dialog);
    form.closest("details.menu")?.removeAttribute("open");
  } catch (problem) {
    tell(problem instanceof TypeError || !problem.message ? composer.dataset.failed : problem.message, true);
  } finally {
    event.submitter?.removeAttribute("aria-busy");
  }
}

// What stands in the composer.
function written() {
  return JSON.stringify([say.value, replying.querySelector("input").value, ...[...files.files].map((file) => [file.name, file.size, file.lastModified])]);
}

let quiet;
function tell(text, stay) {
  told.textContent = text ?? "";
  told.hidden = !text;
  clearTimeout(quiet);
  if (text && !stay) quiet = setTimeout(() => { told.hidden = true; }, 6000);
}

function sent() {
  composer.reset();
  say.value = "";
  instead();
  reply(null);
  showPicked();
  hideOffers();
  say.focus();
}

function open(html) {
  const dialog = document.createElement("dialog");
  dialog.className = "ask";
  dialog.setAttribute("aria-labelledby", "asked");
  dialog.innerHTML = html;
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.querySelector(".cancel").addEventListener("click", () => dialog.close());
  dialog.showModal();
}

function clicked(event) {
  const chip = event.target.closest("[data-type]");
  const answer = event.target.closest("[data-reply]");
  if (!chip && !answer) return;
  event.preventDefault();
  if (chip) {
    say.value = chip.dataset.type;
    say.focus();
    complete();
  } else {
    reply(answer.closest("article"));
    answer.closest("details").open = false;
  }
}

// A choice from a list needs no second press.
function chosen(event) {
  if (event.target.matches("form.choose select") && event.target.value) event.target.form.requestSubmit();
}

function reply(article) {
  const field = replying.querySelector("input");
  replying.hidden = field.disabled = !article;
  field.value = article ? article.id.slice(1) : "";
  replying.querySelector(".to").textContent = article?.querySelector(".text")?.textContent.slice(0, 90) ?? "";
  if (article) say.focus();
}

// Files.
function dropped(event) {
  if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
  event.preventDefault();
  talk.classList.toggle("over", event.type === "dragover");
  if (event.type === "drop") addFiles(event.dataTransfer.files);
}

function addFiles(more) {
  if (!more?.length) return false;
  const all = new DataTransfer();
  for (const file of [...files.files, ...more]) all.items.add(file);
  files.files = all.files;
  showPicked();
  say.focus();
  return true;
}

function showPicked() {
  picked.hidden = !files.files.length;
  picked.replaceChildren(...[...files.files].map((file, i) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip";
    button.textContent = `${file.name} ✕`;
    button.addEventListener("click", () => {
      const rest = new DataTransfer();
      [...files.files].forEach((f, n) => n === i || rest.items.add(f));
      files.files = rest.files;
      showPicked();
    });
    item.append(button);
    return item;
  }));
}

// Commands. Those of tools can be filled in as a form; what was typed goes along.
const form = document.getElementById("form");
const plain = form && { href: form.getAttribute("href"), text: form.textContent };
const forms = new Map();
function instead() {
  const [, name, rest] = say.value.match(/^\/(\S+)(?:\s+([^]*))?$/) ?? [];
  const address = forms.get(name?.toLowerCase());
  form.textContent = address ? form.dataset.form.replace("#", name) : plain.text;
  form.setAttribute("href", address ? address + (rest?.trim() ? `?text=${encodeURIComponent(rest.trim())}` : "") : plain.href);
}

let asked = 0;
async function complete() {
  const text = say.value;
  const turn = ++asked;
  instead();
  if (!text.startsWith("/") || text.length > 100 || text.includes("\n")) return hideOffers();
  const response = await fetch(`/chat/offers?text=${encodeURIComponent(text)}`);
  if (turn !== asked || !response.ok) return;
  show(await response.json());
}

function show(list) {
  for (const o of list) if (o.form) forms.set(o.label.slice(1), o.form);
  instead();
  offers.replaceChildren(...list.map((o, i) => {
    const item = document.createElement("li");
    item.id = `offer${i}`;
    item.role = "option";
    item.ariaSelected = "false";
    item.dataset.text = o.text;
    const label = document.createElement("strong");
    label.textContent = o.label;
    const about = document.createElement("span");
    about.textContent = o.about ?? "";
    item.append(label, about);
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(item); });
    return item;
  }));
  offers.hidden = !list.length;
  say.removeAttribute("aria-activedescendant");
}

function hideOffers() {
  asked++;
  offers.hidden = true;
  say.removeAttribute("aria-activedescendant");
}

function take(item) {
  say.value = item.dataset.text;
  say.focus();
  complete();
}

function typed(event) {
  if (event.target !== say || event.isComposing) return;
  const now = offers.hidden ? null : offers.querySelector("[aria-selected=true]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && !offers.hidden) {
    const all = [...offers.children];
    const next = all[(all.indexOf(now) + step + all.length) % all.length] ?? all[0];
    if (now) now.ariaSelected = "false";
    next.ariaSelected = "true";
    next.scrollIntoView({ block: "nearest" });
    say.setAttribute("aria-activedescendant", next.id);
    event.preventDefault();
  } else if (event.key === "Escape") {
    hideOffers();
  } else if ((event.key === "Enter" || event.key === "Tab") && now) {
    take(now);
    event.preventDefault();
  } else if (event.key === "Enter" && !event.shiftKey && matchMedia("(pointer: fine)").matches) {
    composer.requestSubmit();
    event.preventDefault();
  }
}

if (log) begin(); // at the end: what stands above is there
