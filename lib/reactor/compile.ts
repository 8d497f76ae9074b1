/**
 * Compiles the rendered files of an event to reactions, in their order. Source: Salt 3008.3 `salt/utils/reactor.py`
 * reactions, `Compiler` of `salt/state.py`.
 * @module
 */

import { compile, type CompileOptions, type StageRoute } from "#lib/states/compiler/stages.ts";
import { Places } from "#lib/states/compiler/place.ts";
import type { Positions } from "#lib/values/positions.ts";
import { isMap, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import { type HostFunctions, type Reaction, readReaction } from "./reaction.ts";
import type { ReactorMistake } from "./reactor_map.ts";

/** A file that was rendered. */
export interface RenderedReactorFile {
  readonly path: string;
  readonly data: Value;
  readonly positions: Positions;
}

/** What the files of an event say. */
export interface CompiledReactions {
  readonly reactions: readonly Reaction[];
  readonly mistakes: readonly ReactorMistake[];
}

const ROUTE: StageRoute = [["verify"], ["chunks", "requisites", "order"]];

const OPTIONS: CompileOptions = {
  disabledRequisites: [],
  aggregate: false,
  disabledStates: [],
  modules: { watches: () => false, aggregates: () => false, signature: () => undefined },
};

/**
 * The reactions of an event. An id that two files have is that of the later one. If the data as a whole are invalid,
 * there are none, as in Salt.
 */
export async function compileReactions(
  files: readonly RenderedReactorFile[],
  functions: HostFunctions,
): Promise<CompiledReactions> {
  const high: ValueMap = new Map();
  const places = new Places();
  const mistakes: ReactorMistake[] = [];
  for (const { path, data, positions } of files) {
    const ids = idsOf(data);
    if (typeof ids === "string") {
      mistakes.push({ file: path, text: ids });
      continue;
    }
    places.add(positions);
    for (const [id, body] of ids) {
      if (isMap(body)) body.set("__sls__", path);
      high.set(id, body);
    }
  }
  if (high.size === 0) return { reactions: [], mistakes };
  const { chunks, errors } = compile({ high, places }, ROUTE, OPTIONS);
  if (errors.length > 0) {
    const [{ path }] = files;
    for (const { text, place } of errors) {
      mistakes.push({ file: place?.file ?? path, text, ...place !== undefined && { line: place.line } });
    }
    return { reactions: [], mistakes };
  }
  const reactions: Reaction[] = [];
  for (const chunk of chunks) {
    const reaction = await readReaction(chunk, functions);
    if ("kind" in reaction) reactions.push(reaction);
    else {
      const line = places.of(chunk)?.line;
      mistakes.push({ ...reaction, ...line !== undefined && { line } });
    }
  }
  return { reactions, mistakes };
}

/** The ids of a file, with functions apart from their types; or what is wrong with it. */
function idsOf(data: Value): ValueMap | string {
  if (!isMap(data)) return `it renders to a ${typeName(data)}, not to a map of ids`;
  for (const [id, body] of data) {
    if (typeof body === "string") {
      const dot = body.indexOf(".");
      if (dot < 0) return `the id ${String(id)} has the text ${body} in place of a function`;
      data.set(id, new Map([[body.slice(0, dot), [body.slice(dot + 1)]]]));
    } else if (isMap(body)) splitFunctions(body);
  }
  return data;
}

/** `local.test.ping: [..]` becomes `local: [.., test.ping]`; of two functions of one type the first counts. */
function splitFunctions(body: ValueMap): void {
  const seen = new Set<string>();
  const keys = [...body.keys()].filter((key) => typeof key === "string").sort();
  for (const key of keys) {
    const run = body.get(key);
    if (key.startsWith("_") || !Array.isArray(run)) continue;
    const dot = key.indexOf(".");
    const type = dot < 0 ? key : key.slice(0, dot);
    if (dot >= 0) {
      if (seen.has(type)) continue;
      body.delete(key);
      run.push(key.slice(dot + 1));
      body.set(type, run);
    }
    seen.add(type);
  }
}
