/**
 * Runs of states against tests/corpus/state_runs.json: what Python Salt returns for the same files and calls.
 * @module
 */

import { assertEquals } from "../support/assert.ts";
import { openTree, withoutTimes } from "../support/state_tree.ts";
import { fromTyped, readCorpus, type Typed } from "../support/typed_values.ts";
import { compareStrings, isMap, map, str, toValue, type Value } from "../../lib/values/value.ts";

interface Case {
  readonly name: string;
  readonly sls: string;
  readonly more?: Readonly<Record<string, string>>;
  readonly mods?: string;
  readonly opts?: Readonly<Record<string, unknown>>;
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly fun?: string;
  readonly args?: readonly unknown[];
  readonly returned: Typed;
  readonly retcode: number | null;
}

/** Results by tag with their fields, both sorted: Python's order of fields has no meaning. */
function sorted(value: Value): Value {
  if (!isMap(value)) return Array.isArray(value) ? value.map(sorted) : value;
  return new Map([...value].sort(([a], [b]) => compareStrings(str(a), str(b))).map(([key, item]) => [key, sorted(item)]));
}

/** Texts with what ours add (places, hints) cut off: Salt's text is the first line, or all. */
function saltText(ours: Value, salt: Value): Value {
  if (!Array.isArray(ours) || !Array.isArray(salt)) return ours;
  return ours.map((text, i) => {
    const wanted = str(salt[i] ?? "").trimEnd();
    return str(text).startsWith(wanted) ? salt[i] ?? null : text;
  });
}

const cases = await readCorpus<Case>("state_runs.json");

for (let start = 0; start < cases.length; start += 50) {
  const some = cases.slice(start, start + 50);
  Deno.test(`runs return what Salt returns: ${some[0].name} … ${some.at(-1)?.name}`, async (t) => {
    for (const row of some) {
      await t.step(row.name, async () => {
        const files = Object.entries({ "t.sls": row.sls, ...row.more }).filter(([, text]) => text !== "");
        const opts = Object.fromEntries([...map(row.opts ?? {})].map(([key, value]) => [str(key), value]));
        await using tree = await openTree({ files: Object.fromEntries(files), opts });
        const fun = row.fun ?? "state.sls";
        const args = row.args ?? (fun === "state.sls" ? [row.mods ?? "t"] : []);
        const { returned, retcode, error } = await tree.call(fun, args.map(toValue), row.kwargs);
        const wanted = fromTyped(row.returned);
        if (row.retcode === null) {
          assertEquals(error?.message, str(wanted).replace(/^\w+: /, ""));
          return;
        }
        assertEquals(sorted(withoutTimes(saltText(returned, wanted))), sorted(wanted));
        assertEquals(retcode, row.retcode);
      });
    }
  });
}
