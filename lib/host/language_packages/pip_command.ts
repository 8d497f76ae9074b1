/**
 * The command line of pip: for a virtual environment, a Python, or the host's Python; and its options.
 * Source: Salt 3008.3, `salt/modules/pip.py`; pip.pypa.io.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError } from "#lib/errors.ts";
import { baseName, joinPath, normalPath } from "#lib/os/paths.ts";
import { isExecutableFile, which } from "#lib/programs/which.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { isFloat, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * The words that start pip.
 * @param where A virtual environment, a Python or a pip; without it the host's Python is used.
 */
export function pipWords(where: string | null): string[] {
  if (!where) {
    const python = ["python3", "python"].find((name) => which(name) !== undefined);
    if (python === undefined) throw new CommandNotFoundError("Could not find a `pip` binary");
    return [python, "-m", "pip"];
  }
  if (isDirectory(where)) {
    const python = pythonIn(where);
    if (python !== undefined) return [normalPath(python), "-m", "pip"];
    throw new CommandNotFoundError(`Could not find a pip binary in virtualenv ${where}`);
  }
  if (!isExecutableFile(where)) {
    throw new CommandNotFoundError(`Access denied to ${where}, could not find a pip binary`);
  }
  return baseName(where).includes("python") ? [normalPath(where), "-m", "pip"] : [normalPath(where)];
}

function pythonIn(directory: string): string | undefined {
  const usual = ["python", "bin/python", "Scripts/python"].map((name) => joinPath(directory, name));
  const python = usual.find(isExecutableFile);
  const bin = joinPath(directory, "bin");
  if (python !== undefined || !isDirectory(bin)) return python;
  const names = [...Deno.readDirSync(bin)].map(({ name }) => name).filter((name) => /^python\d+(\.\d+)?$/.test(name));
  const rank = (name: string) => name === "python3" ? `0${name}` : `1${name}`;
  return names.sort((a, b) => rank(a) < rank(b) ? -1 : 1).map((name) => joinPath(bin, name)).find(isExecutableFile);
}

/**
 * The environment variables for `where` and `given`.
 * @throws {CommandError} If `given` is not a map.
 */
export function pipEnvironment(where: string | null, given: Value): ValueMap {
  const environment: ValueMap = where && isDirectory(where) ? new Map([["VIRTUAL_ENV", where]]) : new Map();
  if (!truthy(given)) return environment;
  if (!isMap(given)) throw new CommandError(`env_vars ${str(given)} is not a dictionary`);
  for (const [name, value] of given) environment.set(str(name), str(value));
  return environment;
}

/** Words of a list, or of a text with commas. */
export function splitWords(given: Value): string[] {
  if (!truthy(given)) return [];
  return (Array.isArray(given) ? given.map(str) : str(given).split(",")).map((one) => one.trim());
}

/** `--option value` for each value. */
export function repeatOption(option: string, given: Value): string[] {
  return splitWords(given).flatMap((one) => [option, one]);
}

/** `--option value`, if there is a value. */
export function optionWithValue(option: string, given: Value): string[] {
  return truthy(given) ? [option, str(given)] : [];
}

/** The proxy: the one given, or that of the minion's options, unless it is False. */
export function proxyWords(proxy: Value, option: (name: string) => Value | undefined): string[] {
  if (truthy(proxy)) return ["--proxy", str(proxy)];
  const [host, port] = [option("proxy_host"), option("proxy_port")];
  if (proxy === false || !truthy(host) || !truthy(port)) return [];
  const [user, password] = [option("proxy_username"), option("proxy_password")];
  const login = truthy(user) && truthy(password) ? `${str(user ?? "")}:${str(password ?? "")}@` : "";
  return ["--proxy", `http://${login}${str(host ?? "")}:${str(port ?? "")}`];
}

/** @throws {InvocationError} If the time is not a whole number. */
export function timeoutWords(timeout: Value): string[] {
  if (!truthy(timeout)) return [];
  if (!isFloat(timeout) && /^\s*[+-]?\d+\s*$/.test(str(timeout))) return ["--timeout", str(timeout)];
  throw new InvocationError(`'${str(timeout)}' is not a valid timeout, must be an integer`);
}

/** @throws {CommandError} If it is not a URL that pip can read. */
export function checkedUrl(url: string): string {
  if (/^(https?|ftp|file):/i.test(url)) return url;
  throw new CommandError(`'${url}' is not a valid URL`);
}

/** Words and maps of one option to its value. */
export function extraWords(given: Value): string[] {
  if (!Array.isArray(given)) return truthy(given) ? [str(given)] : [];
  return given.flatMap((one) => {
    if (!isMap(one)) return [str(one)];
    const [[option, value]] = [...one].slice(-1);
    if (Array.isArray(value) || isMap(value)) throw new InvocationError(`Too many levels in: ${str(option)}`);
    return [str(option), str(value)];
  });
}
