"use strict";

// Plots are drawn from the table of figures beside them, which says the same to whoever cannot see them.
(() => {
  const colours = { succeeded: "--accent", failed: "--danger", failures: "--danger", p50: "--accent", p95: "--warn", revenue: "--accent", cost: "--warn", engine: "--accent" };
  const write = {
    count: (v) => String(v),
    seconds: (v) => v > 0 && v < 1 ? Math.round(v * 1000) + " ms" : (v < 10 ? Number(v.toFixed(1)) : Math.round(v)) + " s",
    usd: (v) => "$" + v.toFixed(v >= 1 || v === 0 ? 2 : v >= 0.01 ? 3 : 5),
    percent: (v) => v.toFixed(1) + " %",
  };
  // Labels of the time axis: from the smallest step on, and what is added below where a day or a year begins.
  const when = [
    [28 * 86400, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", "\n{D} {MMM}", null, "\n{D} {MMM}", null, null, null, 1],
  ];
  const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let drawn = [];

  function figures() {
    const table = document.getElementById("figures");
    if (!table) return null;
    const columns = {};
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      columns[cell.dataset.key] = {
        label: cell.textContent,
        values: [...table.tBodies[0].rows].map((row) => row.cells[i].dataset.v === "" ? null : Number(row.cells[i].dataset.v)),
      };
    });
    return columns;
  }

  // room is the width of an axis that its longest value fits into.
  const room = (_, values) => 16 + 7 * Math.max(6, ...(values ?? []).map((value) => value.length));

  function options(figure, columns, width, names) {
    const say = write[figure.dataset.unit], bars = figure.dataset.kind === "bars";
    const line = shade("--line"), quiet = shade("--quiet"), font = "12px system-ui, sans-serif";
    const at = columns.time.values, last = at[at.length - 1], step = at[1] - at[0];
    const axis = { stroke: quiet, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    return {
      width, height: 210, tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      cursor: { y: false, points: { size: 6 } },
      scales: { x: { range: (_, low, high) => [low, high >= last ? last + step : high] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [{ ...axis, values: when }, { ...axis, size: room, values: (_, ticks) => ticks.map((v) => figure.dataset.unit === "count" && v % 1 ? "" : say(v)) }],
      series: [
        { value: (_, at) => at === null ? "–" : new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ") },
        ...names.map((name) => ({
          label: columns[name].label, stroke: shade(colours[name]), fill: bars ? shade(colours[name]) : undefined, width: bars ? 0 : 2, spanGaps: false,
          paths: bars ? uPlot.paths.bars({ size: [0.8, 40], align: 1 }) : undefined, points: { show: !bars, size: 4 },
          value: (_, v) => v === null ? "–" : say(v),
        })),
      ],
    };
  }

  // Bars of several columns stand on each other, so the tall ones are drawn first.
  function stacked(figure, columns, names) {
    if (figure.dataset.kind !== "bars") return { names, rows: names.map((name) => columns[name].values) };
    const rows = [];
    names.forEach((name, i) => rows.push(columns[name].values.map((v, at) => v + (i ? rows[i - 1][at] : 0))));
    return { names: [...names].reverse(), rows: rows.reverse() };
  }

  function draw() {
    drawn.forEach((plot) => plot.destroy());
    drawn = [];
    const columns = figures();
    if (!columns) return;
    document.querySelectorAll("[data-plot]").forEach((figure) => {
      const place = document.getElementById(figure.dataset.plot);
      const names = figure.dataset.columns.split(" ");
      place.textContent = "";
      delete place.dataset.empty;
      if (!names.some((name) => columns[name].values.some((v) => v))) {
        place.dataset.empty = "";
        place.textContent = "Nothing in this time";
        return;
      }
      const s = stacked(figure, columns, names);
      const plain = s.names.map((name) => columns[name].values);
      const o = options(figure, columns, place.clientWidth, s.names);
      o.series.slice(1).forEach((series, i) => { const say = series.value; series.value = (u, _, __, at) => say(u, at === null || at === undefined ? null : plain[i][at]); });
      drawn.push(new uPlot(o, [columns.time.values, ...s.rows], place));
    });
  }

  document.querySelector(".places [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  let timer;
  addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(draw, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  window.drawPlots = draw;
})();

// A page that says so keeps itself fresh: it is asked for again and its parts are put in place. What somebody is
// using stays as it is, and so does the page while it is hidden or paused.
(() => {
  const main = document.querySelector("main[data-live]");
  const button = document.getElementById("pause");
  if (!main) return;
  const often = document.getElementById("figures") ? 10000 : 3000;
  let paused = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Go on" : "Pause";
  });
  const busy = () => paused || document.hidden || main.contains(document.activeElement) && document.activeElement !== main ||
    !document.getSelection().isCollapsed || main.querySelector(".u-over:hover, .scroll:hover");
  async function refresh() {
    if (busy()) return;
    const answer = await fetch(location.href);
    if (!answer.ok || busy()) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = fresh.querySelector("main");
    if (!next || put(next)) return location.reload();
    document.getElementById("asof").replaceWith(fresh.getElementById("asof"));
    if (!("live" in next.dataset)) { delete main.dataset.live; clearInterval(timer); }
  }
  // put exchanges the children of main that differ; it reports a page that became another one.
  function put(next) {
    const old = [...main.children].filter((e) => !e.matches("[role=status]")), now = [...next.children];
    if (old.length !== now.length) return true;
    let figures = false;
    old.forEach((e, i) => {
      if (e.matches("[data-still], [data-plot], .plots") || e.dataset.html === now[i].outerHTML) return;
      const html = now[i].outerHTML;
      if (e.matches("details")) now[i].open = e.open;
      figures = figures || !!now[i].querySelector("#figures");
      e.replaceWith(now[i]);
      now[i].dataset.html = html;
    });
    if (figures) drawPlots();
    return false;
  }
  const timer = setInterval(() => refresh().catch(() => {}), often);
})();
