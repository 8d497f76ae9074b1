/**
 * Attributes of the kernel's objects: small files below `/sys`.
 * Source: sysfs(5); Salt 3008.3 `salt/modules/sysfs.py`.
 * @module
 */

import { exists, isDirectory, isFile } from "#lib/os/file_kind.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";
import { parseFloatText, parseInteger } from "#lib/python/parse_number.ts";
import { strip } from "#lib/values/python_text.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The directory of sysfs. */
const SYSFS = "/sys";

/**
 * The path of an attribute or of an object, without links.
 * @param key Below `root`.
 * @returns `undefined` if there is none.
 */
export function sysfsPath(key: string, root = SYSFS): string | undefined {
  const path = realPath(key.startsWith(root) ? key : joinPath(root, key));
  return exists(path) ? path : undefined;
}

/** The attributes below an object, by the owner's permissions, as relative paths. */
export interface Attributes {
  readonly r: readonly string[];
  readonly w: readonly string[];
  readonly rw: readonly string[];
}

/** The attributes below the directory `path`, in the order of their names. Links to directories are not followed. */
export function attributesBelow(path: string): Attributes {
  const attributes = { r: [] as string[], w: [] as string[], rw: [] as string[] };
  const walk = (directory: string, prefix: string): void => {
    const entries = [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name } of entries.filter(({ isDirectory }) => !isDirectory)) {
      const full = `${directory}/${name}`;
      if (!isFile(full)) continue;
      const mode = Deno.statSync(full).mode ?? 0;
      const may = `${mode & 0o400 ? "r" : ""}${mode & 0o200 ? "w" : ""}`;
      if (may !== "") attributes[may as keyof Attributes].push(prefix + name);
    }
    for (const { name, isDirectory } of entries) if (isDirectory) walk(`${directory}/${name}`, `${prefix}${name}/`);
  };
  walk(path, "");
  return attributes;
}

/**
 * The value of an attribute, a number if it is one; of an object, a map of its attributes and of those below. `false`:
 * there is nothing to read.
 */
export function readSysfs(path: string): Value {
  if (!isDirectory(path)) return attributeValue(path);
  const { r, rw } = attributesBelow(path);
  const result: ValueMap = new Map();
  for (const name of [...r, ...rw]) {
    const real = sysfsPath(`${path}/${name}`, path);
    const value = real === undefined ? false : readSysfs(real);
    if (value !== false) put(result, name.split("/"), value);
  }
  return result;
}

function put(into: ValueMap, parts: readonly string[], value: Value): void {
  let at = into;
  for (const part of parts.slice(0, -1)) {
    const next = at.get(part);
    const below = mapOrEmpty(next);
    at.set(part, below);
    at = below;
  }
  at.set(parts[parts.length - 1], value);
}

function attributeValue(path: string): Value {
  // A pipe would block.
  if (!isFile(path)) return false;
  let text: string;
  try {
    text = strip(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Deno.readFileSync(path)));
  } catch (error) {
    // Unreadable attributes, and those that are not text, count as empty.
    if (error instanceof Deno.errors.NotCapable || error instanceof RangeError) throw error;
    return false;
  }
  if (text === "") return false;
  return parseInteger(text, 10) ?? parseFloatText(text) ?? text;
}

/**
 * Writes a value to an attribute.
 * @returns Whether the kernel accepted it.
 */
export function writeSysfs(path: string, value: string): boolean {
  try {
    Deno.writeTextFileSync(path, `${value}\n`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false;
  }
}
