"use strict";

// A run's page follows its events and shows the finished page when it is over.
const run = document.getElementById("run");
if (run && run.dataset.final === "false") {
  const words = { awaiting_confirmation: "waits for you", queued: "queued", submitted: "running", running: "running" };
  const state = document.getElementById("state"), stage = document.getElementById("stage");
  const bar = document.getElementById("bar"), preview = document.getElementById("preview");
  const events = new EventSource(`/api/runs/${run.dataset.run}/events`);
  let previewAt = 0;
  events.addEventListener("run", (event) => {
    const r = JSON.parse(event.data);
    if (!(r.status in words)) {
      events.close();
      location.reload();
      return;
    }
    const percent = r.progress === null ? null : Math.round(r.progress * 100);
    state.textContent = words[r.status] + (percent === null ? "" : ` · ${percent} %`);
    stage.textContent = [r.stage, r.queuePosition ? `place ${r.queuePosition} in the queue` : ""].filter(Boolean).join(" · ");
    if (percent === null) bar.removeAttribute("value"); else bar.value = percent;
    if (r.status === "running" && Date.now() - previewAt > 1500) {
      previewAt = Date.now();
      showPreview(r.runId, preview);
    }
  });
}

async function showPreview(id, img) {
  const answer = await fetch(`/api/runs/${id}/preview`);
  if (answer.status !== 200) return;
  const old = img.src;
  img.src = URL.createObjectURL(await answer.blob());
  img.hidden = false;
  if (old.startsWith("blob:")) URL.revokeObjectURL(old);
}

// A tool's form asks for the price of what it holds, and can be sent only once.
const form = document.getElementById("inputs");
if (form && form.dataset.tool) {
  const quote = document.getElementById("quote");
  let timer;
  const ask = async () => {
    const data = new FormData(form);
    for (const [name, value] of [...data]) if (value instanceof File) data.delete(name);
    const answer = await fetch(`/api/quote/${encodeURIComponent(form.dataset.tool)}`, { method: "POST", body: data });
    if (!answer.ok) return;
    const q = await answer.json();
    quote.textContent = q.text + (q.basis ? ` · ${q.basis}` : "");
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 400); });
  form.addEventListener("submit", () => { const b = document.getElementById("start"); b.textContent = "Starting…"; setTimeout(() => { b.disabled = true; }); });
  ask();
}
