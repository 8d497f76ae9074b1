/**
 * The texts that states of `file` put into files: lines that the state tells, or templates of the file server.
 * Source: Salt 3008.3 `salt/states/file.py` _unify_sources_and_hashes, _get_template_texts.
 * @module
 */

import { saltenvOf } from "#modules/states/_saltenv.ts";
import { lenientText } from "#lib/host/filesystem/contents.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { failState, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The parameters of templates that a text is made of. */
export const TEMPLATE_PARAMS = {
  source: p.any(null),
  source_hash: p.any(null),
  template: p.str("jinja"),
  sources: p.any(null),
  source_hashes: p.any(null),
  defaults: p.any(null),
  context: p.any(null),
};

/** Their documentation. */
export const TEMPLATE_DOC = `source, sources
    Files on the file server, which are rendered and used instead of a text.

source_hash, source_hashes
    Accepted without effect, as in Salt.

template : jinja
    The engine that renders them.

defaults, context
    Variables of the templates; those of \`context\` take precedence.`;

/** The variables of templates. */
export interface TemplateArguments {
  readonly source: Value;
  readonly source_hash: Value;
  readonly template: string;
  readonly sources: Value;
  readonly source_hashes: Value;
  readonly defaults: Value;
  readonly context: Value;
}

/** The sources that a state tells, none if it tells a text; or what is wrong. */
export function sourcesOf(
  given: TemplateArguments,
): { readonly sources: readonly string[] } | { readonly problem: string } {
  const { source, sources, source_hash, source_hashes } = given;
  if (truthy(source) && truthy(sources)) return { problem: "source and sources are mutually exclusive" };
  if (truthy(source_hash) && truthy(source_hashes)) {
    return { problem: "source_hash and source_hashes are mutually exclusive" };
  }
  if (truthy(source)) return { sources: [str(source)] };
  return { sources: Array.isArray(sources) ? sources.map(str) : truthy(sources) ? [str(sources)] : [] };
}

/** The rendered templates, or the result of a state whose templates cannot be had. */
export async function templateTexts(
  sources: readonly string[],
  { template, defaults, context: more }: TemplateArguments,
  context: StateContext,
): Promise<string[] | StateResult> {
  const variables: ValueMap = new Map([...isMap(defaults) ? defaults : [], ...isMap(more) ? more : []]);
  const texts: string[] = [];
  for (const source of sources) {
    const kwargs = map({ template, saltenv: saltenvOf(context), context: variables });
    const rendered = await context.call("cp.get_template", [source, ""], kwargs);
    if (!truthy(rendered)) return failUnrendered(source, `Failed to load template file ${source}`);
    const path = str(rendered);
    const contents = lenientText(Deno.readFileSync(path));
    if (contents === "") return failUnrendered(source, `Failed to read rendered template file ${path} (${source})`);
    texts.push(contents);
  }
  return texts;
}

/** Salt's result for a template that cannot be had has the template's name, and no data. */
function failUnrendered(source: string, comment: string): StateResult {
  return { ...failState(source, comment), data: [] };
}
