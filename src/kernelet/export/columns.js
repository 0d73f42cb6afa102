// Rows of a table: cells that are scaled and made indicators as in training. null, NaN, undefined
// and "" are missing values.

function isMissing(cell) {
  return cell === null || cell === undefined || cell === "" || Number.isNaN(cell);
}

// Texts that are numbers in Python too: Number takes "0x1f" as well, and " " as 0.
const DECIMAL = /^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/;

function numberOf({ name, fill }, cell) {
  if (isMissing(cell)) return fill;
  const value = typeof cell === "string" && DECIMAL.test(cell) ? Number(cell) : cell;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new TypeError(`column ${JSON.stringify(name)} must hold finite numbers, got ${String(cell)}`);
  }
  return value;
}

// Truth values are spelled as Python spells them.
function textOf(cell) {
  if (typeof cell === "boolean") return cell ? "True" : "False";
  return String(cell);
}

// A category that was not there in training, or a missing one where none was, is none of the known.
function indicators({ categories, hasMissing }, cell) {
  const width = categories.length + Number(hasMissing);
  const place = isMissing(cell) ? categories.length : categories.indexOf(textOf(cell));
  return Array.from({ length: width }, (_, i) => Number(i === place));
}

// The cells of a row, in the order of the columns.
function encodedRow(columns, cells) {
  return columns.flatMap((column, place) => {
    const cell = cells[place];
    if (column.kind === "category") return indicators(column, cell);
    return [(numberOf(column, cell) - column.shift) / column.scale];
  });
}
