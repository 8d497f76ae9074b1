/**
 * Runner `auth`: tokens of `external_auth`. Passwords and tokens are in no event and in no job cache.
 * Source: Salt 3008.3 `salt/runners/auth.py`.
 * @module
 */

import { makeFirstUser } from "#lib/auth/first_user.ts";
import { Tokens } from "#lib/auth/tokens.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { requestToken } from "#lib/client/token_request.ts";
import { checkMasterRunning } from "#lib/client/master_running.ts";
import { p } from "#lib/plugins/module.ts";
import { map } from "#lib/values/value.ts";

export const mk_token: RunnerFunction = runner({
  doc: runnerDoc(
    "Create a token with the name and password of a user, and return its data: `token`, `name`, `eauth`, `start` and `expire`;\n" +
      "an empty string if the master does not allow it. `token_expire` is its lifetime in seconds, if the option `token_expire_user_override`\n" +
      "allows it.",
    "auth.mk_token username=saltdev password=saltdev eauth=file",
    "auth.mk_token username=saltdev password=saltdev eauth=file token_expire=94670856",
  ),
  secret: true,
  params: {},
  varKwargs: "load",
  async run(_, { opts }, { kwargs }) {
    await checkMasterRunning(opts.sock_dir);
    return await requestToken(opts, kwargs) ?? "";
  },
});

export const del_token: RunnerFunction = runner({
  doc: runnerDoc("Remove a token. Return whether there was one.", "auth.del_token 6556760736e4077daa601baec2b67c24"),
  secret: true,
  params: { token: p.str() },
  run: ({ token }, { opts, log }) =>
    new Tokens({
      directory: opts.token_dir,
      hashType: opts.hash_type,
      log: (text) => log("error", text),
      notes: changeNotes(opts),
    }).remove(token),
});

export const first_user: RunnerFunction = runner({
  doc: runnerDoc(
    "Make a first user of `external_auth: file`, who may do everything, with a random password, and switch on the web console.\n" +
      "Writes `master.d/first_user.conf`, which the master reads when it starts. Refused if `external_auth` has anything already.\n" +
      "The password is shown this once, and kept nowhere.",
    "auth.first_user",
    "auth.first_user name=alice",
  ),
  secret: true,
  params: { name: p.str("admin") },
  run({ name }, { opts }) {
    const { password, path } = makeFirstUser(name, opts);
    return map({
      user: name,
      password,
      eauth: "file",
      written: path,
      next: "Restart the master: it prints the address of the console",
    });
  },
});
