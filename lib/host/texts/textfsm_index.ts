/**
 * The index of a directory of TextFSM templates: which template is for which command of which platform, and the table
 * of a text that several templates read.
 * Source: textfsm 2.1.0, `clitable.py`, `texttable.py`.
 * @module
 */

import { CommandError, RegexError } from "#lib/errors.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { map, repr, str, type Value } from "#lib/values/value.ts";
import { parseWithTemplate } from "./textfsm.ts";
import type { DeviceTemplate } from "./textfsm_template.ts";

/** No template is for the text. */
export class NoTemplateError extends CommandError {}

/**
 * The names of the templates for a text.
 * @param attributes Columns with what they must match: `Command`, `Platform`.
 * @throws {NoTemplateError}
 */
export function templatesFor(index: string, attributes: Readonly<Record<string, string>>): string[] {
  const lines = index.split(/\r\n|\r|\n/);
  const at = lines.findIndex((line) => line.split("#")[0].trim() !== "");
  const columns = (lines[at] ?? "").split("#")[0].split(",").map((entry) => entry.trim());
  const double = columns.find((column, i) => columns.indexOf(column) !== i);
  if (double !== undefined) throw new CommandError(`Duplicate header entry ${repr(double)}.`);
  const place = columns.indexOf("Template");
  if (place < 0) throw new CommandError("Index file does not have 'Template' column.");
  const rows = lines.slice(at + 1)
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.split(",").map((entry) => entry.trim()))
    .filter((row) => row.length === columns.length);
  const found = rows.find((row) =>
    columns.every((column, i) => {
      if (column === "Template" || row[i] === "" || !Object.hasOwn(attributes, column)) return true;
      return matches(column === "Command" ? completed(row[i]) : row[i], attributes[column]);
    })
  );
  if (found === undefined) {
    throw new NoTemplateError(`No template found for attributes: "${str(map({ ...attributes }))}"`);
  }
  return found[place].split(":");
}

function matches(pattern: string, text: string): boolean {
  try {
    return pythonRegex(pattern).test(text);
  } catch (error) {
    throw error instanceof RegexError ? new CommandError(error.problem) : error;
  }
}

/** A command with optional ends: `sh[[ow]]` is `sh(o(w)?)?`. */
function completed(command: string): string {
  return command.replace(
    /\[\[(.+?)\]\]/g,
    (_, word: string) => `(${[...word].join("(")}${")?".repeat([...word].length)}`,
  );
}

/** A table: rows with values by the names of the columns. */
export interface TextTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** The table of a text: the columns of the first template, and beside them those that only others have. */
export function tableOf(templates: readonly DeviceTemplate[], text: string): TextTable {
  const [first, ...others] = templates;
  const keys = first.values.filter(({ options }) => options.includes("Key")).map(({ name }) => name);
  return others.reduce((table, other) => extended(table, readTable(other, text), keys), readTable(first, text));
}

function readTable(template: DeviceTemplate, text: string): TextTable {
  return {
    header: template.values.map(({ name }) => name),
    rows: parseWithTemplate(template, text).map((record) =>
      record.map((value) => Array.isArray(value) ? value.map(str) : str(value))
    ),
  };
}

/** The table with more columns: of the row with the same keys, or without keys of the row at the same place. */
function extended(table: TextTable, other: TextTable, keys: readonly string[]): TextTable {
  const missing = keys.find((key) => !table.header.includes(key) || !other.header.includes(key));
  if (missing !== undefined) throw new CommandError(`Unknown key: '${missing}'`);
  const more = other.header.filter((column) => !table.header.includes(column));
  const cell = ({ header }: TextTable, row: readonly Value[], column: string) => row[header.indexOf(column)];
  const rows = table.rows.map((row, i) => {
    const beside = keys.length === 0
      ? other.rows[i]
      : other.rows.find((one) => keys.every((key) => str(cell(other, one, key)) === str(cell(table, row, key))));
    return [...row, ...more.map((column) => beside === undefined ? "" : cell(other, beside, column))];
  });
  return { header: [...table.header, ...more], rows };
}
