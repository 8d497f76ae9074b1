"""URLs of files."""

import re
from urllib.parse import urlparse, urlunparse


def parse(url):
    """The path and the environment of `salt://path?saltenv=base`."""
    if not url.startswith("salt://"):
        return url, None
    path, _, query = url[len("salt://"):].partition("?") if "?saltenv=" in url else (url[len("salt://"):], "", "")
    return path, query[len("saltenv="):] if query.startswith("saltenv=") else None


def create(path, saltenv=None):
    return "salt://%s%s" % (path.replace("\\", "/"), "?saltenv=%s" % saltenv if saltenv else "")


def is_escaped(url):
    return url.startswith("|") or url.startswith("salt://|")


def escape(url):
    if is_escaped(url):
        return url
    return "salt://|" + url[len("salt://"):] if url.startswith("salt://") else "|" + url


def unescape(url):
    return url.replace("salt://|", "salt://", 1) if url.startswith("salt://|") else url.lstrip("|")


def add_env(url, saltenv):
    return create(parse(url)[0], saltenv) if url.startswith("salt://") else url


def split_env(url):
    if not url.startswith("salt://"):
        return url, None
    path, saltenv = parse(url)
    return create(path), saltenv


def validate(url, protos):
    return urlparse(url).scheme in protos


def strip_proto(url):
    return re.sub("^[^:/]+://", "", url)


def add_http_basic_auth(url, user=None, password=None, https_only=False):
    if not user and not password:
        return url
    parts = urlparse(url)
    if https_only and parts.scheme != "https":
        raise ValueError("Basic Auth only supported for HTTPS")
    place = parts.netloc.rpartition("@")[2]
    return urlunparse(parts._replace(netloc="%s%s@%s" % (user, ":%s" % password if password else "", place)))


def redact_http_basic_auth(output):
    return re.sub(r"(https?)://.*@", r"\1://<redacted>@", output)
