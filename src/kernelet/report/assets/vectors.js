// The vectors of the digits' machines, as images, with what each says of the classes.

// Ink for what lies in [0, 1], another colour for less than no ink.
function paintDigit(canvas, pixels) {
  const [paper, ink, below] = ["--card", "--text", "--below"].map(colour);
  canvas.width = canvas.height = PIXELS;
  const context = canvas.getContext("2d");
  const image = context.createImageData(PIXELS, PIXELS);
  pixels.forEach((value, place) => {
    const strength = Math.min(1, value < 0 ? -2 * value : value);
    image.data.set([...mixed(paper, value < 0 ? below : ink, strength), 255], 4 * place);
  });
  context.putImageData(image, 0, 0);
}

// Pixels come as bytes between the lowest and the highest value of the machine.
function picturesOf(entry) {
  const { bytes, low, high } = entry.pictures;
  const levels = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const size = PIXELS * PIXELS;
  return Array.from({ length: levels.length / size }, (_, j) =>
    Array.from(levels.subarray(j * size, (j + 1) * size), (level) => low + ((high - low) * level) / 255));
}

function drawVectors() {
  const [methodSelect, sizeSelect] = [byId("vectors-method"), byId("vectors-size")];
  const [gallery, detail] = [byId("vectors-gallery"), byId("vectors-detail")];
  let chosen = 0;
  let budget = report.sizes[0]; // kept from method to method

  const entryShown = () => report.models[Number(sizeSelect.value)];

  function showDetail(entry, pictures) {
    const canvas = html("canvas", { "aria-hidden": "true" });
    paintDigit(canvas, pictures[chosen]);
    const bars = html("div", { class: "bars" });
    showBars(bars, report.classes, entry.weights[chosen]);
    const title = html("h3", {}, `Vector ${chosen + 1} of ${entry.vectors}`);
    detail.replaceChildren(title, canvas, html("p", { class: "hint" }, "What it adds to the score of each digit:"), bars);
  }

  function draw() {
    const entry = entryShown();
    const pictures = picturesOf(entry);
    chosen = Math.min(chosen, pictures.length - 1);
    const more = entry.vectors - pictures.length;
    byId("vectors-summary").textContent =
      `${entry.vectors} vectors, ${asText.test_error(entry.test_error)} error` + (more > 0 ? `; the first ${pictures.length} are shown` : "");
    const buttons = pictures.map((pixels, j) => {
      const weights = entry.weights[j];
      const best = report.classes[weights.indexOf(Math.max(...weights))];
      const canvas = html("canvas", { "aria-hidden": "true" });
      paintDigit(canvas, pixels);
      const button = html("button", { type: "button", tabindex: j === chosen ? "0" : "-1", "aria-pressed": String(j === chosen), "aria-label": `Vector ${j + 1}, most for ${best}` }, canvas, String(best));
      const choose = () => {
        if (chosen === j) return;
        chosen = j;
        for (const [place, other] of buttons.entries()) other.setAttribute("aria-pressed", String(place === j));
        showDetail(entry, pictures);
      };
      for (const kind of ["focus", "pointerenter", "click"]) button.addEventListener(kind, choose);
      return button;
    });
    gallery.classList.toggle("few", pictures.length <= 24);
    gallery.classList.toggle("some", pictures.length > 24 && pictures.length <= 60);
    gallery.replaceChildren(...buttons);
    showDetail(entry, pictures);
  }

  function listSizes() {
    const places = [...report.models.keys()].filter((place) => report.models[place].method === methodSelect.value);
    sizeSelect.replaceChildren(...places.map((place) => html("option", { value: place }, String(report.models[place].vectors))));
    const same = places.find((place) => report.models[place].budget === budget);
    sizeSelect.value = String(same ?? places[0]);
    sizeSelect.disabled = places.length < 2;
    draw();
  }

  methodSelect.append(...methodNames.map((name) => html("option", { value: name }, name)));
  methodSelect.value = smallMethods[0] ?? methodNames[0];
  methodSelect.addEventListener("change", listSizes);
  sizeSelect.addEventListener("change", () => {
    budget = entryShown().budget;
    draw();
  });
  const columns = () => getComputedStyle(gallery).gridTemplateColumns.split(" ").length;
  arrowKeys(gallery, () => [...gallery.children], columns);
  whenThemeChanges(draw);
  listSizes();
}
