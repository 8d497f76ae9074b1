/**
 * Makes the tables of options as data when executables are built. Each start needs one table; to make its three hundred
 * entries by function calls takes as long as reading the configuration.
 * @module
 */

import { OPTION_TABLES, type Role } from "#lib/config/options.ts";
import type { Option } from "#lib/config/option_types.ts";
import { isMap, type Value } from "#lib/values/value.ts";

/** Path suffixes of the source files that {@linkcode optionTable} replaces. */
export const OPTION_FILES = /\/lib\/config\/(master|minion)_options\.ts$/;

/**
 * The replacement of one of {@linkcode OPTION_FILES}: a module with the same function, which reads its table from JSON.
 * Programs do not show the documentation of options, so it is left out.
 * @throws {TypeError} For a default that has no expression here.
 */
export function optionTable(path: string): string {
  const role: Role = path.endsWith("master_options.ts") ? "master" : "minion";
  const table = Object.entries(OPTION_TABLES[role]);
  const data = Object.fromEntries(table.map(([name, option]) => [name, withoutMaps(option)]));
  const maps = table.filter(([, option]) => !isPlain(option.default))
    .map(([name, option]) => `  table.${name}.default = ${codeOf(option.default)};\n`);
  return `let made;
export function ${role}Options() {
  return made ??= make();
}
function make() {
  const table = JSON.parse(${JSON.stringify(JSON.stringify(data))});
${maps.join("")}  return table;
}
`;
}

function withoutMaps(option: Option): Option {
  return { ...option, default: isPlain(option.default) ? option.default : null, doc: "" };
}

/** Whether JSON can express the value. */
function isPlain(value: Value): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  return value === null || ["boolean", "number", "string"].includes(typeof value);
}

/** The JavaScript expression of the value. */
function codeOf(value: Value): string {
  if (isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(codeOf).join()}]`;
  if (!isMap(value)) throw new TypeError(`no expression for a default like ${value}`);
  return `new Map([${[...value].map(([key, item]) => `[${codeOf(key)},${codeOf(item)}]`).join()}])`;
}
