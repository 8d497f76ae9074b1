/**
 * Whether a state may run, by the results of those that it requires.
 * Source: Salt 3008.3, `State._check_requisites` of `salt/state.py`.
 * @module
 */

import type { Chunk } from "#lib/states/compiler/chunks.ts";
import type { Requisite } from "#lib/states/compiler/requisites.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";

/** The decision about a state. */
export type Status =
  /** Requisites have not run. */
  | "unmet"
  /** Requisites still run, in parallel. */
  | "pending"
  | "fail"
  /** A requisite has `skip_req`: it triggers nothing. */
  | "skip_req"
  | "skip_watch"
  | "met"
  /** The state in `prereq` would change nothing. */
  | "pre"
  | "onfail"
  | "onchanges"
  /** Something that is watched has changed. */
  | "change";

/** The chunks that a chunk requires, by kind. */
export type Required = ReadonlyMap<Requisite, readonly Chunk[]>;

/** What is asked about required chunks. */
export interface Results {
  /** The result of a chunk that has run; of a `prereq` that of its run in test mode. */
  of(required: Chunk, isPrereq: boolean): ValueMap | undefined;
  /** Whether the chunk still runs in parallel. */
  isRunning(required: Chunk): boolean;
}

/** The finding about one required state. */
type Finding =
  | "unmet"
  | "pending"
  | "skip_req"
  | "onfail"
  | "onchanges"
  | "onchangesmet"
  | "fail"
  | "change"
  | "premet"
  | "pre"
  | "met";

/** The status of a chunk that requires `required`. */
export function requisiteStatus(required: Required, results: Results): Status {
  const all = new Set<Finding>();
  for (const [kind, chunks] of required) {
    const findings = new Set<Finding>();
    for (const chunk of chunks) look(chunk, kind, results, findings);
    weigh(kind, findings);
    for (const finding of findings) all.add(finding);
  }
  return decide(all);
}

/** Adds the finding about `required` for a state that has it in `kind` to `findings`. */
function look(required: Chunk, kind: Requisite, results: Results, findings: Set<Finding>): void {
  const isPrereq = kind === "prereq";
  const result = results.of(required, isPrereq);
  if (result === undefined) {
    findings.add("unmet");
    return;
  }
  if (results.isRunning(required)) {
    findings.add("pending");
    return;
  }
  if (truthy(result.get("skip_req"))) findings.add("skip_req");
  const outcome = result.get("result"), changed = truthy(result.get("changes"));
  if (kind.startsWith("onfail")) {
    if (outcome === true) {
      findings.add("onfail");
      return;
    }
  } else if (kind.startsWith("onchanges")) {
    // A failed requisite counts as one without changes.
    findings.add(outcome === false || !changed ? "onchanges" : "onchangesmet");
    return;
  } else if (outcome === false) {
    findings.add("fail");
    return;
  }
  if (kind.startsWith("watch") && changed) findings.add("change");
  else if (isPrereq) findings.add(outcome === null ? "premet" : "pre");
  else if (truthy(result.get("__state_ran__") ?? true)) findings.add("met");
}

/** For kinds that need any or all of several states: removes findings that others override. */
function weigh(kind: Requisite, findings: Set<Finding>): void {
  if (kind.endsWith("_any") || kind === "onfail") {
    if (findings.has("met") || findings.has("change")) findings.delete("fail");
    if (findings.has("onchangesmet")) {
      findings.delete("onchanges");
      findings.delete("fail");
    }
    if (findings.has("met")) findings.delete("onfail");
  }
  if (kind.endsWith("_all") && findings.has("onfail")) findings.delete("met");
}

function decide(findings: ReadonlySet<Finding>): Status {
  const has = (finding: Finding) => findings.has(finding);
  if (has("unmet")) return "unmet";
  if (has("pending")) return "pending";
  if (has("fail")) return "fail";
  if (has("skip_req") && (has("onchangesmet") || has("premet"))) return "skip_req";
  if (has("skip_req") && has("change")) return "skip_watch";
  if (has("pre")) return has("premet") ? "met" : "pre";
  if (has("onfail") && !has("onchangesmet")) return "onfail";
  if (has("onchanges") && !has("onchangesmet")) return "onchanges";
  if (has("change")) return "change";
  return has("onfail") ? "onfail" : "met";
}
