// A prompt is improved: the new text stands beside the old one as a difference, and nothing changes before one says so.
const csrf = document.querySelector("meta[name=csrf-token]").content;
const form = document.getElementById("inputs");

addEventListener("click", async (event) => {
  const button = event.target.closest("[data-improve]");
  if (!button) return;
  const field = document.getElementById(button.dataset.improve);
  const place = button.parentElement.querySelector(".better");
  place.hidden = false;
  if (!field.value.trim()) { place.textContent = place.dataset.empty; return; }
  place.textContent = place.dataset.busy;
  button.disabled = true;
  try {
    show(place, field, await ask(button.dataset.input, field.value));
  } catch (error) {
    place.textContent = error.told ?? place.dataset.failed;
  }
  button.disabled = false;
});

async function ask(input, text) {
  const answer = await fetch("/api/improve", {
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf }, body: JSON.stringify({ tool: form.dataset.tool, input, text }),
  });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error("refused"), { told: body.detail });
  return body;
}

function show(place, field, told) {
  if (told.styles) {
    const lead = document.createElement("p");
    lead.textContent = place.dataset.styles;
    const list = document.createElement("div");
    list.className = "actions";
    for (const style of told.styles) list.append(button(style.name, "plain tiny", () => offer(place, field, style)));
    place.replaceChildren(lead, list);
  } else if (told.text) offer(place, field, told);
  else place.textContent = told.notice ?? place.dataset.failed;
}

function offer(place, field, better) {
  const text = document.createElement("p");
  for (const { kind, text: words } of better.difference) {
    const piece = document.createElement({ same: "span", gone: "del", new: "ins" }[kind]);
    piece.textContent = words;
    text.append(piece);
  }
  const actions = document.createElement("div");
  actions.className = "actions";
  const over = () => { place.hidden = true; field.focus(); };
  const take = button(place.dataset.take, "tiny", () => { field.value = better.text; field.dispatchEvent(new Event("input", { bubbles: true })); over(); });
  actions.append(take, button(place.dataset.keep, "plain tiny", over));
  place.replaceChildren(text, actions);
}

function button(label, kind, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}
