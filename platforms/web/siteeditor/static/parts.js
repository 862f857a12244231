// What pages of the editor are built of.
import { busy, say } from "./api.js";

// make builds an element. Members of about are properties, those that begin with on are listeners; texts are texts, never HTML.
export function make(tag, about = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-") || name.startsWith("data-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...inside.filter((part) => part !== null && part !== undefined));
  return element;
}

const told = document.getElementById("told");

export function tell(text, bad = false) {
  told.textContent = text;
  told.classList.toggle("bad", bad);
}

// deed is a button whose work is waited for; what goes wrong is told. While the page is busy it does nothing: it would go by a version that is
// about to change, and be refused as if somebody else had been first.
export function deed(label, work, about = {}) {
  const button = make("button", { type: "button", ...about, onclick: () => during(button, work) }, label);
  return button;
}

export async function during(button, work) {
  if (busy()) return;
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    tell(error.message, true);
  } finally {
    button.disabled = false;
  }
}

// field is a labelled input for a value of a type; its element has read(), which gives the value as it is now.
export function field(name, label, type, value, choices = []) {
  let input;
  switch (type) {
    case "markdown":
      input = make("textarea", { value: value ?? "" });
      break;
    case "boolean":
      input = make("input", { type: "checkbox", checked: Boolean(value) });
      break;
    case "image":
      input = make("select", {}, make("option", { value: "" }, say.none), ...choices.map((i) => make("option", { value: i.id }, i.description || i.filename || i.id)));
      if (value && !choices.some((i) => i.id === value)) input.append(make("option", { value }, value));
      input.value = value ?? "";
      break;
    default:
      input = make("input", { type: { number: "number", date: "datetime-local" }[type] ?? "text", value: value ?? "" });
  }
  input.name = name;
  const element = make("label", {}, type === "boolean" ? "" : label, input, type === "boolean" ? ` ${label}` : "");
  element.read = () => {
    if (type === "boolean") return input.checked;
    if (type === "number") return input.value === "" ? null : Number(input.value);
    return input.value === "" ? null : input.value;
  };
  return element;
}

// ask puts a question in place; it gives the button that was pressed.
export function choice(where, text, ...labels) {
  return new Promise((chosen) => {
    const box = make("div", { className: "choice", role: "group", "aria-label": text }, make("p", {}, text));
    const row = make("div", { className: "row" });
    labels.forEach((label, i) => row.append(make("button", { type: "button", className: i === 0 ? "first" : "", onclick: () => { box.remove(); chosen(i); } }, label)));
    box.append(row);
    where.prepend(box);
    row.firstChild.focus();
  });
}
