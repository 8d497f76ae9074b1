/**
 * Renderer `yaml`: reads YAML as Salt's loader does, with the place of every key.
 * Source: Salt 3008.3, `salt/renderers/yaml.py`.
 * @module
 */

import { RenderError, YamlError } from "#lib/errors.ts";
import { excerptOf } from "#lib/jinja/salt/excerpt.ts";
import type { RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { yamlRenderText } from "#lib/jinja/filters/yaml_words.ts";
import { markOrdered } from "#lib/values/ordered.ts";
import { truthy } from "#lib/values/value.ts";
import { loadYamlPlaces } from "#lib/yaml/load.ts";
import { needRenderText, positionsIn } from "./_text.ts";

/**
 * Reads YAML.
 * @throws {RenderError} In Salt's words, with the place, if it is none.
 */
export function render(input: RenderInput): RenderOutput {
  const text = needRenderText(input, "yaml");
  try {
    const { value, places } = loadYamlPlaces(text, input.request.path ?? "<string>");
    markOrdered(value);
    return { data: truthy(value) ? value : new Map(), positions: positionsIn(places, input.origin) };
  } catch (error) {
    if (error instanceof YamlError) throw withPlace(error, input.origin);
    throw error;
  }
}

/** What the reader says beyond Salt's words. */
function hintOf({ problem, salt }: YamlError): string | undefined {
  if (!problem.startsWith("a key must be a scalar")) return salt === undefined ? undefined : `${problem}.`;
  return "Two braces that no template has read are a map as a key: does the file go through jinja, or is a value missing its quotes?";
}

/** The excerpt is of what the templates made: a mistake in YAML often shows there alone. */
function withPlace(error: YamlError, origin: RenderInput["origin"]): RenderError {
  return new RenderError(
    yamlRenderText(error, origin.text),
    {
      place: origin.place(error.line, error.column),
      excerpt: excerptOf(origin.text, error.line),
      ...hintOf(error) === undefined ? {} : { hint: hintOf(error) },
    },
    { cause: error },
  );
}
