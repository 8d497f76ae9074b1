/**
 * Execution module `webutil`: users of the password files of web servers, with `htpasswd`.
 * Source: the functions of Salt 3008.3 `salt/modules/webutil.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { splitLines } from "#lib/text/split_lines.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["htpasswd"],
    otherwise: "The htpasswd execution mdule cannot be loaded: htpasswd binary not in path.",
  }],
};

/** Letters of htpasswd's options. */
function letters(opts: string): string {
  if (/^[A-Za-z0-9]*$/.test(opts)) return opts;
  throw new InvocationError(`Invalid options of htpasswd: ${JSON.stringify(opts)}`);
}

/** Runs htpasswd with a password, which is never logged. */
function withPassword(
  given: { readonly pwfile: string; readonly user: string; readonly password: string; readonly runas: string | null },
  options: string,
  context: JobContext,
): Promise<ProgramResult> {
  const { pwfile, user, password, runas } = given;
  const words = ["htpasswd", options, checkedWord(pwfile, "file"), checkedWord(user, "user"), password];
  return runProgram(words, context, { runas, secret: true, setsRetcode: true });
}

const USER = { pwfile: p.str(), user: p.str(), password: p.str(), opts: p.str(""), runas: p.str(null) };

export const useradd: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a user to a file of passwords, which is made if it is not there, or change the password. Letters of `opts`: n (print it and\n" +
      "leave the file as it is), m (MD5), d (crypt), p (plain text), s (SHA-1).",
    "webutil.useradd /etc/httpd/htpasswd larry badpassword",
    "webutil.useradd /etc/httpd/htpasswd larry badpass opts=ns",
  ),
  permissions: "all",
  params: USER,
  run: ({ opts, ...given }, context) =>
    withPassword(given, `-b${letters(opts)}${existsOrThrow(given.pwfile) ? "" : "c"}`, context),
});

export const userdel: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a user from a file of passwords. all_results=True: return the return code and both outputs, too.",
    "webutil.userdel /etc/httpd/htpasswd larry",
  ),
  permissions: "all",
  params: { pwfile: p.str(), user: p.str(), runas: p.str(null), all_results: p.bool(false) },
  async run({ pwfile, user, runas, all_results }, context) {
    if (!existsOrThrow(pwfile)) return "Error: The specified htpasswd file does not exist";
    const words = ["htpasswd", "-D", checkedWord(pwfile, "file"), checkedWord(user, "user")];
    const result = await runProgram(words, context, { runas, setsRetcode: true, joined: !all_results });
    return all_results ? result : splitLines(result.stdout);
  },
});

export const verify: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a file of passwords has a user with this password.",
    "webutil.verify /etc/httpd/htpasswd larry maybepassword",
    "webutil.verify /etc/httpd/htpasswd larry maybepassword opts=ns",
  ),
  permissions: "all",
  params: USER,
  async run({ opts, ...given }, context) {
    if (!existsOrThrow(given.pwfile)) return false;
    return (await withPassword(given, `-bv${letters(opts)}`, context)).retcode === 0;
  },
});
