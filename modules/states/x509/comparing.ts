/**
 * The differences of existing certificates, requests and revocation lists from requested ones.
 * Source: Salt 3008.3 `salt/utils/x509.py` check_cert_changes, compare_exts; `salt/states/x509_v2.py` _compare_crl.
 * @module
 */

import { digestName } from "#lib/crypto/asymmetric_keys.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type CertificatePlan, type ListPlan, type RequestPlan, serialNumber } from "#lib/host/x509/building.ts";
import type { Certificate, RevocationList, SignedDocument, SigningRequest } from "#lib/host/x509/documents.ts";
import { type Extension, numberHex } from "#lib/host/x509/extension_texts.ts";
import { spkiOf } from "#lib/host/x509/loading.ts";
import { nameText, sameName } from "#lib/host/x509/names.ts";
import { extensionName } from "#lib/host/x509/oids.ts";
import { isPair, isSignedBy } from "#lib/host/x509/signing.ts";

function sameExtension(one: Extension, other: Extension): boolean {
  return one.critical === other.critical && one.value.toHex() === other.value.toHex();
}

function extensionOf(all: readonly Extension[], { oid }: Extension): Extension | undefined {
  return all.find((one) => one.oid === oid);
}

/** The extensions that differ. */
function differing(now: readonly Extension[], wanted: readonly Extension[]): Extension[] {
  const other = wanted.filter((one) => {
    const before = extensionOf(now, one);
    return before === undefined || !sameExtension(one, before);
  });
  return [...other, ...now.filter((one) => extensionOf(wanted, one) === undefined)];
}

/** Which extensions are added, changed and removed; an empty map: none. */
function extensionChanges(now: readonly Extension[], wanted: readonly Extension[]): ValueMap {
  const changes = { added: [] as string[], changed: [] as string[], removed: [] as string[] };
  const different = differing(now, wanted);
  for (const one of different) {
    const [before, after] = [extensionOf(now, one), extensionOf(wanted, one)];
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    changes[kind].push(extensionName(one.oid));
  }
  return different.length === 0 ? new Map() : map({ extensions: changes });
}

/** Whether a document is signed with another digest than requested. Ed25519 has no digest. */
export function hasOtherDigest({ digest }: SignedDocument, wanted: string): boolean {
  return digest !== undefined && digest !== digestName(wanted);
}

/**
 * The changes that a certificate needs.
 * @param serial The requested number.
 */
export async function certificateChanges(
  now: Certificate,
  plan: CertificatePlan,
  serial: Value,
): Promise<ValueMap> {
  const changes: ValueMap = new Map();
  if (serial !== null && serialNumber(serial) !== now.serial) changes.set("serial_number", serial);
  if (plan.spki.toHex() !== now.spki.toHex()) changes.set("private_key", true);
  if (plan.signingCertificate !== undefined && !await isOf(now, plan.signingCertificate.spki)) {
    changes.set("signing_private_key", true);
  }
  if (!sameName(plan.subject, now.subject)) changes.set("subject_name", nameText(plan.subject));
  if (!sameName(plan.issuer, now.issuer)) changes.set("issuer_name", nameText(plan.issuer));
  return new Map([...changes, ...extensionChanges(now.extensions, plan.extensions)]);
}

/** Whether a document is signed by a key; one of another kind of key is not. */
async function isOf(document: SignedDocument, spki: Uint8Array): Promise<boolean> {
  try {
    return await isSignedBy(document, spki);
  } catch (error) {
    // A signature of one kind does not fit a key of another.
    if (error instanceof Error && !(error instanceof Deno.errors.NotCapable)) return false;
    throw error;
  }
}

/** The changes that a request needs. */
export function requestChanges(now: SigningRequest, plan: RequestPlan): ValueMap {
  const changes: ValueMap = new Map();
  if (!isPair(now.spki, plan.key)) changes.set("private_key", true);
  if (!sameName(plan.subject, now.subject)) changes.set("subject_name", nameText(plan.subject));
  return new Map([...changes, ...extensionChanges(now.extensions, plan.extensions)]);
}

/**
 * The changes that a revocation list needs.
 * @param isCounted Whether its number is not compared.
 */
export async function listChanges(now: RevocationList, plan: ListPlan, isCounted: boolean): Promise<ValueMap> {
  const changes: ValueMap = new Map();
  const { issuer } = plan;
  if (issuer !== undefined && !sameName(issuer.subject, now.issuer)) {
    changes.set("issuer_name", nameText(issuer.subject));
  }
  if (!await isOf(now, spkiOf(plan.key))) changes.set("public_key", true);
  const before = new Map(now.revoked.map((one) => [one.serial, one]));
  const added: string[] = [];
  const changed: string[] = [];
  for (const one of plan.revoked) {
    const old = before.get(one.serial);
    if (old === undefined) added.push(numberHex(one.serial));
    // Salt names it once for each extension.
    else changed.push(...differing(old.extensions, one.extensions).map(() => numberHex(one.serial)));
  }
  const serials = new Set(plan.revoked.map(({ serial }) => serial));
  const removed = now.revoked.filter(({ serial }) => !serials.has(serial)).map(({ serial }) => numberHex(serial));
  if (added.length + changed.length + removed.length > 0) changes.set("revocations", map({ added, changed, removed }));
  const countedExtensions = (all: readonly Extension[]) =>
    isCounted ? all.filter(({ oid }) => extensionName(oid) !== "cRLNumber") : all;
  return new Map([...changes, ...extensionChanges(countedExtensions(now.extensions), plan.extensions)]);
}

/** Whether only these are changed. */
export function changesOnly(changes: ValueMap, names: readonly string[]): boolean {
  return [...changes.keys()].every((name) => names.includes(str(name)));
}
