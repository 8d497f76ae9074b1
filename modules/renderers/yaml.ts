/**
 * Renderer `yaml`: reads YAML as Salt's loader does, with the place of every key.
 * Source: Salt 3008.3, `salt/renderers/yaml.py`.
 * @module
 */

import { RenderError, YamlError } from "../../lib/errors.ts";
import { excerptOf } from "../../lib/templates/excerpt.ts";
import type { Positions, RenderInput, RenderOutput } from "../../lib/templates/renderer.ts";
import type { TextOrigin } from "../../lib/templates/text_origin.ts";
import { yamlRenderText } from "../../lib/template_filters/yaml_words.ts";
import { truthy, type Value, type ValueMap } from "../../lib/values/value.ts";
import { loadYamlPlaces, type TextPlace, type YamlPlaces } from "../../lib/yaml/load.ts";
import { needRenderText } from "./_text.ts";

/** Reads YAML. @throws {RenderError} In Salt's words, with the place, if it is none. */
export function render(input: RenderInput): RenderOutput {
  const text = needRenderText(input, "yaml");
  try {
    const { value, places } = loadYamlPlaces(text, input.request.path ?? "<string>");
    return { data: truthy(value) ? value : new Map(), positions: positionsIn(places, input.origin) };
  } catch (error) {
    if (error instanceof YamlError) throw withPlace(error, input.origin);
    throw error;
  }
}

function positionsIn(places: YamlPlaces, origin: TextOrigin): Positions {
  const place = (at: TextPlace | undefined) => at && origin.place(at.line, at.column);
  const of = (container: ValueMap | readonly Value[], key: Value) => place(places.of(container, key));
  return { key: of, item: of, holder: (made) => place(places.holder(made)) };
}

/** What the reader says beyond Salt's words. */
function hintOf({ problem, salt }: YamlError): string | undefined {
  if (!problem.startsWith("a key must be a scalar")) return salt === undefined ? undefined : `${problem}.`;
  return "Two braces that no template has read are a map as a key: does the file go through jinja, or is a value missing its quotes?";
}

/** The excerpt is of what the templates made: a mistake in YAML often shows there alone. */
function withPlace(error: YamlError, origin: TextOrigin): RenderError {
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
