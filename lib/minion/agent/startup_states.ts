/**
 * The states that a minion applies when it starts (`startup_states`): a separate job, whose id the master makes.
 * Source: Salt 3008.3 `salt/minion.py` _state_run.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { OWN_JOB } from "#lib/protocol/own_job.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The job, if the options name states. */
export function startupJob({ startup_states, sls_list, top_file, id }: MinionOpts): ValueMap | undefined {
  const call = ({ fun, arg }: { fun: string; arg: Value[] }) =>
    map({ jid: makeJid(), fun, arg, tgt: id, tgt_type: "glob", ret: "", user: "", [OWN_JOB]: true });
  switch (startup_states) {
    case "":
      return undefined;
    case "sls":
      return call({ fun: "state.sls", arg: [[...sls_list]] });
    case "top":
      return call({ fun: "state.top", arg: [top_file] });
    default:
      return call({ fun: "state.highstate", arg: [] });
  }
}
