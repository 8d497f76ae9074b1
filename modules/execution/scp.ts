/**
 * Execution module `scp`: files from and to other hosts, with OpenSSH's scp.
 * Source: the functions of Salt 3008.3 `salt/modules/scp_mod.py`; scp(1), ssh_config(5), ssh(1) `SSH_ASKPASS_REQUIRE`.
 * @module
 */

import { removeAny } from "#lib/host/filesystem/trees.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords, refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { asList, asListIfTruthy, textOrNull } from "#lib/values/shape.ts";
import { map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["scp"], otherwise: "Please install OpenSSH's scp for this module." }],
};

const KEYWORDS = [
  ...["hostname", "port", "username", "password", "passphrase", "key_filename", "timeout", "socket_timeout"],
  ...["buff_size", "allow_agent", "look_for_keys", "banner_timeout", "auth_timeout", "auto_add_policy", "compress"],
];

/** Answers a question of ssh: for a passphrase, or for a password. */
const ASK_PASS = `#!/bin/sh
case "$1" in
*passphrase*) printf '%s\\n' "$SALT_SCP_PASSPHRASE" ;;
*) printf '%s\\n' "$SALT_SCP_PASSWORD" ;;
esac
`;

/** @throws {InvocationError} If a text could be more than a name of a host or of a user. */
function checkedName(value: Value | undefined, what: string): string {
  const text = str(value ?? "");
  if (/^[\w.][\w.:%@\\-]*$/.test(text)) return text;
  throw new InvocationError(`Invalid ${what}: ${JSON.stringify(text)}`);
}

function wholeNumber(value: Value | undefined, what: string): number {
  const number = toNumber(value);
  if (number !== undefined && number > 0) return Math.ceil(number);
  throw new InvocationError(`Invalid ${what}: ${str(value ?? null)}`);
}

/** A path in an option of ssh. */
function quotedPath(path: string): string {
  if (/["\n\r\0]/.test(path)) throw new InvocationError(`Invalid path: ${JSON.stringify(path)}`);
  return `"${path.replaceAll("%", "%%")}"`;
}

/** The options of ssh for the keywords. */
function sshOptions(kwargs: ValueMap, cachedir: string): string[] {
  const number = (name: string) => wholeNumber(kwargs.get(name), name);
  const has = (name: string) => kwargs.get(name) !== undefined && kwargs.get(name) !== null;
  const asks = truthy(kwargs.get("password")) || truthy(kwargs.get("passphrase"));
  const keys = asListIfTruthy(kwargs.get("key_filename") ?? null).map(str);
  const options = [
    `UserKnownHostsFile=${quotedPath(`${cachedir}/scp_known_hosts`)} ~/.ssh/known_hosts`,
    `StrictHostKeyChecking=${kwargs.get("auto_add_policy") === true ? "accept-new" : "yes"}`,
    `BatchMode=${asks ? "no" : "yes"}`,
    "NumberOfPasswordPrompts=1",
    ...keys.map((key) => `IdentityFile=${quotedPath(key)}`),
  ];
  if (kwargs.get("look_for_keys") === false) {
    options.push("IdentitiesOnly=yes");
    if (keys.length === 0) options.push("IdentityFile=none");
  }
  if (kwargs.get("allow_agent") === false) options.push("IdentityAgent=none");
  if (kwargs.get("compress") === true) options.push("Compression=yes");
  if (has("username")) options.push(`User=${checkedName(kwargs.get("username"), "username")}`);
  if (has("port")) options.push(`Port=${number("port")}`);
  if (has("timeout")) options.push(`ConnectTimeout=${number("timeout")}`);
  const idle = has("socket_timeout") ? number("socket_timeout") : 10;
  return [...options, `ServerAliveInterval=${idle}`, "ServerAliveCountMax=1"];
}

/** A path of this host, which scp must not take for another host's. */
function localPath(path: string): string {
  return path.startsWith("/") ? path : `./${path}`;
}

/** What is copied: paths of this host, and a place of the other. */
interface Copying {
  /** The words of scp for both sides, from that of the other host. */
  readonly words: (remote: (path: string) => string) => string[];
  readonly recursive: boolean;
  readonly preserve_times: boolean;
}

/** @throws {CommandError} With what scp says. */
async function copy(
  { words, recursive, preserve_times }: Copying,
  kwargs: ValueMap,
  context: JobContext,
): Promise<null> {
  refuseOtherKeywords(kwargs, KEYWORDS);
  const own = ownKeywords(kwargs);
  const host = checkedName(own.get("hostname"), "hostname");
  const remote = (path: string) => `[${host}]:${path}`;
  const options = sshOptions(own, context.opts.cachedir).flatMap((option) => ["-o", option]);
  const flags = [...recursive ? ["-r"] : [], ...preserve_times ? ["-p"] : []];
  const password = textOrNull(own.get("password")) ?? "";
  const directory = await Deno.makeTempDir({ prefix: "scp_" });
  try {
    writeWithUmask(`${directory}/askpass`, ASK_PASS, 0o700);
    const env = {
      SSH_ASKPASS: `${directory}/askpass`,
      SSH_ASKPASS_REQUIRE: "force",
      SALT_SCP_PASSWORD: password,
      SALT_SCP_PASSPHRASE: textOrNull(own.get("passphrase")) ?? password,
    };
    await Deno.mkdir(context.opts.cachedir, { recursive: true });
    const { retcode, stderr, stdout } = await runProgram(
      ["scp", ...flags, ...options, "--", ...words(remote)],
      context,
      {
        env,
        joined: true,
      },
    );
    if (retcode !== 0) throw new CommandError(stdout || stderr || `scp ended with return code ${retcode}`);
  } finally {
    removeAny(directory);
  }
  return null;
}

const CONNECTION = `

hostname
    The other host.

port, username, password
    Default: 22, and the user and keys of the minion.

key_filename, passphrase
    Files of keys, and the passphrase of them; without it password is it.

timeout, socket_timeout
    Seconds until there is a connection, and without an answer: 10.

allow_agent, look_for_keys
    False: no agent, no other keys.

auto_add_policy
    True: the key of an unknown host is accepted, and kept below the minion's cachedir.

compress
    True: data is compressed. Buff_size, banner_timeout and auth_timeout have no effect.`;

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Copy files from another host. The path may be a pattern.

recursive, preserve_times
    Directories, too; the times of files.${CONNECTION}`,
    "scp.get /var/tmp/file /tmp/file hostname=10.10.10.1 auto_add_policy=True",
  ),
  permissions: "all",
  params: {
    remote_path: p.any(),
    local_path: p.str(""),
    recursive: p.bool(false),
    preserve_times: p.bool(false),
  },
  varKwargs: "kwargs",
  run({ remote_path, local_path, ...how }, context, { kwargs }) {
    const paths = asList(remote_path).map(str);
    return copy({ ...how, words: (remote) => [...paths.map(remote), localPath(local_path || ".")] }, kwargs, context);
  },
});

export const put: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Copy files to another host: paths of the minion, or URLs that cp.cache_file takes.

recursive, preserve_times
    Directories, too; the times of files.${CONNECTION}`,
    "scp.put /path/to/file /var/tmp/file hostname=server1 auto_add_policy=True",
  ),
  permissions: "all",
  params: {
    files: p.any(),
    remote_path: p.str(null),
    recursive: p.bool(false),
    preserve_times: p.bool(false),
    saltenv: p.str("base"),
  },
  varKwargs: "kwargs",
  async run({ files, remote_path, saltenv, ...how }, context, { kwargs }) {
    const local: string[] = [];
    for (const file of asList(files).map(str)) {
      // A directory of the minion is copied as it is.
      const cached = how.recursive && file.startsWith("/")
        ? file
        : await context.call("cp.cache_file", [file], map({ saltenv }));
      if (typeof cached !== "string" || cached === "") throw new CommandError(`${file} is not there`);
      local.push(localPath(cached));
    }
    return await copy({ ...how, words: (remote) => [...local, remote(remote_path ?? "")] }, kwargs, context);
  },
});
