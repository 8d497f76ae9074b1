/**
 * The outputter `table`: lists of maps, of lists of texts, or of texts, as tables below their keys. Difference: cells
 * with more lines than their neighbours, and rows with more cells, are shown completely; Salt cuts them to the
 * shortest. Source: Salt's table outputter.
 * @module
 */

import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { type Colours, colours, sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import { mapOf } from "#lib/values/dict.ts";
import { compare, isMap, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The layout of tables: Salt's options `out.table.*`. */
export interface TableLayout {
  /** Whether the first row names the columns. */
  readonly hasHeader: boolean;
  /** The character for lines between rows. */
  readonly rowDelimiter: string;
  readonly delim: string;
  readonly justify: "center" | "left" | "right";
  /** Whether there is a line between rows. */
  readonly separateRows: boolean;
  readonly prefix: string;
  readonly suffix: string;
  /** Characters after which a cell continues in the next line. */
  readonly width: number;
  /** Columns to the left of everything. */
  readonly indent: number;
  /** Shows the rows under this key alone. */
  readonly rowsKey: string;
  /** Takes the names of the columns from this key beside it. */
  readonly labelsKey: string;
  /** The text above the rows of `rowsKey`. */
  readonly title: string;
}

/** Salt's defaults. */
export const TABLE_LAYOUT: TableLayout = {
  hasHeader: true,
  rowDelimiter: "-",
  delim: " | ",
  justify: "center",
  separateRows: true,
  prefix: "| ",
  suffix: " |",
  width: 50,
  indent: 0,
  rowsKey: "",
  labelsKey: "",
  title: "",
};

/** Options of {@linkcode formatTable}. */
export interface TableOptions {
  /** Whether to print in Salt's colours. */
  readonly color: boolean;
  /** Default: Salt's. */
  readonly table?: TableLayout;
}

/**
 * Formats `data` without a final newline.
 * @returns `undefined` for rows that do not form a table.
 */
export function formatTable(data: Value, { color, table = TABLE_LAYOUT }: TableOptions): string | undefined {
  const lines = new Tables(colours(color), table).lines(decodeTexts(data));
  return lines?.join("\n");
}

/** A row's cells, as text. */
type Row = readonly string[];

class Tables {
  readonly #color: Colours;
  readonly #layout: TableLayout;

  constructor(color: Colours, layout: TableLayout) {
    this.#color = color;
    this.#layout = layout;
  }

  lines(data: Value): string[] | undefined {
    const { title, rowsKey, indent } = this.#layout;
    const out: string[] = [];
    // As in Salt, the title is in the place of a line's colour.
    if (title !== "" && rowsKey !== "") out.push(this.#line(indent, title, this.#color.WHITE) + "\n");
    return this.#show(data, indent, out) ? out : undefined;
  }

  #line(indent: number, colour: string, text: string): string {
    return `${" ".repeat(indent)}${colour}${text}${this.#color.ENDC}`;
  }

  /**
   * Adds the tables in `data` to `out`.
   * @returns Whether all could be shown.
   */
  #show(data: Value, indent: number, out: string[]): boolean {
    const { rowsKey, labelsKey } = this.#layout;
    if (Array.isArray(data)) return rowsKey !== "" || this.#rows(data, undefined, indent, out);
    if (!isMap(data)) return true;
    const keys = sortedKeys(data);
    if (keys === undefined) return false;
    const here = rowsKey === "" || data.has(rowsKey);
    for (const key of keys) {
      if (here && rowsKey !== "" && key !== rowsKey) continue;
      const item = data.get(key) ?? null;
      if (rowsKey === "") {
        out.push(this.#line(indent, this.#color.DARK_GRAY, sanitizeLine(str(key))) + ":");
        out.push(this.#line(indent, this.#color.DARK_GRAY, "----------"));
      }
      const rows = here && Array.isArray(item)
        ? this.#rows(item, labelsKey === "" ? undefined : data.get(labelsKey), indent, out)
        : this.#show(item, here ? indent + 4 : indent, out);
      if (!rows) return false;
    }
    return true;
  }

  #rows(rows: readonly Value[], labels: Value | undefined, indent: number, out: string[]): boolean {
    const kind = rows.length === 0 ? undefined : typeName(rows[0]);
    if (kind === undefined || rows.some((row) => typeName(row) !== kind)) return true;
    const cells = rows.map(cellsOf);
    const header = labelsOf(labels) ?? (isMap(rows[0]) ? headerOf(rows[0]) : undefined);
    if (header === "none" || !cells.every((row) => row !== undefined && row.length > 0)) return false;
    const read: Row[] = cells.flatMap((row) => row === undefined ? [] : [row]);
    this.#table(header === undefined ? read : [header, ...read], {
      indent: indent + 4,
      hasHeader: this.#layout.hasHeader && header !== undefined,
      out,
    });
    return true;
  }

  #table(rows: readonly Row[], { indent, hasHeader, out }: {
    readonly indent: number;
    readonly hasHeader: boolean;
    readonly out: string[];
  }): void {
    const { prefix, suffix, delim, rowDelimiter, separateRows, justify } = this.#layout;
    const wrapped = rows.map((row) => row.map((cell) => this.#wrap(sanitize(cell))));
    const columns = Math.max(...wrapped.map((row) => row.length));
    const widths = Array.from(
      { length: columns },
      (_, i) => wrapped.reduce((max, row) => Math.max(max, ...(row[i] ?? []).map(length)), 0),
    );
    const between = length(delim) * (columns - 1);
    const width = length(prefix) + length(suffix) + widths.reduce((sum, n) => sum + n, 0) + between;
    const separator = this.#line(indent, this.#color.LIGHT_GRAY, rowDelimiter.repeat(width));
    if (separateRows) out.push(separator);
    wrapped.forEach((row, r) => {
      const height = Math.max(...row.map((cell) => cell.length));
      for (let i = 0; i < height; i++) {
        const cells = widths.map((width, column) => justifyText(row[column]?.[i] ?? "", width, justify));
        out.push(this.#line(indent, this.#color.WHITE, prefix + cells.join(delim) + suffix));
      }
      if (separateRows || (hasHeader && r === 0)) out.push(separator);
    });
  }

  /** The lines of a cell: it continues in the next line at the first blank after `width` characters. */
  #wrap(text: string): string[] {
    const [first, ...words] = text.split(" ");
    let wrapped = first;
    let column = length(first.slice(first.lastIndexOf("\n") + 1));
    for (const word of words) {
      const full = column + length(word.split("\n", 1)[0]) >= this.#layout.width;
      wrapped += (full ? "\n" : " ") + word;
      const last = word.lastIndexOf("\n");
      column = last >= 0 ? length(word.slice(last + 1)) : (full ? 0 : column + 1) + length(word);
    }
    return wrapped.split("\n");
  }
}

/** The cells of a row; `undefined` if it cannot be a row of a table. */
function cellsOf(row: Value): Row | undefined {
  if (typeof row === "string") return [row];
  if (Array.isArray(row)) {
    const texts = row.filter((cell) => typeof cell === "string");
    return texts.length === row.length ? texts : undefined;
  }
  if (!isMap(row)) return undefined;
  return sortedKeys(row)?.map((key) => str(row.get(key) ?? null));
}

/** The names of the columns that were given, the characters of a text; `none` if these cannot be names. */
function labelsOf(given: Value | undefined): Row | "none" | undefined {
  const labels = isMap(given) ? sortedKeys(given)?.map((key) => given.get(key) ?? null) ?? true : given;
  if (!truthy(labels)) return undefined;
  if (typeof labels === "string") return [...labels];
  return (Array.isArray(labels) ? cellsOf(labels) : undefined) ?? "none";
}

/** The names of the columns that the keys of a map make: `last_move` is `Last Move`. */
function headerOf(row: ValueMap): Row | undefined {
  return sortedKeys(row)?.map((key) => titleCase(str(key).replaceAll("_", " ")));
}

/** Python's `str.title()`: letters after a non-letter become capitals, all others lower case. */
function titleCase(text: string): string {
  return text.replace(/\p{L}+/gu, (word) => {
    const [first, ...rest] = word;
    return first.toUpperCase() + rest.join("").toLowerCase();
  });
}

function sortedKeys(map: ValueMap): Value[] | undefined {
  const keys = [...map.keys()];
  const kinds = new Set(keys.map((key) => typeName(key)));
  return kinds.size > 1 ? undefined : keys.sort(compare);
}

function length(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function justifyText(text: string, width: number, side: TableLayout["justify"]): string {
  const missing = Math.max(0, width - length(text));
  // As Python's str.center(): of an odd number of blanks the larger half is in front if the width is odd.
  const before = side === "left" ? 0 : side === "right" ? missing : Math.floor(missing / 2) + (missing & width & 1);
  return " ".repeat(before) + text + " ".repeat(missing - before);
}

/** `value` with bytes decoded, if they are valid UTF-8. */
function decodeTexts(value: Value): Value {
  if (value instanceof Uint8Array) return strictUtf8(value) ?? value;
  if (Array.isArray(value)) return value.map(decodeTexts);
  return isMap(value) ? mapOf([...value].map(([key, item]) => [decodeTexts(key), decodeTexts(item)])) : value;
}
