/**
 * The contents of a managed file that its state tells: `contents`, `contents_pillar`, `contents_grains`.
 * Source: Salt 3008.3 `salt/states/file.py` managed.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { argumentText } from "./common.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { textDecoder } from "#lib/text/encoding.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { isMap, map, repr, str, truthy, type Value } from "#lib/values/value.ts";

/** The arguments of `file.managed` that count. */
export interface ContentsArguments {
  readonly contents: Value;
  readonly contents_pillar: Value;
  readonly contents_grains: Value;
  readonly contents_newline: Value;
  readonly contents_delimiter: string;
  readonly allow_empty: Value;
  readonly encoding: string | null;
  readonly template: Value;
  readonly context: Value;
  readonly defaults: Value;
}

/** How many of the three arguments are given. */
export function contentsCount({ contents, contents_pillar, contents_grains }: ContentsArguments): number {
  return [contents, contents_pillar, contents_grains].filter((one) => one !== null).length;
}

/** The contents, `null` if none are told; or what is wrong, with the result that the state has then. */
export type Contents =
  | { readonly contents: string | Uint8Array | null }
  | { readonly problem: string; readonly result: boolean };

/** What the three arguments say. A template is rendered. */
export async function resolveContents(given: ContentsArguments, context: StateContext): Promise<Contents> {
  const lookup = await lookUp(given, context);
  if ("problem" in lookup || lookup.value === null) return "problem" in lookup ? lookup : { contents: null };
  if (!truthy(given.allow_empty) && !truthy(lookup.value)) {
    return refuseContents(
      `${
        nameOf(given)
      } value would result in empty contents. Set allow_empty to True to allow the managed file to be empty.`,
    );
  }
  const lines = linesOf(lookup.value, given.encoding, given.contents === null ? str : argumentText(context));
  if (lines?.length === 0) {
    return refuseContents(
      "Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, and is not binary data. SLS is likely malformed.",
    );
  }
  if (lines === undefined && truthy(given.template)) {
    return refuseContents(
      "Contents specified by contents/contents_pillar/contents_grains appears to be binary data, and as will not be able to be treated as a Jinja template.",
    );
  }
  const contents = lines === undefined ? lookup.value : joinParts(lines, truthy(given.contents_newline));
  return truthy(given.template) ? await renderContents(contents, given, context) : { contents: bytesOrText(contents) };
}

function refuseContents(problem: string): Contents & { readonly problem: string } {
  return { problem, result: false };
}

function nameOf({ contents_pillar: pillar, contents_grains: grains }: ContentsArguments): string {
  if (truthy(pillar)) return `contents_pillar ${str(pillar)}`;
  return truthy(grains) ? `contents_grains ${str(grains)}` : "'contents'";
}

async function lookUp(
  given: ContentsArguments,
  context: StateContext,
): Promise<{ readonly value: Value } | (Contents & { readonly problem: string })> {
  const { contents_delimiter: delimiter } = given;
  const from = given.contents_pillar !== null
    ? { keys: given.contents_pillar, fun: "pillar.get", kwargs: map({ delimiter, unmask: true }), what: "Pillar" }
    : given.contents_grains !== null
    ? { keys: given.contents_grains, fun: "grains.get", kwargs: map({ delimiter }), what: "Grain" }
    : undefined;
  if (from === undefined) return { value: given.contents };
  const absent = crypto.randomUUID();
  const values: Value[] = [];
  for (const key of Array.isArray(from.keys) ? from.keys : [from.keys]) {
    const value = await context.call(from.fun, [key, absent], from.kwargs);
    if (value === absent) return refuseContents(`${from.what} ${str(key)} does not exist`);
    values.push(value);
  }
  return { value: Array.isArray(from.keys) ? values.map(str).join("\n") : values[0] };
}

/** The lines of the contents; `undefined` for bytes that are no text. */
function linesOf(value: Value, encoding: string | null, written: (value: Value) => string): string[] | undefined {
  if (!(value instanceof Uint8Array)) return Array.isArray(value) ? value.map(written) : [written(value)];
  const { text: decoded, exact } = textDecoder(encoding)(value);
  return exact ? [decoded] : undefined;
}

/** All lines with a newline each: also where another character than a newline ended them, as in Salt. */
function joinParts(parts: readonly string[], newline: boolean): string {
  const contents = parts.flatMap(splitLines).map((line) => `${line}\n`).join("");
  return newline ? contents : rstripChars(rstripChars(contents, "\n"), "\r");
}

async function renderContents(contents: Value, given: ContentsArguments, context: StateContext): Promise<Contents> {
  const { template, context: variables, defaults } = given;
  const answer = await context.call(
    "file.apply_template_on_contents",
    [contents, template, variables, defaults, saltenvOf(context)],
  );
  if (!isMap(answer)) return { contents: bytesOrText(answer) };
  const comment = answer.get("comment");
  return {
    problem: comment === undefined ? "Error while applying template on contents" : str(comment),
    result: truthy(answer.get("result")),
  };
}

function bytesOrText(contents: Value): string | Uint8Array {
  if (typeof contents === "string" || contents instanceof Uint8Array) return contents;
  throw new TypeError(`Contents are text or bytes, not ${repr(contents)}`);
}
