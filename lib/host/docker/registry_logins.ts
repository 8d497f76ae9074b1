/**
 * The file in which the command `docker` keeps its logins at registries, and the programs that keep them for it.
 * Source: docs.docker.com, "docker login", credential stores; docker-py 7.2 `docker/auth.py`.
 * @module
 */

import { CommandError, JsonError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { type ProgramHost, runProgram } from "#lib/programs/run_program.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { HUB, HUB_ADDRESS, registryHost } from "./image_names.ts";

/** The user name by which a store says that it has a token. */
const TOKEN_USER = "<token>";

/** A login at a registry. */
export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

/** The directory of the file: DOCKER_CONFIG, or `.docker` in the home directory. */
function configDirectory(): string {
  return Deno.env.get("DOCKER_CONFIG") || `${Deno.env.get("HOME") || "/root"}/.docker`;
}

/** What the file says; an empty map if there is none. */
function dockerConfig(): ValueMap {
  const path = `${configDirectory()}/config.json`;
  try {
    return mapOrEmpty(parseJson(readTextFileIfExists(path) ?? "{}"));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`${path} is not JSON: ${error.message}`, { cause: error });
  }
}

function writeConfig(config: ValueMap): void {
  const directory = configDirectory();
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const text = `${dumpJson(config, { indent: 2 })}\n`;
  writeFileAtomic(`${directory}/config.json`, new TextEncoder().encode(text), { mode: 0o600 });
}

/** The program that keeps the login at a registry; `undefined`: the file does. */
function storeOf(config: ValueMap, address: string): string | undefined {
  const helpers = mapOrEmpty(config.get("credHelpers"));
  const name = helpers.get(address) ?? config.get("credsStore");
  if (!truthy(name)) return undefined;
  // It is a part of a program's name.
  if (!/^[\w.-]+$/.test(str(name ?? ""))) throw new CommandError(`Invalid credentials store: ${str(name ?? "")}`);
  return `docker-credential-${str(name ?? "")}`;
}

/** The address under which the login at a registry is kept; the hub's is an old one. */
export function loginAddress(registry: string): string {
  return registry === HUB || registry.toLowerCase() === "hub" ? HUB_ADDRESS : registry;
}

/** Writes a login to the file, or gives it to the program that keeps logins there. */
export async function keepLogin(registry: string, login: RegistryLogin, host: ProgramHost): Promise<void> {
  const config = dockerConfig();
  const address = loginAddress(registry);
  const store = storeOf(config, address);
  if (store !== undefined) {
    const stdin = dumpJson(map({ ServerURL: address, Username: login.username, Secret: login.password }));
    await fromStore(store, "store", stdin, host);
  }
  const auth = new TextEncoder().encode(`${login.username}:${login.password}`).toBase64();
  mapUnder(config, "auths").set(address, map(store === undefined ? { auth } : {}));
  writeConfig(config);
}

/**
 * Forgets a login.
 * @returns Whether there was one.
 */
export async function forgetLogin(registry: string, host: ProgramHost): Promise<boolean> {
  const config = dockerConfig();
  const address = loginAddress(registry);
  const auths = mapOrEmpty(config.get("auths"));
  if (!auths.has(address)) return false;
  const store = storeOf(config, address);
  if (store !== undefined) await fromStore(store, "erase", address, host);
  auths.delete(address);
  writeConfig(config);
  return true;
}

async function fromStore(program: string, action: string, stdin: string, host: ProgramHost): Promise<string> {
  const { retcode, stdout } = await runProgram([program, action], host, { stdin, secret: true });
  if (retcode !== 0) throw new CommandError(`${program} ${action}: ${stdout || `ended with ${retcode}`}`);
  return stdout;
}

/** The headers of a request about an image of a registry, with the login there, if there is one. */
export async function loginHeaders(registry: string, host: ProgramHost): Promise<Record<string, string>> {
  const found = await findLogin(dockerConfig(), registry, host);
  if (found === undefined) return {};
  return { "X-Registry-Auth": new TextEncoder().encode(dumpJson(found)).toBase64({ alphabet: "base64url" }) };
}

async function findLogin(config: ValueMap, registry: string, host: ProgramHost): Promise<Value | undefined> {
  const address = loginAddress(registry);
  const store = storeOf(config, address);
  if (store !== undefined) {
    const { retcode, stdout } = await runProgram([store, "get"], host, { stdin: address, secret: true });
    if (retcode === 0) {
      const kept = mapOrEmpty(keptLogin(store, stdout));
      const [username, secret] = [str(kept.get("Username") ?? ""), str(kept.get("Secret") ?? "")];
      if (username === TOKEN_USER) return map({ ServerAddress: address, IdentityToken: secret });
      return map({ ServerAddress: address, Username: username, Password: secret });
    }
    if (!/credentials not found/i.test(stdout)) throw new CommandError(`${store} get: ${stdout}`);
  }
  for (const [key, entry] of mapOrEmpty(config.get("auths"))) {
    if (registryHost(str(key)) !== registryHost(registry)) continue;
    return entryLogin(str(key), mapOrEmpty(entry));
  }
  return undefined;
}

function entryLogin(address: string, entry: ValueMap): Value | undefined {
  const token = entry.get("identitytoken");
  if (truthy(token)) return map({ IdentityToken: token });
  const auth = entry.get("auth");
  if (typeof auth !== "string") return undefined;
  const text = decodedAuth(auth);
  const colon = text?.indexOf(":") ?? -1;
  // The entry itself is a secret.
  if (text === undefined || colon < 0) throw new CommandError(`The login at ${address} in Docker's file is damaged`);
  const [username, password] = [text.slice(0, colon), text.slice(colon + 1)];
  return map({ username, password, email: entry.get("email") ?? null, serveraddress: address });
}

/** `undefined`: it is no base64. */
function decodedAuth(auth: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(auth));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** What a store has printed about a login. */
function keptLogin(store: string, text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`${store} get: what it has printed is not JSON`);
  }
}

/** All logins of the file, by address, for a build that pulls images. */
export async function allLoginHeaders(host: ProgramHost): Promise<Record<string, string>> {
  const config = dockerConfig();
  const logins: ValueMap = new Map();
  // The file names registries of a store of their own only there.
  const keys = [...mapOrEmpty(config.get("auths")).keys(), ...mapOrEmpty(config.get("credHelpers")).keys()];
  for (const key of new Set(keys)) {
    const found = await findLogin(config, registryHost(str(key)), host);
    if (found !== undefined) logins.set(key, found);
  }
  if (logins.size === 0) return {};
  return { "X-Registry-Config": new TextEncoder().encode(dumpJson(logins)).toBase64({ alphabet: "base64url" }) };
}

/** The variables of the proxies that the file names for an engine: `HTTP_PROXY=…` and `http_proxy=…`. */
export function proxyVariables(engine: string): string[] {
  const all = mapOrEmpty(dockerConfig().get("proxies"));
  const proxies = mapOrEmpty(all.get(engine) ?? all.get("default"));
  return ["http", "https", "ftp", "no"].flatMap((kind) => {
    const value = proxies.get(`${kind}Proxy`);
    return truthy(value)
      ? [`${kind}_proxy=${str(value ?? "")}`, `${kind.toUpperCase()}_PROXY=${str(value ?? "")}`]
      : [];
  });
}
