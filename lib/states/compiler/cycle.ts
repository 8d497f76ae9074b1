/**
 * The error for a requisite cycle: Salt's text, and the cycle as a chain.
 * @module
 */

import { type Chunk, field } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { type Edge, findCycle } from "./graph.ts";
import { placeText } from "#lib/errors.ts";
import type { Places } from "./place.ts";
import type { ChunkNode, StateNode } from "./requisite_graph.ts";
import type { Requisite } from "./requisites.ts";
import { repr, type ValueMap } from "#lib/values/value.ts";

/** The error for the first cycle among `nodes`; there must be one. */
export function cycleError(nodes: Iterable<StateNode>, places: Places): CompileError {
  const steps = findCycle(nodes).map(step);
  const stepTexts = steps.map(({ chunk, kind, required }) =>
    `(${formatChunk(chunk)}, '${kind}', ${formatChunk(required)})`
  );
  const start = steps.at(-1)?.chunk;
  return {
    text: `Recursive requisites were found: ${stepTexts.join(", ")}`,
    place: start && places.of(start),
    hint: chain(steps, places),
  };
}

interface Step {
  readonly chunk: Chunk;
  readonly kind: string;
  readonly required: Chunk;
}

/** An edge as written in its requiring chunk: the reverse edge of a `prereq` is shown as `prereq`. */
function step({ from, to, kind }: Edge<ChunkNode, Requisite>): Step {
  const chunk = to.data.chunk;
  return { chunk, kind: kind === "require" && !chunk.has("require") ? "prereq" : kind, required: from.data.chunk };
}

function formatChunk(chunk: Chunk): string {
  const fields: ValueMap = new Map([["SLS", chunk.get("__sls__") ?? null], ["ID", chunk.get("__id__") ?? null]]);
  if (chunk.get("__id__") !== chunk.get("name")) fields.set("NAME", chunk.get("name") ?? null);
  return repr(fields);
}

/** The cycle, from the requiring state to the required one, a line each. */
function chain(steps: readonly Step[], places: Places): string {
  const backwards = [...steps].reverse();
  const lines = backwards.map(({ chunk, kind }, i) => `${"  ".repeat(i)}${who(chunk, places)} has in ${kind}:`);
  const last = backwards.at(-1);
  if (last !== undefined) lines.push(`${"  ".repeat(steps.length)}${who(last.required, places)}`);
  return lines.join("\n");
}

function who(chunk: Chunk, places: Places): string {
  const place = places.of(chunk);
  return `${field(chunk, "state")}: ${field(chunk, "__id__")}${place === undefined ? "" : ` (${placeText(place)})`}`;
}
