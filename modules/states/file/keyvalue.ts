/**
 * State module `file`: lines of a key and a value.
 * Source: Salt 3008.3 `salt/states/file.py` keyvalue.
 * @module
 */

import { followForChange } from "#lib/os/held_path.ts";
import { isHostError } from "./common.ts";
import { decodeUtf8, replaceFile } from "#lib/host/filesystem/contents.ts";
import { editKeyValues } from "#lib/host/filesystem/key_value_editing.ts";
import { expandUser, realPath } from "#lib/os/disk_paths.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

/** The keys and values that a state tells; or what is wrong. */
function pairsOf(key: Value, value: Value, pairs: Value): ReadonlyMap<string, Value> | string {
  if (key !== null && value !== null) {
    if (isMap(pairs)) return "file.keyvalue can not combine key_values with key and value";
    return new Map([[str(key), value]]);
  }
  if (isMap(pairs) && pairs.size > 0) return new Map([...pairs].map(([one, wanted]) => [str(one), wanted]));
  const problem = truthy(pairs) ? "is not a dictionary" : "is empty";
  return `file.keyvalue key and value not supplied and key_values ${problem}`;
}

/** A file's content; `undefined` if the system does not give it. */
function contentOf(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return undefined;
  }
}

export const keyvalue: ModuleFunction<StateContext> = stateFn({
  doc: `Edit lines with a key and a value, such as \`PermitRootLogin no\`.

name
    The path of the file.

key, value
    The key and its value.

key_values
    A map of several.

separator : =
    The text between a key and its value.

append_if_not_found, prepend_if_not_found : False
    Whether a missing key is added at the end or the beginning.

search_only : False
    Accepted without effect, as in Salt.

show_changes : True
    Whether the changes have the lines.

ignore_if_missing : False
    Whether a missing file is no error.

count : 1
    How many lines with the key are kept, from the first one; further ones are deleted. -1: all are kept.

uncomment
    Characters at the start of commented lines, which are uncommented.

key_ignore_case, value_ignore_case : False
    Whether upper and lower case are equal.

create_if_missing : False
    Whether a missing file is made.

prune : False
    Whether lines with other keys are removed.`,
  params: {
    name: p.str(),
    key: p.any(null),
    value: p.any(null),
    key_values: p.any(null),
    separator: p.str("="),
    append_if_not_found: p.bool(false),
    prepend_if_not_found: p.bool(false),
    search_only: p.bool(false),
    show_changes: p.bool(true),
    ignore_if_missing: p.bool(false),
    count: p.int(1),
    uncomment: p.str(null),
    key_ignore_case: p.bool(false),
    value_ignore_case: p.bool(false),
    create_if_missing: p.bool(false),
    prune: p.bool(false),
  },
  run: ({ name: given, key, value, key_values, show_changes, ...more }, { test }) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.keyvalue");
    const values = pairsOf(key, value, key_values);
    if (typeof values === "string") return failState(name, values);
    const now = contentOf(name);
    if (now === undefined && (existsOrThrow(name) || !more.create_if_missing)) {
      return { ...startResult(name, more.ignore_if_missing), comment: `unable to open ${name}` };
    }
    const appends = more.append_if_not_found || now === undefined;
    const edited = editKeyValues(now === undefined ? "" : decodeUtf8(now, name), {
      values,
      separator: more.separator,
      count: more.count,
      uncomment: more.uncomment,
      keyIgnoreCase: more.key_ignore_case,
      valueIgnoreCase: more.value_ignore_case,
      missing: appends ? "at end" : more.prepend_if_not_found ? "at start" : "nowhere",
      prune: more.prune,
    });
    const { diff, changed, deleted } = edited;
    if (changed === 0 && deleted === 0) return startResult(name);
    const changes = show_changes ? map({ diff: diff.join("") }) : new Map();
    if (test) {
      const would = `File ${name} is set to be changed (${changed} lines modified, ${deleted} deleted)`;
      const predicted = show_changes ? `\nPredicted diff:\n\r\t\t${diff.join("\r\t\t")}` : "";
      return { name, result: null, comment: would + predicted, changes };
    }
    try {
      replaceFile(followForChange(name, realPath), new TextEncoder().encode(edited.text));
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, `${name} not writable`, changes);
    }
    return { name, result: true, comment: `Changed ${changed}, deleted ${deleted} lines`, changes };
  },
});
