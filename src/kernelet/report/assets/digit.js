// A pad to write a digit on, read by the machine as one writes.

const PEN = 18; // width of a stroke on the canvas, which is 320 wide

function drawDigit() {
  const canvas = byId("draw-canvas");
  const context = canvas.getContext("2d");
  const machine = makeMachine(report.writer.model);
  const { nVectors, nFeatures } = machine.metadata;
  byId("draw-machine").textContent = `${report.writer.name}, ${nVectors} vectors of ${nFeatures} pixels.`;
  const cell = canvas.width / PIXELS;
  let strokes = []; // what is written; none while the pad shows pixels
  let row = new Float64Array(PIXELS * PIXELS);
  let pen = null; // the pointer that writes
  let cursor = null; // of the keyboard
  let next = 0;

  function drawPixels(paper, ink, line) {
    row.forEach((value, place) => {
      context.fillStyle = rgb(mixed(paper, ink, value));
      context.fillRect((place % PIXELS) * cell, Math.floor(place / PIXELS) * cell, cell, cell);
    });
    Object.assign(context, { strokeStyle: rgb(line), lineWidth: 1 });
    for (let i = 1; i < PIXELS; i++) {
      context.strokeRect(i * cell, -1, 0, canvas.height + 2);
      context.strokeRect(-1, i * cell, canvas.width + 2, 0);
    }
  }
  function drawStrokes(paper, ink) {
    context.fillStyle = rgb(paper);
    context.fillRect(0, 0, canvas.width, canvas.height);
    Object.assign(context, { strokeStyle: rgb(ink), lineWidth: PEN, lineCap: "round", lineJoin: "round" });
    for (const [first, ...others] of strokes) {
      context.beginPath();
      context.moveTo(...first);
      for (const point of [first, ...others]) context.lineTo(...point);
      context.stroke();
    }
  }
  function draw() {
    const [paper, ink, line, accent] = ["--card", "--text", "--line", "--accent"].map(colour);
    if (strokes.length > 0) drawStrokes(paper, ink);
    else drawPixels(paper, ink, line);
    if (cursor !== null) {
      Object.assign(context, { strokeStyle: rgb(accent), lineWidth: 4, lineJoin: "miter" });
      context.strokeRect((cursor % PIXELS) * cell + 2, Math.floor(cursor / PIXELS) * cell + 2, cell - 4, cell - 4);
    }
    paintDigit(byId("draw-seen"), row);
  }
  function answer() {
    draw();
    const scores = Array.from(machine.decisionFunction(row));
    const isSure = row.some((ink) => ink > 0) && scores.some((score) => score > 0);
    byId("draw-says").textContent = isSure ? "It reads" : "It is";
    byId("draw-answer").textContent = isSure ? String(machine.predict(row)) : "unsure";
    showBars(byId("draw-scores"), machine.classes, scores);
  }

  // A browser reports a few places of a fast hand at once; lines join them.
  function write(event) {
    const box = canvas.getBoundingClientRect();
    const coalesced = event.getCoalescedEvents?.() ?? [];
    for (const { clientX, clientY } of coalesced.length > 0 ? coalesced : [event]) {
      const place = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
      strokes[strokes.length - 1].push(place.map((share) => share * canvas.width));
    }
    row = rowOfStrokes(strokes);
    answer();
  }
  canvas.addEventListener("pointerdown", (event) => {
    if (pen !== null) return; // a second finger
    canvas.setPointerCapture(event.pointerId);
    pen = event.pointerId;
    strokes.push([]);
    write(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId === pen) write(event);
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(kind, (event) => {
      if (event.pointerId === pen) pen = null;
    });
  }
  canvas.addEventListener("keydown", (event) => {
    const [x, y] = [(cursor ?? 0) % PIXELS, Math.floor((cursor ?? 0) / PIXELS)];
    const limited = (value) => Math.max(0, Math.min(PIXELS - 1, value));
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (moves[event.key]) cursor = limited(x + moves[event.key][0]) + PIXELS * limited(y + moves[event.key][1]);
    else if (event.key === " ") row[cursor ?? 0] = row[cursor ?? 0] > 0.5 ? 0 : 1;
    else return;
    event.preventDefault();
    strokes = []; // from here on it is pixels that are changed
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

  function show(levels) {
    strokes = [];
    row = Float64Array.from(levels, (level) => level / 16);
    answer();
  }
  function nextDigit() {
    show(report.writer.examples[next++ % report.writer.examples.length]);
  }
  byId("draw-next").addEventListener("click", nextDigit);
  byId("draw-clear").addEventListener("click", () => show(new Array(PIXELS * PIXELS).fill(0)));
  whenThemeChanges(draw);
  nextDigit();
}
