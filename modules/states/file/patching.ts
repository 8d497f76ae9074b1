/**
 * State module `file`: patches.
 * Source: Salt 3008.3 `salt/states/file.py` patch.
 * @module
 */

import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError } from "#lib/errors.ts";
import { splitSaltUrl } from "#lib/files/backends/salt_url.ts";
import { dirName } from "#lib/os/paths.ts";
import { which } from "#lib/programs/which.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { existsOrThrow, isDirectory } from "#lib/os/file_kind.ts";
import { formatNested } from "#lib/output/nested.ts";
import { invoke } from "#lib/plugins/call.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options that the state sets itself. */
const OWN_OPTIONS = ["-N", "--forward", "-r", "--reject-file", "-o", "--output"];

/** The words of `options`, and the number of leading directories that they say; or what is wrong. */
function readOptions(given: Value, strip: Value): { readonly words: string[]; readonly strip: Value } | string {
  const all = Array.isArray(given) ? given.map(str) : shlexSplit(str(given));
  const refused = all.filter((word) => OWN_OPTIONS.some((one) => word.startsWith(one)));
  const words: string[] = [];
  let directories = strip;
  for (let i = 0; i < all.length; i++) {
    const word = all[i];
    const option = word.startsWith("-p") ? "-p" : word.startsWith("--strip") ? "-strip" : undefined;
    if (option === undefined) {
      words.push(word);
      continue;
    }
    const number = option === "-p"
      ? word.slice(2)
      : word.includes("=")
      ? word.slice(word.lastIndexOf("=") + 1)
      : all[++i];
    if (number === undefined || !/^\s*[+-]?\d+\s*$/.test(number)) {
      return `Invalid format for '${option}' CLI option. Consider using the 'strip' option for this state.`;
    }
    directories = Number(number);
  }
  if (refused.length > 0) return `The following CLI options are not allowed: ${refused.join(", ")}`;
  return { words, strip: directories };
}

function rejectFileProblem(path: string): string | undefined {
  const above = dirName(path);
  if (!above.startsWith("/")) return `'${path}' is not an absolute path`;
  if (isDirectory(above)) return undefined;
  return `Parent directory for reject_file '${path}' either does not exist, or is not a directory`;
}

/** The same run, in which files are written although the state is in test mode: for files of its own. */
function writing(context: StateContext): StateContext {
  const own: StateContext = {
    ...context,
    test: false,
    opts: { ...context.opts, test: false },
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context: own }),
  };
  return own;
}

/** Runs file.managed for a file of this state's own. */
async function fetchPatch(kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  const managed = await context.catalogue.states.get("file.managed");
  if (managed === undefined) throw new CommandError("'file.managed' is not available.");
  const given = { name: "file.managed", args: [], kwargs, context: writing(context) };
  return stateResult(await invoke(managed, given));
}

/** The environment that the patch is fetched from, if the state tells it and the source tells no other one. */
function environmentOf(source: string, saltenv: string | null, warnings: string[]): string | null {
  if (saltenv === null || !source.startsWith("salt://")) return null;
  const { saltenv: own } = splitSaltUrl(source);
  if (own === undefined || own === saltenv) return saltenv;
  warnings.push("Ignoring 'saltenv' option in favor of saltenv included in the source URL.");
  return null;
}

/** What one call of `patch` gives: `pid`, `retcode`, `stdout`, `stderr`. */
type Outcome = ValueMap;

function retcodeOf(outcome: Outcome): number | undefined {
  return toNumber(outcome.get("retcode"));
}

interface Patching {
  readonly name: string;
  /** Where the patch is, and where its rejected pieces go. */
  readonly patch: string;
  readonly rejects: string;
  readonly words: readonly string[];
  /** `-p1`, of a directory. */
  readonly strip: readonly string[];
  /** Whether the state says where rejected pieces are kept. */
  readonly keepsRejects: boolean;
}

async function runPatch(
  { name, words }: Patching,
  { file, options, dryRun = false }: {
    readonly file: string;
    readonly options: readonly string[];
    readonly dryRun?: boolean;
  },
  context: StateContext,
): Promise<Outcome> {
  const kwargs = map({ options: [...words, ...options], dry_run: dryRun });
  return mapOrEmpty(await context.call("file.patch", [name, file], kwargs));
}

/**
 * Checks whether the patch applies.
 * @returns How; or the result of a state that ends here.
 */
async function tryPatch(patching: Patching, context: StateContext): Promise<Outcome | StateResult> {
  const { name, patch, rejects, strip, keepsRejects } = patching;
  const output = await Deno.makeTempFile({ prefix: "__salt.tmp." });
  try {
    const options = ["-N", "-r", rejects, "-o", output, ...strip];
    const outcome = await runPatch(patching, { file: patch, options }, context);
    if (retcodeOf(outcome) === 0) return outcome;
    const stderr = str(outcome.get("stderr") ?? "");
    if (!existsOrThrow(rejects) || (await Deno.stat(rejects)).size === 0) return failState(name, stderr);
    // What was rejected can be taken out again where it is in the file already.
    const back = await runPatch(patching, { file: rejects, options: ["-R", "-f"], dryRun: true }, context);
    if (retcodeOf(outcome) === 2 && stderr !== "") return failState(name, stderr);
    if (retcodeOf(back) === 0) return { ...startResult(name), comment: "Patch was already applied" };
    const hint = keepsRejects
      ? ""
      : " Run state again using the reject_file option to save rejects to a persistent file.";
    const text = formatNested(outcome, { color: false, nestedIndent: 14 });
    return failState(
      name,
      `Patch would not apply cleanly, no changes made. Results of dry-run are below.${hint}\n\n${text}`,
    );
  } finally {
    await removeIfExists(output);
  }
}

async function applyPatch(patching: Patching, context: StateContext): Promise<StateResult> {
  const tried = await tryPatch(patching, context);
  if (!(tried instanceof Map)) return tried;
  const { name, patch, strip } = patching;
  if (context.test) return { name, result: null, comment: "The patch would be applied", changes: tried };
  const changes = await runPatch(patching, { file: patch, options: strip }, context);
  const done = retcodeOf(changes) === 0;
  return { name, result: done, comment: done ? "Patch successfully applied" : "Failed to apply patch", changes };
}

export const patch: ModuleFunction<StateContext> = stateFn({
  doc: `Apply a patch to a file or a directory, unless it is applied.

name
    The path of the file or the directory.

source
    The patch: a URL or a path, or a list, of which the first that exists is used.

source_hash, source_hash_name, skip_verify
    As for file.managed.

template, context, defaults
    An engine that renders the patch, and its variables.

options
    More options of \`patch\`, other than those that the state sets itself.

reject_file
    The file for rejected hunks. Default: they are discarded.

strip
    How many leading directories to remove from the paths in the patch. For directories.

saltenv
    The environment of the patch. Default: that of the state.`,
  params: {
    name: p.str(),
    source: p.any(null),
    source_hash: p.any(null),
    source_hash_name: p.any(null),
    skip_verify: p.bool(false),
    template: p.any(null),
    context: p.any(null),
    defaults: p.any(null),
    options: p.any(""),
    reject_file: p.str(null),
    strip: p.any(null),
    saltenv: p.str(null),
  },
  varKwargs: "kwargs",
  run: async ({ name: given, source, options, reject_file, strip, saltenv, ...download }, context, { kwargs }) => {
    const fail = (comment: string) => failState(name, comment);
    const name = expandUser(given);
    if (which("patch") === undefined) return fail("patch executable not found on minion");
    if (name === "") return fail("A file/directory to be patched is required");
    if (!name.startsWith("/")) return fail(`${name} is not an absolute path`);
    if (!existsOrThrow(name)) return fail(`${name} does not exist`);
    const warnings = ["hash", "dry_run_first"].filter((key) => kwargs.has(key))
      .map((key) => `The '${key}' argument is no longer used and has been ignored.`);
    const withWarnings = (result: StateResult) => warnings.length === 0 ? result : { ...result, warnings };
    const misplaced = reject_file === null ? undefined : rejectFileProblem(reject_file);
    if (misplaced !== undefined) return withWarnings(fail(misplaced));
    const read = readOptions(options, strip);
    if (typeof read === "string") return withWarnings(fail(read));
    const chosen = await chosenSource(source, download.source_hash, context);
    if ("problem" in chosen) return withWarnings(fail(chosen.problem));
    const url = chosen.source;
    const env = environmentOf(url, saltenv, warnings);
    const file = await Deno.makeTempFile({ prefix: "__salt.tmp." });
    const rejects = reject_file ?? await Deno.makeTempFile({ prefix: "__salt.tmp." });
    try {
      const patch = await fetchPatch(
        map({ ...download, name: file, source: url, ...env === null ? {} : { saltenv: env } }),
        context,
      );
      // Salt continues in test mode, with an empty patch, and says that it would be applied.
      if (patch.result === false) return withWarnings({ ...patch, name });
      return withWarnings(
        await applyPatch({
          name,
          patch: file,
          rejects,
          words: read.words,
          strip: isDirectory(name) && read.strip !== null ? [`-p${str(read.strip)}`] : [],
          keepsRejects: reject_file !== null,
        }, context),
      );
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return withWarnings(fail(`Failed to cache patch file ${hideCredentials(url)}: ${error.message}`));
    } finally {
      await removeIfExists(file);
      if (reject_file === null) await removeIfExists(rejects);
    }
  },
});

/** The source to use, or the reason why there is none. */
async function chosenSource(
  source: Value,
  hash: Value,
  context: StateContext,
): Promise<{ readonly source: string } | { readonly problem: string }> {
  try {
    const chosen = await context.call("file.source_list", [source, hash, saltenvOf(context)]);
    return { source: str(Array.isArray(chosen) ? chosen[0] : chosen) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { problem: error.message };
  }
}
