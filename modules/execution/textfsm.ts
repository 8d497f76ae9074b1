/**
 * Execution module `textfsm`: data from the output of devices, by templates of TextFSM.
 * Source: the functions of Salt 3008.3 `salt/modules/textfsm_mod.py`.
 * @module
 */

import { CommandError, RegexError } from "#lib/errors.ts";
import { safePath } from "#lib/files/backends/safe_path.ts";
import { parseWithTemplate } from "#lib/host/texts/textfsm.ts";
import { NoTemplateError, tableOf, templatesFor } from "#lib/host/texts/textfsm_index.ts";
import { type DeviceTemplate, DeviceTemplateError, readTemplate } from "#lib/host/texts/textfsm_template.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Why there is no data. */
class Refused extends Error {}

function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    throw asCommandError(error, path);
  }
}

function rowsAsMaps(header: readonly string[], rows: readonly (readonly Value[])[]): ValueMap[] {
  return rows.map((row) => new Map(row.map((value, i): [Value, Value] => [header[i].toLowerCase(), value])));
}

/** The outcome as Salt returns it; {@linkcode Refused} is the reason for none. */
async function outcome(read: () => Promise<ValueMap[]>): Promise<ValueMap> {
  try {
    return map({ out: await read(), result: true, comment: "" });
  } catch (error) {
    if (error instanceof Refused) return map({ out: null, result: false, comment: error.message });
    // A match that takes too many steps.
    throw error instanceof RegexError ? new CommandError(error.message) : error;
  }
}

/** The text that was given, or that of a file of the master. */
async function textOf(
  { text, file, saltenv }: { readonly text: string | null; readonly file: string | null; readonly saltenv: string },
  words: { readonly missing: string; readonly unread: string },
  context: JobContext,
): Promise<string> {
  if (text) return text;
  const read = file ? await context.call("cp.get_file_str", [file], map({ saltenv })) : "";
  if (read === false) throw new Refused(`Unable to read from ${file}. ${words.unread}`);
  if (!truthy(read)) throw new Refused(words.missing);
  return str(read);
}

export const extract: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the data of a text, by a template.

template_path
    The template: a path, or a URL that cp.cache_file takes.

raw_text
    The text.

raw_text_file
    The URL or path of a file with the text.

saltenv
    The environment of files of the master.`,
    "textfsm.extract salt://textfsm/juniper_version_template raw_text_file=salt://junos_ver.txt",
  ),
  permissions: "all",
  params: { template_path: p.str(), raw_text: p.str(null), raw_text_file: p.str(null), saltenv: p.str("base") },
  run: ({ template_path, raw_text, raw_text_file, saltenv }, context) =>
    outcome(async () => {
      const path = await context.call("cp.cache_file", [template_path], map({ saltenv }));
      if (typeof path !== "string") throw new Refused(`Unable to read the TextFSM template from ${template_path}`);
      const template = readGiven(path, template_path);
      const text = await textOf({ text: raw_text, file: raw_text_file, saltenv }, {
        missing: "Please specify a valid input file or text.",
        unread: "Please specify a valid input file or text.",
      }, context);
      return rowsAsMaps(template.values.map(({ name }) => name), parseWithTemplate(template, text));
    }),
});

function readGiven(path: string, shown: string): DeviceTemplate {
  try {
    return readTemplate(readText(path));
  } catch (error) {
    if (!(error instanceof DeviceTemplateError)) throw error;
    const reason = `Unable to parse the TextFSM template from ${shown}: ${error.message}. Please check the logs.`;
    throw new Refused(reason, { cause: error });
  }
}

/** An option of the minion, or a value of the pillar; else what was given. */
function setting(name: string, given: string | null, { opts, pillar }: JobContext): string | null {
  const set = [opts.extra.get(name), pillar.get(name)].find(truthy);
  return set === undefined ? given : str(set);
}

function platformOf(platform: string | null, grain: string | null, context: JobContext): string {
  if (platform) return platform;
  const name = setting("textfsm_platform_grain", grain, context);
  if (!name) throw new Refused("No platform specified, no platform grain identifier configured.");
  const value = context.grains.get(name);
  if (!truthy(value)) throw new Refused(`Unable to identify the platform name using the ${name} grain.`);
  return str(value ?? null);
}

/** The templates that the index names, from their directory. */
function readIndexed(
  directory: string,
  { indexFile, attributes }: { readonly indexFile: string; readonly attributes: Readonly<Record<string, string>> },
): DeviceTemplate[] {
  const names = templatesFor(readText(`${directory}/${checkedName(indexFile)}`), attributes);
  return names.map((name) => readTemplate(readText(`${directory}/${checkedName(name)}`)));
}

/** @throws {CommandError} If a name leads out of the directory of templates. */
function checkedName(name: string): string {
  const path = safePath(name);
  if (path === undefined) throw new CommandError(`${JSON.stringify(name)} is not in the directory of templates`);
  return path;
}

export const index: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the data of a text, by the template that an index has for the command and the platform.

command
    The command of which the text is.

platform
    The platform, as the index has it.

platform_grain_name
    The grain that has the platform; or the option or pillar value textfsm_platform_grain.

platform_column_name
    The column of the index with the platform; or textfsm_platform_column_name. Default: Platform.

output
    The text.

output_file
    The URL or path of a file with the text.

textfsm_path
    The directory of the templates, as cp.cache_dir takes it; or textfsm_path.

index_file
    The name of the index in it; or textfsm_index_file. Default: index.

saltenv, include_empty, include_pat, exclude_pat
    As of cp.cache_dir.`,
    "textfsm.index 'sh ver' platform=Juniper output_file=salt://textfsm/juniper_version textfsm_path=salt://textfsm/",
  ),
  permissions: "all",
  params: {
    command: p.str(),
    platform: p.str(null),
    platform_grain_name: p.str(null),
    platform_column_name: p.str(null),
    output: p.str(null),
    output_file: p.str(null),
    textfsm_path: p.str(null),
    index_file: p.str(null),
    saltenv: p.str("base"),
    include_empty: p.bool(false),
    include_pat: p.str(null),
    exclude_pat: p.str(null),
  },
  run: ({ command, platform, platform_grain_name, output, output_file, saltenv, ...given }, context) =>
    outcome(async () => {
      const wanted = platformOf(platform, platform_grain_name, context);
      const path = given.textfsm_path || setting("textfsm_path", null, context);
      if (!path) {
        throw new Refused("No TextFSM templates path specified. Please configure in opts/pillar/function args.");
      }
      const { include_empty, include_pat, exclude_pat } = given;
      const [cached] = onlyStrings(
        await context.call("cp.cache_dir", [path], map({ saltenv, include_empty, include_pat, exclude_pat })),
      );
      if (cached === undefined) {
        throw new Refused(`Unable to fetch from ${path}. Is the TextFSM path correctly specified?`);
      }
      const column = setting("textfsm_platform_column_name", given.platform_column_name, context) ?? "Platform";
      const text = await textOf({ text: output, file: output_file, saltenv }, {
        missing: "Please specify a valid output text or file",
        unread: "Please specify a valid file or text.",
      }, context);
      const indexFile = setting("textfsm_index_file", given.index_file, context) ?? "index";
      const place = { indexFile, attributes: { Command: command, [column]: wanted } };
      try {
        const table = tableOf(readIndexed(cached.slice(0, cached.lastIndexOf("/")), place), text);
        return rowsAsMaps(table.header, table.rows);
      } catch (error) {
        if (!(error instanceof NoTemplateError)) throw error;
        throw new Refused(`Unable to process the output: ${error.message}`, { cause: error });
      }
    }),
});
