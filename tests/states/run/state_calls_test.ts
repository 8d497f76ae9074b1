/**
 * Calls of the execution module `state` against tests/corpus/state_calls.json: what Python Salt returns for the same
 * calls on the same tree.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { asMaster, comparable, withoutExcerpts } from "#tests/support/calls/salt_returns.ts";
import { openTree, withoutTimes } from "#tests/support/calls/state_tree.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { isMap, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";

interface Call {
  readonly fun: string;
  readonly args?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly write?: Readonly<Record<string, string>>;
  readonly returned: Typed;
  readonly retcode: number | null;
  /** What ours returns instead, and why. */
  readonly ours?: { readonly why: string; readonly returned: unknown; readonly retcode: number };
}

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly opts?: Readonly<Record<string, unknown>>;
  readonly calls: readonly Call[];
}

function exchanged(value: Value, from: string, to: string): Value {
  if (typeof value === "string") return value.replaceAll(from, to);
  if (Array.isArray(value)) return value.map((item) => exchanged(item, from, to));
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, item]) => [exchanged(key, from, to), exchanged(item, from, to)]));
}

function object(value: ValueMap): Record<string, Value> {
  return Object.fromEntries([...value].map(([key, item]) => [String(key), item]));
}

/** The text of an error without the lines of a template that it may have. */
function firstLine(text: Value): Value {
  return typeof text === "string" ? text.split("\n", 1)[0] : text;
}

/** The saltenvs that the files of a case are in, `base` aside. */
function saltenvsOf(files: Readonly<Record<string, string>>): string[] {
  const named = Object.keys(files).flatMap((name) => name.includes("|") ? [name.split("|")[0]] : []);
  return [...new Set(named)];
}

for (const { name, files, opts = {}, calls } of await readCorpus<Case>("state_calls.json")) {
  Deno.test(`${name}: as Salt returns it`, async () => {
    await using tree = await openTree({ files, opts: object(map(opts)), saltenvs: saltenvsOf(files) });
    for (const { fun, args = [], kwargs = {}, write = {}, ours, ...salt } of calls) {
      await tree.write(write);
      tree.context.setRetcode(0);
      const given = exchanged(toValue([args, kwargs]), "{ROOT}", tree.root);
      const [words, named] = Array.isArray(given) ? given : [];
      const called = await tree.call(fun, Array.isArray(words) ? words : [], isMap(named) ? object(named) : {});
      const wanted = ours === undefined ? fromTyped(salt.returned) : toValue(ours.returned);
      const { retcode } = ours ?? salt;
      if (retcode === null) {
        assertEquals(firstLine(called.error?.message ?? null), firstLine(wanted), fun);
        continue;
      }
      const returned = exchanged(withoutTimes(called.returned), tree.root, "{ROOT}");
      assertEquals(comparable(asMaster(withoutExcerpts(returned))), comparable(withoutExcerpts(wanted)), fun);
      assertEquals(called.retcode, retcode, fun);
    }
  });
}
