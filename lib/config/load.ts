/**
 * The configuration of a node: files, command line and defaults made into checked, typed options.
 *
 * `files.ts` reads and merges; the tables of `options.ts` say what may be written. Here a bad value becomes an error
 * that names file, line and option, and an unknown option becomes a warning that suggests the nearest name. Options
 * that depend on others are derived as in Salt: paths under `root_dir`, the id, the master's port. Source: salt/config
 * (apply_master_config, apply_minion_config, client_config).
 * @module
 */

import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { dirName } from "#lib/os/paths.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { isTrustedFile } from "#lib/os/trusted_path.ts";
import { clientFile, configFile, DEFAULT_CONFIG_DIR, PROCESS, type ProcessEnvironment } from "./place.ts";
import { type ReadConfig, readConfigFile, readConfigFiles, type Written, type WrittenOptions } from "./files.ts";
import { isMasterless, type MasterlessOpts } from "./masterless.ts";
import { ConfigError, messageOf } from "#lib/errors.ts";
import { type EntryOpts, masterText, readMasterEntries } from "./master_entries.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { isGlob } from "#lib/text/glob.ts";
import { cacheMinionId, findMinionId, isIpv4Address } from "./node_id.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { checkOption, type Option } from "./option_types.ts";
import { UNNEEDED_CLUSTER_OPTIONS } from "./cluster_options.ts";
import { isComplete, type MasterOpts, type MinionOpts, OPTION_TABLES, type OptsOf, type Role } from "./options.ts";
import { absolutePathIn, isUri, underRoot } from "#lib/os/root_path.ts";
import { refusedOptionNames, saltOptionNames } from "./unbuilt_options.ts";
import { optsValues } from "./opts_map.ts";
import { withSdbValues } from "./sdb_address.ts";
import { equals, isMap, str, toValue, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Settings of modules whose names have no dot; modules read them by `config.get`. */
const MODULE_SETTINGS: ReadonlySet<string> = new Set([
  "x509_signing_policies",
  // Options of returners.
  "multi_returner",
  ...["mysql", "pgjsonb", "postgres", "rawfile_json", "redis", "smtp", "sqlite3", "syslog", "webhook"],
]);

/** What to load. */
export interface ConfigRequest {
  /** The directory of the configuration (`--config-dir`). Default: `SALT_CONFIG_DIR`, else `/etc/salt`. */
  readonly configDir?: string;
  /** What the command line set, by option; it wins. Paths are seen from the working directory, not from `root_dir`. */
  readonly overrides?: Readonly<Record<string, Value>>;
  /** Default: the process's own. */
  readonly environment?: ProcessEnvironment;
  /**
   * Whether files are read.
   * @default {true}
   */
  readonly readsFiles?: boolean;
}

/** Options, and warnings for the user. */
export interface LoadedConfig<O> {
  /** The options, checked and complete. */
  readonly opts: O;
  /** One line each, naming file, line and option. */
  readonly warnings: string[];
  /** What was read, a line each, for the log at the level debug. */
  readonly steps?: readonly string[];
}

/** Old names that are still accepted, with today's names. */
const RENAMED: Readonly<Record<string, string>> = {
  environment: "saltenv",
  client_acl: "publisher_acl",
  client_acl_blacklist: "publisher_acl_blacklist",
  cluster_port: "cluster_pool_port",
};

/**
 * Loads the master's configuration: `<configDir>/master`, `master.d/*.conf` and the files that they include.
 * @throws {ConfigError} For an unreadable file and for an invalid value.
 */
export function loadMasterConfig(request: ConfigRequest = {}): LoadedConfig<MasterOpts> {
  const draft = newDraft("master", request);
  const loaded = finishMaster(draft);
  refuseUnbuiltProtection(draft);
  warnNotBuilt(draft);
  return loaded;
}

/**
 * Loads the master's configuration for the operator's commands: as {@linkcode loadMasterConfig}, then the user's own
 * `~/.saltrc` (or `$XDG_CONFIG_HOME/salt/saltrc`, or what `SALT_CLIENT_CONFIG` names), for root only if nobody else can
 * change it. A master that listens on every
 * address is reached over loopback.
 * @throws {ConfigError} As {@linkcode loadMasterConfig}.
 */
export function loadClientConfig(request: ConfigRequest = {}): LoadedConfig<MasterOpts> {
  const draft = newDraft("master", request);
  const own = clientFile(draft.environment);
  // sudo may leave a user's HOME to root, and the file can name code to run.
  const isNamed = own === absolutePathIn(draft.environment.env("SALT_CLIENT_CONFIG") ?? "", draft.environment.cwd);
  if (isFile(own) && Deno.uid() === 0 && !isNamed && !isTrustedFile(own)) {
    draft.warnings.push(`${own} is ignored: other users than root may change it`);
  } else {
    addFile(draft, own);
  }
  const { opts, warnings, steps } = finishMaster(draft);
  if (opts.interface === "0.0.0.0") opts.interface = "127.0.0.1";
  if (opts.interface === "::") opts.interface = "::1";
  return { opts, warnings, steps };
}

function finishMaster(draft: Draft): LoadedConfig<MasterOpts> {
  check(draft);
  const isClustered = deriveCluster(draft);
  deriveId(draft, isClustered ? "" : "_master");
  derivePaths(draft);
  if (draft.written.has("keep_jobs") && !draft.written.has("keep_jobs_seconds")) {
    draft.values.keep_jobs_seconds = Number(draft.values.keep_jobs) * 3600;
  }
  draft.values.token_dir = `${draft.values.cachedir}/tokens`;
  return finish(draft, "master");
}

/**
 * Sets what is otherwise by default in a cluster.
 * @returns Whether the master belongs to one.
 */
function deriveCluster({ values, written, warnings }: Draft): boolean {
  const unneeded = [...written].filter(([name, { file, value }]) =>
    file !== undefined && value !== null && UNNEEDED_CLUSTER_OPTIONS.includes(name)
  );
  for (const [file, set] of Map.groupBy(unneeded, ([, { file }]) => file)) {
    const names = set.map(([name]) => name).join(", ");
    warnings.push(`${file}: not needed, and without effect: ${names}: masters of a cluster meet in the database`);
  }
  if (values.cluster_id === null || values.cluster_id === "") return false;
  for (const name of ["master_job_cache", "event_log"]) if (!written.has(name)) values[name] = "postgresql";
  return true;
}

/** Options of {@linkcode loadMinionConfig}. */
export interface MinionConfigRequest extends ConfigRequest {
  /** Whether an id made from the host's name is written to the `minion_id` file, as the minion itself does. */
  readonly cacheId?: boolean;
}

/**
 * Loads the minion's configuration: `<configDir>/minion`, `minion.d/*.conf` and what they include.
 * @throws {ConfigError} For an unreadable file and for a bad value.
 */
export function loadMinionConfig(request: MinionConfigRequest = {}): LoadedConfig<MinionOpts> {
  const draft = newDraft("minion", request);
  check(draft);
  deriveId(draft, "", request.cacheId);
  derivePaths(draft);
  deriveMaster(draft);
  refuseUnbuiltProtection(draft);
  warnNotBuilt(draft);
  return finish(draft, "minion");
}

/**
 * A minion's options for the host of the master with these options, which runs execution modules itself: those that
 * both have are the master's, the others have their defaults. No file is read.
 */
export function masterAsMinion(master: MasterOpts): MinionOpts {
  const table = OPTION_TABLES.minion;
  const shared = Object.entries(master).filter(([name]) => name !== "default_include" && Object.hasOwn(table, name));
  const overrides = Object.fromEntries(shared.map(([name, value]) => [name, toValue(value)]));
  const { opts } = loadMinionConfig({
    overrides: { ...overrides, id: master.id, file_client: "local" },
    readsFiles: false,
  });
  const { conf_file, config_dir, user, extension_modules } = master;
  return { ...opts, conf_file, config_dir, user, extension_modules, extra: optsValues(master).set("__role", "master") };
}

/**
 * Options while they are loaded. Functions work on it and no methods, since executables compile functions ahead and
 * methods in each start.
 */
interface Draft {
  readonly role: Role;
  readonly environment: ProcessEnvironment;
  readonly overrides: Readonly<Record<string, Value>>;
  readonly written: WrittenOptions;
  /** What the options are so far. */
  readonly values: Record<string, unknown>;
  readonly warnings: string[];
  readonly steps: string[];
  /** Options that were written and are not built, in the order of the table, with a sentence each. */
  readonly notBuilt: [name: string, text: string][];
}

function newDraft(role: Role, request: ConfigRequest): Draft {
  const environment = request.environment ?? PROCESS;
  const file = configFile(role, request.configDir, environment);
  const { options: written, warnings, steps }: ReadConfig = request.readsFiles === false
    ? { options: new Map(), warnings: [], steps: [] }
    : readConfigFiles(file, { defaultInclude: `${role}.d/*.conf`, home: environment.env("HOME") });
  const directory = dirName(file);
  // A missing default directory is not the user's mistake.
  if (directory !== DEFAULT_CONFIG_DIR && !isDirectory(directory)) {
    warnings.push(`${directory}: there is no such configuration directory; every option has its default`);
  }
  const values = { conf_file: file, config_dir: directory };
  return { role, environment, overrides: request.overrides ?? {}, written, values, warnings, steps, notBuilt: [] };
}

/** Adds the options of one more file, if it is there; they win over those read so far. */
function addFile(draft: Draft, path: string): void {
  for (const [name, written] of readConfigFile(path) ?? []) draft.written.set(name, written);
}

/** The loaded options. `check` has filled in and checked every option of the table. */
function finish<R extends Role>(draft: Draft, role: R): LoadedConfig<OptsOf[R]> {
  const values: object = draft.values;
  if (!isComplete(role, values)) throw new Error(`the loader of the ${role}'s options has left some out`);
  return { opts: values, warnings: draft.warnings, steps: draft.steps };
}

/** Fills `values` with every option of the table: the checked value that was written, else the default. */
function check(draft: Draft): void {
  const table = OPTION_TABLES[draft.role];
  rename(draft);
  readSdb(draft);
  for (const [name, value] of Object.entries(draft.overrides)) draft.written.set(name, { value });
  for (const [name, option] of Object.entries(table)) {
    const written = draft.written.get(name);
    draft.values[name] = written === undefined
      ? copy(option.default)
      : checkValue(draft, name, option, { ...written, value: reshape(name, written.value) });
  }
  draft.values.extra = extraOptions(draft, new Set(Object.keys(table)));
  for (const name of ["file_roots", "pillar_roots"]) {
    draft.values[name] = directories(name, draft.values[name] as ValueMap, draft.written.get(name));
  }
  draft.values.user ??= draft.environment.user();
}

/** Puts what addresses of sdb lead to in their place, anywhere in the values. */
function readSdb(draft: Draft): void {
  const { written, environment } = draft;
  for (const [option, there] of written) {
    const value = withSdbValues(there.value, {
      profile: (name) => written.get(name)?.value,
      variable: (name) => environment.env(name),
      tell: (text) => warn(draft, there, option, text),
      refuse: (text) => fail(draft, option, text),
    });
    if (value !== there.value) written.set(option, { ...there, value });
  }
}

function checkValue(draft: Draft, name: string, option: Option, written: Written): Value {
  const { file, line, value } = written;
  const checked = checkOption(option, value);
  if ("problem" in checked) throw new ConfigError(checked.problem, { file, line, option: name });
  if (checked.notBuilt !== undefined) draft.notBuilt.push([name, checked.notBuilt]);
  if (checked.unknown !== undefined) warn(draft, written, name, checked.unknown);
  if (checked.alias) warn(draft, written, name, `${str(value)} is called ${str(checked.value)}`);
  return checked.value;
}

/** Warns of options that belong to parts of Salt that are not implemented; the operator's commands do not repeat it. */
function warnNotBuilt(draft: Draft): void {
  for (const [name, text] of draft.notBuilt) warn(draft, draft.written.get(name) ?? { value: null }, name, text);
  const table = OPTION_TABLES[draft.role];
  const idle = [...draft.written].filter(([name, { file, value }]) => {
    if (file === undefined) return false;
    if (!Object.hasOwn(table, name)) return saltOptionNames().has(name) && !ofOtherRole(draft, name);
    return table[name].noEffect === "not built" && value !== null && !equals(value, table[name].default);
  });
  for (const [file, set] of Map.groupBy(idle, ([, { file }]) => file)) {
    draft.warnings.push(`${file}: not built yet, and without effect: ${set.map(([name]) => name).join(", ")}`);
  }
}

/** @throws {ConfigError} If an option is set that protects something and has no effect. */
function refuseUnbuiltProtection(draft: Draft): void {
  const { role, written } = draft;
  for (const option of refusedOptionNames()) {
    const set = written.get(option);
    if (set === undefined || !truthy(set.value)) continue;
    if (!Object.hasOwn(OPTION_TABLES[role], option) && ofOtherRole(draft, option)) continue;
    const { file, line } = set;
    throw new ConfigError(`is not built yet, and cannot be ignored: it protects this ${role}`, { file, line, option });
  }
}

function rename(draft: Draft): void {
  for (const [old, name] of Object.entries(RENAMED)) {
    const written = draft.written.get(old);
    if (written === undefined) continue;
    draft.written.delete(old);
    if (draft.written.has(name)) {
      warn(draft, written, old, `ignored: ${name}, its new name, is set as well`);
    } else {
      warn(draft, written, old, `is called ${name} now`);
      draft.written.set(name, written);
    }
  }
}

/** Whether the other role has the option. Most configurations never ask, and its table is not made. */
function ofOtherRole({ role }: Draft, name: string): boolean {
  return Object.hasOwn(OPTION_TABLES[role === "master" ? "minion" : "master"], name);
}

/** Options that no table lists. Warns about them, except for settings of modules (`mysql.host`). */
function extraOptions(draft: Draft, known: ReadonlySet<string>): ValueMap {
  const extra: ValueMap = new Map();
  const idle = new Map<string, string[]>();
  for (const [name, written] of draft.written) {
    if (known.has(name)) continue;
    extra.set(name, written.value);
    if (name.includes(".") || MODULE_SETTINGS.has(name) || written.file === undefined) continue;
    // A profile of sdb has a name of the operator's.
    if (isMap(written.value) && written.value.has("driver")) continue;
    if (ofOtherRole(draft, name)) {
      idle.set(written.file, [...idle.get(written.file) ?? [], name]);
      continue;
    }
    if (saltOptionNames().has(name)) continue; // warnNotBuilt() names it
    warn(draft, written, name, `unknown option${didYouMean(name, [...known, ...saltOptionNames()])}`);
  }
  for (const [file, names] of idle) {
    draft.warnings.push(`${file}: no effect on this ${draft.role}: ${names.join(", ")}`);
  }
  return extra;
}

function warn(draft: Draft, { file, line }: Written, option: string, text: string): void {
  draft.warnings.push(new ConfigError(text, { file, line, option }).message);
}

function textOf(draft: Draft, name: string): string {
  return String(draft.values[name]);
}

function fail(draft: Draft, name: string, problem: string): never {
  const { file, line } = draft.written.get(name) ?? {};
  throw new ConfigError(problem, { file, line, option: name });
}

/** Sets `root_dir` and `id`; a generated id gets `suffix`. */
function deriveId(draft: Draft, suffix: string, cache = false): void {
  const values = draft.values;
  values.root_dir = withoutEndSlashes(absolutePathIn(textOf(draft, "root_dir"), draft.environment.cwd));
  let id = values.id === null ? "" : textOf(draft, "id");
  const isDerived = id === "";
  if (isDerived) {
    const file = underRoot(textOf(draft, "root_dir"), `${DEFAULT_CONFIG_DIR}/minion_id`);
    const derived = findMinionId({
      minion_id_caching: values.minion_id_caching === true,
      minion_id_lowercase: values.minion_id_lowercase === true,
      minion_id_remove_domain: values.minion_id_remove_domain as Value,
    }, { cache: file, names: draft.environment.hostNames() });
    id = derived.id;
    if (cache && !derived.cached && values.minion_id_caching === true) keepId(draft, id, file);
  }
  const domain = values.append_domain;
  if (typeof domain === "string" && domain !== "" && !isIpv4Address(id) && !id.endsWith(domain) && !id.endsWith(".")) {
    id = `${id}.${domain}`;
  }
  if (/[/\\\0]/.test(id) || id === "." || id === "..") fail(draft, "id", `${JSON.stringify(id)} cannot name a node`);
  values.id = isDerived ? id + suffix : id;
}

function keepId(draft: Draft, id: string, file: string): void {
  try {
    cacheMinionId(id, file);
  } catch (error) {
    draft.warnings.push(`The id ${id} cannot be kept in ${file}: ${messageOf(error)}`);
  }
}

/** Makes every path absolute, under `root_dir`. */
function derivePaths(draft: Draft): void {
  const { values } = draft;
  const root = textOf(draft, "root_dir"), id = textOf(draft, "id");
  deriveLogFile(draft);
  for (const [name, option] of Object.entries(OPTION_TABLES[draft.role])) {
    const path = values[name];
    if (option.type !== "path" || typeof path !== "string") continue;
    if (isUri(path)) {
      if (!LOG_FILE.test(name)) fail(draft, name, `must be a path, not ${path}`);
      draft.notBuilt.push([name, `${path} is not built yet: ${option.default} is used`]);
      values[name] = underRoot(root, String(option.default));
      continue;
    }
    values[name] = Object.hasOwn(draft.overrides, name)
      ? absolutePathIn(path, draft.environment.cwd)
      : underRoot(root, path);
  }
  const appended = Array.isArray(values.append_minionid_config_dirs) ? values.append_minionid_config_dirs : [];
  for (const name of ["pki_dir", "cachedir", "extension_modules"]) {
    if (appended.includes(name) && typeof values[name] === "string") values[name] += `/${id}`;
  }
  if (appended.includes("pidfile")) {
    values.pidfile = textOf(draft, "pidfile").replace(/[^/]*$/, (file) => `salt/${id}/${file}`);
  }
  // Unix socket paths are short: if `sock_dir` is too long, a directory in the cache directory is used.
  if (textOf(draft, "sock_dir").length > textOf(draft, "cachedir").length + 10) {
    values.sock_dir = `${values.cachedir}/.salt-unix`;
  }
  values.extension_modules ??= `${values.cachedir}/extmods`;
}

function deriveLogFile(draft: Draft): void {
  const { log_dir: directory, log_file: file } = draft.values;
  if (typeof directory !== "string" || typeof file !== "string" || Object.hasOwn(draft.overrides, "log_file")) return;
  if (!draft.written.has("log_file")) draft.values.log_file = `${directory}/${draft.role}`;
  else if (!file.startsWith("/")) draft.values.log_file = `${directory}/${file}`;
}

/**
 * Sets `masters`, and of the first of them `master` and `master_port`. An entry that cannot be read is left out, so
 * that a slip does not keep the minion from its other masters.
 */
function deriveMaster(draft: Draft): void {
  const { values } = draft;
  const written = Array.isArray(values.master) ? values.master.map(String) : [];
  values.masters = written;
  values.master = written[0] ?? "";
  if (written.every((text) => text === "")) {
    if (!isMasterless(values as MasterlessOpts)) fail(draft, "master", "names no master");
    return;
  }
  if (values.master_type === "func") return;
  const { entries, problems } = readMasterEntries(written, values as EntryOpts);
  if (entries.length === 0) fail(draft, "master", problems[0]);
  for (const problem of problems) draft.warnings.push(`master: ${problem}: the others of the list are used`);
  values.masters = entries.map(masterText);
  values.master = entries[0].host;
  values.master_port = entries[0].port;
}

/** Options that in Salt may also name a system log: `file:///dev/log`. */
const LOG_FILE = /log_?file$/;

/** Other ways to write an option that Salt takes: node groups as a list of maps, returners as a list. */
function reshape(name: string, value: Value): Value {
  if (name === "nodegroups" && Array.isArray(value) && value.every(isMap)) {
    return new Map(value.flatMap((group) => [...group]));
  }
  return name === "return" && Array.isArray(value) ? value.map(str).join(",") : value;
}

/** File or pillar roots with text for environments, and patterns replaced by the directories that they match. */
function directories(name: string, roots: ValueMap, written: Written | undefined): ValueMap {
  return new Map([...roots].map(([env, list]) => {
    const paths = list === null ? [] : list;
    if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
      const { file, line } = written ?? {};
      throw new ConfigError(`${str(env)} must be a list of directories`, { file, line, option: name });
    }
    return [str(env), paths.flatMap((path) => isGlob(path) && path.startsWith("/") ? globPaths(path) : [path])];
  }));
}

/** A copy that shares no list or map: defaults must not change when opts do. */
function copy(value: Value): Value {
  if (Array.isArray(value)) return value.map(copy);
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, copy(item)]));
  return value;
}
