/**
 * A requirement of pip: a package with the allowed versions, or something whose name is only known after installation.
 * Source: packaging.python.org, "Dependency specifiers" and "Version specifiers"; pip's `install_req_from_line`.
 * @module
 */

import { normalizePipName } from "./pip_output.ts";
import { comparePythonVersions, isPreRelease } from "./python_version.ts";

/** One condition on a version. */
export interface VersionSpec {
  /** `==`, `!=`, `<`, `<=`, `>`, `>=`, `~=` or `===`. */
  readonly operator: string;
  readonly version: string;
}

/** A parsed requirement. */
export interface Requirement {
  /** The package's normalized name; empty if it is only known after installation. */
  readonly name: string;
  readonly specs: readonly VersionSpec[];
}

const SPEC = String.raw`(?:===|==|!=|~=|<=|>=|<|>)\s*[^\s,;()]+`;
const NAMED = new RegExp(
  String.raw`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*` +
    String.raw`\(?((?:${SPEC})(?:\s*,\s*${SPEC})*\s*,?)?\)?\s*(?:;.*)?$`,
);

/** Maximum length of a requirement: some of the expressions take as many steps as its square. */
const MAX_LENGTH = 4096;

/**
 * Parses `line`; `undefined` if pip would refuse it, or it is too long.
 * @param isDirectory Whether a path is one.
 */
export function parseRequirement(line: string, isDirectory: (path: string) => boolean): Requirement | undefined {
  const bare = line.trim();
  if (bare.length > MAX_LENGTH) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(bare)) {
    const egg = /#(?:.*&)?egg=([^&]+)/.exec(bare)?.[1];
    return egg === undefined ? wheelIn(bare) ?? { name: "", specs: [] } : parseRequirement(egg, isDirectory);
  }
  const [, named] = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*@\s*[a-z][a-z0-9+.-]*:/i.exec(bare) ?? [];
  if (named !== undefined) return { name: normalizePipName(named), specs: [] };
  const isPath = bare.includes("/") || bare.startsWith(".");
  if (isPath && isDirectory(bare.replace(/\[[^\]]*\]$/, ""))) return { name: "", specs: [] };
  if (isPath || /\.(?:whl|zip|tar\.gz|tgz|tar\.bz2)$/.test(bare)) {
    return /\.(?:whl|zip|tar\.gz|tgz|tar\.bz2)$/.test(bare) ? wheelIn(bare) ?? { name: "", specs: [] } : undefined;
  }
  const [, name, specs = ""] = NAMED.exec(bare) ?? [];
  if (name === undefined) return undefined;
  return { name: normalizePipName(name), specs: specs.split(",").flatMap(specOf) };
}

function specOf(text: string): VersionSpec[] {
  const [, operator, version] = /^\s*(===|==|!=|~=|<=|>=|<|>)\s*(\S+)\s*$/.exec(text) ?? [];
  return operator === undefined ? [] : [{ operator, version }];
}

/** A wheel's file name contains the name of its package. */
function wheelIn(path: string): Requirement | undefined {
  const [, name, version] = /([^/]+?)-([^/-]+)(?:-[^/-]+)?-[^/-]+-[^/-]+-[^/-]+\.whl(?:#.*)?$/.exec(path) ?? [];
  return name === undefined ? undefined : { name: normalizePipName(name), specs: [{ operator: "==", version }] };
}

/**
 * Whether a version fits all conditions. A version before a release fits only where a condition names such a version.
 */
export function fulfills(version: string, specs: readonly VersionSpec[]): boolean {
  if (specs.length === 0) return true;
  const asksForEarly = specs.some((spec) => isPreRelease(spec.version) && !["!=", "<", ">"].includes(spec.operator));
  if (isPreRelease(version) && !asksForEarly) return false;
  return specs.every((spec) => fits(version, spec));
}

function fits(version: string, { operator, version: wanted }: VersionSpec): boolean {
  const plain = version.replace(/\+.*$/, "");
  // A local part counts only where the condition has one.
  const differs = wanted.includes("+") && version.replace(/^[^+]*/, "") !== wanted.replace(/^[^+]*/, "");
  const order = comparePythonVersions(plain, wanted) || Number(differs);
  switch (operator) {
    case "===":
      return version.toLowerCase() === wanted.toLowerCase();
    case "==":
      return wanted.endsWith(".*") ? beginsWith(plain, wanted.slice(0, -2)) : order === 0;
    case "!=":
      return wanted.endsWith(".*") ? !beginsWith(plain, wanted.slice(0, -2)) : order !== 0;
    case "~=":
      return order >= 0 && beginsWith(plain, wanted.replace(/\.?(?:a|b|rc|dev|post)\d*$/i, "").replace(/\.\d+$/, ""));
    case "<=":
      return order <= 0;
    case ">=":
      return order >= 0;
    case "<":
      // 2.0a1 is below 2.0, but `< 2.0` does not match it.
      return order < 0 && !(isPreRelease(plain) && !isPreRelease(wanted) && beginsWith(plain, release(wanted)));
    default:
      // `> 1.0` does not match 1.0.post1 and 1.0+local.
      return order > 0 && !(/post|\+/i.test(version) && !/post/i.test(wanted) && release(plain) === release(wanted));
  }
}

/** The numbers of a version. */
function release(version: string): string {
  return /^v?(?:\d+!)?\d+(?:\.\d+)*/i.exec(version)?.[0] ?? version;
}

function beginsWith(version: string, prefix: string): boolean {
  const [numbers, wanted] = [version, prefix].map((each) => release(each).split(".").map(Number));
  return wanted.every((number, i) => (numbers[i] ?? 0) === number);
}
