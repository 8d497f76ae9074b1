/**
 * An event as text, as `state.event` prints it: the tag, a tab, and the data as JSON.
 * Source: Salt 3008.3 `event` and `_json_safe` of `salt/modules/state.py`.
 * @module
 */

import type { BusEvent } from "./event.ts";
import { sanitizeJson, sanitizeLine } from "#lib/text/terminal.ts";
import { dumpJson } from "#lib/values/json.ts";
import { compareStrings, isMap, str, type Value } from "#lib/values/value.ts";

/**
 * Control characters are escaped: tags and data come from minions.
 * @param how.pretty Several lines, keys sorted.
 */
export function formatEvent({ tag, data }: BusEvent, how: { readonly pretty: boolean }): string {
  const json = how.pretty
    ? dumpJson(asJson(data, true), { indent: 4, ensureAscii: false })
    : dumpJson(asJson(data, false), { ensureAscii: false });
  return `${sanitizeLine(tag)}\t${sanitizeJson(json)}`;
}

/** `value` with bytes as text: as UTF-8 where they are that, else in base64. */
function asJson(value: Value, sorted: boolean): Value {
  if (value instanceof Uint8Array) return textOf(value);
  if (Array.isArray(value)) return value.map((item) => asJson(item, sorted));
  if (!isMap(value)) return value;
  const entries = [...value].map(([key, item]): [Value, Value] => [asJson(key, sorted), asJson(item, sorted)]);
  if (sorted) entries.sort(([a], [b]) => compareStrings(str(a), str(b)));
  return new Map(entries);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toBase64();
  }
}
