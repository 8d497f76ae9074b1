/**
 * The error for a requisite that matches nothing: Salt's text, and the most similar existing name.
 * @module
 */

import { type Chunk, field } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import type { Value } from "#lib/values/value.ts";

/** The requisite `kind: [module: value]` of a chunk. */
export interface MissingRequisite {
  readonly kind: string;
  readonly module: string;
  readonly value: string;
  readonly chunk: Chunk;
  readonly place: CompileError["place"];
}

/** The names that can be required. */
export interface Requirable {
  /** The names and IDs of the chunks of a state module (`id`: of all), or of the SLS files (`sls`). */
  names(module: string): Value[];
  /** The state modules with something called `name`. */
  modulesOf(name: Value): string[];
}

/** The error of a requisite that matches nothing. */
export function missingRequisite(missing: MissingRequisite, known: Requirable): CompileError {
  const { kind, module, value, chunk, place } = missing;
  const hint = nearest(module, value, known);
  return {
    text: `Referenced state does not exist for requisite [${kind}: (${module}: ${value})] in state ` +
      `[${field(chunk, "name")}] in SLS [${field(chunk, "__sls__")}]`,
    place,
    ...(hint !== undefined && { hint: `Did you mean '${hint}'?` }),
  };
}

function nearest(module: string, value: string, known: Requirable): string | undefined {
  const [other] = known.modulesOf(value);
  if (other !== undefined) return `${other}: ${value}`;
  const names = known.names(module).filter((name) => typeof name === "string");
  const near = nearestName(value, names);
  if (near !== undefined) return `${module}: ${near}`;
  const id = nearestName(value, known.names("id").filter((name) => typeof name === "string"));
  return id === undefined ? undefined : `${known.modulesOf(id)[0] ?? "id"}: ${id}`;
}
