/**
 * An aligned text table for lists that people read. Knows nothing of colours or of what the cells mean.
 * @module
 */

import { sanitizeLine } from "./terminal.ts";

/**
 * `rows` as lines of aligned columns, two spaces between them, nothing after the last; control characters made visible.
 * @param options.header Titles of the columns, underlined with dashes.
 * @returns Lines joined by newlines, without a final one; the empty string for no rows and no header.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  options: { readonly header?: readonly string[] } = {},
): string {
  const cells = [...(options.header === undefined ? [] : [options.header]), ...rows]
    .map((row) => row.map(sanitizeLine));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, i) => widths[i] = Math.max(widths[i] ?? 0, width(cell)));
  if (options.header !== undefined) cells.splice(1, 0, widths.map((w) => "-".repeat(w)));
  return cells.map((row) => row.map((cell, i) => cell + " ".repeat(widths[i] - width(cell))).join("  ").trimEnd())
    .join("\n");
}

/** Characters, not UTF-16 units; what a terminal shows double-width is not known here. */
function width(text: string): number {
  return [...text].length;
}
