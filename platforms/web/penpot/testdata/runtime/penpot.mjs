// Penpot's own runtime of plugins around a strict stand-in for what Penpot gives it: widths and heights are read only, numbers of texts are strings,
// colours are in capitals, pictures of fills were uploaded, and a wrong value is an exception while throwValidationErrors is set. appendChild puts a
// shape below the others unless naturalChildOrdering is set, and each value of flipX and flipY turns a shape over along the page's sides. What the
// runtime freezes are only the faces of objects, as in Penpot.
import { initPluginsRuntime } from "@penpot/plugins-runtime";

const flags = { naturalChildOrdering: false, throwValidationErrors: false };
const seen = window.seen = { flags, shapes: [], media: [], open: 0, finished: 0 };
let made = 0;

function refuse(what) {
  if (flags.throwValidationErrors) throw new Error("value is not valid: " + what);
}

// face shows an object to plugins. set is asked before a member is changed, and may give what it becomes.
function face(own, set) {
  return new Proxy({}, {
    get: (_, key) => key === "fills" ? own.fills && own.fills.map(fillOf) : own[key],
    set: (_, key, v) => { own[key] = set(key, v) ?? v; return true; },
  });
}

// fillOf is a fill as it is read: its picture gives its bytes, too.
function fillOf(fill) {
  if (!fill.fillImage) return { ...fill };
  return { ...fill, fillImage: { ...fill.fillImage, data: async () => seen.media.find((m) => m.id === fill.fillImage.id).data } };
}

// words is an object whose members take only these words, or values of a type, and has no others.
function words(own, kinds) {
  return face(own, (key, v) => {
    const kind = kinds[key];
    if (!kind || (Array.isArray(kind) ? !kind.includes(v) : typeof v !== kind)) refuse(key);
  });
}

const aligns = ["start", "end", "center", "stretch"], content = [...aligns, "space-between", "space-around", "space-evenly"], sizings = ["fix", "fill", "auto"];
const numbersOf = (...names) => Object.fromEntries(names.map((n) => [n, "number"]));
const layoutWords = { alignItems: aligns, alignContent: content, justifyItems: aligns, justifyContent: content, horizontalSizing: sizings, verticalSizing: sizings,
  ...numbersOf("rowGap", "columnGap", "topPadding", "rightPadding", "bottomPadding", "leftPadding", "verticalPadding", "horizontalPadding") };
const flexWords = { ...layoutWords, dir: ["row", "row-reverse", "column", "column-reverse"], wrap: ["wrap", "nowrap"] };
const gridWords = { ...layoutWords, dir: ["row", "column"] };
const childWords = { absolute: "boolean", zIndex: "number", horizontalSizing: sizings, verticalSizing: sizings, alignSelf: ["auto", ...aligns],
  ...numbersOf("topMargin", "rightMargin", "bottomMargin", "leftMargin", "minWidth", "maxWidth", "minHeight", "maxHeight") };
const cellWords = { ...numbersOf("row", "column", "rowSpan", "columnSpan"), areaName: "string", position: ["auto", "manual", "area"] };

const readOnly = ["width", "height", "id", "type", "parent", "children"];
const numbers = ["x", "y", "opacity", "borderRadius"], texts = ["fontSize", "fontWeight", "lineHeight", "letterSpacing"], flips = ["flipX", "flipY"];

function checkFill(fill) {
  if (fill.fillColor && !/^#[0-9A-F]{6}$/.test(fill.fillColor)) refuse("fills");
  const image = fill.fillImage;
  if (image && !seen.media.some((m) => m.id === image.id && m.width === image.width && m.height === image.height && m.mtype === image.mtype)) refuse("fillImage");
}

function shape(type) {
  const own = { id: "p" + ++made, type, children: [], parent: null, width: 100, height: 100, rotation: 0, flipX: false, flipY: false, fills: [] };
  const self = face(own, (key, v) => {
    if (readOnly.includes(key)) refuse(key + " is read only");
    if (numbers.includes(key) && !Number.isFinite(v)) refuse(key);
    if (texts.includes(key) && typeof v !== "string") refuse(key);
    if (key === "fills") v.forEach(checkFill);
    if (key === "opacity" && (v < 0 || v > 1)) refuse(key);
    if (flips.includes(key)) {
      if (typeof v !== "boolean") refuse(key);
      own.rotation = (360 - own.rotation) % 360;
      return !own[key];
    }
    if (type !== "board" && ["clipContent", "horizontalSizing", "verticalSizing"].includes(key)) refuse(key);
  });
  own.self = own; // of a shape, by its face
  own.resize = (w, h) => { if (!(w > 0 && h > 0)) refuse("size"); own.width = w; own.height = h; };
  own.rotate = (angle) => { own.rotation = (own.rotation + angle) % 360; };
  const put = (child, first) => {
    const its = child.self;
    if (its.parent) its.parent.self.children = its.parent.children.filter((c) => c !== child);
    its.parent = self;
    first ? own.children.unshift(child) : own.children.push(child);
    its.layoutChild = own.flex || own.grid ? words({}, childWords) : null;
    its.layoutCell = own.grid ? words({}, cellWords) : null;
  };
  own.appendChild = (child) => {
    if (type !== "board") refuse("children");
    put(child, own.flex || own.grid ? true : !flags.naturalChildOrdering);
  };
  if (type === "board") {
    own.addFlexLayout = () => own.flex = words({ appendChild: (child) => put(child, flags.naturalChildOrdering) }, flexWords);
    own.addGridLayout = () => {
      const rows = [], columns = [];
      return own.grid = words({ rows, columns, addRow: (type, value) => rows.push({ type, value }), addColumn: (type, value) => columns.push({ type, value }),
        appendChild: (child, row, column) => { if (!(row > 0 && column > 0)) refuse("cell"); put(child, false); Object.assign(child.layoutCell, { row, column }); } }, gridWords);
    };
  }
  return self;
}

const root = shape("board");

// created is a new shape on the page.
function created(type, members) {
  const s = shape(type);
  Object.assign(s.self, members);
  s.self.parent = root;
  root.self.children.push(s);
  seen.shapes.push(s);
  return s;
}

// uploadMediaData takes what Penpot takes, and looks into the picture.
async function uploadMediaData(name, data, mtype) {
  await seen.holds; // a slow network
  if (typeof name !== "string" || !name || !(data instanceof Uint8Array) || !["image/png", "image/jpeg", "image/webp", "image/gif"].includes(mtype)) {
    throw new Error("the media is not valid");
  }
  const picture = await createImageBitmap(new Blob([data], { type: mtype }));
  const media = { id: crypto.randomUUID(), name, width: picture.width, height: picture.height, mtype, data };
  seen.media.push(media);
  const { data: _, ...info } = media;
  return { ...info, data: async () => data };
}

const members = Object.keys(flags);
initPluginsRuntime(() => ({
  version: "2", theme: "light", root,
  flags: Object.defineProperties({}, Object.fromEntries(members.map((key) => [key, { get: () => flags[key], set: (v) => { flags[key] = v; } }]))),
  history: {
    undoBlockBegin: () => { seen.open++; return Symbol("block"); },
    undoBlockFinish: (block) => { if (typeof block !== "symbol") throw new Error("no block"); seen.open--; seen.finished++; },
  },
  createRectangle: () => created("rectangle"), createEllipse: () => created("ellipse"), createBoard: () => created("board"), createPath: () => created("path"),
  createText: (characters) => characters ? created("text", { characters }) : null,
  uploadMediaData,
  fonts: { all: [{ name: "Inter" }], findByName: () => ({ applyToText() {} }) },
  currentUser: { id: "u", name: "Ann" },
  currentFile: { id: "f", name: "File", pages: [{ id: "1", name: "Page" }] },
  selection: [{ id: "chosen" }],
  addListener: () => Symbol("listener"), removeListener() {},
}));

// The window can be used once its frame has been read and drawn.
document.addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => { window.loaded = true; })));

// A Penpot keeps manifests of plugins with the host that they came from.
const manifest = await (await fetch(new URLSearchParams(location.search).get("plugin"))).json();
const host = new URL(new URLSearchParams(location.search).get("plugin")).origin;
await globalThis.ɵloadPlugin({ pluginId: "signalbox", host, ...manifest });
