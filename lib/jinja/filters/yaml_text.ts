/**
 * Salt's filters `yaml_dquote`, `yaml_squote` and `yaml_encode`: one value as a scalar of YAML.
 * Source: Salt 3008.3, `salt/utils/yamlencoding.py`; PyYAML 6's own emitter, which escapes what is not ASCII.
 * @module
 */

import { pythonError } from "#lib/python/errors.ts";
import { native } from "#lib/python/native.ts";
import type { Obj, Run } from "#lib/python/object.ts";
import { toPlain } from "#lib/python/plain.ts";
import { strOf } from "#lib/python/repr.ts";
import { isMap } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { ESCAPES as YAML_ESCAPES, numericEscape } from "#lib/yaml/writer.ts";
import { classText, refuseUndefined } from "./arguments.ts";

/** PyYAML's emitter escapes one more character than libyaml's. */
const ESCAPES: Readonly<Record<string, string>> = { ...YAML_ESCAPES, "\xa0": "_" };

function doubleQuoted(text: string): string {
  const escaped = text.replace(
    /[^\x20-\x7e]|["\\]/gu,
    (char) => Object.hasOwn(ESCAPES, char) ? `\\${ESCAPES[char]}` : numericEscape(char),
  );
  return `"${escaped}"`;
}

/** A line end in single quotes is read as a blank, and two of them as one. */
function singleQuoted(text: string): string {
  const lines = text.replace(/[\n\x85\u2028\u2029]+/g, (ends) => ends.startsWith("\n") ? `\n${ends}` : ends);
  return `'${lines.replaceAll("'", "''")}'`;
}

function encodeYaml(data: Obj): string {
  refuseUndefined(data);
  const value = toPlain(data);
  if (Array.isArray(value) || isMap(value)) {
    throw pythonError("TypeError", `yaml_encode() only works with YAML scalar data; failed for ${classText(data)}`);
  }
  if (typeof value === "string") return doubleQuoted(value);
  if (value instanceof Uint8Array) return value.toBase64().replace(/.{1,76}/g, "$&\n");
  // In a list, since a scalar alone is the only one that may get quotes or a mark of the document's end.
  return dumpYaml([value]).slice("- ".length, -1);
}

function needStr(obj: Obj): string {
  refuseUndefined(obj);
  return strOf(obj);
}

/** The filters by name. */
export const YAML_TEXT_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["yaml_dquote", native("yaml_dquote", ["text"], ([text]) => doubleQuoted(needStr(text)))],
  ["yaml_squote", native("yaml_squote", ["text"], ([text]) => singleQuoted(needStr(text)))],
  ["yaml_encode", native("yaml_encode", ["data"], ([data]) => encodeYaml(data))],
]);
