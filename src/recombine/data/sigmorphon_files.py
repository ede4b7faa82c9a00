"""Where the files of the CoNLL-SIGMORPHON 2018 shared task are: in a folder of the user's, or on the web."""

import hashlib
from pathlib import Path

from recombine.data.download import cache_folder, download
from recombine.data.limits import read_whole
from recombine.errors import RecombineError, unknown

SHA256 = {
    "spanish": "41cdf10b69e99a0d2b3011d01b823acab2155ec6a4da3a8f3492d8fe35dcd95b",
    "swahili": "e352c183db1b51685a6227f6f3600bcd74569ad4c853f342293448b540d0ac39",
    "turkish": "90cd87bc072a683c1a2b9a8dffeefe4a1690e37154f0912c45ea8e9d525f1f16",
}
"""The languages that can be downloaded, those of the paper, with the hashes of their files."""

_FOLDER = "https://raw.githubusercontent.com/sigmorphon/conll2018/master/task1/all"
_SUFFIX = "-train-high"


def locate(language: str, source: Path | None = None) -> Path:
    """Returns the path of a language's file, downloading it if no folder is given.

    Args:
        language: For example ``"turkish"``; with a source, any language that has a file there.
        source: A folder that holds ``{language}-train-high``.

    Raises:
        RecombineError: If there is no such file, or it cannot be downloaded.
    """
    if source is None:
        return fetch(language)
    if not source.is_dir():
        raise RecombineError("there is no such folder.", place=str(source))
    # Only listed files are served, so a language such as "../x" is unknown rather than a way out of the folder.
    paths = {path.name.removesuffix(_SUFFIX): path for path in source.glob(f"*{_SUFFIX}")}
    if not paths:
        raise RecombineError(
            f"the folder holds no file called LANGUAGE{_SUFFIX}.",
            place=str(source),
            hint="The files are in task1/all of github.com/sigmorphon/conll2018.",
        )
    if language not in paths:
        raise unknown("language", language, paths)
    return paths[language]


def fetch(language: str, *, cache: Path | None = None) -> Path:
    """Returns the path of a language's official file, downloading it the first time.

    Args:
        language: One of those in ``SHA256``.
        cache: The folder in which downloads are kept, instead of the user's cache folder.

    Raises:
        RecombineError: If the language cannot be downloaded, there is no connection, or the file is not the official
            one.
    """
    if language not in SHA256:
        error = unknown("language", language, SHA256)
        raise RecombineError(
            error.message, hint=f"{error.hint} For others, name a folder with the language's file: `source`."
        )
    path = (cache or cache_folder() / "sigmorphon2018") / f"{language}{_SUFFIX}"
    if not is_official(path, language):
        download(
            f"{_FOLDER}/{path.name}",
            path,
            sha256=SHA256[language],
            hint=f"Get {path.name} by other means and name its folder: `source`.",
        )
    return path


def is_official(path: Path, language: str) -> bool:
    """Tells whether a file is there, and that of the shared task as it was published."""
    return path.is_file() and hashlib.sha256(read_whole(path)).hexdigest() == SHA256[language]
