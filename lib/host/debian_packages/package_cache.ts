/**
 * A cache of answers of dpkg and apt for one job, like Salt's lists of packages in `__context__`: the states of one run
 * repeat the same queries, and each call of apt reads the lists of all sources. An answer is valid until one of its
 * source files changes, or the job itself starts a program that changes packages. Source: Salt 3008.3, `list_pkgs` and
 * `latest_version` in `salt/modules/aptpkg.py`.
 * @module
 */

import type { DebianPackages } from "./apt_output.ts";
import { aptPlaces, aptStamp, dpkgDirectory, dpkgStamp } from "./package_stamps.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";

/** Cached output of `apt-cache policy`. */
export interface CachedCandidates {
  /** The names that have been requested. */
  readonly requested: Set<string>;
  /** The candidate of each known package; an empty text if it has none. */
  readonly versions: Map<string, string>;
}

/** The cached list of packages. */
export interface CachedPackages {
  packages?: DebianPackages;
}

/** The cached answers of one job. */
class AptCache {
  #dpkgStamp?: string;
  #packages = new Map<string, CachedPackages>();
  #selections = new Map<string, ReadonlyMap<string, string[]>>();
  #aptStamp?: string;
  #candidates = new Map<string, CachedCandidates>();

  /** All packages, for a host of this architecture. */
  packages(architecture: string): CachedPackages {
    this.#checkDpkg();
    return this.#packages.getOrInsertComputed(architecture, () => ({}));
  }

  /** dpkg's selections, by the requested pattern. */
  selections(): Map<string, ReadonlyMap<string, string[]>> {
    this.#checkDpkg();
    return this.#selections;
  }

  /**
   * The candidates of a release; an empty text: of the release in apt's configuration.
   */
  candidates(release: string): CachedCandidates {
    const stamp = aptStamp(dpkgDirectory(), aptPlaces());
    if (stamp === undefined || stamp !== this.#aptStamp) this.#candidates = new Map();
    this.#aptStamp = stamp;
    return this.#candidates.getOrInsertComputed(release, () => ({ requested: new Set(), versions: new Map() }));
  }

  /** Clears the cache, because a program is started that changes packages or the lists of sources. */
  forget(): void {
    this.#packages = new Map();
    this.#selections = new Map();
    this.#candidates = new Map();
  }

  #checkDpkg(): void {
    const stamp = dpkgStamp(dpkgDirectory());
    if (stamp === undefined || stamp !== this.#dpkgStamp) {
      this.#packages = new Map();
      this.#selections = new Map();
    }
    this.#dpkgStamp = stamp;
  }
}

/** One for each job: contexts of calls within a job share its way to the outside. */
const BY_JOB = new WeakMap<JobContext["outside"], AptCache>();

/** The cached answers of the job of this context. */
export function aptCache({ outside }: Pick<JobContext, "outside">): AptCache {
  return BY_JOB.getOrInsertComputed(outside, () => new AptCache());
}
