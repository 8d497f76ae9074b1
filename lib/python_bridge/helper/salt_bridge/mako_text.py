"""Templates of Mako (`#!mako|yaml`), with the library of this host's Python.

Source: the results of Salt 3008.3 `salt/renderers/mako.py` and `salt/utils/mako.py`.
"""

import os
import sys
import urllib.parse

from salt.exceptions import SaltRenderError

try:
    from mako import exceptions
    from mako.lookup import TemplateCollection
    from mako.template import Template
except ImportError:
    TemplateCollection = object
    Template = None

_SALT, _FILE = "salt://", "file://"


class _Files(TemplateCollection):
    """The files that a template includes or takes names from: of the state tree, or `file://` of this host."""

    def __init__(self, job, saltenv, beside):
        TemplateCollection.__init__(self)
        self._job = job
        self._saltenv = saltenv
        #: For a template without an environment: the directory in which others are.
        self._beside = beside
        self._found = {}

    def adjust_uri(self, uri, filename):
        scheme = urllib.parse.urlparse(uri).scheme
        if scheme in ("salt", "file"):
            return uri
        if scheme:
            raise ValueError("Unsupported URL scheme(%s) in %s" % (scheme, uri))
        if uri.startswith("/") or filename is None:
            return uri
        root = filename[: len(_SALT)] if filename.startswith((_SALT, _FILE)) else ""
        return root + os.path.normpath(os.path.join(os.path.dirname(filename[len(root) :]), uri))

    def get_template(self, uri, relativeto=None):
        if uri not in self._found:
            self._found[uri] = Template(filename=self._path(uri), uri=uri, lookup=self)
        return self._found[uri]

    def _path(self, uri):
        if uri.startswith(_FILE):
            return uri[len(_FILE) :]
        if self._beside is not None:
            return os.path.join(self._beside, uri.lstrip("/"))
        url = uri if uri.startswith(_SALT) else _SALT + uri.lstrip("/")
        path = self._job.dunder("__salt__")["cp.cache_file"](url, saltenv=self._saltenv)
        if not path:
            raise exceptions.TopLevelLookupException("Cant locate template for uri %r" % uri)
        return path


class _Attributes(dict):
    """A map of variables, as `${site.port}` reads it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


def run(job, message):
    """The text of the template."""
    if Template is None:
        raise SaltRenderError(
            "The renderer mako needs the library mako, which %s does not have: install python3-mako, or `%s -m pip "
            "install mako`" % (sys.executable, sys.executable)
        )
    path, saltenv = message["path"], message["saltenv"]
    names = {
        "salt": job.dunder("__salt__"),
        "grains": job.dunder("__grains__"),
        "opts": job.dunder("__opts__"),
        "pillar": job.dunder("__pillar__"),
        "saltenv": saltenv,
    }
    sls = message["sls"]
    if not message["is_template"]:
        names.update(_place(path, sls), sls=sls)
    for name, value in message["names"].items():
        names[name] = _Attributes(value) if isinstance(value, dict) else value
    files = _Files(job, saltenv, None if saltenv else os.path.dirname(path))
    uri = None if message["is_template"] else sls.replace(".", "/")
    try:
        return Template(message["text"], strict_undefined=True, uri=uri, lookup=files).render(**names)
    except Exception as error:
        raise SaltRenderError(_told(error, path or sls)) from None


def _place(path, sls):
    """The names that tell of the file's place in the state tree, as templates of Jinja have them."""
    place, names = sls.replace(".", "/").rstrip("/"), {}
    if path:
        inside = os.path.basename(path) if not sls else None
        ends = [end for end in ("%s.sls" % place, "%s/init.sls" % place) if path.endswith(end)]
        inside = inside or (ends[0] if ends else None)
        if inside is None:
            return {"tplpath": path, "tplfile": sls, "tpldir": os.path.dirname(sls) or "."}
        place = os.path.dirname(inside)
        names = {"tplpath": path, "tplfile": inside, "tpldir": place or ".", "tpldot": place.replace("/", ".")}
    return dict(
        names,
        slspath=place,
        slsdotpath=place.replace("/", "."),
        slscolonpath=place.replace("/", ":"),
        sls_path=place.replace("/", "_"),
    )


def _told(error, file):
    """The error with the lines of templates, without those of the library."""
    if isinstance(error, (exceptions.SyntaxException, exceptions.CompileException)):
        return "%s: %s" % (type(error).__name__, error)
    trace = exceptions.RichTraceback(error=error)
    lines = ["Traceback (most recent call last):"]
    for record in trace.records:
        name, function, template, line, source = record[0], record[2], record[4], record[5], record[6]
        if template is None:
            continue
        shown = file if name.startswith("memory:") or template.startswith("memory:") else template
        lines.append('  File "%s", line %d, in %s' % (shown, line, function))
        if source and source.strip():
            lines.append("    %s" % source.strip())
    lines.append("%s: %s" % (type(error).__name__, error))
    return "\n".join(lines)
