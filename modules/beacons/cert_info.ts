/**
 * Beacon `cert_info`: certificates in files that expire soon.
 * Source: Salt 3008.3 `salt/beacons/cert_info.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { Certificate } from "#lib/host/x509/documents.ts";
import { loadCertificate } from "#lib/host/x509/loading.ts";
import type { Name } from "#lib/host/x509/names.ts";
import { shownName } from "#lib/host/x509/oids.ts";
import { nameAttributes, writeExtension } from "#lib/host/x509/openssl_texts.ts";
import { type BeaconHost, type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { int, isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

const NOTIFY_DAYS = 45;
const DAY_MS = 86_400_000;
/** Bytes of the largest file that is read. */
const MAX_BYTES = 1 << 22;

/** A file with the number of days before its end at which it is sent; -1: always. */
interface WatchedFile {
  readonly path: string;
  readonly days: number;
}

function watchedFiles(all: ValueMap): WatchedFile[] {
  const common = toNumber(all.get("notify_days")) ?? NOTIFY_DAYS;
  const files = all.get("files");
  return (Array.isArray(files) ? files : []).flatMap((given) => {
    if (!isMap(given)) return [{ path: str(given), days: common }];
    return [...given].map(([path, config]) => ({
      path: str(path),
      days: toNumber(mapOr(config)?.get("notify_days")) ?? common,
    }));
  });
}

function nameText(name: Name): string {
  return nameAttributes(name).map(([short, value]) => `${short}="${value}"`).join(",");
}

/** `20260131000000Z`. */
function rawTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-T:]/g, "")}Z`;
}

function shownTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** An integer that msgpack has no room for travels as text, as in Salt. */
function serialOf(serial: bigint): Value {
  return BigInt.asIntN(64, serial) === serial || BigInt.asUintN(64, serial) === serial ? int(serial) : String(serial);
}

/**
 * The data of one certificate, in Salt's order.
 * @throws {DerError} If an extension is not as it should be.
 */
export function certificateData(path: string, certificate: Certificate): ValueMap {
  const { issuer, subject, notBefore, notAfter, algorithm, extensions } = certificate;
  const algorithmName = shownName(algorithm) ?? algorithm;
  return map({
    cert_path: path,
    issuer: nameText(issuer),
    issuer_dict: new Map(nameAttributes(issuer)),
    notAfter_raw: rawTime(notAfter),
    notAfter: shownTime(notAfter),
    notBefore_raw: rawTime(notBefore),
    notBefore: shownTime(notBefore),
    serial_number: serialOf(certificate.serial),
    signature_algorithm: /^ed\d+$/.test(algorithmName) ? algorithmName.toUpperCase() : algorithmName,
    subject: nameText(subject),
    subject_dict: new Map(nameAttributes(subject)),
    version: certificate.version - 1,
    extensions: extensions.map((one) => {
      const { name, text } = writeExtension(one);
      return map({ ext_name: name, ext_data: text });
    }),
    has_expired: notAfter < Date.now(),
  });
}

function readCertificateFile(path: string): Certificate {
  if (Deno.statSync(path).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  return loadCertificate(Deno.readFileSync(path));
}

/** What is wrong with files is said once, until it is another thing. */
function reporter(host: BeaconHost): (path: string, problem?: string) => void {
  const last = new Map<string, string>();
  return (path, problem) => {
    if (problem === undefined) return void last.delete(path);
    if (last.get(path) === problem) return;
    last.set(path, problem);
    host.fail(`Unable to load certificate ${path} (${problem})`);
  };
}

export const beacon: BeaconModule = {
  doc: "Certificates in files that have expired, or expire within a number of days.",
  permissions: "all",
  keys: ["files", "notify_days"],
  validate({ all }) {
    if (!all.has("files")) return "Configuration for cert_info beacon must contain files option.";
    return Array.isArray(all.get("files")) ? undefined : "files of the cert_info beacon must be a list.";
  },
  open({ all }, host) {
    const files = watchedFiles(all), report = reporter(host);
    return {
      look() {
        const certificates = files.flatMap(({ path, days }): ValueMap[] => {
          try {
            const certificate = readCertificateFile(path);
            const left = Math.floor((certificate.notAfter - Date.now()) / DAY_MS);
            report(path);
            return days < 0 || left <= days ? [certificateData(path, certificate)] : [];
          } catch (error) {
            report(path, messageOf(error));
            return [];
          }
        });
        return certificates.length > 0 ? [map({ certificates })] : [];
      },
    };
  },
};
