// A drawing's page: the server's own picture, and over it what can be taken hold of. Every change is an edit of the API, which answers with what
// the picture is drawn from again; so what is seen is what is exported.
const root = document.getElementById("scene");
const stage = document.getElementById("stage");
const props = document.getElementById("props");
const told = document.getElementById("told");
const pictures = document.getElementById("pictures");
const token = document.querySelector('meta[name="csrf-token"]').content;
const address = `/api/scenes/${root.dataset.id}`;
const ns = "http://www.w3.org/2000/svg";

let version = 0;
let shapes = []; // as the API has them, parents first, siblings from bottom to top
let byId = new Map();
let frame = { x: 0, y: 0, width: 800, height: 600 };
let zoom = 0; // 0: fitted to the stage
let chosen = new Set();
let sheet, picture, marks; // the box in the stage, the server's SVG, and the marks over it
let queue = Promise.resolve();
let working = 0;
let newest = 0; // the version that events tell of
let lost = false; // what is shown may not be what is there

const element = (name, attributes = {}, parent = null) => {
  const e = document.createElementNS(ns, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  parent?.append(e);
  return e;
};
const tell = (text) => (told.textContent = text);
const middle = (s) => ({ x: s.x + s.width / 2, y: s.y + s.height / 2 });
const turn = (p, degrees) => {
  const a = (degrees * Math.PI) / 180;
  return { x: p.x * Math.cos(a) - p.y * Math.sin(a), y: p.x * Math.sin(a) + p.y * Math.cos(a) };
};
const corner = (s, hx, hy) => {
  const by = turn({ x: (hx * s.width) / 2, y: (hy * s.height) / 2 }, s.rotation);
  return { x: middle(s).x + by.x, y: middle(s).y + by.y };
};
const tidy = (v) => Math.round(v * 100) / 100;
const called = (s) => s.text || s.name || root.dataset[s.type];

// The chosen shapes, without those that lie in another chosen one.
const roots = () => [...chosen].map((id) => byId.get(id)).filter((s) => {
  for (let p = byId.get(s.parent); p; p = byId.get(p.parent)) if (chosen.has(p.id)) return false;
  return true;
});
const single = () => (chosen.size === 1 ? byId.get([...chosen][0]) : null);
const modify = (s, propertiesToModify) => ({ tool: "modify-shape", inputs: { shapeId: s.id, propertiesToModify } });

// Loading and drawing

async function read() {
  const data = await fetch(`${address}.json`);
  if (!data.ok) throw new Error((await data.json()).detail);
  const scene = await data.json();
  const drawn = await fetch(`${address}.svg`);
  if (drawn.ok && !drawn.headers.get("ETag").startsWith(`"${scene.version}-`)) return read(); // it was changed in between
  return { scene, svg: drawn.ok ? await drawn.text() : "" };
}

async function load() {
  const { scene, svg } = await read();
  ({ version, shapes } = scene);
  byId = new Map(shapes.map((s) => [s.id, s]));
  lost = false;
  chosen = new Set([...chosen].filter((id) => byId.has(id)));
  const held = document.activeElement?.dataset?.shape;
  sheet = document.createElement("div");
  sheet.className = "sheet";
  picture = parse(svg);
  marks = element("svg", { class: "marks" });
  marks.setAttribute("viewBox", picture.getAttribute("viewBox"));
  sheet.append(picture, marks);
  stage.querySelector(".sheet") ? stage.querySelector(".sheet").replaceWith(sheet) : stage.replaceChildren(sheet);
  size();
  mark();
  if (held) marks.querySelector(`.hit[data-shape="${CSS.escape(held)}"]`)?.focus();
}

// The picture's own styles are set one by one: the page allows none in attributes.
function parse(svg) {
  const empty = `<svg xmlns="${ns}" viewBox="0 0 800 600"/>`;
  const parsed = new DOMParser().parseFromString((svg || empty).replaceAll(' style="', ' data-style="'), "image/svg+xml").documentElement;
  const made = document.importNode(parsed, true);
  for (const e of made.querySelectorAll("[data-style]")) {
    for (const one of e.dataset.style.split(";")) e.style.setProperty(...one.split(":"));
  }
  made.setAttribute("aria-hidden", "true");
  const [x, y, width, height] = made.getAttribute("viewBox").split(" ").map(Number);
  frame = { x, y, width, height };
  return made;
}

const scale = () => zoom || Math.max(0.02, Math.min((stage.clientWidth - 56) / frame.width, (stage.clientHeight - 72) / frame.height, 4));

function size() {
  const z = scale();
  sheet.style.width = `${frame.width * z}px`;
  sheet.style.height = `${frame.height * z}px`;
  sheet.style.margin = "auto";
  stage.style.padding = "40px 28px 32px";
  document.getElementById("zoom").textContent = `${Math.round(z * 100)} %`;
}

function zoomTo(to, at = { x: stage.clientWidth / 2, y: stage.clientHeight / 2 }) {
  const before = scale();
  const point = { x: (stage.scrollLeft + at.x) / before, y: (stage.scrollTop + at.y) / before };
  zoom = to && Math.min(16, Math.max(0.05, to));
  size();
  mark();
  stage.scrollLeft = point.x * scale() - at.x;
  stage.scrollTop = point.y * scale() - at.y;
}

const outline = (s) => [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([hx, hy]) => corner(s, hx, hy)).map((p) => `${p.x},${p.y}`).join(" ");

// mark draws what can be taken hold of: every shape's box, and the handles of a chosen one.
function mark() {
  const there = new Map([...marks.querySelectorAll(".hit")].map((e) => [e.dataset.shape, e]));
  for (const s of shapes) {
    if (s.hidden) continue;
    const hit = there.get(s.id) ?? element("polygon", { "data-shape": s.id, tabindex: 0, role: "button" }, marks);
    there.delete(s.id);
    const on = chosen.has(s.id);
    hit.setAttribute("class", `hit ${s.type}${on ? " on" : ""}`);
    hit.setAttribute("points", outline(s));
    hit.setAttribute("aria-label", `${root.dataset[s.type] ?? root.dataset.text}: ${called(s)}`);
    hit.setAttribute("aria-pressed", on);
  }
  for (const old of there.values()) old.remove();
  for (const old of marks.querySelectorAll(".handle")) old.remove();
  const one = single();
  if (one) handles(one);
  form(one);
}

function handles(s) {
  const r = 6 / scale();
  const far = corner({ ...s, y: s.y - 24 / scale(), height: s.height + 48 / scale() }, 0, -1);
  element("circle", { class: "handle turn", cx: far.x, cy: far.y, r, "data-turn": 1 }, marks);
  const room = 36 / scale(); // a handle between two others needs some
  for (const [hx, hy] of [[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]]) {
    if (hx === 0 && s.width < room || hy === 0 && s.height < room) continue;
    const p = corner(s, hx, hy);
    element("circle", { class: "handle", cx: p.x, cy: p.y, r, "data-x": hx, "data-y": hy }, marks);
  }
}

// form shows what is chosen, and lets it be changed by numbers and words.
function form(s) {
  props.hidden = chosen.size === 0;
  document.getElementById("chosen").textContent = s ? called(s) : String(chosen.size);
  for (const part of props.querySelectorAll("[data-for]")) part.hidden = s?.type !== part.dataset.for;
  for (const input of props.elements) {
    if (!input.name || input === document.activeElement) continue;
    input.closest("label").hidden = !s && input.name !== "color" || input.closest("[data-for]")?.hidden;
    const of = s ?? byId.get([...chosen][0]);
    if (!of) continue;
    const laid = of.layout?.flex ?? of.layout?.grid;
    if (input.name === "color") input.closest("label").hidden = s?.type === "group"; // what it holds has colours
    if (input.name === "gap" || input.name === "padding") input.closest("label").hidden ||= !laid;
    if (input.name === "layout") input.value = of.layout?.flex ? of.layout.flex.dir ?? "row" : laid ? "grid" : "none";
    else if (input.name === "gap") input.value = laid?.rowGap ?? 0;
    else if (input.name === "padding") input.value = laid?.topPadding ?? 0;
    else if (input.name === "color") input.value = (of.fills.find((f) => f.fillColor)?.fillColor ?? "#000000").toLowerCase();
    else if (input.name === "opacity") input.value = tidy(of.opacity * 100);
    else if (input.name === "characters") input.value = of.text ?? "";
    else input.value = tidy(of[input.name] ?? 0);
  }
}

function choose(ids, add = false) {
  if (!add) chosen.clear();
  for (const id of ids) chosen.has(id) && add ? chosen.delete(id) : chosen.add(id);
  mark();
}

// Editing

// edit sends operations as one step. What is asked for at the same time waits, and then is asked for of the new version.
function edit(operations, then) {
  working++;
  queue = queue.then(() => send(operations, then)).finally(() => working--);
  return queue;
}

async function send(operations, then) {
  try {
    const answer = await fetch(`${address}/operations`, {
      method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
      body: JSON.stringify({ id: crypto.randomUUID?.() ?? uuid(), version, operations }),
    });
    const body = await answer.json();
    if (answer.ok) {
      then?.(body.shapes);
      tell("");
    } else {
      tell(answer.status === 409 ? root.dataset.conflict : body.detail ?? root.dataset.failed);
    }
    await load();
  } catch {
    tell(root.dataset.offline);
    lost = true;
    if (picture) preview("");
    setTimeout(catchUp, 3000);
  }
}

// catchUp shows what others changed, unless one is at something; that ends with another call. Without a connection it tries again.
async function catchUp() {
  if (!lost && newest <= version || drag || working || stage.querySelector("textarea")) return;
  try {
    await load();
    if (told.textContent === root.dataset.offline) tell("");
  } catch {
    setTimeout(catchUp, 3000);
  }
}

// uuid is for pages without TLS, which browsers keep the built-in one from.
function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 15) | 64;
  b[8] = (b[8] & 63) | 128;
  return [...b].map((v, i) => (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") + v.toString(16).padStart(2, "0")).join("");
}

const deeds = {
  undo: () => edit([{ tool: "undo" }]),
  redo: () => edit([{ tool: "redo" }]),
  front: () => edit(inOrder().map((s) => ({ tool: "bring-to-front-shape", inputs: { shapeId: s.id } }))),
  back: () => edit(inOrder().reverse().map((s) => ({ tool: "send-to-back-shape", inputs: { shapeId: s.id } }))),
  forward: () => edit(inOrder().map((s) => ({ tool: "bring-forward-shape", inputs: { shapeId: s.id } }))),
  backward: () => edit(inOrder().map((s) => ({ tool: "send-backward-shape", inputs: { shapeId: s.id } }))),
  delete: () => edit(roots().map((s) => ({ tool: "delete-shape", inputs: { shapeId: s.id } }))),
  copy: () => edit(roots().map((s) => ({ tool: "clone-shape", inputs: { shapeId: s.id, x: s.x + 20, y: s.y + 20 } })), (made) => (chosen = new Set(made))),
};
const inOrder = () => shapes.filter((s) => roots().includes(s));

function act(deed) {
  flush();
  if (deed === "undo" || deed === "redo" || chosen.size > 0) deeds[deed]();
}

// add draws a new shape in the middle of what is seen, on the board on top.
function add(tool, extra, width, height) {
  const board = shapes.findLast((s) => s.type === "board" && !s.parent);
  const area = board ?? frame;
  const inputs = { x: tidy(area.x + (area.width - width) / 2), y: tidy(area.y + (area.height - height) / 2), ...extra };
  if (board) inputs.parentId = board.id;
  edit([{ tool, inputs }], (made) => (chosen = new Set(made)));
}

function addNamed(kind) {
  const side = Math.round(Math.min(frame.width, frame.height) / 4);
  switch (kind) {
    case "rectangle": case "ellipse":
      return add(`create-${kind}`, { width: side, height: side, fills: [{ fillColor: "#2A9D8F" }] }, side, side);
    case "text":
      return add("create-text", { characters: root.dataset.text, fontSize: Math.max(12, Math.round(side / 3)) }, side, side / 3);
    case "image":
      return pictures.showModal();
  }
}

function addPicture(ref, width, height) {
  const fit = Math.min(frame.width, frame.height) / 2 / Math.max(width, height);
  pictures.close();
  add("create-rectangle", { width: tidy(width * fit), height: tidy(height * fit), backgroundImage: ref }, width * fit, height * fit);
}

async function upload(file) {
  const bitmap = await createImageBitmap(file);
  const body = new FormData();
  body.append("file", file);
  const answer = await fetch("/api/uploads", { method: "POST", body, headers: { "X-CSRF-Token": token } });
  const kept = await answer.json();
  answer.ok ? addPicture(kept.ref, bitmap.width, bitmap.height) : tell(kept.detail ?? root.dataset.failed);
}

// Arrows move at once and are sent when they rest.
let nudged = { x: 0, y: 0, grow: false }, resting = 0;

function nudge(x, y, grow) {
  if (nudged.grow !== grow) flush();
  nudged = { x: nudged.x + x, y: nudged.y + y, grow };
  clearTimeout(resting);
  resting = setTimeout(flush, 350);
  if (!grow) preview(`translate(${nudged.x} ${nudged.y})`);
}

function flush() {
  clearTimeout(resting);
  const by = nudged;
  nudged = { x: 0, y: 0, grow: false };
  if (by.x === 0 && by.y === 0) return;
  edit(roots().map((s) => modify(s, by.grow
    ? { width: Math.max(1, tidy(s.width + by.x)), height: Math.max(1, tidy(s.height + by.y)), ...fixed(s) }
    : { x: tidy(s.x + by.x), y: tidy(s.y + by.y) })));
}

// fixed keeps the size that a text is given.
const fixed = (s) => (s.type === "text" ? { growType: "fixed" } : {});

// preview shows the chosen shapes moved, before that is sent.
function preview(matrix) {
  for (const s of roots()) picture.querySelector(`[data-id="${s.id}"]`)?.setAttribute("transform", matrix);
  for (const hit of marks.querySelectorAll(".hit.on, .handle")) hit.setAttribute("transform", matrix);
}

// Pointers

const point = (event) => {
  const box = marks.getBoundingClientRect();
  return { x: frame.x + ((event.clientX - box.left) / box.width) * frame.width, y: frame.y + ((event.clientY - box.top) / box.height) * frame.height };
};

// outermost is the group that a shape belongs to, unless that group or what it holds is chosen already.
function outermost(s) {
  let top = s;
  for (let p = byId.get(s.parent); p?.type === "group"; p = byId.get(p.parent)) top = p;
  return chosen.has(s.id) ? s : top;
}

let drag = null;

stage.addEventListener("pointerdown", (event) => {
  if (event.target.tagName === "TEXTAREA" || event.button > 1 || !marks) return;
  flush();
  const start = point(event);
  if (event.button === 1 || spaced) {
    drag = { kind: "pan", left: stage.scrollLeft, top: stage.scrollTop, x: event.clientX, y: event.clientY };
  } else if (event.target.classList.contains("handle")) {
    const { turn: turning, x, y } = event.target.dataset;
    drag = { kind: turning ? "turn" : "size", hx: Number(x), hy: Number(y), start, shape: single() };
  } else {
    drag = take(event, start);
  }
  if (drag && (drag.kind !== "band" || event.pointerType === "mouse")) {
    stage.setPointerCapture(event.pointerId);
    if (drag.kind === "pan") event.preventDefault();
  }
});

// take chooses what is under the pointer. A board is the ground on which things are chosen, until it is chosen itself.
function take(event, start) {
  const under = byId.get(event.target.dataset?.shape);
  const s = under && outermost(under);
  const before = s && chosen.has(s.id);
  if (!s || s.type === "board" && !before) return { kind: "band", start, ground: s, add: event.shiftKey };
  if (event.shiftKey) choose([s.id], true);
  else if (!before) choose([s.id]);
  return { kind: "move", start };
}

stage.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const p = point(event), by = { x: p.x - (drag.start?.x ?? 0), y: p.y - (drag.start?.y ?? 0) };
  if (!drag.moved && drag.kind !== "pan" && Math.hypot(by.x, by.y) * scale() < 4) return;
  drag.moved = true;
  moves[drag.kind](event, p, by);
});

const moves = {
  pan(event) {
    stage.scrollLeft = drag.left - event.clientX + drag.x;
    stage.scrollTop = drag.top - event.clientY + drag.y;
  },
  band(event, p) {
    if (event.pointerType !== "mouse") return;
    drag.box ??= element("rect", { class: "band" }, marks);
    drag.area = { x: Math.min(p.x, drag.start.x), y: Math.min(p.y, drag.start.y), width: Math.abs(p.x - drag.start.x), height: Math.abs(p.y - drag.start.y) };
    for (const [key, value] of Object.entries(drag.area)) drag.box.setAttribute(key, value);
  },
  move(event, p, by) {
    if (event.shiftKey) Math.abs(by.x) > Math.abs(by.y) ? (by.y = 0) : (by.x = 0);
    drag.by = by;
    preview(`translate(${by.x} ${by.y})`);
  },
  size(event, p, by) {
    const s = drag.shape, local = turn(by, -s.rotation);
    let width = Math.max(1, s.width + drag.hx * local.x), height = Math.max(1, s.height + drag.hy * local.y);
    if (event.shiftKey && drag.hx && drag.hy) {
      const grown = Math.max(width / s.width, height / s.height);
      width = s.width * grown;
      height = s.height * grown;
    }
    const shift = turn({ x: (drag.hx * (width - s.width)) / 2, y: (drag.hy * (height - s.height)) / 2 }, s.rotation);
    const c = middle(s), to = { x: c.x + shift.x, y: c.y + shift.y };
    drag.change = { x: tidy(to.x - width / 2), y: tidy(to.y - height / 2), width: tidy(width), height: tidy(height), ...fixed(s) };
    preview(`translate(${to.x} ${to.y}) rotate(${s.rotation}) scale(${width / s.width} ${height / s.height}) rotate(${-s.rotation}) translate(${-c.x} ${-c.y})`);
  },
  turn(event, p) {
    const s = drag.shape, c = middle(s);
    let to = (Math.atan2(p.y - c.y, p.x - c.x) * 180) / Math.PI + 90;
    if (event.shiftKey) to = Math.round(to / 15) * 15;
    drag.change = { rotation: (Math.round(to * 10) / 10 + 360) % 360 };
    preview(`rotate(${to - s.rotation} ${c.x} ${c.y})`);
  },
};

stage.addEventListener("pointerup", () => {
  const done = drag;
  drag = null;
  done?.box?.remove();
  if (done?.kind === "band") band(done);
  else if (done?.moved && done.kind === "move") edit(roots().map((s) => modify(s, { x: tidy(s.x + done.by.x), y: tidy(s.y + done.by.y) })));
  else if (done?.moved && done.kind !== "pan") edit([modify(done.shape, done.change)]);
  catchUp();
});
stage.addEventListener("pointercancel", () => {
  drag?.box?.remove();
  drag = null;
  preview("");
  catchUp();
});

// band chooses what lies in a rectangle; a click on the ground chooses the board, or nothing.
function band({ area, moved, ground, add: more }) {
  if (!moved) return choose(ground ? [ground.id] : [], more);
  if (!area) return;
  const inside = (b) => b.x >= area.x && b.y >= area.y && b.x + b.width <= area.x + area.width && b.y + b.height <= area.y + area.height;
  const found = shapes.filter((s) => !s.hidden && s.type !== "board" && inside(s.bounds)).map((s) => outermost(s).id);
  choose([...new Set(found)], more);
}

stage.addEventListener("dblclick", (event) => {
  const s = byId.get(document.elementFromPoint(event.clientX, event.clientY)?.dataset.shape); // the stage has caught the event
  if (!s) return;
  choose([s.id]);
  if (s.type === "text") write(s);
});

// write edits a text in its place.
function write(s) {
  const area = document.createElement("textarea");
  const z = scale();
  area.value = s.text;
  area.setAttribute("aria-label", called(s));
  Object.assign(area.style, {
    left: `${(s.x - frame.x) * z}px`, top: `${(s.y - frame.y) * z}px`, width: `${Math.max(s.width * z, 80)}px`, height: `${Math.max(s.height * z, 28)}px`,
    fontSize: `${Math.max(s.fontSize * z, 12)}px`, fontWeight: s.fontWeight, textAlign: s.align, transform: `rotate(${s.rotation}deg)`,
  });
  let keep = true;
  const end = () => {
    area.remove();
    if (keep && area.value.trim() && area.value !== s.text) edit([modify(s, { characters: area.value })]);
    catchUp();
  };
  area.addEventListener("blur", end, { once: true });
  area.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") keep = false;
    if (event.key === "Escape" || event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      area.blur();
      stage.focus();
    }
  });
  sheet.append(area);
  area.focus();
  area.select();
}

stage.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const box = stage.getBoundingClientRect();
  zoomTo(scale() * Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
}, { passive: false });

// Two fingers.
let pinch = null;
const apart = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
stage.addEventListener("touchstart", (event) => {
  if (event.touches.length !== 2) return;
  drag = null;
  preview("");
  pinch = { apart: apart(event.touches), zoom: scale() };
}, { passive: true });
stage.addEventListener("touchmove", (event) => {
  if (!pinch || event.touches.length !== 2) return;
  event.preventDefault();
  zoomTo((pinch.zoom * apart(event.touches)) / pinch.apart);
}, { passive: false });
stage.addEventListener("touchend", () => (pinch = null));

// Keys

let spaced = false;
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const keys = { Delete: "delete", Backspace: "delete", "]": "forward", "[": "backward" };
const withControl = { z: "undo", y: "redo", d: "copy" };

stage.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey, key = event.key;
  if (control && key.toLowerCase() === "a") choose(shapes.filter((s) => s.type !== "board" && byId.get(s.parent)?.type !== "group").map((s) => s.id));
  else if (control && withControl[key.toLowerCase()]) act(event.shiftKey && key.toLowerCase() === "z" ? "redo" : withControl[key.toLowerCase()]);
  else if (control) return;
  else if (arrows[key] && chosen.size) nudge(...arrows[key].map((v) => v * (event.shiftKey ? 10 : 1)), event.altKey);
  else if (keys[key] && chosen.size) act(keys[key]);
  else if (key === "Escape") choose([]);
  else if (key === "Enter" && single()?.type === "text") write(single());
  else if (key === "Enter" && event.target.dataset.shape) choose([event.target.dataset.shape]);
  else if (key === " ") spaced = true;
  else return;
  event.preventDefault();
});
addEventListener("keyup", (event) => event.key === " " && (spaced = false));
stage.addEventListener("focusin", (event) => {
  const id = event.target.dataset?.shape;
  if (id && !chosen.has(id) && event.target.matches(":focus-visible")) choose([id]);
});

// Buttons and numbers

root.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { do: deed, add: kind, zoom: to, ref } = button.dataset;
  if (deed) act(deed);
  if (kind) addNamed(kind);
  if (to) zoomTo(to === "fit" ? 0 : scale() * (to === "in" ? 1.25 : 0.8));
  if (ref) {
    const shown = button.querySelector("img");
    addPicture(ref, shown.naturalWidth || 1, shown.naturalHeight || 1);
  }
});

document.getElementById("upload").addEventListener("change", (event) => {
  if (event.target.files[0]) upload(event.target.files[0]).catch(() => tell(root.dataset.failed));
  event.target.value = "";
});

// laidOut is a change of how a board lays out what it holds: in a row, a column, a grid of two columns, or not.
function laidOut(s, name, value) {
  if (name === "layout" && value === "none") return { ...modify(s, {}), inputs: { shapeId: s.id, propertiesToRemove: ["flex", "grid"] } };
  if (name === "layout" && value === "grid") return modify(s, { grid: { columns: [{ type: "flex", value: 1 }, { type: "flex", value: 1 }] } });
  if (name === "layout") return modify(s, { flex: { dir: value } });
  const room = Number(value);
  const said = name === "gap" ? { rowGap: room, columnGap: room } : { verticalPadding: room, horizontalPadding: room };
  return modify(s, s.layout?.grid ? { grid: said } : { flex: said });
}

props.addEventListener("submit", (event) => event.preventDefault());
props.addEventListener("change", ({ target: { name, value } }) => {
  if (value === "") return;
  if (["layout", "gap", "padding"].includes(name)) {
    edit(roots().filter((s) => s.type === "board").map((s) => laidOut(s, name, value)));
    return;
  }
  const said = { color: { color: value.toUpperCase() }, opacity: { opacity: value / 100 }, characters: { characters: value } }[name];
  edit(roots().map((s) => modify(s, said ?? { [name]: Number(value), ...(name === "width" || name === "height" ? fixed(s) : {}) })));
});

addEventListener("resize", () => sheet && (size(), mark()));

// The browser comes back by itself after a break, but not after an answer that says no, as while the house starts.
function follow() {
  const events = new EventSource(`${address}/events`);
  events.addEventListener("scene", (event) => {
    newest = JSON.parse(event.data).version;
    catchUp();
  });
  events.addEventListener("error", () => events.readyState === EventSource.CLOSED && setTimeout(follow, 3000));
}

load().then(follow, () => tell(root.dataset.failed));
