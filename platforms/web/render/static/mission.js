// A mission's page follows its events: each new state takes the place of what is shown.
import { localTimes } from "./page.js";

function follow() {
  const shown = document.getElementById("mission");
  if (!shown || shown.dataset.final === "true") return;
  const events = new EventSource(`/api/missions/${shown.dataset.mission}/events`);
  events.addEventListener("mission", async (event) => {
    const now = document.getElementById("mission");
    if (event.lastEventId === now.dataset.version) return;
    const answer = await fetch(`/chains/missions/${now.dataset.mission}`);
    if (!answer.ok) return;
    const drawn = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("mission");
    if (!drawn) return;
    document.getElementById("mission").replaceWith(drawn);
    localTimes();
    if (drawn.dataset.final === "true") events.close();
  });
}

follow();
