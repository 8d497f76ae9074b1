/**
 * Lines of the modules that no test can reach, or that the tool cannot see.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, OTHER_SYSTEM, RACE } from "./rule.ts";

/** Functions of the module `ps` between the list of processes and a look at one. */
const ENDS = /const known = await attributes|if \((known|usage) === undefined\) continue|function nothingIfGone/;

const CALLED_TEST = "Deno counts nothing of a file of this name; tests/modules has tests of it";

/** See {@linkcode CoverageRule}. */
export const MODULES_RULES: readonly CoverageRule[] = [
  { path: "modules/grains/os.ts", line: /macGrains/, why: OTHER_SYSTEM },
  { path: "modules/grains/core.ts", line: /MacOS/, why: OTHER_SYSTEM },
  { path: "modules/execution/ps.ts", line: ENDS, why: RACE },
  {
    path: "modules/execution/ps.ts",
    line: /\[Errno 1\] Operation not permitted/,
    why: "root, as whom the tests run, may send any process a signal",
  },
  {
    path: "modules/runners/jobs.ts",
    line: /^if \(typeof jid !== "string" \|\| !isMap\(job\)\) continue;$/,
    why: ALWAYS_THERE,
  },
  {
    path: "modules/runners/_rotating.ts",
    line: /^if \(own === undefined\) throw/,
    why:
      "a runner reaches the database of a cluster only on a master that has joined it, and so has brought a key pair",
  },
  {
    path: "modules/runners/ssh.ts",
    line: /^if \(excess !== undefined\) throw/,
    why: "returns of a gibibyte, which a test would take minutes to make",
  },
  {
    path: "modules/beacons/network_settings.ts",
    line: /^host\.fail\(messageOf\(error\)\);$|^watch\.close\(\);$/,
    why: "a kernel that does not list its own network interfaces",
  },
  {
    path: "modules/engines/webhook.ts",
    line: /^if \(request\.body === null\)/,
    why: "a server of Deno gives each POST a body, if only an empty one; the type of other requests has none",
  },
  {
    path: "modules/engines/_worker.ts",
    line: /get\(message\.stream\)\?\.\(undefined\)/,
    why: "a bus ends with its daemon, which ends its engines at the same moment",
  },
  {
    path: "modules/execution/cmd/chroot.ts",
    line: /processesIn\(directory\)\.length === 0|could not be killed/,
    why: "a process that does not end by SIGKILL hangs in the kernel",
  },
  {
    path: "modules/execution/saltutil/master_side.ts",
    line: /which\("salt-run"\)|found === undefined\) throw new CommandError\(NOT_LOCAL\)|return \[found\]/,
    why: "an installation without the program beside it: a test runs the sources, which are all there",
  },
  {
    path: "modules/execution/status.ts",
    line: /instanceof Deno\.errors\.PermissionDenied\) return new Map/,
    why: "a kernel that lacks one of its usual files in /proc, or hides it",
  },
  {
    path: "modules/execution/out.ts",
    line: /^hostNames: \(\) => \{/,
    why: "the type asks for it; nothing looks for the id of options that have one",
  },
  {
    path: "modules/execution/kmod.ts",
    line: /if \(isNew\) persistModule/,
    why:
      "it writes the host's own /etc/modules, and only if the host has the modules of its kernel, which containers lack",
  },
  ...["execution", "runners", "states"].map((family) => ({
    path: `modules/${family}/test.ts`,
    line: /./,
    why: CALLED_TEST,
  })),
];
