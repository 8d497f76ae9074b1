/**
 * States return the same as Python Salt's, and call the same functions; recorded answers replace all execution
 * functions. The cases are the files of tests/corpus/state_answers, which make_state_answers.py writes.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { changeFailure } from "#lib/host/packages/changes.ts";
import type { Catalogue, JobContext } from "#lib/plugins/job_context.ts";
import { declare, type ModuleFunction, p, type Parameter } from "#lib/plugins/module.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { EXECUTION_MODULES } from "#modules/execution/_built_in.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { casesOf, filesWithCases } from "./corpus_files.ts";
import { testContext, testOpts } from "./job_context.ts";
import { callState } from "./state_call.ts";

/** A call that changes something: its function, and its arguments by name. */
type Call = readonly [fun: string, args: ValueMap];

function fields(value: Value | undefined): ValueMap {
  return isMap(value) ? value : new Map();
}

/** The calls whose arguments have other names in a provider's function. */
class Signatures {
  readonly #modules = new Map<string, Readonly<Record<string, unknown>>>();

  static async of(providers: ValueMap): Promise<Signatures> {
    const signatures = new Signatures();
    for (const [module, file] of providers) {
      const loaded = await EXECUTION_MODULES[str(file)]();
      signatures.#modules.set(str(module), { ...loaded });
    }
    return signatures;
  }

  #params(fun: string): Readonly<Record<string, Parameter>> {
    const [module, name] = fun.split(".");
    const functions = this.#modules.get(module) ?? {};
    const declared = functions[name] ?? functions[`${name}_`];
    return typeof declared === "object" && declared !== null && "params" in declared
      ? declared.params as Readonly<Record<string, Parameter>>
      : {};
  }

  /** A call with its arguments by name, without default values. */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Call {
    const params = this.#params(fun);
    const names = Object.keys(params);
    // Salt's number is read by its own file.mkdir as the text 493, which fails.
    if (fun === "file.mkdir") args = args.map((one) => one === 0o755 ? "0755" : one);
    // A text parameter accepts numbers as text.
    const argument = (key: Value, value: Value): [Value, Value] => {
      const isText = params[str(key)]?.type === "str" && typeof value === "number";
      // Salt's hold uses the keys of a map.
      const isHeld = fun.endsWith("hold") && key === "pkgs" && isMap(value);
      return [key, isText ? str(value) : isHeld ? [...value.keys()] : value];
    };
    const named = args.map((value, i): [Value, Value] => [names[i] ?? String(i), value]);
    const all = new Map([...named, ...kwargs].map(([key, value]) => argument(key, value)));
    const explicit = [...all].filter(([key, value]) => value !== null && value !== params[str(key)]?.default);
    return [fun, new Map(explicit.sort(([a], [b]) => str(a) < str(b) ? -1 : 1))];
  }
}

/** Answers instead of execution functions, as documented in make_state_answers.py. */
class Answers {
  readonly calls: Call[] = [];
  readonly #counts = new Map<string, number>();

  constructor(
    readonly answers: ValueMap,
    readonly params: ValueMap,
    readonly signatures: Signatures,
  ) {}

  /** A catalogue with all states, and only these execution functions. */
  catalogue(real: Catalogue): Catalogue {
    const { states, builtInRenderers, fileBackends } = real;
    return {
      states,
      builtInRenderers,
      fileBackends,
      get: (name) => Promise.resolve(this.#function(name)),
      all: () => Promise.resolve([]),
      serves: () => Promise.resolve(true),
      problems: () => new Map(),
      refusals: () => new Map(),
      providers: () => Promise.resolve(new Map()),
    };
  }

  #function(name: string): ModuleFunction<JobContext> | undefined {
    const answer = this.answers.get(name) ?? null;
    if (answer === null) return undefined;
    const declared = this.params.get(name);
    const names = ["name", ...Array.isArray(declared) ? declared.map(str) : []];
    return {
      ...declare<Record<never, never>, JobContext>({
        doc: "",
        params: {},
        varArgs: "args",
        varKwargs: "kwargs",
        run: () => null,
      }),
      params: Object.fromEntries(names.map((one) => [one, p.any(null)])),
      run: (bound, _context, { args, kwargs }) => {
        const own = names.flatMap((one): [Value, Value][] => {
          const value = toValue(bound[one] ?? null);
          return value === null ? [] : [[one, value]];
        });
        return this.#call(name, args, new Map([...own, ...kwargs]), answer);
      },
    };
  }

  /** Replaces {@linkcode JobContext.call}. */
  call(name: string, args: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> {
    const answer = this.answers.get(name) ?? null;
    if (answer === null) throw new Error(`The case has no answer of ${name}`);
    return this.#call(name, args, kwargs, answer);
  }

  async #call(name: string, args: Value[], kwargs: ValueMap, answer: Value): Promise<Value> {
    this.calls.push(this.signatures.call(name, args, kwargs));
    return await this.#answer(name, { first: args[0] ?? null, kwargs }, answer);
  }

  #answer(name: string, callArgs: { readonly first: Value; readonly kwargs: ValueMap }, answer: Value): Value {
    if (!isMap(answer)) return answer;
    const answers = answer.get("answers");
    if (Array.isArray(answers)) {
      const count = this.#counts.get(name) ?? 0;
      this.#counts.set(name, count + 1);
      return this.#answer(name, callArgs, answers[Math.min(count, answers.length - 1)]);
    }
    const by = answer.get("by");
    if (isMap(by)) return this.#answer(name, callArgs, by.get(str(callArgs.first)) ?? answer.get("else") ?? null);
    const byKeyword = answer.get("keyword");
    if (isMap(byKeyword)) {
      const entry = [...byKeyword].find(([key]) => callArgs.kwargs.get(key) === true);
      return this.#answer(name, callArgs, entry?.[1] ?? answer.get("else") ?? null);
    }
    if (answer.get("echo") === true) return callArgs.first;
    const text = answer.get("raises");
    if (typeof text !== "string") return structuredClone(answer);
    const info = answer.get("info");
    throw isMap(info)
      ? changeFailure(text, Object.fromEntries([...info].map(([key, value]) => [str(key), value])))
      : new CommandError(text);
  }
}

/** Answers that a case need not list: Python computes them itself. */
const ALWAYS_ANSWERED: ValueMap = map({ "user.list_groups": [] });

/** Further settings of a case. */
interface Setting {
  readonly data: ValueMap;
  readonly signatures: Signatures;
}

const OPTS = testOpts({ root_dir: "/nonexistent/state-calls", color: false });

/**
 * Runs one case, and compares it.
 * @param place The name of the case for messages.
 */
async function check(one: ValueMap, place: string, { data, signatures }: Setting): Promise<void> {
  const functions = new Map([...ALWAYS_ANSWERED, ...fields(data.get("functions")), ...fields(one.get("functions"))]);
  const answers = new Answers(functions, fields(data.get("params")), signatures);
  const grains = map({ os: "Debian", os_family: "Debian", kernel: "Linux" });
  for (const [key, value] of [...fields(data.get("grains")), ...fields(one.get("grains"))]) grains.set(key, value);
  const job = testContext({ opts: OPTS, grains, catalogue: answers.catalogue(loadCatalogue()) });
  const state = { call: (name: string, list?: Value[], kwargs?: ValueMap) => answers.call(name, list, kwargs) };
  const outcome = callState(str(one.get("fun") ?? ""), fields(one.get("args")), {
    test: one.get("test") === true,
    job,
    state,
  });
  const error = one.get("error"), ours = one.get("ours");
  if (error !== undefined && ours === undefined) {
    const text = await outcome.then(() => "none", (thrown: Error) => thrown.message);
    return assertEquals(text, str(error).replace(/^\w+: /, ""), place);
  }
  const result = await outcome;
  const comment = result.get("comment");
  if (Array.isArray(comment)) result.set("comment", comment.map(str).join("\n"));
  const expectedResult = new Map(fields(ours ?? one.get("result")));
  const warnings = expectedResult.get("warnings");
  if (Array.isArray(warnings) && warnings.length === 0) expectedResult.delete("warnings");
  // Salt's comment contains the hash of a password that could not be set.
  const comments = expectedResult.get("comment") ?? "";
  const expectedComment = Array.isArray(comments) ? comments.map(str).join("\n") : str(comments);
  expectedResult.set("comment", expectedComment.replace(/^(These values .*'passwd': ')[^']*/, "$1XXX-REDACTED-XXX"));
  assertEquals(byKey(result), byKey(expectedResult), place);
  const calls = one.get("calls");
  const expected = (Array.isArray(calls) ? calls : []).map((call): Call => {
    const [name, list, kwargs] = Array.isArray(call) ? call : [];
    return signatures.call(str(name ?? null), Array.isArray(list) ? list : [], fields(kwargs));
  });
  assertEquals(answers.calls.filter(([name]) => isChanging(name)), expected, place);
}

/**
 * Registers a test for each function of `module` and each file with cases of it.
 * @returns The number of tests.
 */
export function testStateAnswers(module: string): number {
  let count = 0;
  for (const url of filesWithCases("state_answers", module)) {
    const file = url.pathname.replace(/^.*\//, "");
    const data = fields(parseJson(Deno.readTextFileSync(url)));
    const cases = data.get("cases");
    const numbered = casesOf(Array.isArray(cases) ? cases : [], module).map((one, number) => ({ one, number }));
    for (const [fun, list] of Map.groupBy(numbered, ({ one }) => str(one.get("fun") ?? ""))) {
      count++;
      Deno.test(`${fun} in the ${list.length} cases of ${file}`, async () => {
        const signatures = await Signatures.of(fields(data.get("providers")));
        for (const { one, number } of list) await check(one, `${file}, case ${number}`, { data, signatures });
      });
    }
  }
  return count;
}

/** See CHANGING in make_state_answers.py. */
function isChanging(name: string): boolean {
  return /^(pkg\.(install|remove|purge|upgrade|hold|unhold|mod_repo|del_repo|del_repo_key)|lowpkg\.unpurge|service\.(start|stop|restart|reload|force_reload|full_restart|enable|disable|mask|unmask)|(user|group)\.(add|delete|ch\w+|adduser|deluser|members)|shadow\.(set_\w+|del_password|lock_password|unlock_password|gen_password)|cron\.(set|rm|write)_\w+|at\.(at|atrm)|file\.mkdir|debconf\.set\w*|gpg\.(receive_keys|import_key|trust_key|delete_key))$/
    .test(name);
}

function byKey(value: ValueMap): ValueMap {
  return new Map([...value].sort(([a], [b]) => str(a) < str(b) ? -1 : 1));
}
