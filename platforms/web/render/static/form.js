// A tool's form: files by drop, paste and camera, sliders, dice, and the price of what the form holds.
const form = document.getElementById("inputs");
const start = document.getElementById("start");
const quote = document.getElementById("quote");
const basis = document.getElementById("basis");

// The price

let timer, asking;

async function askPrice() {
  const data = new FormData(form);
  for (const [name, value] of [...data]) if (value instanceof File) data.delete(name);
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(`/tool/${encodeURIComponent(form.dataset.tool)}/price`, { method: "POST", body: data, signal: asking.signal });
    if (!answer.ok) { quote.ariaBusy = "false"; return; } // a value that does not fit: its reason is told when the form is sent
    const told = await answer.json();
    quote.textContent = told.price;
    basis.textContent = told.basis;
    document.getElementById("shown").value = told.quote ?? "";
    quote.ariaBusy = "false";
    for (const { id, code } of told.code ?? []) {
      const place = document.getElementById(`code-${id}`);
      if (place) place.textContent = code;
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

// A price is held for 15 minutes.
setInterval(askPrice, 10 * 60 * 1000);
addEventListener("visibilitychange", () => { if (!document.hidden) askPrice(); });

form.addEventListener("input", () => {
  asking?.abort(); // a price that comes now is that of what the form held before
  quote.ariaBusy = "true";
  clearTimeout(timer);
  timer = setTimeout(askPrice, 350);
});

form.addEventListener("submit", (event) => {
  if (event.submitter && event.submitter !== start) return;
  start.textContent = start.dataset.busy;
  setTimeout(() => { start.disabled = true; }); // after the form was read
});

// A page that comes back from the browser's memory can be sent again.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !start.disabled) form.requestSubmit(start);
});

// Sliders and dice

for (const range of form.querySelectorAll("[data-for]")) {
  const box = document.getElementById(range.dataset.for);
  range.addEventListener("input", () => { box.value = range.value; box.dispatchEvent(new Event("input")); });
  box.addEventListener("input", () => { if (box.value !== "" && box.value !== range.value) range.value = box.value; });
}

for (const dice of form.querySelectorAll("[data-dice]")) {
  dice.addEventListener("click", () => {
    const box = document.getElementById(dice.dataset.dice);
    const random = crypto.getRandomValues(new BigUint64Array(1))[0];
    const low = BigInt(dice.dataset.min || 0);
    const high = BigInt(dice.dataset.max || 4294967295);
    box.value = String(low < 0n ? random % (high + 1n) : low + random % (high - low + 1n)); // below zero stands for "random"
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// Ratios, each by its picture: both sides at once

const sides = ["width", "height"].map((name) => form.elements[name]);
const ratios = [...form.querySelectorAll("[data-width]")];
const mark = () => { for (const ratio of ratios) ratio.ariaPressed = String(ratio.dataset.width === sides[0].value && ratio.dataset.height === sides[1].value); };
for (const ratio of ratios) {
  ratio.addEventListener("click", () => {
    for (const side of sides) {
      side.value = ratio.dataset[side.name];
      side.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
}
if (ratios.length > 0) { form.addEventListener("input", mark); mark(); }

// What was said before can be said again.
form.addEventListener("click", (event) => {
  const earlier = event.target.closest("[data-say]");
  if (!earlier) return;
  const box = document.getElementById(earlier.dataset.say);
  box.value = earlier.textContent;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  earlier.closest("details").open = false;
  box.focus();
});

// A value that differs from the tool's own can be taken back to it.
for (const control of form.querySelectorAll("[data-default]")) {
  if (control.dataset.default === "") continue;
  const reset = document.createElement("button");
  reset.type = "button";
  reset.className = "plain tiny reset";
  reset.textContent = form.dataset.reset;
  reset.ariaLabel = `${form.dataset.reset}: ${control.labels[0].textContent.trim()}`;
  const show = () => { reset.hidden = control.value === control.dataset.default; };
  reset.addEventListener("click", () => {
    control.value = control.dataset.default;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.focus();
  });
  control.addEventListener("input", show);
  show();
  control.closest(".field").append(reset);
}

if (!CSS.supports("field-sizing", "content")) {
  const grow = (area) => { area.style.height = "auto"; area.style.height = `${area.scrollHeight + 2}px`; };
  for (const area of form.querySelectorAll("textarea")) { area.addEventListener("input", () => grow(area)); grow(area); }
}

// Files

const fileFields = [...form.querySelectorAll("[data-files]")];
const takes = (field, file) => field.dataset.files === "file" || file.type.startsWith(`${field.dataset.files}/`);

export function give(field, files) {
  const input = field.querySelector("input[type=file]");
  const fitting = [...files].filter((file) => takes(field, file));
  if (fitting.length === 0) return false;
  const data = new DataTransfer();
  for (const file of "multiple" in field.dataset ? [...input.files, ...fitting] : fitting.slice(0, 1)) data.items.add(file);
  input.files = data.files;
  show(field);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
}

function show(field) {
  const input = field.querySelector("input[type=file]");
  const list = field.querySelector(".files");
  for (const item of list.querySelectorAll("[data-chosen]")) {
    const picture = item.querySelector("img, video");
    if (picture) URL.revokeObjectURL(picture.src);
    item.remove();
  }
  if (input.files.length > 0 && !("multiple" in field.dataset)) list.replaceChildren();
  [...input.files].forEach((file, index) => list.append(chosen(field, file, index)));
  settle(field);
}

function chosen(field, file, index) {
  const item = document.createElement("li");
  item.dataset.chosen = index;
  if (file.type.startsWith("image/")) {
    const picture = new Image();
    picture.src = URL.createObjectURL(file);
    picture.alt = "";
    item.append(picture);
  }
  const name = document.createElement("span");
  name.textContent = file.name;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "plain tiny";
  remove.dataset.remove = "";
  remove.textContent = "×";
  remove.ariaLabel = file.name;
  item.append(name, remove);
  return item;
}

// settle says whether a file is still needed.
function settle(field) {
  const filled = field.querySelector(".files li") !== null;
  const input = field.querySelector("input[type=file]");
  field.classList.toggle("filled", filled);
  if (input.required) field.dataset.required = "";
  input.required = "required" in field.dataset && !filled;
}

for (const field of fileFields) {
  const drop = field.querySelector(".drop");
  const input = field.querySelector("input[type=file]");
  input.addEventListener("change", () => show(field));
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); give(field, event.dataTransfer.files); });
  field.addEventListener("click", (event) => {
    const remove = event.target.closest("[data-remove]");
    if (remove) takeOut(field, remove.closest("li"));
  });
  field.querySelector("[data-camera]")?.addEventListener("click", () => photograph(field));
  show(field);
}

// takeOut takes a file out of a field again: one that was chosen now, or one that stood there.
function takeOut(field, item) {
  const input = field.querySelector("input[type=file]");
  if ("chosen" in item.dataset) {
    const data = new DataTransfer();
    [...input.files].forEach((file, index) => { if (index !== Number(item.dataset.chosen)) data.items.add(file); });
    input.files = data.files;
    show(field);
  } else {
    item.remove();
    settle(field);
  }
  input.focus();
}

function photograph(field) {
  const camera = document.createElement("input");
  camera.type = "file";
  camera.accept = `${field.dataset.files}/*`;
  camera.capture = "environment";
  camera.addEventListener("change", () => give(field, camera.files));
  camera.click();
}

// A file pasted or dropped anywhere goes to the first field that takes its kind and is empty.
function giveAnywhere(files) {
  const free = [...fileFields].sort((a, b) => a.classList.contains("filled") - b.classList.contains("filled"));
  return free.some((field) => give(field, files));
}
addEventListener("paste", (event) => { if (event.clipboardData.files.length > 0 && giveAnywhere(event.clipboardData.files)) event.preventDefault(); });
addEventListener("dragover", (event) => { if (fileFields.length > 0) event.preventDefault(); });
addEventListener("drop", (event) => { if (!event.defaultPrevented && fileFields.length > 0) { event.preventDefault(); giveAnywhere(event.dataTransfer.files); } });

document.getElementById("problem")?.focus();
form.querySelector("[aria-invalid]")?.scrollIntoView({ block: "center" });
