/**
 * The renderers of a text: its first line `#!jinja|yaml`, or the option `renderer`. Source: Salt 3008.3,
 * `salt/template.py` template_shebang, check_render_pipe_str.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import type { Renderer, RenderHost, RenderRequest } from "#lib/plugins/renderer.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { str, type Value } from "#lib/values/value.ts";

/** One renderer of a pipe. */
export interface Step {
  readonly name: string;
  /** The text after its name. */
  readonly argline: string;
  readonly render: Renderer;
}

/** The pipe of a minion without the option. */
const USUAL_PIPE = "jinja|yaml";

/** Names that stand for a pipe: the formats, and the templates that go before them. */
const FORMATS: ReadonlySet<string> = new Set(["yaml", "json"]);
const TEMPLATES: ReadonlySet<string> = new Set(["jinja", "mako", "wempy"]);

/**
 * The renderers for a text, in order; none if one of them is not known, which is logged, as Salt does.
 * @throws {RenderError} For a renderer of Salt's that is not built here.
 */
export async function pipeOf(request: RenderRequest, host: RenderHost): Promise<Step[]> {
  const pipe = pipeText(request, host);
  const steps: Step[] = [];
  for (const part of partsOf(pipe)) {
    const [name, ...words] = part.split(" ");
    if (!isAllowed(name, host)) {
      host.log("warning", `The renderer "${name}" is disallowed by configuration and will be skipped.`);
      continue;
    }
    const step = await stepOf({ name, argline: words.join(" ").trim() }, host);
    if (step === undefined) {
      const { table } = host.builtInRenderers;
      host.log("error", `The renderer "${pipe}" is not available${didYouMean(name, Object.keys(table))}`);
      return [];
    }
    steps.push(step);
  }
  return steps;
}

/**
 * The renderer of a name: an own one, or a built-in one; `undefined` if there is none.
 * @throws {RenderError} For a renderer of Salt's that is not built here.
 */
export async function stepOf(
  { name, argline }: Pick<Step, "name" | "argline">,
  host: RenderHost,
): Promise<Step | undefined> {
  const own = await host.renderer?.(name);
  if (own !== undefined) {
    const render: Renderer = async ({ data, request: { sls, saltenv = "base", path, context, kwargs } }) => ({
      data: await own({ data, argline, sls, saltenv, path, context, kwargs }),
    });
    return { name, argline, render };
  }
  const { table, notBuilt } = host.builtInRenderers;
  if (Object.hasOwn(notBuilt, name)) throw new RenderError(`There is no renderer ${name} here. ${notBuilt[name]}`);
  if (!Object.hasOwn(table, name)) return undefined;
  const { render } = await table[name]();
  return { name, argline, render };
}

function pipeText({ text, path, renderer }: RenderRequest, { opts }: RenderHost): string {
  // Of a text that comes from no file Salt reads the first word, of a file the first line.
  const first = path === undefined ? /^\s*(\S*)/.exec(text)?.[1] ?? "" : text.slice(0, (text + "\n").indexOf("\n"));
  if (first.startsWith("#!") && !first.startsWith("#!/")) return first.trim().slice("#!".length);
  return renderer ?? str(opts.get("renderer") ?? USUAL_PIPE);
}

function partsOf(pipe: string): string[] {
  const [format, template, ...more] = pipe.split("_");
  if (more.length === 0 && FORMATS.has(format) && TEMPLATES.has(template)) return [template, format];
  return pipe.split("|").map((part) => part.trim());
}

function isAllowed(name: string, { opts }: RenderHost): boolean {
  const whitelist = namesOf(opts.get("renderer_whitelist")), blacklist = namesOf(opts.get("renderer_blacklist"));
  return (whitelist.length === 0 || whitelist.includes(name)) && !blacklist.includes(name);
}

function namesOf(option: Value | undefined): string[] {
  return Array.isArray(option) ? option.map(str) : typeof option === "string" && option !== "" ? [option] : [];
}
