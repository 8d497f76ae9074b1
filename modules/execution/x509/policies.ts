/**
 * The functions of the module `x509` by which minions sign for others.
 * Source: Salt 3008.3 `salt/modules/x509_v2.py` get_signing_policy, sign_remote_certificate.
 * @module
 */

import { askRemote, localPolicy } from "./common.ts";
import { localCertificate } from "./creating.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { loadCertificate, pemOf, referenceOf } from "#lib/host/x509/loading.ts";
import { currentNames, withPolicy } from "#lib/host/x509/old_names.ts";

export const get_signing_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a signing policy of this minion or of `ca_server`, from `x509_signing_policies` in the pillar or the configuration.",
    "x509.get_signing_policy www",
  ),
  permissions: "all",
  params: { signing_policy: p.any(), ca_server: p.str(null) },
  run: async ({ signing_policy, ca_server }, context) => {
    if (ca_server === null) return currentNames(await localPolicy(signing_policy, context));
    const query = { policy: signing_policy, kwargs: new Map<Value, Value>(), policyOnly: true };
    const answer = await askRemote(ca_server, query, context);
    if (!isMap(answer)) return new Map();
    const certificate = answer.get("signing_cert") ?? null;
    if (certificate !== null) {
      answer.set("signing_cert", pemOf("CERTIFICATE", loadCertificate(referenceOf(certificate)).der));
    }
    return currentNames(answer);
  },
});

/** Whether a minion matches the expression of a policy. */
async function isPermitted(expression: string, minion: string, context: JobContext): Promise<boolean> {
  if (!expression.includes("@")) return await context.call("match.glob", [expression, minion]) === true;
  const match = await context.call("publish.runner", ["match.compound_matches"], map({ arg: [expression, minion] }));
  if (match === null) {
    throw new CommandError(
      "Could not check minion match for compound expression. " +
        "Is this minion allowed to run `match.compound_matches` on the master?",
    );
  }
  if (!isMap(match) || !match.has("res")) throw new CommandError("Invalid return value of match.compound_matches.");
  return match.get("res") === minion;
}

export const sign_remote_certificate: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Sign a certificate for another minion, which calls this by x509.create_certificate. Returns `data` and `errors`.",
    "x509.sign_remote_certificate www kwargs=\"{'public_key': '/etc/pki/www.key'}\"",
  ),
  permissions: "all",
  params: { signing_policy: p.any(), kwargs: p.dict(), get_signing_policy_only: p.bool(false) },
  varKwargs: "more_kwargs",
  run: async ({ signing_policy, kwargs, get_signing_policy_only }, context, { kwargs: more }) => {
    const refuseWith = (...errors: string[]) => map({ data: null, errors });
    try {
      const policy = await localPolicy(signing_policy, context);
      if (policy.size === 0) {
        return refuseWith("signing_policy must be specified and defined on signing minion");
      }
      const minions = policy.get("minions");
      if (minions !== undefined) {
        const minion = more.get("__pub_id");
        if (minion === undefined) return refuseWith("minion sending this request could not be identified");
        if (!await isPermitted(str(minions), str(minion), context)) {
          return refuseWith("minion not permitted to use specified signing policy");
        }
        policy.delete("minions");
      }
      if (get_signing_policy_only) {
        policy.delete("signing_private_key");
        policy.delete("signing_private_key_passphrase");
        const certificate = policy.get("signing_cert") ?? null;
        try {
          if (certificate !== null) policy.set("signing_cert", loadCertificate(referenceOf(certificate)).der);
        } catch (error) {
          if (!(error instanceof InvocationError)) throw error;
          return refuseWith(error.message);
        }
        return map({ data: policy, errors: [] });
      }
      const given = withPolicy(policy, kwargs);
      given.delete("ca_server");
      try {
        return map({ data: (await localCertificate(given)).der, errors: [] });
      } catch (error) {
        return refuseWith(messageOf(error));
      }
    } catch (error) {
      context.log("error", messageOf(error));
      return refuseWith("Failed building the signing policy. See CA server log for details.");
    }
  },
});
