/**
 * Where configuration lies, and what loading it asks of the process around it.
 * Source: salt/config (load_config, client_config).
 * @module
 */

import { isDirectory, isFile } from "../os/file_kind.ts";
import { type HostNames, readHostNames } from "./node_id.ts";
import type { Role } from "./options.ts";
import { absolutePath } from "../os/root_path.ts";
import { findUser } from "../os/users.ts";

/** Where configuration lies unless somebody says otherwise. */
export const DEFAULT_CONFIG_DIR = "/etc/salt";

/** What loading asks of its surroundings; the process's own by default, made up by tests. */
export interface Surroundings {
  /** An environment variable. */
  env(name: string): string | undefined;
  /** The working directory. */
  readonly cwd: string;
  hostNames(): HostNames;
  /** The name of the user who runs this process. */
  user(): string;
}

export const PROCESS: Surroundings = {
  env: (name) => Deno.env.get(name),
  get cwd() {
    return Deno.cwd();
  },
  hostNames: readHostNames,
  // A uid that passwd does not have, as in containers, stands for itself.
  user: () => findUser(Deno.uid() ?? 0)?.name ?? String(Deno.uid()),
};

/** The main configuration file of `role`, whether it is there or not. */
export function configFile(role: Role, configDir: string | undefined, { env, cwd }: Surroundings): string {
  const directory = absolutePath(configDir ?? (env("SALT_CONFIG_DIR") || DEFAULT_CONFIG_DIR), cwd);
  const named = env(`SALT_${role.toUpperCase()}_CONFIG`);
  // As Salt has it: the variable counts only where the command line left the directory at its default.
  if (named !== undefined && directory === DEFAULT_CONFIG_DIR && isFile(named)) return absolutePath(named, cwd);
  return `${directory.replace(/\/+$/, "")}/${role}`;
}

/** The user's own configuration of the commands, whether it is there or not. */
export function clientFile({ env, cwd }: Surroundings): string {
  const home = env("HOME") ?? "/";
  const xdg = `${env("XDG_CONFIG_HOME") || `${home}/.config`}/salt`;
  const named = env("SALT_CLIENT_CONFIG");
  if (named !== undefined && isFile(named)) return absolutePath(named, cwd);
  return isDirectory(xdg) ? `${xdg}/saltrc` : `${home}/.saltrc`;
}
