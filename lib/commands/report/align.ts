/**
 * Columns of text on a terminal.
 * @module
 */

/** Spaces between columns. */
const GAP = "  ";

/** How cells of a column are aligned. */
export type Side = "left" | "right";

/**
 * Lines with the cells of `rows` under each other; the last column is not padded.
 * @param sides The alignment of each column. Default: left.
 */
export function alignColumns(rows: readonly (readonly string[])[], sides: readonly Side[] = []): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from(
    { length: count },
    (_, column) => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row.map((cell, column) => {
      if (sides[column] === "right") return cell.padStart(widths[column]);
      return column === row.length - 1 ? cell : cell.padEnd(widths[column]);
    }).join(GAP).trimEnd()
  );
}
