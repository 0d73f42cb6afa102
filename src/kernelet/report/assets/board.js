// The checkerboard: f is evaluated here, on a grid, by the machine that was chosen.

const GRID = 181; // values of f along each side

// The level set of values on a grid, as segments between the edges of its cells.
function contour(values, n, level) {
  const segments = [];
  const at = (i, j) => values[i * n + j] - level;
  for (let i = 0; i + 1 < n; i++) {
    for (let j = 0; j + 1 < n; j++) {
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]];
      const crossings = [];
      for (let side = 0; side < 4; side++) {
        const [a, b] = [corners[side], corners[(side + 1) % 4]];
        const [from, to] = [at(...a), at(...b)];
        if (from > 0 === to > 0) continue;
        const share = from / (from - to);
        crossings.push([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]);
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) segments.push([crossings[k], crossings[k + 1]]);
    }
  }
  return segments;
}

function drawBoard() {
  const { points, labels, side, methods } = report.board;
  const canvas = byId("board-canvas");
  const slider = byId("board-size");
  const fields = new Map();
  const small = methods.findIndex((method) => method.machines.length > 1);
  const state = { method: small < 0 ? 0 : small, size: 3, timer: null };
  const chosen = () => methods[state.method].machines[state.size];
  const svm = methods[0].machines[0];

  // f at the centre of each grid point; the first index goes across, the second up.
  function field(entry) {
    if (!fields.has(entry)) {
      const machine = makeMachine(entry.model);
      const at = (i) => (side * i) / (GRID - 1);
      const rows = Array.from({ length: GRID * GRID }, (_, place) =>
        [at(Math.floor(place / GRID)), at(place % GRID)]);
      fields.set(entry, { machine, values: machine.decisionFunction(rows) });
    }
    return fields.get(entry);
  }

  function paintField(context, size, values) {
    const [paper, first, second] = ["--card", "--first", "--second"].map(colour);
    const small = document.createElement("canvas");
    small.width = small.height = GRID;
    const pen = small.getContext("2d");
    const image = pen.createImageData(GRID, GRID);
    values.forEach((value, place) => {
      const [i, j] = [Math.floor(place / GRID), place % GRID];
      const share = 0.12 + 0.4 * Math.min(1, Math.abs(value) / 1.5);
      image.data.set([...mixed(paper, value > 0 ? second : first, share), 255], 4 * ((GRID - 1 - j) * GRID + i));
    });
    pen.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = true;
    const half = size / (GRID - 1) / 2; // grid points lie at the centres of its pixels
    context.drawImage(small, -half, -half, size + 2 * half, size + 2 * half);
  }
  function paintContour(context, size, values, level, dash) {
    const place = ([i, j]) => [(size * i) / (GRID - 1), size - (size * j) / (GRID - 1)];
    context.setLineDash(dash);
    context.beginPath();
    for (const [from, to] of contour(values, GRID, level)) {
      context.moveTo(...place(from));
      context.lineTo(...place(to));
    }
    context.stroke();
    context.setLineDash([]);
  }
  function dot(context, size, [x, y], radius, fillStyle, strokeStyle, lineWidth) {
    context.beginPath();
    context.arc((x / side) * size, size - (y / side) * size, radius, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle, strokeStyle, lineWidth });
    context.fill();
    context.stroke();
  }

  function draw() {
    const entry = chosen();
    const { values } = field(entry);
    const size = canvas.clientWidth || 600;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(size * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const [paper, text, first, second] = ["--card", "--text", "--first", "--second"].map(colour);
    paintField(context, size, values);
    context.strokeStyle = rgb(text, 0.16);
    for (let i = 1; i < side; i++) {
      context.strokeRect((i / side) * size, -1, 0, size + 2);
      context.strokeRect(-1, (i / side) * size, size + 2, 0);
    }
    if (byId("board-data").checked) {
      points.forEach((point, i) => dot(context, size, point, 3.2, rgb(labels[i] ? second : first), rgb(paper, 0.9), 1));
    }
    if (byId("board-margins").checked) {
      Object.assign(context, { strokeStyle: rgb(text, 0.55), lineWidth: 1 });
      for (const level of [-1, 1]) paintContour(context, size, values, level, [3, 3]);
    }
    Object.assign(context, { strokeStyle: rgb(text), lineWidth: 2.4 });
    paintContour(context, size, values, 0, []);
    if (byId("board-vectors").checked) {
      const { vectors, coefficients, nVectors } = entry.model;
      const largest = Math.max(...coefficients.map(Math.abs), 1e-300);
      for (let j = 0; j < nVectors; j++) {
        const radius = 5 + 7 * Math.sqrt(Math.abs(coefficients[j]) / largest);
        const tint = rgb(coefficients[j] > 0 ? second : first, 0.45);
        dot(context, size, vectors.slice(2 * j, 2 * j + 2), radius, tint, rgb(text), 2);
      }
    }
  }

  function describe() {
    const entry = chosen();
    const { nVectors } = entry.model;
    byId("board-count").textContent = String(nVectors);
    byId("board-error").textContent = asText.test_error(entry.error);
    byId("board-compare").textContent = entry === svm
      ? "" : `The full SVM: ${asText.test_error(svm.error)} with ${svm.model.nVectors} vectors.`;
    const name = `${methods[state.method].name}, ${nVectors} vectors: ${asText.test_error(entry.error)} of the board is wrong`;
    canvas.setAttribute("aria-label", name);
    slider.setAttribute("aria-valuetext", `${nVectors} vectors`);
  }
  function update() {
    const { machines } = methods[state.method];
    state.size = Math.min(state.size, machines.length - 1);
    slider.max = String(machines.length - 1);
    slider.value = String(state.size);
    slider.disabled = byId("board-play").disabled = machines.length < 2;
    describe();
    draw();
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    byId("board-play").textContent = "Play";
  }
  byId("board-play").addEventListener("click", () => {
    if (state.timer) return stop();
    const last = methods[state.method].machines.length - 1;
    state.size = state.size === last ? 0 : state.size + 1;
    update();
    state.timer = setInterval(() => {
      if (state.size >= methods[state.method].machines.length - 1) return stop();
      state.size += 1;
      update();
    }, 900);
    byId("board-play").textContent = "Stop";
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = (side * (event.clientX - box.left)) / box.width;
    const y = side - (side * (event.clientY - box.top)) / box.height;
    const [value] = field(chosen()).machine.decisionFunction([[x, y]]);
    const readout = byId("board-readout");
    readout.textContent = `f(${x.toFixed(3)}, ${y.toFixed(3)}) = ${value.toFixed(6)}`;
    Object.assign(readout.dataset, { x, y, value });
  });
  slider.addEventListener("input", () => {
    stop();
    state.size = Number(slider.value);
    update();
  });
  for (const id of ["board-data", "board-vectors", "board-margins"]) byId(id).addEventListener("change", draw);
  const options = methods.map(({ name, summary }, value) => ({ value, label: name, note: summary }));
  choices(byId("board-method"), options, state.method, (value) => {
    stop();
    state.method = value;
    update();
  });
  whenThemeChanges(draw);
  new ResizeObserver(draw).observe(canvas);
  update();
}
