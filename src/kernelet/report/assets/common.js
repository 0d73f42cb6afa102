// What all parts of the page share: the data, elements, numbers as text, colours, the tooltip.

const report = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// Text given to an element is text, whatever is in it.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}
function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}
function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function digits(value, n = 3) {
  if (value === 0) return "0";
  const text = Number(value.toPrecision(n));
  return Math.abs(text) >= 1e6 || Math.abs(text) < 1e-4
    ? text.toExponential() : text.toLocaleString("en", { maximumSignificantDigits: n });
}
const asText = {
  test_error: (value) => `${(100 * value).toFixed(1)} %`,
  vectors: (value) => String(value),
  microseconds_per_row: (value) => `${digits(value)} µs`,
  model_bytes: (value) =>
    value < 1e3 ? `${value} bytes` : value < 1e6 ? `${digits(value / 1e3)} kB` : `${digits(value / 1e6)} MB`,
  fit_seconds: (value) => (value < 1 ? `${digits(1e3 * value, 2)} ms` : `${digits(value)} s`),
};
const QUANTITIES = {
  vectors: "vectors, kernel values per row",
  microseconds_per_row: "microseconds per row",
  model_bytes: "model size in bytes",
  fit_seconds: "fit time in seconds",
};

const methodNames = [...new Set(report.models.map((entry) => entry.method))];
const smallMethods = methodNames.slice(1); // the first is the full SVM
const seriesColour = (method) => `var(--series-${Math.max(0, smallMethods.indexOf(method)) % 10})`;

// The value of a custom property as [red, green, blue], for drawing on a canvas.
function colour(name) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}
const mixed = (a, b, share) => a.map((from, i) => from + (b[i] - from) * share);
const rgb = (parts, alpha = 1) => `rgba(${parts.map(Math.round).join(",")},${alpha})`;

const painters = [];
function whenThemeChanges(paint) {
  painters.push(paint);
}
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const paint of painters) paint();
}

const tooltip = byId("tooltip");
function showTooltip(children, box) {
  tooltip.replaceChildren(...children);
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = box.left + box.width / 2 - width / 2;
  const above = box.top - height - 10;
  const room = document.documentElement.clientWidth - width - 8;
  tooltip.style.left = `${scrollX + Math.max(8, Math.min(left, room))}px`;
  tooltip.style.top = `${scrollY + (above > 8 ? above : box.bottom + 10)}px`;
}
function hideTooltip() {
  tooltip.hidden = true;
}

// Radio buttons in a fieldset; each option is { value, label, note }.
function choices(fieldset, options, chosen, change) {
  for (const { value, label, note } of options) {
    const input = html("input", { type: "radio", name: fieldset.id, value, onchange: () => change(value) });
    input.checked = value === chosen;
    const option = html("span", { class: "option" }, label, ...(note ? [html("small", {}, note)] : []));
    fieldset.append(html("label", {}, input, option));
  }
}

// Bars around zero, one for each name; the largest value is marked.
function showBars(container, names, values) {
  const widest = Math.max(...values.map(Math.abs), 1e-12);
  const best = values.indexOf(Math.max(...values));
  container.replaceChildren(
    ...names.flatMap((name, place) => {
      const share = (50 * Math.abs(values[place])) / widest;
      const bar = html("i");
      bar.style.width = `${share}%`;
      bar.style.left = `${values[place] < 0 ? 50 - share : 50}%`;
      const mark = place === best ? " best" : "";
      return [
        html("span", { class: `name${mark}` }, String(name)),
        html("span", { class: `track${mark}` }, bar),
        html("span", { class: `value${mark}` }, values[place].toFixed(2)),
      ];
    }),
  );
}

// One stop for Tab, arrow keys inside.
function arrowKeys(container, items, columns) {
  container.addEventListener("keydown", (event) => {
    const all = items();
    const place = all.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns() }[event.key];
    if (place < 0 || step === undefined) return;
    event.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, place + step))];
    for (const item of all) item.setAttribute("tabindex", item === next ? "0" : "-1");
    next.focus();
  });
}
