/**
 * Calls functions of the `state` module on a file tree without a master, as `salt-call --local` does.
 * @module
 */

import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert } from "#tests/support/assert.ts";
import { run, type TestContext, testContext, testOpts } from "./job_context.ts";

/** The settings of a call. */
export interface TreeSetting {
  /**
   * Text by path below the file root; `dev|x.sls` is in the saltenv `dev`, and `/x` in the scratch directory itself.
   */
  readonly files?: Readonly<Record<string, string>>;
  /** More saltenvs. */
  readonly saltenvs?: readonly string[];
  readonly opts?: Readonly<Record<string, Value>>;
  readonly pillar?: Readonly<Record<string, unknown>>;
  /** Further fields of the context. */
  readonly context?: Partial<TestContext>;
}

/** A masterless minion in its own scratch directory. */
export interface StateTree extends AsyncDisposable {
  readonly root: string;
  readonly context: TestContext;
  /** Writes files as those of the setting. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Calls a function with arguments as in a load. */
  call(fun: string, args?: readonly Value[], kwargs?: Readonly<Record<string, unknown>>): Promise<Called>;
}

/** The return of a call. */
export interface Called {
  readonly returned: Value;
  readonly retcode: number;
  readonly error?: Error;
  /** What people are told besides the errors that were returned. */
  readonly errorDetails?: readonly string[];
}

const GRAINS = { id: "m1", os: "Debian", os_family: "Debian", kernel: "Linux" };

// Loading modules takes longer than most state runs.
const catalogue = loadCatalogue({ grains: () => map(GRAINS) });

/** The directory of a saltenv. */
function rootOf(root: string, saltenv: string): string {
  return saltenv === "base" ? `${root}/srv` : `${root}/srv_${saltenv}`;
}

/** The path of a file of a setting. */
function pathOf(root: string, name: string): string {
  if (name.startsWith("/")) return `${root}${name}`;
  const [path, saltenv = "base"] = name.split("|").reverse();
  return `${rootOf(root, saltenv)}/${path}`;
}

/** Opens a tree. */
export async function openTree(
  { files = {}, saltenvs = [], opts = {}, pillar = {}, context: more }: TreeSetting,
): Promise<StateTree> {
  const root = await Deno.makeTempDir({ prefix: "state_tree_" });
  const write = async (given: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(given)) {
      const path = pathOf(root, name);
      await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(path, text);
    }
  };
  await write(files);
  await Deno.mkdir(`${root}/srv`, { recursive: true });
  const base = map(pillar);
  const context = testContext({
    opts: testOpts({
      id: "m1",
      root_dir: root,
      file_client: "local",
      file_roots: map(Object.fromEntries(["base", ...saltenvs].map((env) => [env, [rootOf(root, env)]]))),
      ...opts,
    }),
    grains: map(GRAINS),
    catalogue,
    pillar: base,
    job: { jid: "20260101000000000000", fun: "state.apply", user: "root", tgt: "salt-call" },
    outside: {
      ...testContext().outside,
      pillar: ({ override }) => Promise.resolve(new Map([...base, ...override ?? []])),
    },
    ...more,
  });
  return {
    root,
    context,
    write,
    async call(fun, args = [], kwargs = {}) {
      const given = Object.keys(kwargs).length === 0 ? [] : [map({ __kwarg__: true, ...kwargs })];
      const { return: returned, retcode, error, errorDetails } = await run(fun, [...args, ...given], context);
      return { returned, retcode, error, errorDetails };
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** Results without start times and durations. */
export function withoutTimes(returned: Value): Value {
  if (!isMap(returned)) return returned;
  const made: ValueMap = new Map();
  for (const [key, value] of returned) {
    if (key !== "start_time" && key !== "duration") made.set(key, withoutTimes(value));
  }
  return made;
}

/** The return code and the errors of a call that was refused. */
export function refusal({ returned, retcode }: Called): string {
  assert(Array.isArray(returned), str(returned));
  return `${retcode} ${returned.map(str).join("\n")}`;
}
