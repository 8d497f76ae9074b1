/**
 * Renders a Jinja template as Salt does: with its variables, its language, its errors.
 * Source: Salt 3008.3, `salt/utils/templates.py` wrap_tmpl_func, render_jinja_tmpl; `salt/renderers/jinja.py`.
 * @module
 */

import { Environment } from "#lib/jinja/core/environment.ts";
import type { Obj } from "#lib/python/object.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";
import { saltGlobals } from "./globals.ts";
import { HOST_VARIABLE, HostObject } from "./host_object.ts";
import type { RenderHost, RenderRequest } from "#lib/plugins/renderer.ts";
import { saltLanguage } from "./language.ts";
import { templateLoader } from "./loader.ts";
import { printable } from "./printing.ts";
import { SaltObject } from "./salt_object.ts";
import { slsContext } from "./sls_context.ts";
import { syntaxOptions } from "./syntax_options.ts";
import { renderErrorOf } from "./template_errors.ts";
import { TextOrigin, type WrittenPiece } from "#lib/plugins/text_origin.ts";

/** The variables of the template, which are globals of its environment too, so that imported files see them. */
function variablesOf(
  { sls, saltenv = "base", path, context, kwargs }: RenderRequest,
  host: RenderHost,
): Map<string, Obj> {
  const variables = new Map<string, Obj>();
  for (const [name, value] of kwargs ?? []) variables.set(str(name), value);
  variables.set("salt", new SaltObject(host.salt));
  variables.set("grains", host.grains).set("pillar", host.pillar).set("opts", host.opts);
  variables.set("saltenv", saltenv);
  if (sls !== undefined) variables.set("sls", sls).set("proxy", new Map()).set("renderers", new Map());
  for (const [name, value] of context ?? []) variables.set(str(name), value);
  const own = variables.get("sls");
  if (own === undefined) return variables;
  for (const [name, value] of slsContext(path, str(own as Value))) if (!variables.has(name)) variables.set(name, value);
  return variables;
}

/**
 * Renders `text`, and says where each part of the result comes from.
 * @param origin Where `text` comes from.
 * @throws {RenderError} In Salt's words.
 */
export async function renderJinja(
  text: string,
  origin: TextOrigin,
  { request, host }: { readonly request: RenderRequest; readonly host: RenderHost },
): Promise<TextOrigin> {
  const { sls = "", saltenv = "base", path } = request;
  const log = host.log.bind(host);
  const { text: template, options } = syntaxOptions(text, { opts: host.opts, sls, log });
  const { load, names } = templateLoader(host, { saltenv, path });
  const globals = saltGlobals();
  const variables = variablesOf(request, host);
  for (const [name, value] of variables) globals.set(name, value);
  globals.set(HOST_VARIABLE, new HostObject(host));
  const environment = new Environment(saltLanguage(options), {
    globals,
    undefined: truthy(host.opts.get("allow_undefined")) ? "default" : "strict",
    loader: load,
    finalize: printable,
  });
  const skipped = template === text ? 0 : 1;
  try {
    const rendered = await environment.fromString(template).renderMapped(variables);
    const pieces = rendered.pieces.map((piece): WrittenPiece => {
      const { offset, line, column, literal } = piece;
      const file = piece.path === undefined ? undefined : names.get(piece.path) ?? piece.path;
      const place = file === undefined ? origin.place(line + skipped, column) : { file, line, column };
      return { offset, literal, place: place ?? { line, column } };
    });
    return TextOrigin.ofPieces(rendered.text + (text.endsWith("\n") ? "\n" : ""), pieces);
  } catch (error) {
    throw renderErrorOf(error, {
      text: template,
      saltenv,
      file: origin.place(1, 1)?.file,
      names,
      textOf: (loaded) => Deno.readTextFileSync(loaded),
    });
  }
}
