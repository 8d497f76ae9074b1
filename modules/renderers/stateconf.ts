/**
 * Renderer `stateconf`: changes high data so that a file can name its states relative to itself, be required as a whole
 * by its state `goal`, and tell its variables to the files that include it.
 * Source: Salt 3008.3, `salt/renderers/stateconf.py`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import type { RenderHost, RenderInput, RenderOutput } from "#lib/plugins/renderer.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { stepOf } from "#lib/render/pipe.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { addGoal, addStart, expandShortStates, expandTreeNames, ExtendedRequisites } from "./_stateconf_changes.ts";
import { nameInFull, orderByRequires } from "./_stateconf_changes.ts";
import { ChangedPlaces, MalformedHigh } from "./_stateconf_high.ts";
import { folderOf } from "./_stateconf_names.ts";
import { FileVariables } from "./_stateconf_variables.ts";
import { needRenderText } from "./_text.ts";

/** What ends the part of a file that sets its variables. */
const END_MARKER = /#\s*-+\s*end of state config\s*-+/;

const USAGE =
  "#!stateconf [-Gosp] [DATA-RENDERER [OPTIONS] . TEMPLATE-RENDERER [OPTIONS]], for example #!stateconf -o yaml . jinja: " +
  "-G makes no goal, -o orders the states by requires, -s makes a start, -p gets high data from the renderer before it.";

/** The letters of the options, and the renderers after them. */
interface Settings {
  readonly options: ReadonlySet<string>;
  /** What reads the data, and the template before it, with their own options. */
  readonly renderers: string;
}

/** What the files of one run share. */
interface Run {
  readonly variables: FileVariables;
  readonly extended: ExtendedRequisites;
}

const RUNS = new WeakMap<RenderHost, Run>();

/**
 * Renders a file with the renderers of the argument, and changes its high data.
 * @throws {RenderError} In Salt's words, if a renderer fails or names contradict each other.
 */
export async function render(input: RenderInput): Promise<RenderOutput> {
  const settings = settingsOf(input.argline);
  if (settings.options.has("p")) return changed(input, { data: input.data }, settings);
  const text = needRenderText(input, "stateconf");
  const [data, template] = pipeOf(settings);
  const pass = async (part: string, context: ValueMap, extract: boolean) => {
    const sls = input.request.sls ?? "";
    const more = new Map<Value, Value>([["sls_dir", folderOf(sls)], ...context, ...input.request.context ?? []]);
    const request = { ...input.request, context: more };
    const origin = part === text ? input.origin : TextOrigin.ofFile(part, input.origin.place(1, 1)?.file);
    const written = await run(template, { ...input, request, data: part, origin });
    const read = await run(data, { ...input, request, data: written.data, origin: written.origin ?? origin });
    return changed(input, read, settings, extract);
  };
  const end = END_MARKER.exec(text);
  if (end !== null) await pass(text.slice(0, end.index), new Map(), true);
  return await pass(text, runOf(input.host).variables.forFile(input.request.sls ?? ""), false);
}

function settingsOf(argline: string): Settings {
  const words = argline.split(/\s+/).filter((word) => word !== "");
  const options = new Set<string>();
  while (words.length > 0 && words[0].startsWith("-") && words[0] !== "-") {
    const word = words.shift() ?? "";
    if (word === "--") break;
    for (const letter of word.slice(1)) {
      if (!"Gosp".includes(letter)) throw new RenderError(`option -${letter} not recognized. ${USAGE}`);
      options.add(letter);
    }
  }
  return { options, renderers: words.length > 0 ? words.join(" ") : "yaml . jinja" };
}

function runOf(host: RenderHost): Run {
  const run = RUNS.get(host) ?? { variables: new FileVariables(), extended: new ExtendedRequisites() };
  RUNS.set(host, run);
  return run;
}

/** A renderer with its options. */
interface Named {
  readonly name: string;
  readonly argline: string;
}

/** What reads the data, and what writes its text. */
function pipeOf({ options, renderers }: Settings): [data: Named, template: Named] {
  const [data, template] = renderers.split(/\s+\.\s+(.*)/).slice(0, 2).map((part): Named => {
    const [name, ...words] = part.trim().replaceAll("\\.", ".").split(" ");
    return { name, argline: words.join(" ").trim() };
  });
  if (options.has("o") && data.name !== "yaml") {
    throw new RenderError("Implicit ordering is only supported if the yaml renderer is used!");
  }
  if (template === undefined) throw new RenderError(`Invalid use of stateconf.py renderer!\nUsage: ${USAGE}`);
  return [data, template];
}

async function run({ name, argline }: Named, input: RenderInput): Promise<RenderOutput> {
  const step = await stepOf({ name, argline }, input.host);
  if (step === undefined) throw new RenderError(`Renderer: '${name}.render' is not available!`);
  return await step.render({ ...input, argline });
}

/** The high data of a renderer, changed. */
function changed(input: RenderInput, read: RenderOutput, { options }: Settings, extract = false): RenderOutput {
  const { request: { sls = "", saltenv = "base" }, host } = input;
  const places = new ChangedPlaces(read.positions);
  try {
    if (!isMap(read.data)) throw new RenderError("High data is not a dictionary and is invalid");
    const high = read.data;
    expandShortStates(high);
    expandTreeNames(high, sls, saltenv);
    const { extended, variables } = runOf(host);
    if (!extract && options.has("o")) orderByRequires(high, extended, places);
    if (options.has("s")) addStart(high);
    if (!extract && !options.has("G")) addGoal(high);
    nameInFull(high, sls, places);
    variables.take(high);
    return { data: high, positions: places };
  } catch (error) {
    if (!(error instanceof MalformedHigh)) throw error;
    const place = error.at === undefined ? undefined : places.key(...error.at);
    throw new RenderError(error.message, place === undefined ? {} : { place }, { cause: error });
  }
}
