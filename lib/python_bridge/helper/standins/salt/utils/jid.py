"""Job ids."""

import datetime
import hashlib
import os


def gen_jid(opts=None):
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d%H%M%S%f")


def is_jid(jid):
    return isinstance(jid, str) and len(jid) in (20, 21) and (len(jid) == 20 or jid[20] == "_") and jid[:20].isdigit()


def jid_to_time(jid):
    text = str(jid)
    if len(text) != 20 and (len(text) <= 21 or text[20] != "_"):
        return ""
    return datetime.datetime.strptime(text[:20], "%Y%m%d%H%M%S%f").strftime("%Y, %b %d %H:%M:%S.%f")


def jid_dir(jid, job_dir=None, hash_type="sha256"):
    digest = hashlib.new(hash_type, str(jid).encode()).hexdigest()
    return os.path.join(job_dir or "", digest[:2], digest[2:])


def format_job_instance(job):
    names = {"Function": "fun", "Target": "tgt", "Target-type": "tgt_type", "User": "user"}
    made = {shown: job.get(name, "unknown-%s" % shown.lower()) for shown, name in names.items()}
    made["Arguments"] = list(job.get("arg", []))
    return made


def format_jid_instance(jid, job):
    return dict(format_job_instance(job), StartTime=jid_to_time(jid))
