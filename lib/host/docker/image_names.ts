/**
 * The parts of an image's name: its registry, its repository, its tag.
 * Source: docs.docker.com, "docker image tag", image names; docker-py 7 `docker/utils/utils.py`, `docker/auth.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";

/** The registry of a name that has none, and its address in a file of logins. */
export const HUB = "docker.io", HUB_ADDRESS = "https://index.docker.io/v1/";

/** The repository of a name, and its tag or digest, if it has one. */
export function splitTag(name: string): readonly [repository: string, tag: string | undefined] {
  const at = name.lastIndexOf("@");
  if (at >= 0) return [name.slice(0, at), name.slice(at + 1)];
  const colon = name.lastIndexOf(":");
  // The colon of a port is followed by a slash.
  if (colon < 0 || name.slice(colon).includes("/")) return [name, undefined];
  return [name.slice(0, colon), name.slice(colon + 1)];
}

/**
 * The host of an image's registry.
 * @throws {CommandError} If the name has a scheme, or its host begins or ends with a hyphen.
 */
export function registryOf(repository: string): string {
  if (repository.includes("://")) {
    throw new CommandError(`Repository name cannot contain a scheme (${repository})`);
  }
  const [first, ...more] = repository.split("/");
  if (more.length === 0 || (!/[.:]/.test(first) && first !== "localhost")) return HUB;
  if (first.startsWith("-") || first.endsWith("-")) {
    throw new CommandError(`Invalid index name (${first}). Cannot begin or end with a hyphen.`);
  }
  return registryHost(first);
}

/** The host of a registry's address, without scheme and path. */
export function registryHost(address: string): string {
  const host = address.replace("http://", "").replace("https://", "").split("/", 1)[0];
  return host === `index.${HUB}` ? HUB : host;
}
