/**
 * Renders a file: through its pipe of renderers to data, or by one template engine to text.
 * Source: Salt 3008.3, `salt/template.py` compile_template.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import type { RenderHost, RenderRequest } from "#lib/plugins/renderer.ts";
import type { Positions } from "#lib/values/positions.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import type { Value } from "#lib/values/value.ts";
import { pipeOf, stepOf } from "./pipe.ts";

export type { Positions, RenderHost, RenderRequest };

/** A rendered file. */
export interface Rendered {
  /** The data; a text if the last renderer makes one. An empty map for an empty file. */
  readonly data: Value;
  /** The positions of the data in the files. */
  readonly positions: Positions;
}

const NOWHERE: Positions = { key: () => undefined, item: () => undefined, holder: () => undefined };

/**
 * Renders a file through the renderers that its first line or the options name.
 * @throws {RenderError} If it cannot be rendered.
 */
export async function renderSls(requested: RenderRequest, host: RenderHost): Promise<Rendered> {
  const request = { ...requested, sls: requested.sls ?? "" };
  const { text, path } = request;
  if (text.trim() === "") {
    if (text !== "") host.log("error", `Template is nothing but whitespace: ${path ?? ":string:"}`);
    return { data: new Map(), positions: NOWHERE };
  }
  const steps = await pipeOf(request, host);
  let data: Value = steps.length === 0 ? new Map() : text;
  let origin = TextOrigin.ofFile(text, nameOf(request));
  let positions = NOWHERE;
  for (const { argline, render } of steps) {
    const result = await render({ data, origin, argline, request, host });
    ({ data } = result);
    origin = result.origin ?? origin;
    positions = result.positions ?? positions;
  }
  // The line ends of the file, which templates write as "\n".
  if (typeof data === "string" && text.includes("\r\n") && !data.includes("\r\n")) data = data.replaceAll("\n", "\r\n");
  return { data, positions };
}

/** The file name in places. */
function nameOf({ path, name, sls = "" }: RenderRequest): string | undefined {
  const tree = `${sls.replaceAll(".", "/")}`;
  const ending = sls === "" ? undefined : [`${tree}.sls`, `${tree}/init.sls`].find((end) => path?.endsWith(`/${end}`));
  return name ?? ending ?? path;
}

/**
 * Renders a template to text, as `file.managed` does with its `template`. Its first line names no renderers, and
 * without `sls` it has none of the variables of state files. Line ends become `\n`.
 * @param engine `jinja`, `mako`.
 * @throws {RenderError} If it cannot be rendered, or there is no such engine.
 */
export async function renderTemplate(engine: string, request: RenderRequest, host: RenderHost): Promise<string> {
  const { text } = request;
  const step = await stepOf({ name: engine, argline: "" }, host);
  if (step === undefined) throw new RenderError(`There is no template engine ${engine}`);
  const origin = TextOrigin.ofFile(text, nameOf(request));
  const { data } = await step.render({ data: text, origin, argline: "", request, host });
  if (typeof data === "string") return data;
  throw new RenderError(`The renderer ${engine} returns data, not text`);
}
