/**
 * The names of the file server's backends, as the option `fileserver_backend` has them.
 * @module
 */

import { PreflightError } from "#lib/errors.ts";

/** All backends; modules/fileserver has a file for each. */
export const BACKEND_NAMES = ["gitfs", "minionfs", "roots"] as const;

/** One of them. */
export type BackendName = (typeof BACKEND_NAMES)[number];

/** The other names that the option may have. */
const ALIASES: Readonly<Record<string, string>> = { git: "gitfs", minion: "minionfs" };

/** Whether there is a backend of this name. */
export function isBackendName(name: string): name is BackendName {
  return BACKEND_NAMES.some((known) => known === name);
}

/** The backends that an option names, in its order, each once, including unknown names. */
export function backendNames(option: readonly string[]): string[] {
  return [...new Set(option.map((name) => Object.hasOwn(ALIASES, name) ? ALIASES[name] : name))];
}

/** @throws {PreflightError} If none of the configured backends can be used. */
export function checkBackends(
  { fileserver_backend, fileserver_verify_config }: {
    readonly fileserver_backend: readonly string[];
    readonly fileserver_verify_config: boolean;
  },
): void {
  if (!fileserver_verify_config || backendNames(fileserver_backend).some(isBackendName)) return;
  throw new PreflightError(
    fileserver_backend.length === 0
      ? "No fileserver backends are configured: fileserver_backend is empty"
      : `Failed to load fileserver backends, the configured backends are: ${fileserver_backend.join(", ")}. ` +
        `There are ${BACKEND_NAMES.join(", ")}`,
  );
}
