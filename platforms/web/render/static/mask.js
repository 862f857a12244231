// Painting a mask over a picture of the form, by mouse, finger or pen.
import { give } from "./form.js";
import { encode } from "./png.js";

const dialog = document.getElementById("mask");
const base = document.getElementById("mask-base");
const canvas = document.getElementById("mask-canvas");
const size = document.getElementById("mask-size");
const feather = document.getElementById("mask-feather");
const paint = canvas.getContext("2d", { willReadFrequently: true });
const mostPixels = 16e6;

let field; // the one that the mask is for
let steps = []; // what was done, in turn: strokes, inversions, clearings
let erasing = false;
const kept = new Map(); // by field: the picture that was painted on, the steps, and the file that was made of them

// The picture to paint on: the field's own where the mask is within it, else that of another field.

const fields = [...document.querySelectorAll("#inputs [data-files=image]")];

async function pictureFor(target) {
  const others = fields.filter((other) => other !== target && !other.dataset.mask);
  for (const from of target.dataset.mask === "within" ? [target] : [...others, target]) {
    const file = from.querySelector("input[type=file]").files[0];
    const known = kept.get(from);
    if (file && known?.made === nameOf(file)) return known.picture;
    if (file) return file;
    const stored = from.querySelector(".files [data-full]")?.dataset.full;
    if (stored) return (await fetch(stored)).blob();
  }
  return null;
}

const nameOf = (file) => `${file.name} ${file.size} ${file.lastModified}`;

async function open(target) {
  const picture = await pictureFor(target);
  const say = target.querySelector(".paint [data-say]");
  say.textContent = picture ? "" : say.dataset.say;
  if (!picture) return;
  const known = kept.get(target);
  field = target;
  steps = known && known.picture.size === picture.size ? [...known.steps] : [];
  if (base.src) URL.revokeObjectURL(base.src);
  base.src = URL.createObjectURL(picture);
  await base.decode();
  const shrink = Math.min(1, Math.sqrt(mostPixels / (base.naturalWidth * base.naturalHeight)));
  canvas.width = Math.round(base.naturalWidth * shrink);
  canvas.height = Math.round(base.naturalHeight * shrink);
  spot = lowered = undefined;
  kept.set(target, { steps: [], ...known, picture });
  dialog.showModal();
  fit();
  draw();
}

// fit makes the picture as large as the dialog has room.
function fit() {
  const room = dialog.querySelector(".easel"), frame = base.parentElement;
  const scale = Math.min(room.clientWidth / canvas.width, room.clientHeight / canvas.height);
  frame.style.width = `${canvas.width * scale}px`;
  frame.style.height = `${canvas.height * scale}px`;
  soften();
  showRing();
}

const softness = () => Number(feather.value) / 1000 * Math.max(canvas.width, canvas.height);
function soften() { canvas.style.filter = Number(feather.value) ? `blur(${softness() * canvas.clientWidth / canvas.width}px)` : ""; }

// Strokes

function draw() {
  paint.globalCompositeOperation = "source-over";
  paint.clearRect(0, 0, canvas.width, canvas.height);
  for (const step of steps) take(step);
}

function take(step) {
  if (step.clear) paint.clearRect(0, 0, canvas.width, canvas.height);
  else if (step.invert) invert();
  else for (let i = 0; i < step.points.length; i++) line(step, i);
}

// line draws the part of a stroke that ends at one of its points.
function line(step, i) {
  const to = step.points[i], from = step.points[Math.max(i - 1, 0)];
  paint.globalCompositeOperation = step.erase ? "destination-out" : "source-over";
  paint.strokeStyle = "#e5484d";
  paint.lineCap = "round";
  paint.lineWidth = to.width;
  paint.beginPath();
  paint.moveTo(from.x, from.y);
  paint.lineTo(to.x, to.y + (from === to ? 0.01 : 0)); // a point is a very short line
  paint.stroke();
}

function invert() {
  paint.globalCompositeOperation = "source-out";
  paint.fillStyle = "#e5484d";
  paint.fillRect(0, 0, canvas.width, canvas.height);
}

function point(event) {
  const box = canvas.getBoundingClientRect();
  const width = widthOf(event.pointerType === "pen" ? 0.3 + event.pressure : 1); // a pen's brush is as wide as it is pressed
  return { x: (event.clientX - box.left) * canvas.width / box.width, y: (event.clientY - box.top) * canvas.height / box.height, width };
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button > 0 && event.button !== 5) return; // 5 is a pen's eraser
  event.preventDefault();
  canvas.setPointerCapture(event.pointerId);
  steps.push({ erase: erasing || event.button === 5, points: [point(event)], by: event.pointerId });
  line(steps.at(-1), 0);
});
canvas.addEventListener("pointermove", (event) => {
  const stroke = steps.at(-1);
  if (!canvas.hasPointerCapture(event.pointerId) || stroke?.by !== event.pointerId) return;
  const moved = event.getCoalescedEvents?.() ?? [];
  for (const part of moved.length ? moved : [event]) {
    stroke.points.push(point(part));
    line(stroke, stroke.points.length - 1);
  }
});
for (const over of ["pointerup", "pointercancel"]) canvas.addEventListener(over, () => { const stroke = steps.at(-1); if (stroke) delete stroke.by; });

// By keyboard: the arrows move the brush, the space bar puts it down and lifts it.

const ring = document.getElementById("mask-ring");
const told = document.getElementById("mask-told");
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const widthOf = (pressure = 1) => Number(size.value) / 200 * Math.max(canvas.width, canvas.height) * pressure;
let spot; // where the brush is, in pixels of the picture
let lowered; // the stroke that it paints; undefined while it is lifted

const tell = (text) => { told.textContent = text; };
const where = () => told.dataset.at.replace("{x}", Math.round(100 * spot.x / canvas.width)).replace("{y}", Math.round(100 * spot.y / canvas.height));

function showRing() {
  const scale = canvas.clientWidth / canvas.width;
  ring.hidden = document.activeElement !== canvas || !spot;
  if (ring.hidden) return;
  Object.assign(ring.style, { left: `${spot.x * scale}px`, top: `${spot.y * scale}px`, width: `${widthOf() * scale}px`, height: `${widthOf() * scale}px` });
  ring.classList.toggle("down", Boolean(lowered));
}

function lift() {
  lowered = undefined;
  showRing();
}

function reach() {
  lowered.points.push({ ...spot, width: widthOf() });
  line(lowered, lowered.points.length - 1);
}

function move([dx, dy], far) {
  const by = Math.max(canvas.width, canvas.height) / (far ? 10 : 50);
  spot = { x: Math.min(Math.max(spot.x + dx * by, 0), canvas.width), y: Math.min(Math.max(spot.y + dy * by, 0), canvas.height) };
  if (lowered) reach();
  showRing();
  tell(where());
}

function press() {
  if (lowered) {
    lift();
    return tell(told.dataset.up);
  }
  lowered = { erase: erasing, points: [] };
  steps.push(lowered);
  reach();
  showRing();
  tell(`${told.dataset.down} ${where()}`);
}

canvas.addEventListener("focus", () => {
  spot ??= { x: canvas.width / 2, y: canvas.height / 2 };
  showRing();
});
canvas.addEventListener("blur", lift);
canvas.addEventListener("keydown", (event) => {
  const way = arrows[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || !way && event.key !== " ") return;
  event.preventDefault();
  if (way) move(way, event.shiftKey);
  else if (!event.repeat) press();
});

// The tools

const tools = {
  brush: () => choose(false),
  erase: () => choose(true),
  invert: () => { lift(); steps.push({ invert: true }); take(steps.at(-1)); },
  clear: () => { lift(); steps.push({ clear: true }); take(steps.at(-1)); },
  undo: () => { lift(); steps.pop(); draw(); tell(told.dataset.undo); },
  done,
  cancel: () => dialog.close(),
};

function choose(erase) {
  lift();
  erasing = erase;
  tell(told.dataset[erase ? "erase" : "brush"]);
  for (const name of ["brush", "erase"]) dialog.querySelector(`[data-tool=${name}]`).ariaPressed = String((name === "erase") === erase);
}

function resize(by) {
  size.value = Number(size.value) + by;
  showRing();
  tell(`${told.dataset.size} ${size.value}`);
}

dialog.addEventListener("click", (event) => tools[event.target.closest("[data-tool]")?.dataset.tool]?.());
dialog.addEventListener("close", () => field?.querySelector("[data-paint]").focus());
dialog.addEventListener("keydown", (event) => {
  if (event.target.matches("input")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z") tools.undo();
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "[" || event.key === "]") resize(event.key === "]" ? 4 : -4);
  else if (event.key === "b") tools.brush();
  else if (event.key === "e") tools.erase();
  else return;
  event.preventDefault();
});
feather.addEventListener("input", soften);
addEventListener("resize", () => { if (dialog.open) fit(); });
for (const button of document.querySelectorAll("[data-paint]")) button.addEventListener("click", () => open(button.closest("[data-mask]")));

// The file

async function done() {
  const file = new File([await picture()], "mask.png", { type: "image/png", lastModified: Date.now() });
  give(field, [file]);
  Object.assign(kept.get(field), { steps: [...steps], made: nameOf(file) });
  dialog.close();
}

// picture is the mask as the tool wants it.
function picture() {
  const { width, height } = canvas, marked = alpha();
  const pixels = new Uint8ClampedArray(4 * width * height);
  if (field.dataset.mask === "within") {
    const below = new OffscreenCanvas(width, height).getContext("2d");
    below.drawImage(base, 0, 0, width, height);
    pixels.set(below.getImageData(0, 0, width, height).data);
  }
  for (let i = 0; i < marked.length; i++) {
    if (field.dataset.mask === "white") pixels.fill(marked[i], 4 * i, 4 * i + 3);
    pixels[4 * i + 3] = field.dataset.mask === "white" ? 255 : 255 - marked[i];
  }
  return encode(new Uint8Array(pixels.buffer), width, height);
}

// alpha is how far each pixel is marked, with the soft edge.
function alpha() {
  const { width, height } = canvas, { data } = paint.getImageData(0, 0, width, height);
  let marked = new Uint8Array(width * height);
  for (let i = 0; i < marked.length; i++) marked[i] = data[4 * i + 3];
  const radius = Math.round(softness());
  for (let pass = 0; radius > 0 && pass < 3; pass++) marked = blur(blur(marked, width, height, radius, 1, width), height, width, radius, width, 1); // thrice a box is nearly a bell
  return marked;
}

// blur takes the average along lines of so many pixels; step leads along a line, next to the next line.
function blur(from, length, lines, radius, step, next) {
  const to = new Uint8Array(from.length), span = 2 * radius + 1;
  for (let line = 0; line < lines; line++) {
    const at = (i) => from[line * next + Math.min(Math.max(i, 0), length - 1) * step];
    let sum = 0;
    for (let i = -radius; i <= radius; i++) sum += at(i);
    for (let i = 0; i < length; i++) {
      to[line * next + i * step] = Math.round(sum / span);
      sum += at(i + radius + 1) - at(i - radius);
    }
  }
  return to;
}
