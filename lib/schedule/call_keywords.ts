/**
 * The keyword arguments of the functions of the module `schedule`: those that add jobs take the keys of a job.
 * Source: Salt 3008.3 `salt/modules/schedule.py` build_schedule_item, which loses `run_after_skip_range` and `dry_run`.
 * @module
 */

/** The keys of a job that the functions take under the same name. */
const ITEM_KEYWORDS: readonly string[] = [
  ...["function", "seconds", "minutes", "hours", "days", "when", "cron", "once", "once_fmt", "splay", "range"],
  ...["skip_during_range", "run_after_skip_range", "until", "after", "maxrunning", "run_on_start", "return_job"],
  ...["returner", "return_config", "return_kwargs", "metadata", "jid_include", "dry_run", "enabled", "timezone"],
  "missed",
];

/** What the functions that add or change a job take besides. */
export const ADD_KEYWORDS: readonly string[] = [
  ...ITEM_KEYWORDS,
  ...["job_args", "job_kwargs", "args", "kwargs", "persist", "test", "offline", "saved"],
];

const CHANGE = ["persist", "test", "offline"];

/** The keywords beside the parameters, of each function that takes any in Salt. */
export const SCHEDULE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  add: ADD_KEYWORDS,
  modify: ADD_KEYWORDS,
  build_schedule_item: ADD_KEYWORDS,
  delete: [...CHANGE, "where"],
  purge: CHANGE,
  enable_job: CHANGE,
  disable_job: CHANGE,
  enable: CHANGE,
  disable: CHANGE,
  save: ["test"],
  move: ["test"],
  copy: ["test"],
  postpone_job: ["time_fmt", "test"],
  skip_job: ["time_fmt", "test"],
  show_next_fire_time: ["test"],
};

/** The parameters of these functions. */
const PARAMETERS = ["name", "target", "current_time", "new_time"];

/** All keywords of a function, `schedule.add`; `undefined` for functions that are checked only where they run. */
export function scheduleKeywords(fun: string): readonly string[] | undefined {
  const [module, name] = fun.split(".");
  if (module !== "schedule" || !Object.hasOwn(SCHEDULE_KEYWORDS, name)) return undefined;
  return [...PARAMETERS, ...SCHEDULE_KEYWORDS[name]];
}
