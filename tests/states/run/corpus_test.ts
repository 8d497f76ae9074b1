/**
 * State runs compared with the returns of Python Salt for the same files and calls: tests/corpus/requisite_runs.json.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { openTree, withoutTimes } from "#tests/support/calls/state_tree.ts";
import { asMaster, comparable } from "#tests/support/calls/salt_returns.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { map, str, toValue } from "#lib/values/value.ts";

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

/**
 * Cases in which Salt has a bug: it removes `fun` from a condition at the first check, so that the condition is checked
 * only once; it fails on an empty list of conditions; it loses the result of `mod_watch` of a parallel state.
 */
const WRONG: ReadonlySet<string> = new Set([
  "prereq of a state that is skipped by unless",
  "prereq of a state that is skipped by onlyif",
  "onlyif: none",
  "unless: none",
  "parallel with requisites",
]);

const cases = (await readCorpus<Case>("requisite_runs.json")).filter(({ name }) => !WRONG.has(name));

for (let start = 0; start < cases.length; start += 50) {
  const some = cases.slice(start, start + 50);
  Deno.test(`state runs return what Salt returns: ${some[0].name} … ${some.at(-1)?.name}`, async (t) => {
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
        assertEquals(comparable(withoutTimes(asMaster(returned))), comparable(wanted));
        assertEquals(retcode, row.retcode);
      });
    }
  });
}
