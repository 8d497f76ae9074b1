/**
 * Compares versions of RPM: epoch, version, release.
 * Source: rpm-version(7).
 * @module
 */

import { withoutEpochs } from "./version_match.ts";

/** Epoch, version and release of a version. */
interface Evr {
  readonly epoch: number;
  readonly version: string;
  readonly release: string;
}

function partsOf(full: string): Evr {
  const colon = full.indexOf(":");
  const dash = full.indexOf("-");
  const epoch = /^\s*[+-]?\d+\s*$/.test(full.slice(0, colon)) ? Number(full.slice(0, colon)) : 0;
  return {
    epoch: colon < 0 ? 0 : epoch,
    version: full.slice(colon + 1, dash < 0 ? undefined : dash),
    release: dash < 0 ? "" : full.slice(dash + 1),
  };
}

/** Compares two versions: negative, zero or positive. Releases count only if both have one. */
export function compareRpmVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.epoch !== right.epoch) return Math.sign(left.epoch - right.epoch);
  const order = compareParts(left.version, right.version);
  if (order !== 0 || left.release === "" || right.release === "") return order;
  return compareParts(left.release, right.release);
}

/** {@linkcode compareRpmVersions}, on request without the part before a colon. */
export function rpmOrder(ignoreEpoch: boolean): (a: string, b: string) => number {
  return ignoreEpoch ? withoutEpochs(compareRpmVersions) : compareRpmVersions;
}

/** The digits, the letters, `~` and `^` of a version, in order; other characters are separators. */
function segments(version: string): string[] {
  return version.match(/[0-9]+|[a-zA-Z]+|~|\^/g) ?? [];
}

function compareParts(a: string, b: string): number {
  const [left, right] = [segments(a), segments(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareSegments(left[i], right[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** `~` is before the end, the end before `^`, `^` before letters, letters before digits. */
function rank(segment: string | undefined): number {
  if (segment === undefined) return 1;
  if (segment === "~") return 0;
  if (segment === "^") return 2;
  return /^[0-9]/.test(segment) ? 4 : 3;
}

function compareSegments(a: string | undefined, b: string | undefined): number {
  const [left, right] = [rank(a), rank(b)];
  if (left !== right) return Math.sign(left - right);
  if (a === undefined || b === undefined || a === b) return 0;
  if (left < 4) return a < b ? -1 : 1;
  const [one, other] = [a, b].map((digits) => digits.replace(/^0+/, ""));
  if (one.length !== other.length) return Math.sign(one.length - other.length);
  return one === other ? 0 : one < other ? -1 : 1;
}
