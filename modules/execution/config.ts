/**
 * Execution module `config`: one view of options, grains, pillar and the master's options that pillar carries.
 * Source: Salt 3008.3 `salt/modules/config.py`.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { describe } from "#lib/plugins/docs.ts";
import { filterGlob } from "#lib/text/glob.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isSdbText } from "#lib/config/sdb_address.ts";
import { masterOpts, type OmittedSources, optionSources } from "#lib/config/option_sources.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { DEFAULT_TARGET_DELIM, traverse, traverseOr } from "#lib/yaml/traverse.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Default values. Salt's list has more, of modules that do not exist here. */
const DEFAULTS: ValueMap = map({
  "test.foo": "unconfigured",
  "hosts.file": "/etc/hosts",
  "aliases.file": "/etc/aliases",
  "docker.exec_driver": "docker-exec",
  "docker.compare_container_networks": {
    static: ["Aliases", "Links", "IPAMConfig"],
    automatic: ["IPAddress", "Gateway", "GlobalIPv6Address", "IPv6Gateway"],
  },
});

/** Schemes that Salt fetches files from. */
const FILE_SCHEMES = ["salt", "file", "http", "https", "ftp", "swift", "s3"];

const OMIT = {
  omit_opts: p.bool(false),
  omit_grains: p.bool(false),
  omit_pillar: p.bool(false),
  omit_master: p.bool(false),
};

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of a name or a path such as `pkg:apache`: from the minion's options, else its grains, else its pillar, else\n" +
      "the master's options (in the pillar with `pillar_opts: True`); else `default`.\n" +
      "With `merge`, all four are merged before the look-up: `recurse` merges maps below maps, `overwrite` only the top.\n" +
      "`omit_opts`, `omit_grains`, `omit_pillar` and `omit_master` leave one of them out.",
    "config.get pkg:apache",
    "config.get lxc.container_profile:centos merge=recurse",
  ),
  // An address of sdb leads to files and services.
  permissions: "all",
  params: {
    key: p.any(),
    default: p.any(""),
    delimiter: p.str(DEFAULT_TARGET_DELIM),
    merge: p.str(null),
    omit_opts: OMIT.omit_opts,
    omit_pillar: OMIT.omit_pillar,
    omit_master: OMIT.omit_master,
    omit_grains: OMIT.omit_grains,
  },
  run: ({ key, default: fallback, delimiter, merge, ...omit }, context) => {
    if (merge !== null) {
      if (merge !== "recurse" && merge !== "overwrite") {
        context.log("warning", `Unsupported merge strategy '${merge}'. Falling back to 'recurse'.`);
      }
      // Salt's merge ignores the options to omit.
      const all = sources(context).reverse().reduce((merged, next) => mergeMaps(merged, next, merge !== "overwrite"));
      return traverseOr(all, key, { delimiter, fallback });
    }
    for (const source of sources(context, omit)) {
      const value = traverse(source, key, delimiter);
      if (value === undefined) continue;
      return isSdbText(value) ? context.call("sdb.get", [value]) : value;
    }
    return fallback;
  },
});

export const option: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return an option by its whole name, looked for as config.get does. With `wildcard` the name is a glob, and the result a\n" +
      "map of all that it matches. `omit_all` uses only the built-in defaults.",
    "config.option hosts.file",
    "config.option '*' omit_all=True wildcard=True",
  ),
  params: {
    value: p.str(),
    default: p.any(null),
    ...OMIT,
    omit_all: p.bool(false),
    wildcard: p.bool(false),
  },
  run: ({ value, default: fallback, omit_all, wildcard, ...omit }, context) => {
    const looked = omit_all ? [DEFAULTS] : sources(context, omit);
    if (!wildcard) {
      const source = looked.find((source) => source.has(value));
      return source === undefined ? fallback ?? "" : source.get(value);
    }
    const values: ValueMap = new Map();
    for (const source of looked) {
      const names = [...source.keys()].filter((name) => typeof name === "string");
      for (const name of filterGlob(value, names)) if (!values.has(name)) values.set(name, source.get(name) ?? null);
    }
    return values.size > 0 ? values : fallback ?? values;
  },
});

export const merge: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return an option as config.option does, but merge the lists and maps of that name in options, pillar and the master's\n" +
      "options.",
    "config.merge schedule",
  ),
  params: {
    value: p.str(),
    default: p.any(""),
    omit_opts: p.bool(false),
    omit_master: p.bool(false),
    omit_pillar: p.bool(false),
  },
  run: ({ value, default: fallback, omit_opts, omit_master, omit_pillar }, { opts, pillar }) => {
    let merged: Value | undefined = undefined;
    const looked = [
      omit_opts ? null : optsValues(opts),
      omit_master ? null : masterOpts(pillar),
      omit_pillar ? null : pillar,
    ];
    for (const source of looked) {
      const next = source?.get(value);
      if (next === undefined) continue;
      if (merged === undefined) merged = next;
      else if (isMap(merged) && isMap(next)) merged = new Map([...next, ...merged]);
      else if (Array.isArray(merged) && Array.isArray(next)) merged = [...merged, ...next];
      if (typeof merged === "string") return merged;
    }
    return merged ?? DEFAULTS.get(value) ?? fallback;
  },
});

export const dot_vals: ModuleFunction<JobContext> = fn({
  doc: describe("Return all options whose names begin with a module's name and a dot.", "config.dot_vals host"),
  params: { value: p.str() },
  run: ({ value }, { opts, pillar }) => {
    const begins = ([name]: [Value, Value]) => typeof name === "string" && name.startsWith(`${value}.`);
    return new Map([...[...masterOpts(pillar)].filter(begins), ...[...optsValues(opts)].filter(begins)]);
  },
});

export const items: ModuleFunction<JobContext> = fn({
  doc: describe("Return all options of the running minion, defaults included.", "config.items"),
  params: {},
  run: (_bound, { opts }) => optsValues(opts),
});

export const backup_mode: ModuleFunction<JobContext> = fn({
  doc: describe("Return the mode of backups: the argument, or the option `backup_mode`.", "config.backup_mode"),
  params: { backup: p.str("") },
  run: ({ backup }, { opts }) => backup === "" ? opts.backup_mode : backup,
});

export const manage_mode: ModuleFunction<JobContext> = fn({
  doc: describe("Return a file mode as a string of four digits.", "config.manage_mode 644"),
  params: { mode: p.any() },
  run: ({ mode }) => {
    if (mode === null) return null;
    const digits = stripChars(str(mode).replace("0o", "0"), "\"'").replace(/^0+/, "");
    return digits.padStart(4, "0");
  },
});

export const valid_fileproto: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether files can be fetched from a URI of this scheme.",
    "config.valid_fileproto salt://path/to/file",
  ),
  params: { uri: p.str() },
  run: ({ uri }) => FILE_SCHEMES.includes(/^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1].toLowerCase() ?? ""),
});

/** The sources of options, in the order of precedence; the defaults are the last. */
function sources(context: JobContext, omit?: OmittedSources): ValueMap[] {
  return [...optionSources(context, omit), DEFAULTS];
}

function mergeMaps(into: ValueMap, from: ValueMap, recurse: boolean): ValueMap {
  const merged = new Map(into);
  for (const [key, value] of from) {
    const old = merged.get(key);
    merged.set(key, recurse && isMap(old) && isMap(value) ? mergeMaps(old, value, true) : value);
  }
  return merged;
}

export const gather_bootstrap_script: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return [False, an error text], as Salt does without salt-cloud. Use cp.get_url to fetch the script.",
    "config.gather_bootstrap_script",
  ),
  params: { bootstrap: p.any(null) },
  run: () => [false, "config.gather_bootstrap_script is unavailable"],
});
