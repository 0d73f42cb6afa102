// The frontier: error against a cost that the reader chooses.

const MARKS = [
  "M-6,0A6,6 0 1 0 6,0A6,6 0 1 0 -6,0Z", // circle
  "M-5.4,-5.4H5.4V5.4H-5.4Z", // square
  "M0,-7L6.6,5H-6.6Z", // triangle
  "M0,-7.4L7.4,0L0,7.4L-7.4,0Z", // diamond
  "M0,7L6.6,-5H-6.6Z", // triangle on its tip
  "M-2,-6.5H2V-2H6.5V2H2V6.5H-2V2H-6.5V-2H-2Z", // plus
  "M0,-7L6.7,-2.2L4.1,5.7H-4.1L-6.7,-2.2Z", // pentagon
  "M-3.6,-6.3H3.6L7.2,0L3.6,6.3H-3.6L-7.2,0Z", // hexagon
];
const markOf = (method) => MARKS[Math.max(0, smallMethods.indexOf(method)) % MARKS.length];

function ticksOf([low, high], log, room) {
  if (!log) {
    const rough = (high - low) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
  }
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const k of [1, 2, 5]) ticks.push(Number(`${k}e${power}`));
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length > room ? inside.filter((tick) => /^1/.test(tick.toExponential())) : inside;
}

function scaleOf(values, log, from, to) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) [low, high] = [low / 1.4, high * 1.25];
  else [low, high] = [0, high * 1.06];
  const at = log ? Math.log : (value) => value;
  const place = (value) => from + ((to - from) * (at(value) - at(low))) / (at(high) - at(low));
  return { place, range: [low, high] };
}

function drawFrontier() {
  const state = { quantity: "vectors", hidden: new Set() };
  const container = byId("frontier-chart");
  const [svm, ...small] = report.models;
  // An error of 0 has no place on a log scale: half a row is shown instead.
  const least = 0.5 / report.test_rows;
  const errorOf = (entry) => Math.max(entry.test_error, byId("frontier-log-y").checked ? least : 0);

  function facts(entry) {
    const rows = ["test_error", "vectors", "microseconds_per_row", "model_bytes", "fit_seconds"];
    const names = ["test error", "vectors", "per row", "size", "fit"];
    return rows.map((key, place) => [names[place], asText[key](entry[key])]);
  }
  function show(entry, node) {
    const list = html("dl", {}, ...facts(entry).flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
    showTooltip([html("b", {}, entry.model), report.summaries[entry.method] ?? "", list], node.getBoundingClientRect());
    for (const group of container.querySelectorAll(".series")) {
      group.classList.toggle("faded", entry !== svm && group.dataset.method !== entry.method);
    }
  }
  function hide() {
    hideTooltip();
    for (const group of container.querySelectorAll(".series")) group.classList.remove("faded");
  }

  function point(entry, x, y, mark, fillColour, first) {
    const label = `${entry.model}: ${facts(entry).map((pair) => pair.join(" ")).join(", ")}`;
    const node = svg(
      "g",
      { class: "point", transform: `translate(${x},${y})`, tabindex: first ? "0" : "-1", role: "img", "aria-label": label, "data-model": entry.model },
      svg("circle", { class: "hit", r: 13 }),
      svg("circle", { class: "halo", r: 13, fill: fillColour }),
      svg("path", { class: "mark", d: mark, fill: fillColour }),
    );
    for (const kind of ["pointerenter", "focus"]) node.addEventListener(kind, () => show(entry, node));
    for (const kind of ["pointerleave", "blur"]) node.addEventListener(kind, hide);
    return node;
  }

  function draw() {
    const width = Math.max(320, container.clientWidth);
    const height = Math.round(Math.max(320, Math.min(470, width * 0.5)));
    const edge = { left: 62, right: 18, top: 18, bottom: 56 };
    const [logX, logY] = [byId("frontier-log-x").checked, byId("frontier-log-y").checked];
    const shown = small.filter((entry) => !state.hidden.has(entry.method));
    const all = [svm, ...shown];
    const costs = all.map((entry) => entry[state.quantity]);
    const x = scaleOf(costs, logX, edge.left, width - edge.right);
    const y = scaleOf(all.map(errorOf), logY, height - edge.bottom, edge.top);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": `Test error against ${QUANTITIES[state.quantity]}` });
    for (const tick of ticksOf(x.range, logX, Math.floor(width / 85))) {
      root.append(
        svg("line", { class: "grid", x1: x.place(tick), x2: x.place(tick), y1: edge.top, y2: height - edge.bottom }),
        svg("text", { x: x.place(tick), y: height - edge.bottom + 20, "text-anchor": "middle" }, digits(tick)),
      );
    }
    for (const tick of ticksOf(y.range, logY, 9)) {
      root.append(
        svg("line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y.place(tick), y2: y.place(tick) }),
        svg("text", { x: edge.left - 9, y: y.place(tick) + 4.5, "text-anchor": "end" }, `${digits(100 * tick)} %`),
      );
    }
    const level = y.place(errorOf(svm));
    root.append(
      svg("line", { class: "axis", x1: edge.left, x2: width - edge.right, y1: height - edge.bottom, y2: height - edge.bottom }),
      svg("text", { class: "title", x: (edge.left + width - edge.right) / 2, y: height - 10, "text-anchor": "middle" }, QUANTITIES[state.quantity]),
      svg("line", { class: "reference", x1: edge.left, x2: width - edge.right, y1: level, y2: level }),
    );
    for (const method of smallMethods) {
      const entries = shown.filter((entry) => entry.method === method).sort((a, b) => a.vectors - b.vectors);
      const places = entries.map((entry) => [x.place(entry[state.quantity]), y.place(errorOf(entry))]);
      const group = svg("g", { class: "series", "data-method": method });
      const path = places.map((place, i) => `${i ? "L" : "M"}${place.join(",")}`).join("");
      if (path) group.append(svg("path", { class: "line", d: path, stroke: seriesColour(method) }));
      entries.forEach((entry, i) => group.append(point(entry, ...places[i], markOf(method), seriesColour(method), false)));
      root.append(group);
    }
    const text = `full SVM: ${asText.test_error(svm.test_error)} with ${svm.vectors} vectors`;
    root.append(
      svg("g", { class: "series", "data-method": svm.method }, point(svm, x.place(svm[state.quantity]), level, MARKS[0], "var(--text)", false)),
      svg("text", { class: "reference-label", x: edge.left + 10, y: level + 19 }, text),
    );
    root.querySelector(".point")?.setAttribute("tabindex", "0");
    container.replaceChildren(root);
  }

  const labels = { vectors: "Vectors", microseconds_per_row: "Microseconds", model_bytes: "Bytes", fit_seconds: "Fit time" };
  const options = Object.entries(labels).map(([value, label]) => ({ value, label }));
  choices(byId("frontier-axis"), options, state.quantity, (value) => {
    state.quantity = value;
    draw();
  });
  for (const id of ["frontier-log-x", "frontier-log-y"]) byId(id).addEventListener("change", draw);
  for (const method of smallMethods) {
    const mark = svg("svg", { viewBox: "-9 -9 18 18", "aria-hidden": "true" }, svg("path", { d: markOf(method), fill: seriesColour(method) }));
    const button = html("button", { type: "button", "aria-pressed": "true", title: report.summaries[method] ?? "" }, mark, method);
    button.addEventListener("click", () => {
      if (!state.hidden.delete(method)) state.hidden.add(method);
      button.setAttribute("aria-pressed", String(!state.hidden.has(method)));
      draw();
    });
    byId("frontier-legend").append(html("li", {}, button));
  }
  arrowKeys(container, () => [...container.querySelectorAll(".point")], () => 1);
  let known = 0;
  new ResizeObserver(() => {
    if (container.clientWidth !== known) draw();
    known = container.clientWidth;
  }).observe(container);
  draw();
}
