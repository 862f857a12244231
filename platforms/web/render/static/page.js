// What every page has: times in the reader's zone, menus that close.
const language = document.documentElement.lang;
const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

export function localTimes(root = document) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.valueOf())) time.textContent = format.format(moment);
  }
}

localTimes();

addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  const copy = event.target.closest("[data-copy]");
  if (copy) copyNear(copy);
});

addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A copy button copies the text that stands before it.
async function copyNear(button) {
  const source = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.closest("figure").querySelector("pre");
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  button.classList.add("done");
}
