/**
 * Execution module `s3`: files and buckets of S3.
 * Source: the functions of Salt 3006.28 `salt/modules/s3.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { awsCredentials, instanceRegion } from "#lib/host/aws/credentials.ts";
import { askS3, type S3Place, s3Refusal, type S3Request } from "#lib/host/aws/s3.ts";
import type { HttpResponse } from "#lib/host/network/http_request.ts";
import { xmlValue } from "#lib/host/network/xml_value.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

/** Where and as whom, as parameters. */
const PLACE = {
  key: p.str(null),
  keyid: p.str(null),
  service_url: p.str(null),
  verify_ssl: p.any(null),
  kms_keyid: p.str(null),
  location: p.str(null),
  role_arn: p.str(null),
  path_style: p.any(null),
  https_enable: p.any(null),
};

type Given = Readonly<Record<keyof typeof PLACE, Value>>;

const ABOUT =
  "\nkey, keyid, service_url, verify_ssl, location, path_style and https_enable are those of the options `s3.*` of minion or pillar;\n" +
  "without a key it is that of the instance's role.";

/** An argument, or the option in its place. */
async function chosen(context: JobContext, given: Value, option: string, otherwise: Value): Promise<Value> {
  if (given !== null && given !== "") return given;
  const value = await context.call("config.option", [option, null]);
  return value === null || value === "" ? otherwise : value;
}

async function placeOfS3(given: Given, context: JobContext): Promise<S3Place> {
  const { signal } = context;
  const option = (name: keyof Given, otherwise: Value) => chosen(context, given[name], `s3.${name}`, otherwise);
  if (truthy(await option("role_arn", null))) {
    throw new InvocationError("role_arn is not supported: give the keys of the role");
  }
  const region = await option("location", null);
  return {
    credentials: await awsCredentials(str(await option("keyid", "")), str(await option("key", "")), signal),
    serviceUrl: str(await option("service_url", "s3.amazonaws.com")),
    region: truthy(region) ? str(region) : await instanceRegion(signal) ?? "us-east-1",
    verify: await option("verify_ssl", true) !== false,
    pathStyle: truthy(await option("path_style", false)),
    https: truthy(await option("https_enable", true)),
  };
}

async function ask(given: Given, context: JobContext, request: S3Request): Promise<HttpResponse> {
  return await askS3(await placeOfS3(given, context), request, context.signal);
}

function isDone({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the buckets, or what is in a bucket, as a list of maps; with local_file save a file of it; with return_bin=True return its bytes." +
      ABOUT,
    "s3.get",
    "s3.get mybucket",
    "s3.get mybucket myfile.png local_file=/tmp/myfile.png",
  ),
  permissions: "all",
  params: {
    bucket: p.str(""),
    path: p.str(""),
    return_bin: p.bool(false),
    action: p.any(null),
    local_file: p.str(null),
    ...PLACE,
  },
  async run({ bucket, path, return_bin, local_file, ...given }, context) {
    const response = await ask(given, context, { method: "GET", bucket, path });
    if (!isDone(response)) {
      throw new CommandError(`Failed ${local_file ? "to get file" : "s3 operation"}. ${s3Refusal(response)}`);
    }
    if (local_file) {
      writeWithUmask(local_file, response.body);
      return `Saved to local file: ${local_file}`;
    }
    if (return_bin) return response.body;
    if (response.body.length === 0) return map({ headers: [...response.headers.keys()] });
    try {
      return xmlValue(new TextDecoder().decode(response.body));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new CommandError(`${path} is a file: local_file or return_bin gets it`, { cause: error });
    }
  },
});

export const head: ModuleFunction<JobContext> = fn({
  doc: describe("Return the headers of a file, or of a bucket, as `headers`." + ABOUT, "s3.head mybucket myfile.png"),
  permissions: "all",
  params: { bucket: p.str(), path: p.str(""), ...PLACE },
  async run({ bucket, path, ...given }, context) {
    const response = await ask(given, context, { method: "HEAD", bucket, path });
    if (!isDone(response)) throw new CommandError(`Failed s3 operation. ${s3Refusal(response)}`);
    return map({ headers: response.headers });
  },
});

export const put: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a bucket, or upload local_file as a file of it. kms_keyid: the key of KMS that encrypts it there." + ABOUT,
    "s3.put mybucket",
    "s3.put mybucket remotepath local_file=/path/to/file",
  ),
  permissions: "all",
  params: {
    bucket: p.str(),
    path: p.str(null),
    return_bin: p.bool(false),
    action: p.any(null),
    local_file: p.str(null),
    ...PLACE,
  },
  async run({ bucket, path, local_file, ...given }, context) {
    const kms = await chosen(context, given.kms_keyid, "aws.kms.keyid", null);
    const headers = kms === null ? new Map<string, string>() : new Map([
      ["x-amz-server-side-encryption", "aws:kms"],
      ["x-amz-server-side-encryption-aws-kms-key-id", str(kms)],
    ]);
    const body = local_file ? await Deno.readFile(local_file) : new Uint8Array();
    const response = await ask(given, context, { method: "PUT", bucket, path: path ?? "", headers, body });
    if (response.status === 200) return null;
    const what = local_file ? `upload from ${local_file} to ${path ?? ""}` : `create bucket ${bucket}`;
    throw new CommandError(`Failed to ${what}. ${s3Refusal(response)}`);
  },
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a file of a bucket, or a bucket." + ABOUT,
    "s3.delete mybucket",
    "s3.delete mybucket remoteobject",
  ),
  permissions: "all",
  params: { bucket: p.str(), path: p.str(null), action: p.any(null), ...PLACE },
  async run({ bucket, path, ...given }, context) {
    const response = await ask(given, context, { method: "DELETE", bucket, path: path ?? "" });
    if (isDone(response)) return null;
    const what = path ? `${path} from bucket ${bucket}` : `bucket ${bucket}`;
    throw new CommandError(`Failed to delete ${what}. ${s3Refusal(response)}`);
  },
});
