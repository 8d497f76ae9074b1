/**
 * State functions called on a tree of files, without a master, as `salt-call --local` does it.
 * @module
 */

import { isMap, map, type Value, type ValueMap } from "../../../lib/values/value.ts";
import { loadCatalogue } from "../../../lib/worker/catalogue.ts";
import { run, type TestContext, testContext, testOpts } from "./job_context.ts";

/** What a call is made on. */
export interface TreeSetting {
  /** Text by path below the file root. */
  readonly files?: Readonly<Record<string, string>>;
  readonly opts?: Readonly<Record<string, Value>>;
  readonly pillar?: Readonly<Record<string, unknown>>;
  /** More of the context. */
  readonly context?: Partial<TestContext>;
}

/** A host without a master, in a scratch directory of its own. */
export interface StateTree extends AsyncDisposable {
  readonly root: string;
  readonly context: TestContext;
  /** Calls a function with arguments as in a load. */
  call(fun: string, args?: readonly Value[], kwargs?: Readonly<Record<string, unknown>>): Promise<Called>;
}

/** What a call returned. */
export interface Called {
  readonly returned: Value;
  readonly retcode: number;
  readonly error?: Error;
}

const GRAINS = { id: "m1", os: "Debian", os_family: "Debian", kernel: "Linux" };

// Loading modules takes longer than most runs of states.
const catalogue = loadCatalogue({ grains: () => map(GRAINS) });

/** Opens a tree. */
export async function openTree({ files = {}, opts = {}, pillar = {}, context: more }: TreeSetting): Promise<StateTree> {
  const root = await Deno.makeTempDir({ prefix: "state_tree_" });
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${root}/srv/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${root}/srv/${path}`, text);
  }
  await Deno.mkdir(`${root}/srv`, { recursive: true });
  const base = map(pillar);
  const context = testContext({
    opts: testOpts({
      id: "m1",
      root_dir: root,
      file_client: "local",
      file_roots: map({ base: [`${root}/srv`] }),
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
    async call(fun, args = [], kwargs = {}) {
      const given = Object.keys(kwargs).length === 0 ? [] : [map({ __kwarg__: true, ...kwargs })];
      const { return: returned, retcode, error } = await run(fun, [...args, ...given], context);
      return { returned, retcode, error };
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** Results without their times. */
export function withoutTimes(returned: Value): Value {
  if (!isMap(returned)) return returned;
  const made: ValueMap = new Map();
  for (const [key, value] of returned) {
    if (key !== "start_time" && key !== "duration") made.set(key, withoutTimes(value));
  }
  return made;
}
