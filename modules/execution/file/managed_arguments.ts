/**
 * Shared parts of the functions for managed files: their arguments for the library, and the rendering of their
 * templates.
 * @module
 */

import type { SourceSum } from "#lib/host/filesystem/checksums.ts";
import { type Ignoring } from "#lib/host/filesystem/diffs.ts";
import { type ManagedRequest } from "#lib/host/filesystem/sources.ts";
import { CommandError } from "#lib/errors.ts";
import { type JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments of SELinux contexts. */
export const SELINUX = { seuser: p.str(null), serole: p.str(null), setype: p.str(null), serange: p.str(null) };

/** The arguments about ignored differences. */
export const IGNORING = {
  ignore_ordering: p.bool(false),
  ignore_whitespace: p.bool(false),
  ignore_comment_characters: p.any(null),
};

export interface IgnoringArguments {
  readonly ignore_ordering: boolean;
  readonly ignore_whitespace: boolean;
  readonly ignore_comment_characters: Value;
}

/** The ignored differences, for the library. */
export function ignoringOf(given: IgnoringArguments): Ignoring {
  const comments = given.ignore_comment_characters;
  return {
    ordering: given.ignore_ordering,
    whitespace: given.ignore_whitespace,
    comments: !truthy(comments) ? [] : Array.isArray(comments) ? comments.map(str) : [str(comments)],
  };
}

/** A map `hash_type`, `hsum`; `undefined` for None and an empty one. */
export function sumOf(given: Value): SourceSum | undefined {
  if (!isMap(given) || !given.has("hsum")) return undefined;
  return { hash_type: str(given.get("hash_type") ?? "sha256"), hsum: str(given.get("hsum") ?? "") };
}

/** A digest as functions return it: a map, empty if there is none. */
export function sumMap(sum: SourceSum | undefined): Value {
  return map(sum === undefined ? {} : { ...sum });
}

/** A value as text; `fallback` if it is empty. */
export function textOr(value: Value, fallback = ""): string {
  return truthy(value) ? str(value) : fallback;
}

/** Contents as the library takes them; `null`: none were given. */
export function readContents(contents: Value): string | Uint8Array | null {
  if (contents === null || contents instanceof Uint8Array) return contents;
  return str(contents);
}

/** The variables of `defaults`, and over them those of `context`. */
export function laidOver(defaults: Value, context: Value): ValueMap {
  return new Map([...isMap(defaults) ? defaults : [], ...isMap(context) ? context : []]);
}

/** Of a managed file what its template may tell. */
export interface TemplateFacts {
  readonly name: string;
  readonly source: Value;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs: Value;
  readonly saltenv: Value;
  readonly context: Value;
  readonly defaults: Value;
}

/** Renders the source of a managed file with Salt's variables for it. */
export function rendererOf(
  given: TemplateFacts,
  context: JobContext,
  kwargs: ValueMap,
): NonNullable<ManagedRequest["render"]> {
  return async (path, engine) => {
    const { isEngine, renderFile, templateVariables, variablesOf } = await import("#modules/execution/_templates.ts");
    if (!isEngine(engine)) throw new CommandError(`Specified template format ${engine} is not supported`);
    const { name, source, user, group, mode, attrs, saltenv } = given;
    const names = new Map([
      ...variablesOf(kwargs, engine),
      ...map({ name, source, user, group, mode, attrs, saltenv }),
    ]);
    const variables = templateVariables(engine, names, laidOver(given.defaults, given.context));
    return await renderFile(path, { engine, saltenv: textOr(saltenv, "base"), variables }, context);
  };
}

/** Removes the rendered copy of a template. */
export async function removeMade(path: string): Promise<void> {
  const { removeRendered } = await import("#modules/execution/_templates.ts");
  removeRendered(path);
}
