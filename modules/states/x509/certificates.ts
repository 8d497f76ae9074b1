/**
 * State module `x509`: files that are certificates, signing requests and revocation lists.
 * Source: Salt 3008.3 `salt/states/x509_v2.py`.
 * @module
 */

import { certificateChanges, changesOnly, hasOtherDigest, listChanges, requestChanges } from "./comparing.ts";
import {
  absent,
  type CheckedDocument,
  type DocumentPlace,
  FILE_DOC,
  manage,
  refuseOthers,
  somethingElse,
  splitArguments,
} from "./files.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import { int, isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { planCertificate, planList, planRequest, revokedEntries } from "#lib/host/x509/building.ts";
import type { Certificate, RevocationList, SigningRequest } from "#lib/host/x509/documents.ts";
import { listNumber } from "#lib/host/x509/extension_texts.ts";
import {
  loadCertificate,
  loadCertificateChain,
  LoadError,
  loadRevocationList,
  loadSigningRequest,
  referenceOf,
  VersionError,
} from "#lib/host/x509/loading.ts";
import { currentNames, withPolicy } from "#lib/host/x509/old_names.ts";
import { EXTENSION_OIDS } from "#lib/host/x509/oids.ts";
import { asListIfTruthy, mapOrEmpty } from "#lib/values/shape.ts";

const DAY_MS = 86_400_000;

/** The result of a loader; `undefined` if the file is something else. */
function orSomethingElse<T>(load: () => T): T | undefined {
  try {
    return load();
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
}

/** A signing request, or that its version is invalid. */
function requestOrVersion(path: string): ReturnType<typeof loadSigningRequest> | "version" {
  try {
    return loadSigningRequest(path);
  } catch (error) {
    if (error instanceof VersionError) return "version";
    throw error;
  }
}

/** Whether a document expires within this number of days. */
function endsSoon(end: number, days: Value, otherwise: number): boolean {
  return end < Date.now() + (toNumber(days) ?? otherwise) * DAY_MS;
}

export const certificate_managed: ModuleFunction<StateContext> = stateFn({
  doc: `A file is a certificate. Other arguments are those of x509.create_certificate.

days_remaining : 90
    It is renewed if it expires within this number of days; 0: when it has expired.

append_certs
    Certificates to append to it in the file.

${FILE_DOC}`,
  params: {
    name: p.str(),
    days_remaining: p.any(null),
    ca_server: p.str(null),
    signing_policy: p.any(null),
    encoding: p.str("pem"),
    append_certs: p.any(null),
    digest: p.str("sha256"),
    signing_private_key: p.any(null),
    signing_private_key_passphrase: p.str(null),
    signing_cert: p.any(null),
    public_key: p.any(null),
    private_key: p.any(null),
    private_key_passphrase: p.str(null),
    csr: p.any(null),
    subject: p.any(null),
    serial_number: p.any(null),
    not_before: p.any(null),
    not_after: p.any(null),
    days_valid: p.any(null),
    pkcs12_passphrase: p.any(null),
    pkcs12_encryption_compat: p.any(false),
    pkcs12_friendlyname: p.any(null),
  },
  varKwargs: "kwargs",
  run: ({ name, ...args }, context, { kwargs }) => {
    const { days_remaining, ca_server, signing_policy, encoding, append_certs, digest, ...rest } = args;
    const { pkcs12_passphrase: _p, pkcs12_encryption_compat: _c, pkcs12_friendlyname: _f, ...own } = rest;
    const { file, others } = splitArguments(kwargs);
    const used = others.get("algorithm") ?? digest;
    others.delete("algorithm");
    const given = new Map<Value, Value>([...currentNames(others), ["digest", used], ...Object.entries(own)]);
    // In Salt 3009 it is 30.
    if (own.days_valid === null && own.not_after === null) given.set("days_valid", 365);
    const chain = asListIfTruthy(append_certs);
    let now: Certificate | undefined;
    const check = async (place: DocumentPlace): Promise<CheckedDocument> => {
      if (!place.exists) return absent(name, place);
      const policy = await context.call("x509.get_signing_policy", [signing_policy], map({ ca_server }));
      const present = orSomethingElse(() => loadCertificateChain(place.path));
      if (present === undefined) return somethingElse(name);
      now = present.certificate;
      const changes: ValueMap = new Map();
      if (encoding !== present.encoding) changes.set("encoding", encoding);
      if (endsSoon(now.notAfter, days_remaining, 90)) changes.set("expiration", true);
      const wanted = chain.map((one) => loadCertificate(referenceOf(one)).der.toHex());
      if (JSON.stringify(wanted) !== JSON.stringify(present.chain.map(({ der }) => der.toHex()))) {
        changes.set("additional_certs", true);
      }
      const merged = withPolicy(mapOrEmpty(policy), given);
      const plan = planCertificate(merged, truthy(ca_server));
      // A policy may request another digest; the changes show the state's argument.
      if (hasOtherDigest(now, str(merged.get("digest") ?? used))) changes.set("digest", used);
      const more = await certificateChanges(now, plan, own.serial_number);
      return { changes: new Map([...changes, ...more]), current: true };
    };
    const make = (changes: ValueMap): Promise<Value> => {
      if (now !== undefined && changesOnly(changes, ["additional_certs", "encoding"])) {
        return context.call("x509.encode_certificate", [now.der], map({ encoding, append_certs: chain }));
      }
      const merged: [Value, Value][] = Object.entries({ ca_server, signing_policy, encoding, append_certs: chain });
      return context.call("x509.create_certificate", [], new Map([...given, ...merged]));
    };
    return manage(name, { what: "certificate", file, encoding, check, make }, context);
  },
});

export const csr_managed: ModuleFunction<StateContext> = stateFn({
  doc: `A file is a signing request. Other arguments are those of x509.create_csr.\n\n${FILE_DOC}`,
  params: {
    name: p.str(),
    private_key: p.any(),
    private_key_passphrase: p.str(null),
    digest: p.str("sha256"),
    encoding: p.str("pem"),
    subject: p.any(null),
  },
  varKwargs: "kwargs",
  run: ({ name, digest, encoding, ...key }, context, { kwargs }) => {
    const { file, others } = splitArguments(kwargs);
    const used = str(others.get("algorithm") ?? digest);
    others.delete("algorithm");
    const given = new Map<Value, Value>([...currentNames(others), ...Object.entries(key)]);
    let now: SigningRequest | undefined;
    const check = (place: DocumentPlace): CheckedDocument => {
      if (!place.exists) return absent(name, place);
      const loaded = orSomethingElse(() => requestOrVersion(place.path));
      if (loaded === undefined) return somethingElse(name);
      if (loaded === "version") return { changes: map({ invalid_version: true, replaced: name }), current: false };
      now = loaded.found;
      const changes: ValueMap = new Map();
      if (hasOtherDigest(now, used)) changes.set("digest", used);
      if (encoding !== loaded.encoding) changes.set("encoding", encoding);
      const more = requestChanges(now, planRequest(given));
      return { changes: new Map([...changes, ...more]), current: true };
    };
    const make = (changes: ValueMap): Promise<Value> =>
      now !== undefined && changesOnly(changes, ["encoding"])
        ? context.call("x509.encode_csr", [now.der], map({ encoding }))
        : context.call("x509.create_csr", [], new Map([...given, ["digest", used], ["encoding", encoding]]));
    return manage(name, { what: "certificate signing request", file, encoding, check, make }, context);
  },
});

export const crl_managed: ModuleFunction<StateContext> = stateFn({
  doc:
    `A file is a certificate revocation list. The arguments are those of x509.create_crl; \`cRLNumber: auto\` in \`extensions\` increments the number.

days_remaining : 30
    It is renewed if it expires within this number of days; 0: never for that reason.

${FILE_DOC}`,
  params: {
    name: p.str(),
    signing_private_key: p.any(),
    revoked: p.any(),
    days_remaining: p.any(null),
    signing_cert: p.any(null),
    signing_private_key_passphrase: p.str(null),
    include_expired: p.any(false),
    days_valid: p.any(null),
    digest: p.str("sha256"),
    encoding: p.str("pem"),
    extensions: p.any(null),
  },
  varKwargs: "kwargs",
  run: ({ name, days_remaining, digest, encoding, extensions, ...rest }, context, { kwargs }) => {
    const { file, others } = splitArguments(kwargs);
    others.delete("text");
    refuseOthers(others);
    const merged: ValueMap = new Map(isMap(extensions) ? extensions : []);
    const isCounted = merged.get("cRLNumber") === "auto";
    if (isCounted) merged.delete("cRLNumber");
    const days_valid = rest.days_valid ?? 100;
    const given = new Map<Value, Value>(
      Object.entries({ ...rest, revoked: revokedEntries(rest.revoked), days_valid, extensions: merged }),
    );
    let now: RevocationList | undefined;
    const check = async (place: DocumentPlace): Promise<CheckedDocument> => {
      if (!place.exists) return absent(name, place);
      const loaded = orSomethingElse(() => loadRevocationList(place.path));
      if (loaded === undefined) return somethingElse(name);
      now = loaded.found;
      const changes: ValueMap = new Map();
      if (hasOtherDigest(now, digest)) changes.set("digest", digest);
      if (encoding !== loaded.encoding) changes.set("encoding", encoding);
      const days = days_remaining ?? 30;
      if (truthy(days) && endsSoon(now.nextUpdate ?? 0, days, 30)) changes.set("expiration", true);
      // Skipped entries are reported when the list is created.
      const more = await listChanges(now, planList(given, () => {}), isCounted);
      // For Salt, a list without entries is no list here.
      return { changes: new Map([...changes, ...more]), current: now.revoked.length > 0 };
    };
    const make = (changes: ValueMap): Promise<Value> => {
      if (now !== undefined && changesOnly(changes, ["encoding"])) {
        return context.call("x509.encode_crl", [now.der], map({ encoding }));
      }
      const counted = now?.extensions.find(({ oid }) => oid === EXTENSION_OIDS.get("cRLNumber"));
      const number = counted === undefined ? 1 : int(listNumber(counted) + 1n);
      const own = isCounted ? new Map<Value, Value>([...merged, ["cRLNumber", number]]) : merged;
      const more: [Value, Value][] = Object.entries({ digest, encoding, extensions: own });
      return context.call("x509.create_crl", [], new Map([...given, ...more]));
    };
    return manage(name, { what: "certificate revocation list", file, encoding, check, make }, context);
  },
});
