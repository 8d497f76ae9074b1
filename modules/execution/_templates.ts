/**
 * Templates of files and of their names, as `cp` and `file` render them: one engine, no pipe of renderers.
 * Source: Salt 3008.3 `salt/utils/templates.py` wrap_tmpl_func, `salt/modules/cp.py` _render_filenames.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { fileClientOf } from "#lib/files/client/open.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { jobRenderHost } from "#lib/render/job_host.ts";
import { renderTemplate } from "#lib/render/render.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The engine whose templates are files in Python, with a function `run` that returns the text. */
const PYTHON_ENGINE = "py";

/** The engines that there are. */
const ENGINES: readonly string[] = ["jinja", "mako", PYTHON_ENGINE];

/** What a template is rendered with. */
export interface TemplateData {
  readonly engine: string;
  readonly saltenv: string;
  /** Variables that win over Salt's own. */
  readonly variables: ValueMap;
}

/** Whether there is such an engine. */
export function isEngine(name: string): boolean {
  return ENGINES.includes(name);
}

/**
 * The names that a template sees: the caller's, and over them those of its `context`. A file in Python gets `context`
 * as one name.
 */
export function templateVariables(engine: string, names: ValueMap, context: ValueMap): ValueMap {
  return new Map<Value, Value>(engine === PYTHON_ENGINE ? [...names, ["context", context]] : [...names, ...context]);
}

/**
 * Renders a text.
 * @throws {RenderError} If it cannot be rendered.
 */
export async function renderText(
  text: string,
  data: TemplateData,
  context: JobContext,
  path?: string,
): Promise<string> {
  const { engine, saltenv, variables } = data;
  const host = jobRenderHost(context, fileClientOf(context));
  return await renderTemplate(engine, { text, path, saltenv, context: variables }, host);
}

/**
 * Renders a file to a temporary one, which only this user may read.
 * @returns Its path, for {@linkcode removeRendered}.
 * @throws {RenderError} If it cannot be rendered.
 */
export async function renderFile(path: string, data: TemplateData, context: JobContext): Promise<string> {
  const text = await renderText(await Deno.readTextFile(path), data, context, path);
  const rendered = await Deno.makeTempFile({ prefix: PREFIX });
  await Deno.writeTextFile(rendered, text);
  return rendered;
}

const PREFIX = "__salt.tmp.";

/** Removes what {@linkcode renderFile} has made, and no other file. */
export function removeRendered(path: string): void {
  const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
  if (path.startsWith(`${temporary.replace(/\/$/, "")}/${PREFIX}`)) removeIfExists(path);
}

/**
 * Renders names of files, if `engine` is one.
 * @throws {CommandError} If there is no such engine.
 */
export async function renderNames(
  names: readonly string[],
  data: Omit<TemplateData, "engine"> & { readonly engine: string | null },
  context: JobContext,
): Promise<string[]> {
  const { engine } = data;
  if (!engine) return [...names];
  if (!isEngine(engine)) {
    throw new CommandError(`Attempted to render file paths with unavailable engine ${engine}`);
  }
  const rendered: string[] = [];
  for (const name of names) rendered.push(await renderText(name, { ...data, engine }, context));
  return rendered;
}

/** The keyword arguments that become variables: not those that tell of the job. */
export function variablesOf(kwargs: ValueMap, engine: string): ValueMap {
  const given = kwargs.get("context");
  const names = new Map([...kwargs].filter(([key]) => key !== "context" && !str(key).startsWith("__pub_")));
  if (given === undefined) return names;
  return templateVariables(engine, names, isMap(given) ? given : new Map());
}
