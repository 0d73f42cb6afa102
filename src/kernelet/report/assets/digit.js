// A pad of eight by eight pixels, classified by the machine as one writes.

function drawDigit() {
  const canvas = byId("draw-canvas");
  const context = canvas.getContext("2d");
  const machine = makeMachine(report.writer.model);
  const { nVectors, nFeatures } = machine.metadata;
  byId("draw-machine").textContent = `${report.writer.name}, ${nVectors} vectors of ${nFeatures} pixels.`;
  const cell = canvas.width / PIXELS;
  let pixels = new Float64Array(PIXELS * PIXELS);
  let cursor = null; // of the keyboard
  let next = 0;

  function draw() {
    const [paper, ink, line, accent] = ["--card", "--text", "--line", "--accent"].map(colour);
    pixels.forEach((value, place) => {
      context.fillStyle = rgb(mixed(paper, ink, value));
      context.fillRect((place % PIXELS) * cell, Math.floor(place / PIXELS) * cell, cell, cell);
    });
    context.strokeStyle = rgb(line);
    context.lineWidth = 1;
    for (let i = 1; i < PIXELS; i++) {
      context.strokeRect(i * cell, -1, 0, canvas.height + 2);
      context.strokeRect(-1, i * cell, canvas.width + 2, 0);
    }
    if (cursor !== null) {
      context.strokeStyle = rgb(accent);
      context.lineWidth = 4;
      context.strokeRect((cursor % PIXELS) * cell + 2, Math.floor(cursor / PIXELS) * cell + 2, cell - 4, cell - 4);
    }
  }
  function answer() {
    draw();
    const [scores] = machine.decisionFunction([pixels]);
    byId("draw-answer").textContent = String(machine.predict([pixels])[0]);
    showBars(byId("draw-scores"), machine.classes, Array.from(scores));
  }

  // A brush about a pixel wide, which leaves some ink around it.
  function brush(event) {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * PIXELS - 0.5;
    const y = ((event.clientY - box.top) / box.height) * PIXELS - 0.5;
    pixels.forEach((value, place) => {
      const distance = Math.hypot((place % PIXELS) - x, Math.floor(place / PIXELS) - y);
      const ink = Math.max(0, Math.min(1, 1.35 - distance));
      pixels[place] = event.shiftKey ? Math.max(0, value - ink) : Math.max(value, ink);
    });
    answer();
  }
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    brush(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) brush(event);
  });
  canvas.addEventListener("keydown", (event) => {
    const [x, y] = [(cursor ?? 0) % PIXELS, Math.floor((cursor ?? 0) / PIXELS)];
    const limited = (value) => Math.max(0, Math.min(PIXELS - 1, value));
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (moves[event.key]) cursor = limited(x + moves[event.key][0]) + PIXELS * limited(y + moves[event.key][1]);
    else if (event.key === " ") pixels[cursor ?? 0] = pixels[cursor ?? 0] > 0.5 ? 0 : 1;
    else return;
    event.preventDefault();
    answer();
  });
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) cursor ??= 0;
    draw();
  });
  canvas.addEventListener("blur", () => {
    cursor = null;
    draw();
  });

  function nextDigit() {
    pixels = Float64Array.from(report.writer.examples[next++ % report.writer.examples.length], (level) => level / 16);
    answer();
  }
  byId("draw-next").addEventListener("click", nextDigit);
  byId("draw-clear").addEventListener("click", () => {
    pixels.fill(0);
    answer();
  });
  whenThemeChanges(draw);
  nextDigit();
}
