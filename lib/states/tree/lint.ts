/**
 * `state.lint`: reports all errors in a tree, without a host that its states apply to.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { CompileError } from "#lib/states/compiler/compile_error.ts";
import { type LintRequest, lintTree } from "#lib/states/compiler/lint.ts";
import type { WalkedStates } from "#lib/states/compiler/walk.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { isGlob } from "#lib/text/glob.ts";
import type { ReadTop } from "#lib/states/compiler/top_files.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { treeMistakes } from "./tree_mistakes.ts";
import { checkTop, unreadableTargets } from "./top_check.ts";
import { isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { type HighState, openHighState } from "./high_state.ts";
import { RETCODE } from "./retcode.ts";

/** The parameters of a check. */
export interface LintCall {
  readonly context: JobContext;
  /** SLS names; `null`: the top file and every file of every environment. */
  readonly mods: Value;
  /** `saltenv`, `pillar`, … */
  readonly kwargs: ValueMap;
  /** A YAML file with pillar data that are merged over that of the host. */
  readonly pillarFile: string | null;
  /** A YAML file with grains that replace those of the host. */
  readonly grainsFile: string | null;
}

/**
 * @returns The number of files that were read if there is no error; else the list of all errors, and the return code is
 * 1.
 */
export async function lint({ context, mods, kwargs, pillarFile, grainsFile }: LintCall): Promise<Value> {
  const callKwargs = new Map(kwargs);
  if (pillarFile !== null) callKwargs.set("pillar", await readMap(pillarFile));
  const own = grainsFile === null ? undefined : await readMap(grainsFile);
  const state = await openHighState(own === undefined ? context : { ...context, grains: own }, callKwargs);
  const { states } = context.catalogue;
  const allFunctions = new Set((await states.all()).map(({ name }) => name));
  const otherModules = new Set([...states.refusals().keys(), ...await state.source.ownStateModules()]);
  const options = async (high: ValueMap) => ({ ...await state.compileOptions(high), allFunctions, otherModules });
  const envs = state.saltenv === undefined ? await state.source.envs() : [state.saltenv];
  const available = new Map(
    await Promise.all(envs.map(async (env) => [env, await state.source.available(env)] as const)),
  );
  const tree = { sls: [...available.values()].flat(), files: (env: string) => state.source.files(env) };
  const parts = { options, mistakes: (walked: WalkedStates) => treeMistakes(walked, tree) };
  const { files, errors } = mods === null
    ? await lintAll(state, available, parts)
    : await lintMods(state, splitInput(mods), parts);
  const pillar = state.pillar.get("_errors");
  const texts = [
    ...Array.isArray(pillar) ? pillar.map((error) => `Pillar: ${str(error)}`) : [],
    ...state.texts(errors),
  ];
  if (texts.length === 0) return `${files} SLS file${files === 1 ? "" : "s"}, nothing wrong`;
  context.setRetcode(RETCODE.compile);
  return texts;
}

async function readMap(path: string): Promise<ValueMap> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CommandError(`There is no file ${path}`, { cause: error });
  }
  const data = loadYaml(text, path) ?? new Map();
  if (isMap(data)) return data;
  throw new CommandError(`${path} holds a ${typeName(data)} instead of a map`);
}

interface Found {
  readonly files: number;
  readonly errors: readonly CompileError[];
}

/** How each unit of the tree is checked. */
type Checks = Pick<LintRequest, "options" | "mistakes">;

async function lintMods(state: HighState, mods: readonly string[], checks: Checks): Promise<Found> {
  const together = new Map([[state.saltenv ?? "base", mods]]);
  return await lintTree(state.source, { together, alone: new Map(), ...checks });
}

async function lintAll(
  state: HighState,
  available: ReadonlyMap<string, readonly string[]>,
  checks: Checks,
): Promise<Found> {
  const read = await state.top();
  // The top file is not an SLS file, although it is called like one.
  const alone = new Map([...available].map(([env, names]) => [env, names.filter((name) => name !== state.topName)]));
  const together = await state.matches(read);
  const { files, errors } = await lintTree(state.source, {
    together,
    alone,
    ...checks,
  });
  const top = [
    ...read.unreadable,
    ...checkTop(read, state.ownMatchers),
    ...unreadableTargets(read, state.nodegroups),
    ...missingOf(read, alone),
  ];
  return { files, errors: [...top, ...errors] };
}

/** The SLS names of the top file that no environment has, for any minion. */
function missingOf({ top, places }: ReadTop, available: ReadonlyMap<string, readonly string[]>): CompileError[] {
  const errors: CompileError[] = [];
  for (const [env, targets] of top) {
    const served = available.get(str(env));
    if (served === undefined) continue;
    for (const [target, names] of targets) {
      for (const [i, name] of listOrEmpty(names).entries()) {
        if (typeof name !== "string" || isGlob(name) || served.includes(name)) continue;
        const near = nearestName(name, served);
        errors.push({
          text: `No matching sls found for '${name}' in env '${str(env)}', which the top file gives to '${
            str(target)
          }'`,
          place: Array.isArray(names) ? places.item(names, i) ?? places.key(targets, target) : undefined,
          ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
        });
      }
    }
  }
  return errors;
}
