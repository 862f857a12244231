// What the page asks of the site, by the addresses below /api/site.
const { texts, token } = document.body.dataset;

export const say = JSON.parse(texts);

// site is the slug of the site that is edited; without one it is the house's.
export const site = new URLSearchParams(location.search).get("site") ?? "";

function address(path) {
  if (path.startsWith("/")) return path;
  const ours = `/api/site/${path}`;
  return site ? `${ours}${ours.includes("?") ? "&" : "?"}site=${encodeURIComponent(site)}` : ours;
}

// Refused is an answer that says no; newer tells that somebody else changed the thing since it was read.
export class Refused extends Error {
  constructor(problem, status) {
    super(problem.detail ?? say.failed);
    this.newer = status === 412;
    this.status = status;
  }
}

// underway is how many questions wait for their answers. The page is busy meanwhile: what it shows may be of the version before.
let underway = 0;

function count(change) {
  underway += change;
  document.body.ariaBusy = String(underway > 0);
}

export const busy = () => underway > 0;

export async function ask(method, path, body, version) {
  const headers = { Accept: "application/json", "X-CSRF-Token": token };
  if (version !== undefined) headers["If-Match"] = `"${version}"`;
  if (body && !(body instanceof FormData)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  count(1);
  try {
    const response = await fetch(address(path), { method, headers, body });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refused(answer, response.status);
    return answer;
  } finally {
    count(-1);
  }
}

export const items = async (path) => (await ask("GET", path)).items ?? [];
