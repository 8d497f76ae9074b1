#!/usr/bin/env python3
"""Writes s3.json: what Salt's execution module `s3` sends and returns, with answers in place of a service, at the time NOW. Run it with the Python of an
environment that has Salt 3006.28. `{dir}` in an argument is a directory with the file `up`; `saved` is what a call has written to `{dir}/down`. A step with
`ours` has the result here where it differs as docs/differences.md says."""
import base64
import datetime
import io
import json
import logging
import pathlib
import shutil
import tempfile
import warnings

warnings.simplefilter("ignore")
import requests
import salt.config
import salt.loader
import salt.utils.aws
import salt.utils.s3
import salt.version

logging.disable(logging.CRITICAL)
NOW = datetime.datetime(2026, 1, 31, 12, 34, 56)
OPTS = {"s3.key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "s3.keyid": "AKIAIOSFODNN7EXAMPLE", "s3.service_url": "127.0.0.1:9000", "s3.location": "eu-west-1",
        "s3.path_style": True, "s3.https_enable": False}
LIST = ('<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>box</Name><Contents><Key>a b.txt</Key><Size>3</Size>'
        "</Contents><Contents><Key>c</Key><Owner><ID>1</ID></Owner></Contents><IsTruncated>false</IsTruncated></ListBucketResult>")
ERROR = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The key does not exist.</Message><Key>x</Key></Error>'


def call(fun, *args, status=200, body="", headers=None, **kwargs):
    return {"fun": f"s3.{fun}", "args": list(args), "kwargs": kwargs, "answer": {"status": status, "body": body, "headers": headers or {}}}


STEPS = [
    call("get", body=LIST), call("get", "box", body=LIST), call("get", "box", "a b.txt", local_file="{dir}/down", body="\u00e4bc"),
    call("get", "box", "dir/\u00e4+~x.txt", return_bin=True, body="bin"), call("get", "box", "x", status=404, body=ERROR),
    call("get", "box", "x", local_file="{dir}/none", status=404, body=ERROR), call("get", "box", "x", status=403, body="no"), call("get", "box", location="us-west-2", body=LIST),
    call("head", "box", "f", headers={"ETag": "1", "X-Amz-Id-2": "q"}), call("head", "box", "f", status=404),
    call("put", "box"), call("put", "box", status=409, body=ERROR), call("put", "box", "to/file", local_file="{dir}/up"),
    call("put", "box", "to/file", local_file="{dir}/up", kms_keyid="k-1"), call("put", "box", "to/file", local_file="{dir}/up", status=500, body=ERROR),
    call("delete", "box", status=204), call("delete", "box", "f", status=204), call("delete", "box", status=409, body=ERROR), call("delete", "box", "f", status=403, body=ERROR),
]


class Frozen(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW


def main():
    directory = tempfile.mkdtemp()
    salt.utils.aws.datetime = Frozen
    steps, sent = [], {}
    pathlib.Path(f"{directory}/up").write_bytes(b"up\x00load\n")

    def request(method, url, headers=None, data=None, **_):
        sent.update({"method": method, "url": url, "headers": headers, "body": base64.b64encode(data or b"").decode()})
        answer = requests.Response()
        answer.status_code = step["answer"]["status"]
        answer.raw = io.BytesIO(step["answer"]["body"].encode())
        answer.headers.update(step["answer"]["headers"])
        return answer

    salt.utils.s3.requests.request = request
    opts = salt.config.minion_config(None)
    opts.update({**OPTS, "file_client": "local", "grains": {}, "pillar": {}, "root_dir": directory, "cachedir": f"{directory}/cache", "conf_file": f"{directory}/minion"})
    context = {}
    functions = salt.loader.minion_mods(opts, context, utils=salt.loader.utils(opts, context=context))
    old = pathlib.Path(__file__).with_name("s3.json")
    ours = {i: one["ours"] for i, one in enumerate(json.loads(old.read_text())["steps"]) if "ours" in one} if old.exists() else {}
    try:
        for i, step in enumerate(STEPS):
            sent.clear()
            args, kwargs = json.loads(json.dumps([step["args"], step["kwargs"]]).replace("{dir}", directory))
            try:
                value = functions[step["fun"]](*args, **kwargs)
                result = {"result": value.decode() if isinstance(value, bytes) else value}
            except Exception as error:  # pylint: disable=broad-except
                result = {"raises": f"{type(error).__name__}: {error}"}
            down = pathlib.Path(f"{directory}/down")
            saved = {"saved": down.read_text()} if down.exists() else {}
            down.unlink(missing_ok=True)
            more = {"ours": ours[i]} if i in ours else {}
            steps.append({**step, "sent": dict(sent), **json.loads(json.dumps(result).replace(directory, "{dir}")), **saved, **more})
    finally:
        shutil.rmtree(directory)
    text = ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in steps)
    head = f'{{"salt": {json.dumps(salt.version.__version__)}, "now": {json.dumps(NOW.isoformat() + "Z")}, "opts": {json.dumps(OPTS)}, "steps": ['
    old.write_text(f"{head}\n{text}]}}\n")


main()
