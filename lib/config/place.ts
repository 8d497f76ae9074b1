/**
 * Where the configuration is, and what loading it needs from the process. Source: salt/config (load_config,
 * client_config).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { type HostNames, readHostNames } from "./node_id.ts";
import type { Role } from "./options.ts";
import { absolutePathIn } from "#lib/os/root_path.ts";
import { findUser } from "#lib/os/users.ts";

/** The default directory of the configuration. */
export const DEFAULT_CONFIG_DIR = "/etc/salt";

/** What loading needs from its environment: by default the process's own; tests pass their own. */
export interface ProcessEnvironment {
  /** An environment variable. */
  env(name: string): string | undefined;
  readonly cwd: string;
  hostNames(): HostNames;
  /** The name of the user who runs this process. */
  user(): string;
}

export const PROCESS: ProcessEnvironment = {
  env: (name) => Deno.env.get(name),
  get cwd() {
    return Deno.cwd();
  },
  hostNames: () => readHostNames(),
  user: () => userName(Deno.uid() ?? 0),
};

/** The name of a user of this host. A uid without an entry in passwd, as in containers, is its own name. */
export function userName(uid: number): string {
  return findUser(uid)?.name ?? String(uid);
}

/** The main configuration file of `role`, whether it is there or not. */
export function configFile(role: Role, configDir: string | undefined, { env, cwd }: ProcessEnvironment): string {
  const directory = absolutePathIn(configDir ?? (env("SALT_CONFIG_DIR") || DEFAULT_CONFIG_DIR), cwd);
  const path = absolutePathIn(env(`SALT_${role.toUpperCase()}_CONFIG`) ?? "", cwd);
  // As in Salt, the variable counts only if the command line does not set the directory.
  if (directory === DEFAULT_CONFIG_DIR && isFile(path)) return path;
  return `${rstripChars(directory, "/")}/${role}`;
}

/** The user's own configuration of the commands, whether it is there or not. */
export function clientFile({ env, cwd }: ProcessEnvironment): string {
  const home = env("HOME") ?? "/";
  const xdg = `${env("XDG_CONFIG_HOME") || `${home}/.config`}/salt`;
  const path = absolutePathIn(env("SALT_CLIENT_CONFIG") ?? "", cwd);
  if (isFile(path)) return path;
  return isDirectory(xdg) ? `${xdg}/saltrc` : `${home}/.saltrc`;
}
