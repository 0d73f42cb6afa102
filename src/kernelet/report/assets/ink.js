// From the strokes of a pen to a row of the digits' data: 32 by 32 pixels, on or off, of which four
// by four are counted together. As in those data, the writing fills a box of 20 by 32 pixels, its
// thickness is such that the amount of ink hardly differs from one digit to another, and slanted
// writing is set upright: in 82 % of scikit-learn's digits, the ink of the first and of the last row
// of counts begins in the same column.

const PIXELS = 8; // counts in a row and in a column
const BLOCK = 4;
const BITMAP = PIXELS * BLOCK;
const BOX = [20, 32];
// Mean number of pixels with ink in scikit-learn's digits: from 303 for the sevens to 330 for the eights.
const INK = 312;
const THICKNESS = [2, 12]; // of strokes: a dot does not become a disc
const MOST_STRETCH = 1.6; // of the width against the height: a one stays narrow

// Strokes moved and scaled such that they fill the box, pen included.
function fittedStrokes(strokes, thickness) {
  const points = strokes.flat();
  const ends = [0, 1].map((axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const scales = ends.map(([low, high], axis) => (BOX[axis] - thickness) / Math.max(high - low, 1e-9));
  const least = Math.min(...scales);
  const centres = ends.map(([low, high]) => (low + high) / 2);
  return strokes.map((stroke) => stroke.map((point) => point.map((value, axis) =>
    BITMAP / 2 + (value - centres[axis]) * Math.min(scales[axis], MOST_STRETCH * least))));
}

// Puts ink on each pixel whose centre is under the pen on its way from one point to another.
function drawSegment(bitmap, [ax, ay], [bx, by], radius) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const reach = (a, b) => [
    Math.max(0, Math.floor(Math.min(a, b) - radius)),
    Math.min(BITMAP - 1, Math.ceil(Math.max(a, b) + radius)),
  ];
  const [[left, right], [top, bottom]] = [reach(ax, bx), reach(ay, by)];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const [x, y] = [column + 0.5 - ax, row + 0.5 - ay];
      const share = length > 0 ? Math.max(0, Math.min(1, (x * dx + y * dy) / length)) : 0;
      if ((x - share * dx) ** 2 + (y - share * dy) ** 2 <= radius ** 2) bitmap[row * BITMAP + column] = 1;
    }
  }
}

function bitmapOf(strokes, thickness) {
  const bitmap = new Uint8Array(BITMAP * BITMAP);
  for (const stroke of fittedStrokes(strokes, thickness)) {
    stroke.forEach((point, i) => drawSegment(bitmap, stroke[Math.max(0, i - 1)], point, thickness / 2));
  }
  return bitmap;
}

// The bitmap of the strokes that has the usual amount of ink.
function inkedBitmap(strokes) {
  let [thin, thick] = THICKNESS;
  for (let halving = 0; halving < 6; halving++) {
    const middle = (thin + thick) / 2;
    const ink = bitmapOf(strokes, middle).reduce((sum, value) => sum + value, 0);
    if (ink < INK) thin = middle;
    else thick = middle;
  }
  return bitmapOf(strokes, (thin + thick) / 2);
}

// The bitmap with its rows moved such that the ink of the first and the last begins in the same
// column, and that the whole is in the middle.
function uprightBitmap(bitmap) {
  const inked = Array.from({ length: BITMAP }, (_, y) => {
    const line = bitmap.subarray(y * BITMAP, (y + 1) * BITMAP);
    return { y, first: line.indexOf(1), last: line.lastIndexOf(1) };
  }).filter(({ first }) => first >= 0);
  const [top, bottom] = [inked[0], inked[inked.length - 1]];
  const slope = (bottom.first - top.first) / Math.max(1, bottom.y - top.y);
  const shiftOf = (y) => slope * (top.y - y);
  const left = Math.min(...inked.map(({ y, first }) => first + shiftOf(y)));
  const right = Math.max(...inked.map(({ y, last }) => last + shiftOf(y)));
  const centring = (BITMAP - 1) / 2 - (left + right) / 2;
  const upright = new Uint8Array(BITMAP * BITMAP);
  bitmap.forEach((value, place) => {
    const y = Math.floor(place / BITMAP);
    const x = Math.round((place % BITMAP) + shiftOf(y) + centring);
    if (value && x >= 0 && x < BITMAP) upright[y * BITMAP + x] = 1;
  });
  return upright;
}

// A row of the data, from 0 for a block without ink to 1 for one that is full of it.
function rowOfStrokes(strokes) {
  const row = new Float64Array(PIXELS * PIXELS);
  if (strokes.length === 0) return row;
  uprightBitmap(inkedBitmap(strokes)).forEach((value, place) => {
    const [x, y] = [place % BITMAP, Math.floor(place / BITMAP)];
    row[Math.floor(y / BLOCK) * PIXELS + Math.floor(x / BLOCK)] += value / BLOCK ** 2;
  });
  return row;
}
