/**
 * The module `gpg` and the state `gpg`, compared with Python Salt's results, with the host's gpg in temporary home
 * directories: tests/corpus/gpg_calls.json, made by make_gpg_calls.py.
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { run } from "#tests/support/processes.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { isMap, str, toValue, type Value } from "#lib/values/value.ts";

interface Call {
  readonly fun: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** Instead of a result: the name that later calls use for it. */
  readonly save?: string;
  readonly answer?: unknown;
}

interface Corpus {
  readonly texts: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  readonly scenes: readonly { readonly scene: string; readonly calls: readonly Call[] }[];
}

const { texts, files, scenes }: Corpus = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/gpg_calls.json", import.meta.url)),
);
const missing = which("gpg") === undefined || which("gpgconf") === undefined;

for (const { scene, calls } of scenes) {
  Deno.test({
    name: `gpg gives Salt's results: ${scene}, ${calls.length} calls${
      missing ? " (ignored: there is no gpg here)" : ""
    }`,
    ignore: missing,
    fn: () => play(calls),
  });
}

async function play(calls: readonly Call[]): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "gpg_" });
  const home = `${dir}/home`;
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${dir}/${name}`, text);
    const known = new Map(Object.entries({ ...texts, home, dir }));
    for (const { fun, kwargs, save, answer } of calls) {
      const { test = false, ...given } = filled(kwargs, known);
      const result = await answerOf(fun, given, test === true, dir);
      if (save !== undefined) {
        assert(result instanceof Uint8Array, `${fun}: ${result}`);
        known.set(save, new TextDecoder().decode(result));
      } else {
        assertEquals(emptied(result, home, dir), answer, `${fun} ${JSON.stringify(kwargs)}`);
      }
    }
  } finally {
    await run(["gpgconf", "--homedir", home, "--kill", "all"]);
    await Deno.remove(dir, { recursive: true });
  }
}

async function answerOf(
  fun: string,
  kwargs: Readonly<Record<string, unknown>>,
  test: boolean,
  dir: string,
): Promise<Value> {
  const context = testContext({ opts: testOpts({ root_dir: dir, user: Deno.env.get("USER") ?? "root", test }) });
  try {
    if (fun.startsWith("state:")) return await callState(fun.slice(6), kwargs, { test, job: context });
    return await context.call(fun, [], new Map(Object.entries(kwargs).map(([key, value]) => [key, toValue(value)])));
  } catch (error) {
    if (error instanceof CommandError || error instanceof InvocationError) return `ERROR: ${error.message}`;
    throw error;
  }
}

function filled<T>(value: T, known: ReadonlyMap<string, string>): T {
  return JSON.parse(JSON.stringify(value), (_key, item) => {
    if (typeof item !== "string") return item;
    return item.replace(/\{([\w.]+)\}/g, (whole, name) => known.get(name) ?? whole);
  });
}

/** A result as make_gpg_calls.py writes it. */
function emptied(value: Value, home: string, dir: string): unknown {
  if (value instanceof Uint8Array) return { bytes: new TextDecoder().decode(value) };
  if (isMap(value)) return Object.fromEntries([...value].map(([key, item]) => [str(key), emptied(item, home, dir)]));
  if (Array.isArray(value)) return value.map((item) => emptied(item, home, dir));
  return typeof value === "string" ? value.replaceAll(home, "{home}").replaceAll(dir, "{dir}") : value;
}
