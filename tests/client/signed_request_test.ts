/**
 * For which master a job is signed: the operator's own copy of its key, else the one on this host.
 * @module
 */

import { signedRequest } from "#lib/client/signed_request.ts";
import { checkPublishedReturners } from "#lib/client/published_returners.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { UsageError } from "#lib/errors.ts";
import { clusterOf } from "#lib/operators/job_statement.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const pem = (name: string) => `-----BEGIN PUBLIC KEY-----\n${name}\n-----END PUBLIC KEY-----\n`;

Deno.test("a job is signed for the master whose key the operator has, else for the one on this host", () =>
  withTemporaryDirectory(async (root) => {
    const { opts } = loadMasterConfig({ readsFiles: false, overrides: { root_dir: root, user: "root" } });
    const get = Deno.env.get.bind(Deno.env), config = `${root}/config`;
    const by = (name: string) => name === "XDG_CONFIG_HOME" ? config : get(name);
    await withReplaced(Deno.env, { name: "get", by }, async () => {
      const job = { tgt: "*", tgtType: "glob", fun: "test.ping", arg: [] };
      const signer = { sign: (body: Uint8Array) => Promise.resolve(map({ body })) };
      const cluster = async () => {
        const op = (await signedRequest(job, { opts, user: "root", signer })).kwargs?.get(OP);
        const body = isMap(op) ? op.get("body") : undefined;
        assert(body instanceof Uint8Array);
        const statement = decode(body, "disk");
        return isMap(statement) ? statement.get("cluster") : undefined;
      };
      const copy = `copy the public key of yours, master.pub, to ${config}/salt/master.pub`;
      await assertRejects(() => cluster(), UsageError, copy);
      Deno.mkdirSync(opts.pki_dir, { recursive: true });
      Deno.writeTextFileSync(`${opts.pki_dir}/master.pub`, pem("AAAA"));
      assertEquals(await cluster(), clusterOf(pem("AAAA")));
      // The keys of the master are its own.
      const read = Deno.readFileSync;
      const denied = (path: string | URL) => {
        if (String(path).startsWith(opts.pki_dir)) throw new Deno.errors.PermissionDenied("Permission denied");
        return read(path);
      };
      await withReplaced(
        Deno,
        { name: "readFileSync", by: denied },
        () => assertRejects(() => cluster(), UsageError, copy),
      );
      Deno.mkdirSync(`${config}/salt`, { recursive: true });
      Deno.writeTextFileSync(`${config}/salt/master.pub`, pem("BBBB"));
      assertEquals(await cluster(), clusterOf(pem("BBBB")));
    });
  }));

Deno.test("a misspelt returner is named before anything is sent, unless the fleet may have one of that name", () =>
  withTemporaryDirectory((root) => {
    const places = {
      fileserver_backend: ["roots"],
      file_roots: map({ base: [`${root}/states`] }),
      extension_modules: `${root}/extmods`,
    };
    const check = (names: string, more: Partial<typeof places> = {}) =>
      checkPublishedReturners(names, { ...places, ...more });
    for (const names of ["redis", "redis,mysql", "our_own_returner", ""]) check(names);
    const near = "There is no returner 'rediss'; did you mean redis? Nothing was sent.";
    assertThrows(() => check("mysql,rediss"), UsageError, near);
    assertThrows(() => check("../x"), UsageError, "'../x' cannot be a returner. Nothing was sent.");
    // Files elsewhere are not known here.
    check("rediss", { fileserver_backend: ["roots", "gitfs"] });
    for (const directory of ["states/_returners", "extmods/returners"]) {
      Deno.mkdirSync(`${root}/${directory}`, { recursive: true });
      assertThrows(() => check("rediss"), UsageError, near);
      Deno.writeTextFileSync(`${root}/${directory}/rediss.py`, "");
      check("rediss");
      Deno.removeSync(`${root}/${directory}/rediss.py`);
    }
  }));
