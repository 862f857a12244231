// The list follows what is typed: the same page, asked for again, and only its list taken.
import { localTimes } from "./page.js";

const form = document.getElementById("search");
const field = document.getElementById("q");
let asking;

async function follow() {
  const address = field.value.trim() ? `/?q=${encodeURIComponent(field.value.trim())}` : "/";
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(address, { signal: asking.signal, headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("found");
    if (!found) return;
    document.getElementById("found").replaceWith(found);
    localTimes(found);
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

let timer;
field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(follow, 180); });
form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); follow(); });
// "/" goes to the search, as on many pages.
addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, textarea, select")) { event.preventDefault(); field.focus(); }
});
