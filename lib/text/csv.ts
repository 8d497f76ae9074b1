/**
 * Tables as Python's `csv` reads them: fields between delimiters, quoted where they hold one, a quote in a quoted field
 * written twice. Source: docs.python.org, "csv".
 * @module
 */

/** The delimiters of Python's dialects. All quote with `"`. */
const DELIMITERS: Readonly<Record<string, string>> = { excel: ",", "excel-tab": "\t", unix: "," };

/**
 * The rows of a text; an empty line is an empty row.
 * @throws {Error} For a dialect that Python does not have.
 */
export function readCsv(text: string, dialect = "excel"): string[][] {
  if (!Object.hasOwn(DELIMITERS, dialect)) throw new Error("unknown dialect");
  const delimiter = DELIMITERS[dialect];
  const rows: string[][] = [];
  let row: string[] = [], field = "", quoted = false, begun = false, owed = false;
  const endField = () => {
    row.push(field);
    field = "";
    begun = owed = false;
  };
  const endRow = () => {
    if (begun || owed) endField();
    rows.push(row);
    row = [];
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') field += char;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (char === '"' && !begun) {
      quoted = begun = true;
    } else if (char === delimiter) {
      endField();
      owed = true;
    } else if (char === "\n" || char === "\r") {
      if (char === "\r" && text[i + 1] === "\n") i++;
      endRow();
    } else {
      field += char;
      begun = true;
    }
  }
  if (begun || owed || row.length > 0) endRow();
  return rows;
}
