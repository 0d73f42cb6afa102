// Evaluates f_k(x) = sum_j beta_jk k(x, z_j) + b_k from the numbers of a model.
//
// Numbers are stored as 32 or 64 bits and computed with in 64. Distances are sums over differences,
// so that they keep their digits however far from the origin the rows lie. What is not a finite
// number goes through the formulas as floating-point arithmetic has it: NaN in a row gives NaN.

function squaredDistance(row, vectors, start) {
  let sum = 0;
  for (let f = 0; f < row.length; f++) {
    const difference = row[f] - vectors[start + f];
    sum += difference * difference;
  }
  return sum;
}

function taxicabDistance(row, vectors, start) {
  let sum = 0;
  for (let f = 0; f < row.length; f++) sum += Math.abs(row[f] - vectors[start + f]);
  return sum;
}

function innerProduct(row, vectors, start) {
  let sum = 0;
  for (let f = 0; f < row.length; f++) sum += row[f] * vectors[start + f];
  return sum;
}

function integerPower(base, exponent) {
  let power = 1;
  for (let square = base; exponent > 0; square *= square) {
    if (exponent % 2 === 1) power *= square;
    exponent = Math.floor(exponent / 2);
  }
  return power;
}

// A kernel takes a row, the array of all vectors and where in it the vector begins.
function combined(parts, combine) {
  const [first, ...others] = parts.map(kernelOf);
  return (row, vectors, start) => {
    let value = first(row, vectors, start);
    for (const part of others) value = combine(value, part(row, vectors, start));
    return value;
  };
}

function onScaledFeatures({ kernel, scales }) {
  const inner = kernelOf(kernel);
  const scaledRow = new Float64Array(scales.length);
  const scaledVector = new Float64Array(scales.length);
  return (row, vectors, start) => {
    for (let f = 0; f < scales.length; f++) {
      scaledRow[f] = scales[f] * row[f];
      scaledVector[f] = scales[f] * vectors[start + f];
    }
    return inner(scaledRow, scaledVector, 0);
  };
}

// What the steps of a formula do with the values of earlier steps.
const operations = {
  negative: (a) => -a,
  exp: Math.exp,
  log1p: Math.log1p,
  sqrt: Math.sqrt,
  tanh: Math.tanh,
  positive_part: (a) => (a < 0 ? 0 : a),
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  power: (a, b) => (Number.isInteger(b) && b > 0 ? integerPower(a, b) : a ** b),
  damp: (a, b) => (b === 0 ? 0 : a * b),
};
const sums = { squared: squaredDistance, taxicab: taxicabDistance, product: innerProduct };

// A formula is a list of steps, each an operation on earlier ones; the last is the value.
function ofFormula({ formula }) {
  const values = new Float64Array(formula.length);
  const run = [];
  formula.forEach(([operation, first, second], i) => {
    if (operation === "constant") values[i] = first;
    else if (operation in sums) {
      const sum = sums[operation];
      run.push((row, vectors, start) => { values[i] = sum(row, vectors, start); });
    } else {
      const apply = operations[operation];
      run.push(() => { values[i] = apply(values[first], values[second]); });
    }
  });
  return (row, vectors, start) => {
    for (const step of run) step(row, vectors, start);
    return values[formula.length - 1];
  };
}

// Kernels that are made of kernels; all others have a formula.
const makeKernel = {
  sum: ({ terms }) => combined(terms, (a, b) => a + b),
  product: ({ factors }) => combined(factors, (a, b) => a * b),
  scaled: ({ kernel, factor }) => {
    const inner = kernelOf(kernel);
    return (row, vectors, start) => factor * inner(row, vectors, start);
  },
  scaled_features: onScaledFeatures,
};

function kernelOf(specification) {
  const make = Object.hasOwn(makeKernel, specification.name) && makeKernel[specification.name];
  return (make || ofFormula)(specification);
}

function indexOfLargest(values) {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) return -1;
    if (values[i] > values[largest]) largest = i;
  }
  return largest;
}

// Votes of each class, and with shares a fraction below 1/3 of a vote that orders equal counts.
function votesOf(scores, nClasses, shares) {
  const votes = new Float64Array(nClasses);
  const confidence = new Float64Array(nClasses);
  let pair = 0;
  for (let i = 0; i < nClasses; i++) {
    for (let j = i + 1; j < nClasses; j++, pair++) {
      votes[scores[pair] > 0 ? i : j] += 1;
      confidence[i] += scores[pair];
      confidence[j] -= scores[pair];
    }
  }
  // NaN among the scores stays NaN
  return votes.map((count, i) => {
    const share = confidence[i] / (3 * (Math.abs(confidence[i]) + 1));
    return count + (shares || Number.isNaN(share) ? share : 0);
  });
}

function logistic(x) {
  const small = Math.exp(-Math.abs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

function sigmoidProbabilities({ slopes, offsets }, scores) {
  const shares = Float64Array.from(scores, (score, k) => logistic(-(score * slopes[k] + offsets[k])));
  if (shares.length === 1) return Float64Array.of(1 - shares[0], shares[0]);
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (total === 0 ? 1 / shares.length : share / total));
}

function temperatureProbabilities({ inverse_temperature: inverse }, scores) {
  const pair = scores.length === 1 ? [-scores[0], scores[0]] : scores;
  const logits = Float64Array.from(pair, (score) => score * inverse);
  const largest = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - largest));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

const probabilitiesBy = { sigmoid: sigmoidProbabilities, temperature: temperatureProbabilities };

const isObject = (value) => typeof value === "object" && value !== null;
const isList = (value) =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && typeof value.length === "number");

// Of errors: what was given, and a few of names that may be thousands.
function inWords(value) {
  if (isList(value)) return `an array of ${value.length}`;
  if (isObject(value)) return "an object";
  if (typeof value === "function") return "a function";
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}
function namesInWords(names) {
  const few = names.slice(0, 5).map((name) => JSON.stringify(name)).join(", ");
  return few + (names.length > 5 ? ` and ${names.length - 5} more` : "");
}

// Takes a row, an array or an object that names its columns, and returns its numbers in order.
function rowReader({ nFeatures, featureNames: names, columns }) {
  const [width, cells] = columns ? [columns.length, "cells"] : [nFeatures, "numbers"];
  const named = names ? `, or an object with ${namesInWords(names)}` : "";
  const expected = `an array of ${width} ${cells}${named}`;
  const known = new Set(names);

  function byName(row) {
    if (!names) throw new TypeError(`a row must be ${expected}: the model knows no names; got an object`);
    const missing = names.filter((name) => !Object.hasOwn(row, name));
    const unknown = Object.keys(row).filter((name) => !known.has(name));
    const besides = unknown.length > 0 ? `${namesInWords(unknown)}, which the model does not know` : "";
    if (missing.length > 0) {
      throw new RangeError(`a row has no column ${namesInWords(missing)}${besides && `, but ${besides}`}`);
    }
    // as in Python: a table may have more columns, an array with names of features may not
    if (besides && !columns) throw new RangeError(`a row has the columns ${besides}`);
    return names.map((name) => row[name]);
  }

  return (given) => {
    if (!isObject(given)) {
      throw new TypeError(`expected a row (${expected}) or an array of rows, got ${inWords(given)}`);
    }
    const row = isList(given) ? given : byName(given);
    if (row.length !== width) {
      throw new RangeError(`a row must be ${expected}, got ${row.length}; several rows are an array of rows`);
    }
    return columns ? encodedRow(columns, row) : row;
  };
}

function makeMachine(given) {
  const model = given.vectorBits ? unpacked(given) : given;
  const { nFeatures, nVectors, nOutputs, classes, calibration } = model;
  const Numbers = model.dtype === "float32" ? Float32Array : Float64Array;
  const vectors = Numbers.from(model.vectors);
  const coefficients = Numbers.from(model.coefficients);
  const intercepts = Numbers.from(model.intercepts);
  // the features that the kernel uses, by their places in a row
  const features = model.features ?? Array.from({ length: nFeatures }, (_, f) => f);
  const nUsed = features.length;
  const origin = Float64Array.from(model.origin ?? new Array(nUsed).fill(0));
  const scales = model.scales ?? new Float64Array(nUsed).fill(1);
  const kernel = kernelOf(model.kernel);
  const point = new Float64Array(nUsed);
  const matrix = model.matrix && Numbers.from(model.matrix);
  // what the kernel takes: combinations of the features where there is a matrix of them
  const combined = matrix ? new Float64Array(matrix.length / nUsed) : point;
  const { scaling } = model;
  const scaled = scaling ? (x, f) => (x - scaling.shift[f]) / scaling.scale[f] : (x) => x;
  const numbersOf = rowReader(model);

  // One answer for a row, or one for each of an array of rows; `gathered` makes one of the latter.
  function answers(given, visit, gathered = (list) => list) {
    if (!Array.isArray(given)) return visit(given);
    const nRows = given.filter(isObject).length; // cells are no objects, rows are
    if (nRows === 0 && given.length > 0) return visit(given);
    if (nRows < given.length) {
      const other = given.find((row) => !isObject(row));
      throw new TypeError(`rows must all be arrays or objects, got ${inWords(other)} among them`);
    }
    return gathered(given.map((row) => visit(row)));
  }

  function outputs(given) {
    const row = numbersOf(given);
    let nothing = 0; // NaN where any feature is, in use or not
    for (let f = 0; f < nFeatures; f++) {
      if (typeof row[f] !== "number") {
        throw new TypeError(`a row must hold numbers, got ${inWords(row[f])} in column ${f}`);
      }
      if (Number.isNaN(row[f])) nothing = NaN;
    }
    for (let i = 0; i < nUsed; i++) {
      point[i] = (scaled(row[features[i]], features[i]) - origin[i] + nothing) * scales[i];
    }
    if (matrix) {
      for (let i = 0; i < combined.length; i++) combined[i] = innerProduct(point, matrix, i * nUsed);
    }
    const values = Float64Array.from(intercepts);
    for (let j = 0; j < nVectors; j++) {
      const k = kernel(combined, vectors, j * combined.length);
      for (let o = 0; o < nOutputs; o++) values[o] += coefficients[j * nOutputs + o] * k;
    }
    return values;
  }

  function scores(row) {
    const values = outputs(row);
    const asVotes = model.reading === "pairs" && model.votes;
    return asVotes ? votesOf(values, classes.length, true) : values;
  }

  function codeOf(row) {
    if (calibration && !model.labelsByScores) {
      return indexOfLargest(probabilitiesBy[calibration.kind](calibration, scores(row)));
    }
    const values = outputs(row);
    if (model.reading === "pairs") {
      const shares = model.breakTies && model.votes;
      return indexOfLargest(votesOf(values, classes.length, shares));
    }
    if (nOutputs > 1) return indexOfLargest(values);
    return Number.isNaN(values[0]) ? -1 : Number(values[0] > 0);
  }

  // a number where a model has one, otherwise an array; of rows one array of such numbers
  const valuesOf = (values) => (nOutputs === 1 ? values[0] : values);
  const gatheredValues = nOutputs === 1 ? (list) => Float64Array.from(list) : undefined;
  const side = (value) => (Number.isNaN(value) ? null : value >= 0 ? 1 : -1);

  function decisionFunction(given) {
    return answers(given, (row) => valuesOf(scores(row)), gatheredValues);
  }

  function predict(given) {
    if (model.reading === "values") return answers(given, (row) => valuesOf(outputs(row)), gatheredValues);
    if (model.reading === "outliers") return answers(given, (row) => side(outputs(row)[0]));
    return answers(given, (row) => classes[codeOf(row)] ?? null);
  }

  function predictProba(given) {
    if (!calibration) throw new Error("the model has no calibration, so no probabilities");
    return answers(given, (row) => probabilitiesBy[calibration.kind](calibration, scores(row)));
  }

  const { kernelet, dtype, vectorBits, nBytes, reading, featureNames } = model;
  const shape = { nFeatures, nVectors, nOutputs };
  const rowsOfMatrix = () => Array.from(combined, (_, i) =>
    Array.from(matrix.subarray(i * nUsed, (i + 1) * nUsed)));
  // name and parameters, without formulas
  const inner = JSON.parse(
    JSON.stringify(model.kernel, (key, value) => (key === "formula" ? undefined : value)));
  const described = matrix
    ? { name: "projected_features", kernel: inner, matrix: rowsOfMatrix() }
    : model.scales ? { name: "scaled_features", kernel: inner, scales: Array.from(scales) } : inner;
  const usedFeatures = model.features ?? null; // those that the kernel takes; null is all
  const numbers = { dtype, vectorBits, nBytes };
  const metadata = { kernelet, kernel: described, usedFeatures, ...shape, ...numbers, reading, featureNames };
  return { decisionFunction, predict, predictProba, classes, metadata };
}
