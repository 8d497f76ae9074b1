"""The exceptions of Salt, by their names and bases."""

import copy

from salt.defaults import exitcodes


def _nested(value):
    """The value as the outputter `nested` shows it without colours."""
    import salt.output

    return salt.output.out_format(value, "nested", {})


class SaltException(Exception):
    """The base of Salt's exceptions."""

    def __init__(self, message=""):
        if not isinstance(message, str):
            message = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        super().__init__(message)
        self.message = self.strerror = message

    def __unicode__(self):
        return self.strerror

    def pack(self):
        """The exception as a map."""
        return {"message": str(self), "args": self.args}


class CommandExecutionError(SaltException):
    """A command failed; `info` are further facts."""

    def __init__(self, message="", info=None):
        error = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        shown = short = error
        if info:
            lead = error
            if lead:
                lead += " " if lead[-1] in ".?!" else ". "
            lead += "Additional info follows:\n\n"
            shown = short = lead + _nested(info)
            if isinstance(info, dict):
                others = {key: value for key, value in copy.deepcopy(info).items() if key != "changes"}
                short = lead + _nested(others) if others else error
        super().__init__(shown)
        self.error = error
        self.info = info
        self.strerror_without_changes = short


class MasterExit(SystemExit):
    """The master ends."""


class FileLockError(SaltException):
    """A file cannot be locked."""

    def __init__(self, message, time_start=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        if time_start is None:
            import time

            time_start = time.time()
        self.time_start = time_start


class GitLockError(SaltException):
    """A lock of git cannot be taken."""

    def __init__(self, errno, message, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.errno = errno


class SaltInvocationError(SaltException, TypeError):
    """A function was called with wrong arguments."""


class SaltRenderError(SaltException):
    """A file cannot be rendered."""

    def __init__(self, message, line_num=None, buf="", marker="    <======================", trace=None):
        self.error = message = str(message)
        self.line_num = line_num
        self.buffer = buf
        self.context = ""
        if trace:
            message += "\n%s\n" % trace
        if line_num and buf:
            import salt.utils.stringutils

            self.context = salt.utils.stringutils.get_context(buf, line_num, marker=marker)
            message += "; line %s\n\n%s" % (line_num, self.context)
        super().__init__(message)


class SaltClientTimeout(SaltException):
    """A job takes too long."""

    def __init__(self, message, jid=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.jid = jid


class SaltSystemExit(SystemExit):
    """The program ends with a text."""

    def __init__(self, code=0, msg=None):
        super().__init__(msg)
        self.code = code
        self.message = msg


class SaltCloudException(SaltException):
    """The base of the exceptions of salt-cloud."""


class SaltCloudSystemExit(SaltCloudException):
    """salt-cloud ends."""

    def __init__(self, message, exit_code=exitcodes.EX_GENERIC):
        super().__init__(message)
        self.message = "%s [WARNING: salt.exceptions.SaltCloudSystemExit]" % message
        self.exit_code = exit_code


#: The others: a base, and the classes that have it.
_OTHERS = (
    (
        SaltException,
        "SaltClientError SaltMasterError SaltNoMinionsFound SaltSyndicMasterError SaltMasterUnresolvableError"
        " AuthenticationError CommandNotFoundError LoaderError PublishError MinionError FileserverConfigError"
        " GitRemoteError PkgParseError SaltCacheError TimeoutError SaltReqTimeoutError TimedProcTimeoutError"
        " EauthAuthenticationError TokenAuthenticationError TokenExpiredError SaltDeserializationError"
        " AuthorizationError SaltValidationError UnsupportedAlgorithm SaltDaemonNotRunning SaltRunnerError"
        " SaltWheelError SaltConfigurationError NotImplemented TemplateError MissingSmb NxosError",
    ),
    (
        CommandExecutionError,
        "ArgumentValueError CheckError InvalidConfigError InvalidEntityError VMwareSaltError CodePageError",
    ),
    (
        SaltCloudException,
        "SaltCloudConfigError SaltCloudNotFound SaltCloudExecutionTimeout SaltCloudExecutionFailure"
        " SaltCloudPasswordError",
    ),
    (RuntimeError, "LoggingRuntimeError"),
)


def _make(base, names):
    for name in names.split():
        globals()[name] = type(name, (base,), {"__module__": __name__})


for _base, _names in _OTHERS:
    _make(_base, _names)
_make(
    globals()["VMwareSaltError"],
    "VMwareRuntimeError VMwareConnectionError VMwareObjectRetrievalError VMwareObjectNotFoundError"
    " VMwareObjectExistsError VMwareNotFoundError VMwareApiError VMwareSystemError VMwarePowerOnError"
    " VMwareVmRegisterError VMwareVmCreationError",
)
_make(globals()["VMwareObjectRetrievalError"], "VMwareMultipleObjectsError")
_make(globals()["VMwareApiError"], "VMwareFileNotFoundError")
_make(globals()["NxosError"], "NxosCliError NxosClientError NxosRequestNotSupported")


class InvalidKeyError(SaltException, ValueError):
    """A key cannot be used."""
