/**
 * Lines of frames, sockets, threads and workers that no test can reach, or that the tool cannot see.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, OTHER_SYSTEM, RACE, UNEXPECTED } from "./rule.ts";

const ENDED_MEANWHILE = "a job or thread that ends between two turns of its minion";
const STUCK = "a system call that does not return when its descriptor is ready";

/** See {@linkcode CoverageRule}. */
export const WIRE_RULES: readonly CoverageRule[] = [
  { path: "lib/protocol/return_key.ts", line: /generated no key pair/, why: ALWAYS_THERE },
  { path: "lib/config/load.ts", line: /if \(!isComplete\(role, values\)\)/, why: ALWAYS_THERE },
  {
    path: "lib/runtime/process_name.ts",
    line: /pointer === null \|\| end <= start/,
    why: "a system that hides a process's own addresses",
  },
  { path: "lib/runtime/thread.ts", line: /if \(this\.#ending\) return;/, why: ENDED_MEANWHILE },
  { path: "lib/files/backends/root_files.ts", line: /if \(left < 0\) throw/, why: "a tree of more than 200,000 files" },
  {
    path: "lib/files/backends/walk_roots.ts",
    line: /throw new StoreError/,
    why: "an environment of more than two million files",
  },
  { path: "lib/files/backends/walk_roots.ts", line: /if \(text === undefined\) return;|removed meanwhile/, why: RACE },
  {
    path: "lib/api/http/plain_server.ts",
    line: /remoteAddress === undefined \|\| remotePort === undefined\) return;/,
    why: "a client that goes between its request and the first turn of what answers it",
  },
  {
    path: "lib/sockets/connection_limiter.ts",
    line: /monitors\.forEach\(/,
    why: "a libzmq that cannot read its own reports",
  },
  {
    path: "lib/sockets/connection_limiter.ts",
    line: /if \(this\.#closed\) return;/,
    why: "an end amid hundreds of connections at once",
  },
  { path: "lib/sockets/epoll.ts", line: /if \(calls === undefined\) return new ReadWait/, why: OTHER_SYSTEM },
  { path: "lib/sockets/epoll.ts", line: /if \(performance\.now\(\) > end\) return false;/, why: STUCK },
  { path: "lib/sockets/supervised_thread.ts", line: /its wait has not returned/, why: STUCK },
  { path: "lib/sockets/supervised_thread.ts", line: /if \(this\.#closed\) return;/, why: ENDED_MEANWHILE },
  {
    path: "lib/sockets/libzmq.ts",
    line: /ZMQ_RCVMORE\) !== 0 && socket\.tryReceive/,
    why: "a thread that dies between two parts of one message",
  },
  {
    path: "lib/minion/worker/job_pool.ts",
    line: /job\.done\.resolve\(permissionsRefused/,
    why: "a minion whose own process has fewer permissions than its jobs",
  },
  {
    path: "lib/minion/worker/job_pool.ts",
    line: /if \(job === undefined \|\| job\.killed\) return;/,
    why: ENDED_MEANWHILE,
  },
  { path: "lib/minion/worker/job_pool.ts", line: /there is no job that calls/, why: ENDED_MEANWHILE },
  {
    path: "lib/minion/worker/job_runner.ts",
    line: /the running jobs are not a list/,
    why: "the minion itself answers, and with a list",
  },
  { path: "lib/minion/worker/job_pool.ts", line: /^if \(this\.#closed\) return;/, why: ENDED_MEANWHILE },
  {
    path: "lib/minion/masters/return_spool.ts",
    line: /^if \(this\.#closing\.signal\.aborted\) return;/,
    why: "a fault of the spool itself while it ends",
  },
  { path: "lib/minion/worker/live_output.ts", line: /if \(!signal\.aborted\) throw error;/, why: UNEXPECTED },
  {
    path: "lib/minion/worker/live_output.ts",
    line: /this\.#pieces\.length > 0 && !this\.#ending\.signal\.aborted\) this\.#start/,
    why: "output that comes in the same turn in which the sending of all before it ends",
  },
  {
    path: "lib/minion/worker/module_process.ts",
    line: /it has ended, and its children have another parent/,
    why: RACE,
  },
  { path: "lib/minion/worker/module_process.ts", line: /if \(this\.#ending\) return;/, why: ENDED_MEANWHILE },
];
