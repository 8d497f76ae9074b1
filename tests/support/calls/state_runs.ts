/**
 * Calls of state functions with the results of Python Salt: the cases of `corpus/state_runs/`, made by
 * tests/corpus/make_state_runs.py. Each case runs in its own directory.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "./job_context.ts";
import { corpusFile, isThere } from "./corpus_files.ts";
import { type RecordedAnswer, RecordedPrograms } from "./recorded_program.ts";
import { build, listAt, mapAt, replaceIn, ROOT, snapshot, unpack, without } from "./call_cases.ts";
import { callState } from "./state_call.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

const GRAINS: ValueMap = map({
  id: "web1",
  kernel: "Linux",
  os_family: "Debian",
  os: "Debian",
  shell: "/bin/sh",
  init: "systemd",
});

/** The environment of a preparing script besides PATH and HOME, as in make_state_runs.py. */
const SCRIPT_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "A"],
      [`GIT_${who}_EMAIL`, "a@example.com"],
      [`GIT_${who}_DATE`, "2026-01-02T03:04:05Z"],
    ]),
  ),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  LC_ALL: "C",
  TZ: "UTC",
};

function textAt(entry: ValueMap, key: string): string | undefined {
  const value = entry.get(key);
  return typeof value === "string" ? value : undefined;
}

/**
 * Registers a test for each function of `module` that has cases.
 * @returns The number of tests.
 */
export function testStateRuns(module: string): number {
  const file = corpusFile(`state_runs/${module}.json`);
  if (!isThere(file)) return 0;
  const cases = parseJson(Deno.readTextFileSync(file));
  assert(Array.isArray(cases) && cases.length > 0);
  const byFunction = Map.groupBy(cases.filter(isMap), (entry) => str(entry.get("fun") ?? ""));
  for (const [fun, entries] of byFunction) {
    Deno.test({
      name: `${fun} does what Salt's does, in ${entries.length} cases`,
      // The results were recorded as root.
      ignore: Deno.uid() !== 0,
      fn: async () => {
        const failures: string[] = [];
        const left = entries[Symbol.iterator]();
        const work = async () => {
          for (const entry of left) await checkCase(entry).catch((error) => failures.push(messageOf(error)));
        };
        // Recorded programs are in PATH, which all tests of the process share.
        await Promise.all(entries.some((entry) => entry.has("programs")) ? [work()] : [work(), work(), work(), work()]);
        assert(failures.length === 0, `${failures.length} cases differ:\n\n${failures.join("\n")}`);
      },
    });
  }
  return byFunction.size;
}

async function checkCase(entry: ValueMap): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "states_" });
  const root = `${home}/root`;
  await Deno.mkdir(root);
  await Deno.chmod(home, 0o755);
  using programs = entry.has("programs") ? new RecordedPrograms() : undefined;
  try {
    if (programs !== undefined) record(programs, mapAt(entry, "programs"));
    await build(root, mapAt(new Map([["tree", replaceIn(entry.get("tree") ?? null, ROOT, root)]]), "tree"));
    const setup = textAt(entry, "setup");
    if (setup !== undefined) await script(setup, root);
    await checkSteps(entry, { home, root });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function checkSteps(
  entry: ValueMap,
  { home, root }: { readonly home: string; readonly root: string },
): Promise<void> {
  const fun = str(entry.get("fun") ?? "");
  const args = replaceIn(mapAt(entry, "args"), ROOT, root);
  const job = testContext({
    grains: GRAINS,
    opts: testOpts({ file_client: "local", root_dir: home, file_roots: map({ base: [`${root}/srv`] }) }),
  });
  const outcomes = listAt(entry, "outcomes");
  const observe = textAt(entry, "observe");
  const hidden = listAt(entry, "hide");
  const look = () => new Map([...snapshot(root)].filter(([name]) => !hidden.includes(name)));
  let before = look();
  const steps = entry.has("steps") ? listAt(entry, "steps").map(str) : ["test", "run", "run"];
  for (const [i, step] of steps.entries()) {
    if (step !== "test" && step !== "run") {
      await script(step, root);
      before = look();
      continue;
    }
    const ours = await outcome(() =>
      callState(fun, new Map(mapAt(new Map([["args", args]]), "args")), { job, test: step === "test" })
    );
    if (ours.get("name") === (isMap(args) ? args.get("name") ?? "" : "")) ours.delete("name");
    const after = look();
    const changed = differing(before, after);
    if (changed.size > 0) ours.set("after", changed);
    before = after;
    if (observe !== undefined) ours.set("observed", await script(observe, root));
    const theirs = unpack(outcomes.shift() ?? null);
    assert(isMap(theirs));
    // Python Salt shows an error other than its own as a stack trace; ours has a message.
    if (theirs.get("error") === "" && ours.has("error")) ours.set("error", "");
    assertEquals(
      shown(without(replaceIn(replaceIn(ours, root, ROOT), home, "{BASE}"), listAt(entry, "drop"))),
      shown(theirs),
      `${fun} ${repr(mapAt(entry, "args"))}, step ${i + 1} (${step})`,
    );
  }
}

/** The entries of `after` that differ, by name; `null` for a removed entry. */
function differing(before: ValueMap, after: ValueMap): ValueMap {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const at = (tree: ValueMap, name: Value) => tree.get(name) ?? null;
  return new Map(
    names.filter((name) => dumpJson(at(before, name)) !== dumpJson(at(after, name))).map((
      name,
    ) => [name, at(after, name)]),
  );
}

/** The result of a state, or the error that it throws. */
async function outcome(call: () => Promise<ValueMap>): Promise<ValueMap> {
  try {
    const result = await call();
    return new Map(["name", "result", "comment", "changes"].map((key) => [key, result.get(key) ?? null]));
  } catch (error) {
    const own = error instanceof CommandError || error instanceof InvocationError;
    return new Map([["error", own ? error.message : `not Salt's: ${messageOf(error)}`]]);
  }
}

/** As text, with sorted keys and without the names of temporary files. */
function shown(value: Value): string {
  return dumpJson(sorted(value)).replace(/__salt\.tmp\.\w+(\.\w+)?/g, "__salt.tmp.X");
}

function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return new Map(
    [...value].map(([key, item]): [string, Value] => [str(key), sorted(item)]).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

function record(programs: RecordedPrograms, recorded: ValueMap): void {
  for (const [name, answers] of recorded) {
    assert(Array.isArray(answers));
    programs.answer(
      str(name),
      answers.filter(isMap).map((answer): RecordedAnswer => ({
        args: textAt(answer, "args") ?? "",
        stdout: textAt(answer, "stdout"),
        stderr: textAt(answer, "stderr"),
        code: Number(answer.get("code") ?? 0),
      })),
    );
  }
}

/**
 * Runs a shell script in `root`.
 * @returns Its output.
 */
async function script(text: string, root: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-e", "-c", text],
    cwd: root,
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", HOME: root, ...SCRIPT_ENVIRONMENT },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, `${text}\n${decode(stdout)}${decode(stderr)}`);
  return decode(stdout);
}
