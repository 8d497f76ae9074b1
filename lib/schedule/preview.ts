/**
 * The next moments of a job, each with whether it runs, and why not. Changes nothing.
 * @module
 */

import type { ScheduledJob, ScheduleSettings } from "./entry.ts";
import { judge, type SkipReason } from "./limits.ts";
import { rangeOn } from "./ranges.ts";
import { countFrom, type JobState, planNext, waitFor } from "./turns.ts";

/** One moment of a job. */
export interface PreviewedRun {
  /** Milliseconds since the epoch, with the splay that it would have. */
  readonly moment: number;
  /** Why it would not run; `undefined`: it would. */
  readonly reason: SkipReason | undefined;
  /** The function that would run in its place. */
  readonly instead: string | undefined;
}

/** The next `count` moments. A splay that is thrown for each run is thrown anew: real runs will have others. */
export function previewRuns(
  job: ScheduledJob,
  now: JobState,
  { settings, random, count, nowMs }: {
    readonly settings: ScheduleSettings;
    random(): number;
    readonly count: number;
    readonly nowMs: number;
  },
): PreviewedRun[] {
  const state: JobState = { ...now, explicit: [...now.explicit], skips: [...now.skips] };
  const runs: PreviewedRun[] = [];
  if (state.startPending) {
    const reason = settings.enabled && job.enabled ? undefined : "disabled";
    runs.push({ moment: nowMs, reason, instead: undefined });
  }
  while (runs.length < count) {
    const planned = planNext(job, state, random);
    const explicit = state.explicit.length === 0 ? undefined : Math.min(...state.explicit);
    if (explicit !== undefined && (planned === undefined || explicit <= planned)) {
      const { reason, instead } = judge(job, explicit, { settings, skips: state.skips });
      runs.push({ moment: explicit, reason, instead });
      state.explicit = state.explicit.filter((moment) => moment !== explicit);
      if (reason === undefined && job.timing.kind === "interval") countFrom(state, explicit);
      continue;
    }
    if (planned === undefined) break;
    const verdict = judge(job, planned, { settings, skips: state.skips });
    runs.push({ moment: planned, reason: verdict.reason, instead: verdict.instead });
    if (verdict.never === true) break;
    if (verdict.waits === true && verdict.from !== undefined && job.timing.kind === "interval") {
      waitFor(state, verdict.from);
      continue;
    }
    if (verdict.reason === "in_skip_range" && job.runAfterSkip && job.skipRange !== undefined) {
      const after = rangeOn(job.skipRange, planned, job.zone).end + 1000;
      if (!state.explicit.includes(after)) state.explicit.push(after);
    }
    state.cursor = planned - state.delay;
    state.planned = undefined;
    if (job.timing.kind === "interval" && job.splay?.isStable === false) countFrom(state, planned);
  }
  return runs;
}
