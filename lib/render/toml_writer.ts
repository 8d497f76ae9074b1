/**
 * Writes TOML as Python's `toml` does, which Salt's serializer uses: the values of a table first, then its lists of
 * tables, then its tables, level after level. A null is left out.
 *
 * Differs from it: a backslash before an x is kept as one (`toml` writes invalid TOML).
 * Source: the package toml 0.10.2 (behaviour, tests/corpus/serializers.json).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { Float, isInt, isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Maximum nesting of tables: deeper ones probably contain themselves. */
const MAX_DEPTH = 200;

/** A table's own lines, and the tables in it by their quoted names. */
interface Written {
  readonly text: string;
  readonly tables: ReadonlyMap<string, ValueMap>;
}

/**
 * The text of a table.
 * @throws {CommandError} If a list holds tables and other values, or tables are nested too deep.
 */
export function writeToml(table: ValueMap): string {
  const first = writeTable(table, "");
  let text = first.text, tables = first.tables;
  for (let depth = 0; tables.size > 0; depth++) {
    if (depth > MAX_DEPTH) throw new CommandError(`TOML tables are nested deeper than ${MAX_DEPTH} levels`);
    const below = new Map<string, ValueMap>();
    for (const [path, table] of tables) {
      const one = writeTable(table, path);
      if (one.text !== "" || one.tables.size === 0) {
        if (text !== "" && !text.endsWith("\n\n")) text += "\n";
        text += `[${path}]\n${one.text}`;
      }
      for (const [name, inner] of one.tables) below.set(`${path}.${name}`, inner);
    }
    tables = below;
  }
  return text;
}

function writeTable(table: ValueMap, path: string, depth = 0): Written {
  if (depth > MAX_DEPTH) throw new CommandError(`TOML tables are nested deeper than ${MAX_DEPTH} levels`);
  let values = "", lists = "";
  const tables = new Map<string, ValueMap>();
  for (const [key, value] of table) {
    const name = quotedName(str(key));
    if (isMap(value)) tables.set(name, value);
    else if (Array.isArray(value) && value.some(isMap)) {
      const full = path === "" ? name : `${path}.${name}`;
      for (const item of value) lists += tableOfList(item, full, depth);
    } else if (value !== null) values += `${name} = ${valueText(value)}\n`;
  }
  return { text: values + lists, tables };
}

/**
 * One table of a list, with what is in it. An empty line is behind its values, or behind its name if it begins with a
 * list.
 */
function tableOfList(item: Value, path: string, depth: number): string {
  if (!isMap(item)) {
    throw new CommandError(`The list ${path} holds tables and ${repr(item)}, which TOML cannot express`);
  }
  const { text, tables } = writeTable(item, path, depth + 1);
  let all = text.startsWith("[") ? `[[${path}]]\n\n${text}` : `[[${path}]]\n${text}\n`;
  let open = new Map([...tables].map(([name, table]) => [`${path}.${name}`, table]));
  while (open.size > 0) {
    const below = new Map<string, ValueMap>();
    for (const [name, table] of open) {
      const one = writeTable(table, name, depth + 1);
      if (one.text !== "") all += `[${name}]\n${one.text}`;
      for (const [inner, value] of one.tables) below.set(`${name}.${inner}`, value);
    }
    // written() refuses too many levels.
    depth++;
    open = below;
  }
  return all;
}

function valueText(value: Value): string {
  if (Array.isArray(value)) return `[${value.map((item) => ` ${valueText(item)},`).join("")}]`;
  if (typeof value === "boolean") return String(value);
  if (isInt(value)) return str(value);
  if (typeof value === "number" || value instanceof Float) return str(value).replace(/e([+-])0/, "e$1");
  return quoteKey(typeof value === "string" ? value : str(value));
}

function quotedName(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : quoteKey(name);
}

/** Escapes as Python's `repr` does, in TOML's form. */
function quoteKey(text: string): string {
  const python = repr(text);
  const inner = python.slice(1, -1);
  const plain = python.startsWith("'") ? inner.replaceAll("\\'", "'").replaceAll('"', '\\"') : inner;
  return `"${plain.replace(/\\(\\|x)/g, (_, what: string) => what === "x" ? "\\u00" : "\\\\")}"`;
}
