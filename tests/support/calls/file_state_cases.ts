/**
 * State functions on a directory of files, with the results of Python Salt: the cases of `corpus/file_states.json`.
 * Each case runs in its own directory: in test mode, then twice without it.
 * @module
 */

import { build, listAt, mapAt, replaceIn, snapshot, unpack, without } from "./call_cases.ts";
import { testContext, testOpts } from "./job_context.ts";
import { callState, stateContext } from "./state_call.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { dumpJson } from "#lib/values/json.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { compareStrings, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The settings of all cases. */
export interface CaseSettings {
  /** The files of the file server. */
  readonly served: ValueMap;
  readonly pillar: ValueMap;
  readonly grains: ValueMap;
}

/** One result of a case: Python Salt's and ours. */
export interface Outcome {
  /** `test`, `run`, `again`, or the tree after one of them. */
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
}

const SHA = hashHex(new TextEncoder().encode("first\nsecond\n"), "sha256");

/** The fields of a result that are compared. */
const KEPT = ["name", "result", "comment", "changes", "skip_watch", "skip_req", "warnings"];

/** The fields that are compared, in one order. */
function fields(result: Value): ValueMap {
  const given: ValueMap = isMap(result) ? result : new Map();
  return new Map([...KEPT, "error"].filter((key) => given.has(key)).map((key) => [key, given.get(key) ?? null]));
}

/**
 * Whether a change reports a created directory. Python creates the directories of a tree in a random order, so it is
 * random which of them are created as parents of others.
 */
function isNewDirectory([path, change]: readonly [Value, Value]): boolean {
  return dumpJson(change) === dumpJson(new Map([[path, new Map([["directory", "new"]])]]));
}

/** A result with its lists and lines sorted. */
function unordered(value: Value): Value {
  if (typeof value === "string") return value.split("\n").sort(compareStrings).join("\n");
  if (Array.isArray(value)) {
    return value.map(unordered).sort((a, b) => compareStrings(dumpJson(a), dumpJson(b)));
  }
  if (!isMap(value)) return value;
  const pairs = [...value].filter((pair) => !isNewDirectory(pair)).map((
    [key, item],
  ): [Value, Value] => [key, unordered(item)]);
  return new Map(pairs.sort(([a], [b]) => compareStrings(str(a), str(b))));
}

/** The directory of the cases, with the files of the file server. */
export class FileStateCases implements AsyncDisposable {
  readonly #settings: CaseSettings;
  readonly #served: string;
  /** Shared by all cases: loading the modules takes longer than a case. */
  readonly #catalogue = loadCatalogue();

  private constructor(settings: CaseSettings, served: string) {
    this.#settings = settings;
    this.#served = served;
  }

  static async open(settings: CaseSettings): Promise<FileStateCases> {
    const served = await Deno.makeTempDir({ prefix: "served_" });
    const files = replaceIn(settings.served, "{SUM}", SHA);
    if (isMap(files)) await build(served, files);
    return new FileStateCases(settings, served);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#served, { recursive: true });
  }

  /**
   * Runs a case.
   * @returns Its results to compare.
   */
  async run(entry: ValueMap): Promise<Outcome[]> {
    const root = await Deno.makeTempDir({ prefix: "states_" });
    await Deno.chmod(root, 0o755);
    const home = await Deno.makeTempDir({ prefix: "minion_" });
    try {
      const opts = testOpts({
        file_client: "local",
        root_dir: home,
        file_roots: new Map([["base", [this.#served]]]),
      });
      const place = (value: Value) => replaceIn(replaceIn(value, "{ROOT}", root), "{SUM}", SHA);
      const back = (value: Value) =>
        replaceIn(replaceIn(replaceIn(value, root, "{ROOT}"), opts.cachedir, "{CACHE}"), SHA, "{SUM}");
      const tree = place(mapAt(entry, "tree"));
      if (isMap(tree)) await build(root, tree);
      const shown = () => dumpJson(back(snapshot(root, { owners: true })));
      const expectedTree = (...keys: string[]) => {
        const key = keys.find((one) => entry.has(one));
        return key === undefined ? undefined : dumpJson(entry.get(key) ?? null);
      };
      const sort = entry.get("sort") === true, drop = listAt(entry, "drop");
      const steps = place(listAt(entry, "steps"));
      const job = {
        ...testContext({
          opts,
          pillar: this.#settings.pillar,
          grains: this.#settings.grains,
          catalogue: this.#catalogue,
        }),
      };
      const outcomes: Outcome[] = [];
      const before = shown();
      for (
        const [what, test, after] of [["test", true, ""], ["run", false, "after"], ["again", false, "twice"]] as const
      ) {
        const results = await this.#steps(Array.isArray(steps) ? steps : [], { job, test });
        const expected = unpack(entry.get(what) ?? null);
        const ours = back(results.map((one) => without(one, drop)));
        results.forEach((_result, i) => {
          const [theirs, own] = [expected, ours].map((all) => fields(Array.isArray(all) ? all[i] : null));
          // Python Salt shows an error other than its own as a stack trace; ours has a message.
          if (theirs.get("error") === "" && own.has("error")) own.set("error", "");
          const text = (result: ValueMap) => dumpJson(sort ? unordered(result) : result);
          outcomes.push({ what: `${what} ${i + 1}`, expected: text(theirs), actual: text(own) });
        });
        const wanted = test ? before : expectedTree(...after === "after" ? ["after"] : ["twice", "after"]) ?? before;
        outcomes.push({ what: `the tree after ${what}`, expected: wanted, actual: shown() });
        if (test) await Deno.remove(`${opts.cachedir}/files`, { recursive: true }).catch(ignoreMissing);
      }
      return outcomes;
    } finally {
      await Deno.remove(root, { recursive: true });
      await Deno.remove(home, { recursive: true });
    }
  }

  async #steps(
    steps: readonly Value[],
    { job, test }: { readonly job: ReturnType<typeof testContext>; readonly test: boolean },
  ): Promise<ValueMap[]> {
    const shared = new Map<string, unknown>();
    const calls = steps.map((step): readonly [fun: string, kwargs: ValueMap] => {
      const [fun, kwargs] = Array.isArray(step) ? step : [null, null];
      return [`file.${str(fun)}`, isMap(kwargs) ? kwargs : new Map()];
    });
    const chunks = calls.map(([fun, kwargs], i): ValueMap =>
      new Map([...stateContext(fun, kwargs).low, ["__id__", `id${i}`], ["__sls__", "sls"], ["order", i]])
    );
    const results: ValueMap[] = [];
    for (const [i, [fun, kwargs]] of calls.entries()) {
      try {
        const low = chunks[i];
        const ret = await callState(fun, kwargs, { job, test, state: { shared, chunks, low } });
        results.push(new Map([...ret].filter(([key]) => KEPT.some((one) => one === key))));
      } catch (error) {
        results.push(new Map([["error", error instanceof Error ? `${error.name}: ${error.message}` : String(error)]]));
      }
    }
    return results;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
