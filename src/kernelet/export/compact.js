// Machines in few bits: integers in texts become the numbers that they stand for, once.

// Not atob, nor node's Buffer, each of which ignores other characters that are no base64.
const SIXTY_FOUR = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function bytesOf(text) {
  const digits = text.replace(/={1,2}$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 6) / 8));
  let [gathered, nBits, place] = [0, 0, 0];
  for (const digit of digits) {
    const value = SIXTY_FOUR.indexOf(digit);
    if (value < 0) throw new SyntaxError("a table of the model is not base64: the file is damaged");
    gathered = ((gathered << 6) | value) & 0xfff; // at most 6 bits are left of earlier digits
    nBits += 6;
    if (nBits >= 8) {
      nBits -= 8;
      bytes[place++] = gathered >> nBits;
    }
  }
  return bytes;
}

// n integers, each in a few bits that count from the least of them.
function integersOf({ least, bits, text }, n) {
  const bytes = bytesOf(text);
  if (bytes.length !== Math.ceil((n * bits) / 8)) {
    throw new RangeError(
      `a table of the model holds ${bytes.length} bytes, not ${n} integers of ${bits} bits: the file is damaged`);
  }
  const integers = new Float64Array(n);
  for (let i = 0, place = 0; i < n; i++) {
    let value = least;
    for (let bit = 0, weight = 1; bit < bits; bit++, place++, weight *= 2) {
      if ((bytes[place >> 3] >> (place & 7)) & 1) value += weight;
    }
    integers[i] = value;
  }
  return integers;
}

// 2^(-i/8), correctly rounded: Math.pow may differ in the last digit.
const EIGHTHS = [
  1, 0.9170040432046712, 0.8408964152537145, 0.7711054127039704,
  0.7071067811865476, 0.6484197773255048, 0.5946035575013605, 0.5452538663326288,
];

function powersOf({ base, codes }, n) {
  return integersOf(codes, n).map((code) => (base * EIGHTHS[code % 8]) / 2 ** Math.floor(code / 8));
}

// The places where a mask has ones; without a mask all of them.
function placesOf(mask, n) {
  const all = Array.from({ length: n }, (_, i) => i);
  if (!mask) return all;
  const chosen = integersOf(mask, n);
  return all.filter((i) => chosen[i] === 1);
}

function pointsOf({ varying, codes, centres, steps }, nVectors, n) {
  const columns = placesOf(varying, n);
  const offsets = integersOf(codes, nVectors * columns.length);
  const centre = integersOf(centres, n);
  const step = powersOf(steps, n);
  const points = new Float64Array(nVectors * n);
  for (let j = 0; j < nVectors; j++) {
    points.set(centre, j * n); // where vectors do not differ they are at the centre
    columns.forEach((f, i) => { points[j * n + f] += offsets[j * columns.length + i]; });
  }
  return points.map((point, i) => point * step[i % n]);
}

function unpacked(model) {
  const { nFeatures, nVectors, nOutputs, matrix, coefficients, intercepts } = model;
  const features = placesOf(model.features, nFeatures);
  const nUsed = features.length;
  const columnSteps = matrix && powersOf(matrix.steps, nUsed);
  const rowScales = powersOf(coefficients.scales, nVectors);
  return {
    ...model,
    features: model.features && features,
    scales: model.scales && powersOf(model.scales, nUsed),
    matrix: matrix &&
      integersOf(matrix.codes, matrix.nRows * nUsed).map((code, i) => code * columnSteps[i % nUsed]),
    vectors: pointsOf(model.vectors, nVectors, matrix ? matrix.nRows : nUsed),
    coefficients: integersOf(coefficients.codes, nVectors * nOutputs)
      .map((code, i) => code * rowScales[Math.floor(i / nOutputs)]),
    intercepts: integersOf(intercepts.codes, nOutputs).map((code) => code * intercepts.unit),
  };
}
