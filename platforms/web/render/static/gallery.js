// The gallery: more of it comes while one scrolls, hearts and faces are kept without leaving the page, films load when they are seen.
const csrf = document.querySelector("meta[name=csrf-token]").content;
const wall = document.querySelector(".wall");

async function keep(path, body) {
  const answer = await fetch(`/api/runs/${path}`, { method: "PUT", headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf }, body: JSON.stringify(body) });
  return answer.ok;
}

addEventListener("click", async (event) => {
  const heart = event.target.closest("[data-favorite]");
  if (heart) {
    event.preventDefault();
    const favorite = heart.getAttribute("aria-pressed") !== "true";
    if (await keep(`${heart.dataset.favorite}/favorite`, { favorite })) {
      heart.setAttribute("aria-pressed", favorite);
      heart.value = favorite ? "no" : "yes";
    }
  }
  const face = event.target.closest("[data-rating] [data-value]");
  if (face) {
    event.preventDefault();
    const form = face.closest("[data-rating]");
    const rating = face.getAttribute("aria-pressed") === "true" ? 0 : Number(face.dataset.value);
    if (await keep(`${form.dataset.rating}/rating`, { rating })) {
      for (const other of form.querySelectorAll("[data-value]")) other.setAttribute("aria-pressed", Number(other.dataset.value) === rating);
    }
  }
});

const films = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    films.unobserve(target);
    target.preload = "metadata";
  }
}, { rootMargin: "300px" });

const end = new IntersectionObserver(async (seen) => {
  if (!seen.some((entry) => entry.isIntersecting)) return;
  const more = document.querySelector(".more");
  end.unobserve(more);
  const answer = await fetch(more.querySelector("a").href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return; // the link stays
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const shot of page.querySelectorAll(".wall > .shot")) wall.append(watched(document.adoptNode(shot)));
  const next = page.querySelector(".more");
  if (!next) { more.remove(); return; }
  more.replaceWith(document.adoptNode(next));
  end.observe(next);
}, { rootMargin: "1200px" });

function watched(shot) {
  const film = shot.querySelector("video");
  if (film) films.observe(film);
  return shot;
}

// Shift chooses all from the last choice on.
let last = null;
wall?.addEventListener("click", (event) => {
  const box = event.target.closest("input[name=item]");
  if (!box) return;
  if (event.shiftKey && last) {
    const all = [...wall.querySelectorAll("input[name=item]")];
    const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
    for (const one of all.slice(from, to + 1)) one.checked = box.checked;
  }
  last = box;
});

function count() {
  const said = document.getElementById("chosen");
  if (said) said.textContent = wall.querySelectorAll("input[name=item]:checked").length;
}

if (wall) {
  for (const shot of wall.children) watched(shot);
  const more = document.querySelector(".more");
  if (more) end.observe(more);
  const form = document.getElementById("wall");
  form.addEventListener("click", () => setTimeout(count));
  form.addEventListener("reset", () => setTimeout(count));
  count();
}

// On a result's own page the arrows go to those beside it.
addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, video, audio, dialog") || document.querySelector("dialog[open]") || event.altKey || event.ctrlKey || event.metaKey) return;
  const way = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  if (way) document.querySelector(`.beside-it a[rel=${way}]`)?.click();
});
