/**
 * The configuration of a node: files, command line and defaults made into checked, typed options.
 *
 * `files.ts` reads and merges; the tables of `options.ts` say what may be written. Here a bad value becomes an error
 * that names file, line and option, and an unknown option becomes a warning that suggests the nearest name. Options
 * that depend on others are derived as in Salt: paths under `root_dir`, the id, the master's port. Source: salt/config
 * (apply_master_config, apply_minion_config, client_config); salt-protocol.md section 12.
 * @module
 */

import { isDirectory } from "../os/file_kind.ts";
import { clientFile, configFile, DEFAULT_CONFIG_DIR, PROCESS, type Surroundings } from "./place.ts";
import { readConfigFile, readConfigFiles, type Written, type WrittenOptions } from "./files.ts";
import { ConfigError, messageOf } from "../errors.ts";
import { globPaths } from "../os/glob_paths.ts";
import { isGlob } from "../text/glob.ts";
import { parseHostPort } from "../text/host_port.ts";
import { cacheMinionId, findMinionId, isAddress } from "./node_id.ts";
import { didYouMean } from "../text/nearest_name.ts";
import { checkOption, type Option } from "./option_types.ts";
import { isComplete, type MasterOpts, type MinionOpts, OPTION_TABLES, type OptsOf, type Role } from "./options.ts";
import { absolutePath, isUri, underRoot } from "../os/root_path.ts";
import { SALT_OPTION_NAMES } from "./unbuilt_options.ts";
import { optsValues } from "./opts_map.ts";
import { equals, isMap, str, toValue, type Value, type ValueMap } from "../values/value.ts";

/** Settings of modules whose names have no dot; modules read them by `config.get`. */
const MODULE_SETTINGS: ReadonlySet<string> = new Set(["x509_signing_policies"]);

/** What to load. */
export interface ConfigRequest {
  /** The directory of the configuration (`--config-dir`). Default: `SALT_CONFIG_DIR`, else `/etc/salt`. */
  readonly configDir?: string;
  /** What the command line set, by option; it wins. Paths are seen from the working directory, not from `root_dir`. */
  readonly overrides?: Readonly<Record<string, Value>>;
  /** Default: the process's own. */
  readonly surroundings?: Surroundings;
  /** Whether files are read. @default {true} */
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
  const draft = new Draft("master", request);
  const loaded = finishMaster(draft);
  draft.tellPlanned();
  return loaded;
}

/**
 * Loads the master's configuration for the operator's commands: as {@linkcode loadMasterConfig}, then the user's own
 * `~/.saltrc` (or `$XDG_CONFIG_HOME/salt/saltrc`, or what `SALT_CLIENT_CONFIG` names). A master that listens on every
 * address is reached over loopback.
 * @throws {ConfigError} As {@linkcode loadMasterConfig}.
 */
export function loadClientConfig(request: ConfigRequest = {}): LoadedConfig<MasterOpts> {
  const draft = new Draft("master", request);
  draft.addFile(clientFile(draft.surroundings));
  const { opts, warnings, steps } = finishMaster(draft);
  if (opts.interface === "0.0.0.0") opts.interface = "127.0.0.1";
  if (opts.interface === "::") opts.interface = "::1";
  return { opts, warnings, steps };
}

function finishMaster(draft: Draft): LoadedConfig<MasterOpts> {
  draft.check();
  draft.deriveId("_master");
  draft.derivePaths();
  if (draft.isWritten("keep_jobs") && !draft.isWritten("keep_jobs_seconds")) {
    draft.values.keep_jobs_seconds = Number(draft.values.keep_jobs) * 3600;
  }
  draft.values.token_dir = `${draft.values.cachedir}/tokens`;
  return draft.finish("master");
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
  const draft = new Draft("minion", request);
  draft.check();
  draft.deriveId("", request.cacheId);
  draft.derivePaths();
  draft.deriveMaster();
  draft.tellPlanned();
  return draft.finish("minion");
}

/**
 * A minion's options for the host of the master with these options, which runs execution modules itself: those that both
 * have are the master's, the others have their defaults. No file is read.
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

/** Options while they are loaded. */
class Draft {
  /** What the options are so far. */
  readonly values: Record<string, unknown> = {};
  readonly warnings: string[];
  readonly #steps: string[];
  readonly surroundings: Surroundings;
  readonly #role: Role;
  readonly #written: WrittenOptions;
  readonly #overrides: Readonly<Record<string, Value>>;
  /** Options that were written and are not built, in the order of the table, with a sentence each. */
  readonly #notBuilt: [name: string, text: string][] = [];

  constructor(role: Role, request: ConfigRequest) {
    this.#role = role;
    this.surroundings = request.surroundings ?? PROCESS;
    this.#overrides = request.overrides ?? {};
    const file = configFile(role, request.configDir, this.surroundings);
    const read = request.readsFiles === false
      ? { options: new Map(), warnings: [], steps: [] }
      : readConfigFiles(file, {
        defaultInclude: `${role}.d/*.conf`,
        home: this.surroundings.env("HOME"),
      });
    this.#written = read.options;
    this.warnings = read.warnings;
    this.#steps = read.steps;
    this.values.conf_file = file;
    const directory = file.slice(0, file.lastIndexOf("/")) || "/";
    // A missing default directory is not the user's mistake.
    if (directory !== DEFAULT_CONFIG_DIR && !isDirectory(directory)) {
      this.warnings.push(`${directory}: there is no such configuration directory; every option has its default`);
    }
    this.values.config_dir = directory;
  }

  /** Adds the options of one more file, if it is there; they win over those read so far. */
  addFile(path: string): void {
    for (const [name, written] of readConfigFile(path) ?? []) this.#written.set(name, written);
  }

  /** The loaded options. `check` has filled in and checked every option of the table. */
  finish<R extends Role>(role: R): LoadedConfig<OptsOf[R]> {
    const values: object = this.values;
    if (!isComplete(role, values)) throw new Error(`the loader of the ${role}'s options has left some out`);
    return { opts: values, warnings: this.warnings, steps: this.#steps };
  }

  isWritten(name: string): boolean {
    return this.#written.has(name);
  }

  /** Fills `values` with every option of the table: the checked value that was written, else the default. */
  check(): void {
    const table = OPTION_TABLES[this.#role];
    this.#rename();
    for (const [name, value] of Object.entries(this.#overrides)) this.#written.set(name, { value });
    for (const [name, option] of Object.entries(table)) {
      const written = this.#written.get(name);
      this.values[name] = written === undefined
        ? copy(option.default)
        : this.#checked(name, option, { ...written, value: reshape(name, written.value) });
    }
    this.values.extra = this.#extra(new Set(Object.keys(table)));
    for (const name of ["file_roots", "pillar_roots"]) {
      this.values[name] = directories(name, this.values[name] as ValueMap, this.#written.get(name));
    }
    this.values.user ??= this.surroundings.user();
  }

  #checked(name: string, option: Option, written: Written): Value {
    const { file, line, value } = written;
    const result = checkOption(option, value);
    if ("problem" in result) throw new ConfigError(result.problem, { file, line, option: name });
    if (result.notBuilt !== undefined) this.#notBuilt.push([name, result.notBuilt]);
    if (result.alias) this.#warn(written, name, `${str(value)} is called ${str(result.value)}`);
    return result.value;
  }

  /** Warns of options that belong to parts of Salt that are not implemented; the operator's commands do not repeat it. */
  tellPlanned(): void {
    for (const [name, text] of this.#notBuilt) this.#warn(this.#written.get(name) ?? { value: null }, name, text);
    const table = OPTION_TABLES[this.#role];
    const other = OPTION_TABLES[this.#role === "master" ? "minion" : "master"];
    const idle = [...this.#written].filter(([name, { file, value }]) => {
      if (file === undefined) return false;
      if (!Object.hasOwn(table, name)) return SALT_OPTION_NAMES.has(name) && !Object.hasOwn(other, name);
      return table[name].noEffect === "not built" && value !== null && !equals(value, table[name].default);
    });
    for (const [file, set] of Map.groupBy(idle, ([, { file }]) => file)) {
      this.warnings.push(`${file}: not built yet, and without effect: ${set.map(([name]) => name).join(", ")}`);
    }
  }

  #rename(): void {
    for (const [old, name] of Object.entries(RENAMED)) {
      const written = this.#written.get(old);
      if (written === undefined) continue;
      this.#written.delete(old);
      if (this.#written.has(name)) {
        this.#warn(written, old, `ignored: ${name}, its new name, is set as well`);
      } else {
        this.#warn(written, old, `is called ${name} now`);
        this.#written.set(name, written);
      }
    }
  }

  /** Options that no table lists. Warns about them, except for settings of modules (`mysql.host`). */
  #extra(known: ReadonlySet<string>): ValueMap {
    const other = OPTION_TABLES[this.#role === "master" ? "minion" : "master"];
    const extra: ValueMap = new Map();
    const idle = new Map<string, string[]>();
    for (const [name, written] of this.#written) {
      if (known.has(name)) continue;
      extra.set(name, written.value);
      if (name.includes(".") || MODULE_SETTINGS.has(name) || written.file === undefined) continue;
      if (Object.hasOwn(other, name)) {
        idle.set(written.file, [...idle.get(written.file) ?? [], name]);
        continue;
      }
      if (SALT_OPTION_NAMES.has(name)) continue; // tellPlanned() names it
      this.#warn(written, name, `unknown option${didYouMean(name, [...known, ...SALT_OPTION_NAMES])}`);
    }
    for (const [file, names] of idle) {
      this.warnings.push(`${file}: no effect on this ${this.#role}: ${names.join(", ")}`);
    }
    return extra;
  }

  #warn({ file, line }: Written, option: string, text: string): void {
    this.warnings.push(new ConfigError(text, { file, line, option }).message);
  }

  #text(name: string): string {
    return String(this.values[name]);
  }

  #fail(name: string, problem: string): never {
    const { file, line } = this.#written.get(name) ?? {};
    throw new ConfigError(problem, { file, line, option: name });
  }

  /** Sets `root_dir` and `id`; a generated id gets `suffix`. */
  deriveId(suffix: string, cache = false): void {
    const values = this.values;
    values.root_dir = absolutePath(this.#text("root_dir"), this.surroundings.cwd).replace(/(?<=.)\/+$/, "");
    let id = values.id === null ? "" : this.#text("id");
    const made = id === "";
    if (made) {
      const file = underRoot(this.#text("root_dir"), `${DEFAULT_CONFIG_DIR}/minion_id`);
      const found = findMinionId({
        minion_id_caching: values.minion_id_caching === true,
        minion_id_lowercase: values.minion_id_lowercase === true,
        minion_id_remove_domain: values.minion_id_remove_domain as Value,
      }, { cache: file, names: this.surroundings.hostNames() });
      id = found.id;
      if (cache && !found.cached && values.minion_id_caching === true) this.#cacheId(id, file);
    }
    const domain = values.append_domain;
    if (typeof domain === "string" && domain !== "" && !isAddress(id) && !id.endsWith(domain) && !id.endsWith(".")) {
      id = `${id}.${domain}`;
    }
    if (/[/\\\0]/.test(id) || id === "." || id === "..") this.#fail("id", `${JSON.stringify(id)} cannot name a node`);
    values.id = made ? id + suffix : id;
  }

  #cacheId(id: string, file: string): void {
    try {
      cacheMinionId(id, file);
    } catch (error) {
      this.warnings.push(`The id ${id} cannot be kept in ${file}: ${messageOf(error)}`);
    }
  }

  /** Makes every path absolute, under `root_dir`. */
  derivePaths(): void {
    const { values } = this;
    const root = this.#text("root_dir"), id = this.#text("id");
    this.#deriveLogFile();
    for (const [name, option] of Object.entries(OPTION_TABLES[this.#role])) {
      const path = values[name];
      if (option.type !== "path" || typeof path !== "string") continue;
      if (isUri(path)) {
        if (!LOG_FILE.test(name)) this.#fail(name, `must be a path, not ${path}`);
        this.#notBuilt.push([name, `${path} is not built yet: ${option.default} is used`]);
        values[name] = underRoot(root, String(option.default));
        continue;
      }
      values[name] = Object.hasOwn(this.#overrides, name)
        ? absolutePath(path, this.surroundings.cwd)
        : underRoot(root, path);
    }
    const appended = Array.isArray(values.append_minionid_config_dirs) ? values.append_minionid_config_dirs : [];
    for (const name of ["pki_dir", "cachedir", "extension_modules"]) {
      if (appended.includes(name) && typeof values[name] === "string") values[name] += `/${id}`;
    }
    if (appended.includes("pidfile")) {
      values.pidfile = this.#text("pidfile").replace(/[^/]*$/, (file) => `salt/${id}/${file}`);
    }
    // Unix socket paths are short: if `sock_dir` is too long, a directory in the cache directory is used.
    if (this.#text("sock_dir").length > this.#text("cachedir").length + 10) {
      values.sock_dir = `${values.cachedir}/.salt-unix`;
    }
    values.extension_modules ??= `${values.cachedir}/extmods`;
  }

  #deriveLogFile(): void {
    const { log_dir: directory, log_file: file } = this.values;
    if (typeof directory !== "string" || typeof file !== "string" || Object.hasOwn(this.#overrides, "log_file")) return;
    if (!this.isWritten("log_file")) this.values.log_file = `${directory}/${this.#role}`;
    else if (!file.startsWith("/")) this.values.log_file = `${directory}/${file}`;
  }

  /** Sets `masters`, `master` and `master_port`. */
  deriveMaster(): void {
    const { values } = this;
    const masters = Array.isArray(values.master) ? values.master.map(String) : [];
    values.masters = masters;
    values.master = masters[0] ?? "";
    if (values.master === "") {
      if (values.master_type !== "disable" && values.file_client !== "local") this.#fail("master", "names no master");
      return;
    }
    if (masters.length > 1) this.warnings.push(`master: ${masters[0]} is used; several masters are not built yet`);
    if (values.master_uri_format === "ip_only") return;
    try {
      const { host, port } = parseHostPort(masters[0]);
      values.master = host;
      values.master_port = port ?? values.master_port;
    } catch (error) {
      this.#fail("master", error instanceof RangeError ? error.message : String(error));
    }
  }
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
