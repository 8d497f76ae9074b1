/**
 * Lines of processes, threads, commands and sockets that no test can reach, or that the tool cannot see.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, KILLED, NO_MEMORY, OTHER_SYSTEM, RACE } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const PROCESSES_RULES: readonly CoverageRule[] = [
  { path: "lib/minion/worker/module_worker.ts", line: /./, why: KILLED },
  { path: "lib/minion/worker/module_pump.ts", line: /./, why: KILLED },
  { path: "lib/minion/catalogue/grains_functions.ts", line: /./, why: KILLED },
  { path: "lib/minion/catalogue/custom_catalogue.ts", line: /describeFunctions|setRetcode/, why: KILLED },
  { path: "lib/minion/catalogue/custom_states.ts", line: /calledState|contextOf/, why: KILLED },
  { path: "lib/minion/worker/job_runner.ts", line: /exactArguments|sendErrors|fields\.error = thrown/, why: KILLED },
  { path: "lib/sockets/libzmq.ts", line: /pointer === null/, why: NO_MEMORY },
  {
    path: "lib/api/endpoints/proven.ts",
    line: /^if \((held|session) === undefined\) throw new ApiError\(401,/,
    why: "an endpoint that needs a session is called with one (api_server.ts); the types cannot say so",
  },
  {
    path: "lib/auth/oidc_provider.ts",
    line: /claims === undefined\) throw/,
    why: "the library that reads the answer refuses one without an ID token before",
  },
  {
    path: "lib/auth/libpam.ts",
    line: /return PAM_CONV_ERR;/,
    why: "a libpam that breaks the rules of its own interface",
  },
  { path: "lib/auth/libpam.ts", line: /return PAM_BUF_ERR;/, why: NO_MEMORY },
  { path: "lib/auth/password_hash.ts", line: /needs libcrypt/, why: "a host without libcrypt" },
  { path: "lib/bus/acl_users.ts", line: /if \(!hasAcls\(\)\) throw/, why: OTHER_SYSTEM },
  {
    path: "lib/bus/python_bus.ts",
    line: /if \(!this\.#closed\) \{/,
    why: "a system that refuses a connection that it has announced",
  },
  {
    path: "lib/commands/cli/program_name.ts",
    line: /calledAs\(\): string/,
    why: "only a compiled executable, which writes no figures",
  },
  { path: "lib/commands/daemons/preflight.ts", line: /the limit on open files cannot be raised/, why: OTHER_SYSTEM },
  {
    path: "lib/commands/programs/salt_publish.ts",
    line: /session\.log\.error\(error\.message\)/,
    why: "a target that takes more than five seconds; others that cannot be read are refused before",
  },
  {
    path: "lib/ssh/executables.ts",
    line: /words\.length === 0/,
    why: "only a compiled executable, which writes no figures",
  },
  { path: "lib/ssh/executables.ts", line: /there is no SHA-256/, why: "an OpenSSL without a digest that TLS needs" },
  { path: "lib/ssh/rosters.ts", line: /excess !== undefined/, why: "an inventory of more than 256 MiB" },
  {
    path: "lib/crypto/hash_in_thread.ts",
    line: /kind === null/,
    why: "an OpenSSL without a digest of the lists of Salt",
  },
  { path: "lib/crypto/hash_in_thread.ts", line: /refuses to continue a digest/, why: NO_MEMORY },
  { path: "lib/fleet/bank_pack.ts", line: /bootId = "";/, why: OTHER_SYSTEM },
  { path: "lib/fleet/bank_pack.ts", line: /removed meanwhile|bytes === undefined\) continue;/, why: RACE },
  { path: "lib/fleet/bank_pack.ts", line: /changed === undefined\) return;|read === null\) return false;/, why: RACE },
  { path: "lib/fleet/mine.ts", line: /if \(times === undefined\) return \[\];/, why: RACE },
  { path: "lib/jobs/file_store.ts", line: /!directory\.createWith\(.*return false;/, why: RACE },
  { path: "lib/stores/move_jobs.ts", line: /if \(load === undefined\) continue;/, why: RACE },
  {
    path: "lib/master/functions/processes.ts",
    line: /#lose\(turn, messageOf/,
    why: "a system that starts no more processes",
  },
  { path: "lib/keys/store.ts", line: /errors\.NotFound\) return false;/, why: RACE },
  {
    path: "lib/python_bridge/zygote/zygote.ts",
    line: /take\(messageOf\(error\)\)/,
    why: "a pipe of a child that cannot be read",
  },
  {
    path: "lib/minion/agent/minion_reactor.ts",
    line: /The reactor: the event/,
    why: "a fault of the reactor itself, which is to take the next event all the same",
  },
  { path: "lib/minion/worker/job_runner.ts", line: /no job runs/, why: ALWAYS_THERE },
  {
    path: "lib/minion/agent/minion.ts",
    line: /the minion has not started|#triggers\?\.describe\(\) \?\? \[\]/,
    why: ALWAYS_THERE,
  },
  {
    path: "lib/minion/agent/minion.ts",
    line: /^fail: \(error\) => this\.#end\(error\),$/,
    why: "a fault of the program: what reads the minion's bus skips what is no event",
  },
  {
    path: "lib/client/local.ts",
    line: /^if \((!watch\.unreturned\.has\(id\)|stored === undefined \|\| !watch\.returned\(id\))\) continue;/,
    why: "a return whose event comes while others are read from the job cache",
  },
  {
    path: "lib/minion/beacons/minion_beacons.ts",
    line: /^if \(!this\.#own\.has\(name\)\) return;/,
    why: "a beacon that is deleted while its only look is told of",
  },
  {
    path: "lib/programs/helper_process.ts",
    line: /this\.#hasEnded\) return;/,
    why: "a process that ends by itself just before its owner ends it",
  },
  {
    path: "lib/minion/local_call/modules.ts",
    line: /plugins in Python run only within a function/,
    why: "a plugin asks only while a call runs, which has its context",
  },
  {
    path: "lib/minion/worker/module_process.ts",
    line: /its memory cannot be limited/,
    why: "a process that ends before it is limited",
  },
  {
    path: "lib/minion/local_call/modules.ts",
    line: /nothing is run yet/,
    why: "a module asks only while a call runs, which has its context",
  },
  {
    path: "lib/minion/local_call/modules.ts",
    line: /nobody answers/,
    why: "the pool answers the other requests itself",
  },
  {
    path: "lib/master/daemon/master.ts",
    line: /if \(this\.#closing\) await this\.#meter\?\.close/,
    why: "a master that ends while the code of its metrics is loaded",
  },
  {
    path: "lib/commands/ssh/ssh_fleet.ts",
    line: /log\.error\(`\$\{id\}: \$\{messageOf\(error\)\}`\)/,
    why: "an error that neither ssh nor the roster gives; the system gives no other on demand",
  },
  {
    path: "lib/commands/ssh/salt_ssh.ts",
    line: /No ssh binary found in path/,
    why: "a host without ssh",
  },
  {
    path: "lib/master/functions/python_calls.ts",
    line: /^context: \(\) => \(\{ signal \}\),$/,
    why: "only a search for functions asks it, and these plugins are called by name",
  },
  {
    path: "lib/minion/local_call/python_engine.ts",
    line: /^context: \(\) => \(\{ signal \}\),$/,
    why: "only a search for functions asks it, and an engine is called by name",
  },
  {
    path: "lib/master/functions/python_auth.ts",
    line: /this\.#host = undefined;/,
    why: "a host whose grains cannot be read: each of their functions that fails is left out with a warning",
  },
  {
    path: "lib/master/processes/master_engine.ts",
    line: /if \(master === undefined\) return await runPythonEngine/,
    why: "the program of the master starts engines of masters alone; the types cannot say so",
  },
  {
    path: "lib/master/daemon/file_updates.ts",
    line: /work\(\)\.catch/,
    why: "the work itself logs each failure that the system can give",
  },
  {
    path: "lib/master/daemon/master.ts",
    line: /this\.#memoryLooks = new CpuTimeWatch\(/,
    why: "a system that does not say how much memory a process has",
  },
  { path: "lib/master/daemon/mworker.ts", line: /if \(note === undefined\) throw/, why: ALWAYS_THERE },
  { path: "lib/auth/attempts.ts", line: /most === undefined\) return;/, why: ALWAYS_THERE },
  { path: "lib/minion/masters/link.ts", line: /session === undefined\) throw/, why: ALWAYS_THERE },
  {
    path: "lib/minion/agent/job_answers.ts",
    line: /nobody answers/,
    why: "the pool answers the other requests itself",
  },
];
