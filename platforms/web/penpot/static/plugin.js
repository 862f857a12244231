// The plugin: it does in Penpot what the house asks for. Each request is one step that can be undone there.
"use strict";

penpot.ui.open("Signalbox", "/penpot/ui.html", { width: 320, height: 260 });

const creators = {
  rectangle: () => penpot.createRectangle(),
  ellipse: () => penpot.createEllipse(),
  board: () => penpot.createBoard(),
  path: (s) => Object.assign(penpot.createPath(), { d: s.d }),
  boolean: (s) => Object.assign(penpot.createPath(), { d: s.d }),
  text: (s) => penpot.createText(s.characters),
};

const pick = (from, keys) => Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]));

const imageKeys = ["id", "width", "height", "name", "mtype", "keepAspectRatio"];

// coming is the picture whose parts are coming in: the sandbox has nothing that fetches bytes.
/** @type {{upload: string, parts: Uint8Array[]}} */
let coming = { upload: "", parts: [] };

// join makes one of parts.
function join(parts) {
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// uploadPicture takes a part of a picture. With the last one Penpot gets it, and the answer is what it calls it. That may take long: the house hears
// that it is going on.
async function uploadPicture({ upload, last, name, mtype, data }, going) {
  if (coming.upload !== upload) {
    coming = { upload, parts: [] };
  }
  coming.parts.push(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  if (!last) {
    return {};
  }
  const bytes = join(coming.parts);
  coming = { upload: "", parts: [] };
  const signs = setInterval(going, 10_000);
  try {
    return pick(await penpot.uploadMediaData(name, bytes, mtype), imageKeys);
  } finally {
    clearInterval(signs);
  }
}

// paints are fills as Penpot has them, without those whose picture is not there.
function paints(list, pictures) {
  return (list || []).filter((f) => !f.fillImage || pictures[f.fillImage.id]).map((f) => f.fillImage
    ? { fillOpacity: f.fillOpacity, fillImage: { ...pictures[f.fillImage.id], keepAspectRatio: true } }
    : f);
}

// fillsOf are a shape's fills as they can be sent: what gives a picture's bytes can't.
function fillsOf(shape) {
  return Array.isArray(shape.fills) ? shape.fills.map((f) => (f.fillImage ? { ...f, fillImage: pick(f.fillImage, imageKeys) } : f)) : shape.fills;
}

function dress(shape, s, pictures) {
  shape.name = s.name;
  if (s.type !== "path" && s.type !== "boolean") {
    if (s.type === "text") {
      shape.growType = "fixed";
    }
    shape.resize(s.width, s.height);
  }
  shape.x = s.x;
  shape.y = s.y;
  shape.opacity = s.opacity;
  shape.blendMode = s.blendMode;
  shape.fills = paints(s.fills, pictures);
  shape.strokes = s.strokes || [];
  shape.shadows = s.shadows || [];
  if (s.borderRadius) {
    shape.borderRadius = s.borderRadius;
  }
  if (s.type === "board") {
    shape.clipContent = s.clipContent;
  }
  if (s.type === "text") {
    const font = penpot.fonts.findByName(s.fontFamily);
    if (font) {
      font.applyToText(shape);
    }
    for (const key of ["fontSize", "fontWeight", "lineHeight", "letterSpacing"]) {
      shape[key] = String(s[key]);
    }
    shape.fontStyle = s.fontStyle;
    shape.align = s.align;
  }
  // It is new and not turned over: Penpot turns over whatever is assigned, along the sides of the page, so before the shape is turned.
  if (s.flipX) {
    shape.flipX = true;
  }
  if (s.flipY) {
    shape.flipY = true;
  }
  if (s.rotation) {
    shape.rotate(s.rotation);
  }
}

// What a layout's members are called here and there.
const layoutKeys = ["alignItems", "alignContent", "justifyItems", "justifyContent", "rowGap", "columnGap", "topPadding", "rightPadding", "bottomPadding",
  "leftPadding", "horizontalSizing", "verticalSizing"];
const childKeys = ["absolute", "zIndex", "horizontalSizing", "verticalSizing", "alignSelf", "topMargin", "rightMargin", "bottomMargin", "leftMargin",
  "minWidth", "maxWidth", "minHeight", "maxHeight"];
const cellKeys = ["row", "column", "rowSpan", "columnSpan", "areaName", "position"];

function assign(to, from, keys) {
  for (const key of keys) {
    if (from[key] !== undefined) {
      to[key] = from[key];
    }
  }
}

// layOut makes a board lay out what is going to be put into it.
function layOut(board, layout) {
  if (layout.flex) {
    assign(board.addFlexLayout(), layout.flex, ["dir", "wrap", ...layoutKeys]);
  }
  if (layout.grid) {
    const grid = board.addGridLayout();
    assign(grid, layout.grid, ["dir", ...layoutKeys]);
    (layout.grid.rows || []).forEach((t) => grid.addRow(t.type, t.value));
    (layout.grid.columns || []).forEach((t) => grid.addColumn(t.type, t.value));
  }
  assign(board, layout, ["horizontalSizing", "verticalSizing"]);
}

// put puts a shape behind what its parent holds: on top or, where the parent lays it out, after the others.
function put(parent, shape, layout) {
  const cell = layout.layoutCell || {};
  if (parent.flex) {
    parent.flex.appendChild(shape);
  } else if (parent.grid && cell.row && cell.column) {
    parent.grid.appendChild(shape, cell.row, cell.column);
  } else {
    parent.appendChild(shape);
  }
  if (shape.layoutChild && layout.layoutChild) {
    assign(shape.layoutChild, layout.layoutChild, childKeys);
  }
  if (shape.layoutCell && layout.layoutCell) {
    assign(shape.layoutCell, layout.layoutCell, cellKeys);
  }
}

// draw makes a shape and puts it on top of its parent's children, which the natural order of children lets appendChild do.
function draw(s, made, pictures) {
  if (s.type === "group") {
    return null;
  }
  const shape = creators[s.type](s);
  const parent = made.get(s.parent);
  if (parent) {
    put(parent, shape, s.layout || {});
  }
  dress(shape, s, pictures);
  if (s.type === "board" && s.layout) {
    layOut(shape, s.layout);
  }
  made.set(s.id, shape);
  return shape;
}

const tracks = (list) => list.map((t) => pick(t, ["type", "value"]));

// layoutOf is a shape's part in layouts, as draw takes it.
function layoutOf(s) {
  const layout = pick(s, ["horizontalSizing", "verticalSizing"]);
  if (s.flex) {
    layout.flex = pick(s.flex, ["dir", "wrap", ...layoutKeys]);
  }
  if (s.grid) {
    layout.grid = { ...pick(s.grid, ["dir", ...layoutKeys]), rows: tracks(s.grid.rows), columns: tracks(s.grid.columns) };
  }
  if (s.layoutChild) {
    layout.layoutChild = pick(s.layoutChild, childKeys);
  }
  if (s.layoutCell) {
    layout.layoutCell = pick(s.layoutCell, cellKeys);
  }
  return layout;
}

const view = (s) => ({
  id: s.id, type: s.type, name: s.name, x: s.x, y: s.y, width: s.width, height: s.height, rotation: s.rotation, flipX: s.flipX, flipY: s.flipY,
  opacity: s.opacity, parent: s.parent ? s.parent.id : null, fills: fillsOf(s), strokes: s.strokes, characters: s.characters, d: s.d, fontSize: s.fontSize, fontFamily: s.fontFamily, layout: layoutOf(s),
});

function tree(shape, list) {
  for (const child of shape.children || []) {
    list.push(view(child));
    tree(child, list);
  }
  return list;
}

// picturesIn are the pictures of a drawing as Penpot names them, by what the house does. They were brought into a file, which has to be the open one.
function picturesIn(file, pictures) {
  if (file && file !== penpot.currentFile?.id) {
    throw new Error("another file was opened meanwhile: send the drawing again");
  }
  return pictures || {};
}

const deeds = {
  GET_FILE: () => ({ id: penpot.currentFile?.id }),
  GET_USER_DATA: () => ({ id: penpot.currentUser.id, name: penpot.currentUser.name }),
  GET_PROJECT_DATA: () => ({
    id: penpot.currentFile?.id, name: penpot.currentFile?.name,
    pages: (penpot.currentFile?.pages || []).map((p) => ({ id: p.id, name: p.name })),
    shapes: tree(penpot.root, []), fonts: penpot.fonts.all.slice(0, 200).map((f) => f.name),
  }),
  GET_SELECTED_SHAPES: () => ({ shapeIds: penpot.selection.map((s) => s.id) }),
  DRAW_SHAPE: ({ shapeType, params, file, pictures }) => ({ shapeId: draw({ ...params, type: shapeType }, new Map(), picturesIn(file, pictures)).id }),
  DRAW_SCENE: ({ shapes, file, pictures: sent }) => {
    const pictures = picturesIn(file, sent);
    const made = new Map();
    const ids = {};
    for (const s of shapes) {
      const shape = draw(s, made, pictures);
      if (shape) {
        ids[s.id] = shape.id;
      } else {
        made.set(s.id, made.get(s.parent)); // what a group holds lies in the group's parent
      }
    }
    return { ids };
  },
};

// atOnce does something as one step that can be undone, with children in their natural order, where what Penpot refuses is an error. Nothing in it may
// wait: the flags are those of everything that the plugin does.
function atOnce(deed) {
  const flags = { natural: penpot.flags.naturalChildOrdering, strict: penpot.flags.throwValidationErrors };
  const block = penpot.history.undoBlockBegin();
  try {
    penpot.flags.naturalChildOrdering = true;
    penpot.flags.throwValidationErrors = true;
    return deed();
  } finally {
    penpot.flags.naturalChildOrdering = flags.natural;
    penpot.flags.throwValidationErrors = flags.strict;
    penpot.history.undoBlockFinish(block);
  }
}

async function answerTo(message, going) {
  if (message.type === "UPLOAD_PICTURE") {
    return uploadPicture(message.payload, going);
  }
  const deed = deeds[message.type];
  if (!deed) {
    throw new Error("there is nothing called " + message.type);
  }
  return atOnce(() => deed(message.payload || {}));
}

penpot.ui.onMessage(async (message) => {
  if (!message || message.source !== "penpotWizardClient") {
    return;
  }
  const answer = { source: "penpotWizardPlugin", messageId: message.messageId, success: true, message: "" };
  const going = () => penpot.ui.sendMessage({ source: answer.source, messageId: answer.messageId, working: true });
  try {
    answer.payload = await answerTo(message, going);
  } catch (error) {
    answer.success = false;
    answer.message = error instanceof Error ? error.message : String(error);
  }
  penpot.ui.sendMessage(answer);
});
