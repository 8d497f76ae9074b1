/**
 * State module `file`: texts that other states gather for a file before it is made.
 * Source: Salt 3008.3 `salt/states/file.py` accumulated.
 * @module
 */

import { accumulators } from "./accumulators.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { asList, listOrEmpty, listUnder } from "#lib/values/shape.ts";
import { isAmong, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

function requisites(low: ValueMap, key: string): Value[] {
  return listOrEmpty(low.get(key));
}

/** Whether a requisite names a state of this module. */
function isForFile(requisite: Value): boolean {
  if (isMap(requisite)) return requisite.has("file");
  return typeof requisite === "string" && requisite.includes("file");
}

export const accumulated: ModuleFunction<StateContext> = stateFn({
  doc:
    `Collect texts for a file. The file's template has them in the variable \`accumulator\`, under this state's name; file.blockreplace
inserts them into its block. This state must name the file's state in \`require_in\` or \`watch_in\`.

name
    The accumulator.

filename
    The path of the file.

text
    A text, or a list of them. Duplicates are dropped.`,
  params: { name: p.str(), filename: p.str(), text: p.any() },
  varKwargs: "kwargs",
  keywords: [],
  run: ({ name, filename, text: given }, context) => {
    const { low } = context;
    if (name === "") return failState(name, "Must provide name to file.accumulated");
    if (given === null) return failState(name, "No text supplied for accumulator");
    const dependents = [...requisites(low, "require_in"), ...requisites(low, "watch_in")];
    if (!dependents.some(isForFile)) {
      const [sls, id] = ["__sls__", "__id__"].map((key) => str(low.get(key) ?? null));
      return failState(name, `Orphaned accumulator ${name} in ${sls}:${id}`);
    }
    const { texts, dependents: filenames } = accumulators(context);
    const entries = entry(entry(filenames, filename, () => new Map<string, Value[]>()), name, (): Value[] => []);
    entries.push(...dependents.flatMap((one) => isMap(one) ? [...one.values()] : [one]));
    const chunks = listUnder(entry(texts, filename, (): ValueMap => new Map()), name);
    const ret = startResult(name);
    for (const chunk of asList(given)) {
      if (isAmong(chunk, chunks)) continue;
      chunks.push(chunk);
      ret.comment = `Accumulator ${name} for file ${filename} was charged by text`;
    }
    return ret;
  },
});

/** The value of a key, made if there is none. */
function entry<T>(from: Map<string, T>, key: string, make: () => T): T {
  const value = from.get(key);
  if (value !== undefined) return value;
  const made = make();
  from.set(key, made);
  return made;
}
