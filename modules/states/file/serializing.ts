/**
 * State module `file`: data that are written in a format.
 * Source: Salt 3008.3 `salt/states/file.py` serialize.
 * @module
 */

import { isHostError, reasonOf } from "./common.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { copyForTrial, refusalOf, TrialFile } from "./trial.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { findSerializer } from "#lib/render/own_serializer.ts";
import type { Serializer } from "#lib/render/serializers.ts";
import { changedValues } from "#lib/values/dict_diff.ts";
import { updateMap } from "#lib/values/dict_update.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options of a serializer: a map, or a list of maps of one key. */
function optionsOf(given: Value): ValueMap {
  if (isMap(given)) return given;
  return new Map(listOrEmpty(given).filter(isMap).flatMap((one) => [...one]));
}

/** The options that Salt gives its serializers by default. */
function defaultOptions(serializer: string, encoding: string | null): ValueMap {
  if (serializer === "yaml") {
    return map({ default_flow_style: false, ...encoding ? { allow_unicode: true } : {} });
  }
  return serializer === "json"
    ? map({ indent: 2, sort_keys: true, ...encoding ? { ensure_ascii: false } : {} })
    : new Map();
}

/** The data, with those of the file that is there if they are merged; or a result that ends the state. */
type Merged = { readonly data: Value; readonly existing?: ValueMap } | { readonly result: StateResult };

async function mergeExisting(
  name: string,
  { data, serializer, options }: {
    readonly data: Value;
    readonly serializer: Serializer;
    readonly options: ValueMap;
  },
): Promise<Merged> {
  if (!isFile(name)) return { data };
  let existing: Value;
  try {
    existing = await serializer.deserialize(Deno.readFileSync(name), options, name);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    return { result: failState(name, `Failed to deserialize existing data: ${error.message}`) };
  }
  if (existing === null) return { data };
  if (!isMap(existing) || !isMap(data)) {
    throw new TypeError("Cannot update using non-dict types in dictupdate.update()");
  }
  const merged = updateMap(existing, data, { mergeLists: false });
  if (equals(existing, merged)) {
    return { result: { ...startResult(name), comment: `The file ${name} is in the correct state` } };
  }
  return { data: merged, existing };
}

/** Text with a newline; bytes of a binary format as they are. */
function withNewline(contents: Value): Value {
  return typeof contents === "string" ? `${contents}\n` : contents;
}

interface Writing {
  readonly name: string;
  readonly contents: Value;
  readonly owners: ValueMap;
  readonly options: ValueMap;
  readonly showChanges: boolean;
  /** Further arguments of the state. */
  readonly kwargs: ValueMap;
}

async function plan(
  { name, contents, owners, showChanges, kwargs }: Writing,
  context: StateContext,
): Promise<StateResult> {
  const fixed = map({
    name,
    source: null,
    source_hash: new Map(),
    source_hash_name: null,
    attrs: null,
    template: null,
  });
  const more = map({ context: null, defaults: null, saltenv: saltenvOf(context), contents, skip_verify: false });
  const changes = await context.call(
    "file.check_managed_changes",
    [],
    new Map([...kwargs, ...fixed, ...owners, ...more]),
  );
  if (!isMap(changes) || changes.size === 0) {
    return { ...startResult(name), comment: `The file ${name} is in the correct state` };
  }
  if (!showChanges) changes.set("diff", "<show_changes=False>");
  return { name, result: null, comment: `Dataset will be serialized and stored into ${name}`, changes };
}

async function write(path: string, writing: Writing, context: StateContext): Promise<StateResult> {
  const { contents, owners, options, showChanges } = writing;
  const fixed = map({
    name: path,
    sfn: "",
    ret: null,
    source: null,
    source_sum: new Map(),
    attrs: null,
    template: null,
  });
  const more = map({ saltenv: saltenvOf(context), show_changes: showChanges, contents });
  return stateResult(await context.call("file.manage_file", [], new Map([...fixed, ...owners, ...options, ...more])));
}

/** What `check_cmd` has against the new file; `undefined` if nothing. */
async function trial(
  writing: Writing,
  { command, directory, suffix }: {
    readonly command: string;
    readonly directory: string | null;
    readonly suffix: string;
  },
  context: StateContext,
): Promise<Partial<StateResult> | undefined> {
  using file = new TrialFile(directory, suffix);
  try {
    const problem = await copyForTrial(writing.name, file.path, context);
    if (problem !== undefined) return { result: false, comment: problem };
    const done = await write(file.path, writing, context);
    return done.changes.size === 0 ? undefined : await refusalOf(command, file.path, context);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { result: false, comment: `Unable to check_cmd file: ${reasonOf(error)}` };
  }
}

export const serialize: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a file has data in a format.

name
    The absolute path.

dataset, dataset_pillar
    The data, or the pillar key of them.

serializer
    The format: yaml, json, msgpack, configparser. \`formatter\` is another name of it. Default: yaml.

serializer_opts, deserializer_opts
    Options of the format: a list of maps.

merge_if_exists : False
    Whether the data are merged over those that the file has.

user, group, mode, backup, makedirs, show_changes, create, encoding, encoding_errors, check_cmd, tmp_dir, tmp_ext
    As for file.managed.`,
  params: {
    name: p.str(),
    dataset: p.any(null),
    dataset_pillar: p.any(null),
    user: p.any(null),
    group: p.any(null),
    mode: p.any(null),
    backup: p.any(""),
    makedirs: p.any(false),
    show_changes: p.any(true),
    create: p.any(true),
    merge_if_exists: p.any(false),
    encoding: p.str(null),
    encoding_errors: p.str("strict"),
    serializer: p.any(null),
    serializer_opts: p.any(null),
    deserializer_opts: p.any(null),
    check_cmd: p.any(null),
    tmp_dir: p.str(null),
    tmp_ext: p.str(""),
  },
  varKwargs: "kwargs",
  keywords: ["env", "formatter"],
  run: async ({ name: givenName, dataset, dataset_pillar, ...given }, context, { kwargs }) => {
    const name = expandUser(givenName);
    if (name === "") return failState(name, "Must provide name to file.serialize");
    if (isDirectory(name)) return failState(name, `Specified target ${name} is a directory`);
    if (!truthy(given.create) && !isFile(name)) {
      return { ...startResult(name), comment: `File ${name} is not present and is not set for creation` };
    }
    const formatter = kwargs.get("formatter") ?? null;
    if (truthy(given.serializer) && truthy(formatter)) {
      return failState(name, "Only one of serializer and formatter are allowed");
    }
    if (truthy(dataset) && truthy(dataset_pillar)) {
      return failState(name, "Only one of 'dataset' and 'dataset_pillar' is permitted");
    }
    const requested = [given.serializer, formatter].find(truthy) ?? "yaml";
    const serializer = str(requested).toLowerCase();
    const data = truthy(dataset_pillar)
      ? await context.call("pillar.get", [dataset_pillar], map({ unmask: true }))
      : dataset;
    if (data === null) return failState(name, "Neither 'dataset' nor 'dataset_pillar' was defined");
    const does = await findSerializer(serializer, context);
    if (does === undefined) {
      return failState(
        name,
        `The ${serializer} serializer could not be found. It either does not exist or its prerequisites are not installed.`,
      );
    }
    const reading = optionsOf(given.deserializer_opts);
    const merged: Merged = truthy(given.merge_if_exists)
      ? await mergeExisting(name, { data, serializer: does, options: reading })
      : { data };
    if ("result" in merged) return merged.result;
    const writingOptions = new Map([
      ...defaultOptions(serializer, given.encoding),
      ...optionsOf(given.serializer_opts),
    ]);
    const { user, group, backup, encoding, encoding_errors, makedirs } = given;
    const writing: Writing = {
      name,
      contents: withNewline(await does.serialize(merged.data, writingOptions)),
      owners: map({ user, group, mode: normalizeMode(given.mode) }),
      options: map({ backup, encoding, encoding_errors, makedirs: truthy(makedirs) }),
      showChanges: truthy(given.show_changes),
      kwargs: new Map([...kwargs].filter(([key]) => key !== "env" && key !== "formatter")),
    };
    const ret = await bringAbout(writing, given, context);
    if (!truthy(given.merge_if_exists) && truthy(given.deserializer_opts)) {
      ret.warnings = ["The 'deserializer_opts' option is ignored unless merge_if_exists is set to True."];
    }
    if (merged.existing !== undefined && isMap(merged.data)) {
      ret.changes.set("diff", changedValues(merged.existing, merged.data));
    }
    return ret;
  },
});

async function bringAbout(
  writing: Writing,
  { check_cmd, tmp_dir, tmp_ext }: {
    readonly check_cmd: Value;
    readonly tmp_dir: string | null;
    readonly tmp_ext: string;
  },
  context: StateContext,
): Promise<StateResult> {
  if (context.test) return await plan(writing, context);
  if (truthy(check_cmd)) {
    const judging = { command: str(check_cmd), directory: tmp_dir, suffix: tmp_ext };
    const refused = await trial(writing, judging, context);
    if (refused !== undefined) return { ...startResult(writing.name), ...refused };
  }
  return await write(writing.name, writing, context);
}
