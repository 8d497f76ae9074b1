/**
 * The versions of packages that repositories offer, as `pkg.list_repo_pkgs` returns them.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`, `salt/modules/pacmanpkg.py`, `salt/modules/zypperpkg.py`.
 * @module
 */

import { compareLooseVersions } from "#lib/text/loose_version.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** Collects them. */
export class OfferedPackages {
  readonly #repositories = new Map<string, Map<string, Set<string>>>();

  /** Adds one version; a repeated one counts once. */
  add(repository: string, name: string, version: string): void {
    const packages = this.#repositories.get(repository) ?? new Map<string, Set<string>>();
    this.#repositories.set(repository, packages);
    packages.set(name, (packages.get(name) ?? new Set()).add(version));
  }

  /** The versions of each package, the newest first. */
  byName(): ValueMap {
    const byName = new Map<string, string[]>();
    for (const packages of this.#repositories.values()) {
      for (const [name, versions] of packages) byName.set(name, [...byName.get(name) ?? [], ...versions]);
    }
    return new Map([...byName].map(([name, versions]): [Value, Value] => [name, newestFirst(versions)]));
  }

  /** The same by repository. */
  byRepository(): ValueMap {
    return new Map(
      [...this.#repositories].map(([repository, packages]): [Value, Value] => [
        repository,
        new Map([...packages].map(([name, versions]): [Value, Value] => [name, newestFirst(versions)])),
      ]),
    );
  }
}

function newestFirst(versions: Iterable<string>): string[] {
  return [...versions].sort((a, b) => compareLooseVersions(b, a));
}
