/**
 * The functions of the state module `x509` that Salt's wrapper for salt-ssh calls: the minion gets a result and the
 * contents of the file. Source: Salt 3008.3 `salt/states/x509_v2.py` certificate_managed_ssh, private_key_managed_ssh.
 * @module
 */

import { addInner, fileManaged, hasFailed, writeBytes } from "./files.ts";
import { messageOf } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";

const NOT_UPDATED =
  '. The file was not actually updated - please pass test=opts.get("test") into the wrapper to enable ' +
  "proper test mode support.";

/** Arguments of file.managed for a file whose contents are kept. */
function fileArguments(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs, ["replace", false]]);
}

export const certificate_managed_ssh: ModuleFunction<StateContext> = stateFn({
  doc: `A file is a certificate that was created elsewhere. Used by the wrapper of salt-ssh.

result, comment, changes
    The wrapper's result.

encoding, contents
    The encoding of the contents, and the text, or base64 of the bytes. Default: the file is kept.

Other arguments are those of file.managed.`,
  params: {
    name: p.str(),
    result: p.any(),
    comment: p.str(),
    changes: p.dict(),
    encoding: p.str(null),
    contents: p.str(null),
  },
  varKwargs: "kwargs",
  run: async ({ name, result, comment, changes, encoding, contents }, context, { kwargs }) => {
    const ret: StateResult = { name, result: result === null ? null : truthy(result), comment, changes };
    if (ret.result !== true) return ret;
    const done = await fileManaged(name, fileArguments(kwargs), context);
    addInner(ret, done, context);
    if (hasFailed(ret, done, isFile(name)) || contents === null) return ret;
    if (context.test) return { ...ret, comment: comment + NOT_UPDATED };
    const isText = encoding === "pem" || encoding === "pkcs7_pem";
    const bytes = isText ? new TextEncoder().encode(contents) : Uint8Array.fromBase64(contents);
    await writeBytes(name, bytes, kwargs, context);
    return ret;
  },
});

export const private_key_managed_ssh: ModuleFunction<StateContext> = stateFn({
  doc: `A file is a private key that was created elsewhere. Used by the wrapper of salt-ssh.

result, comment, changes
    The wrapper's result.

tempfile
    The file with the key, which is moved. Default: the current file is kept.

Other arguments are those of file.managed.`,
  params: { name: p.str(), result: p.any(), comment: p.str(), changes: p.dict(), tempfile: p.str(null) },
  varKwargs: "kwargs",
  run: async ({ name, result, comment, changes, tempfile }, context, { kwargs }) => {
    const ret: StateResult = { name, result: result === null ? null : truthy(result), comment, changes };
    if (ret.result !== true) return ret;
    const done = await fileManaged(name, fileArguments(kwargs), context);
    if (tempfile !== null) {
      if (context.test) {
        if (isFile(tempfile)) await context.call("file.remove", [tempfile]);
        return { ...ret, comment: comment + NOT_UPDATED };
      }
      try {
        await context.call("file.move", [tempfile, name]);
      } catch (error) {
        const text = `${comment}. But: Failed moving the private key into place: ${messageOf(error)}`;
        return { name, result: false, comment: text, changes: new Map() };
      }
    }
    addInner(ret, done, context);
    return ret;
  },
});
