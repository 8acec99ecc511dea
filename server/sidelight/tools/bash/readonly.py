"""The commands that change nothing, with the options that make exceptions."""

from sidelight.tools.bash.programs import Program, program

GREP_TAKES = (
    "-m -A -B -C -d -D --max-count --after-context --before-context --context --include --exclude "
    "--exclude-dir --label --directories --devices --binary-files"
)


def _reader(takes: str = "") -> Program:
    return program("reads", takes=takes, listed=True)


def _quiet() -> Program:
    return program("none", listed=True)


def _grep() -> Program:
    return program(
        "pattern",
        takes=GREP_TAKES,
        given="-e --regexp -f --file",
        reads="-f --file --exclude-from",
        deep={"-r": "all", "--recursive": "all", "-d": "all", "--directories": "all",
              "-R": "follow", "--dereference-recursive": "follow"},
        listed=True,
    )  # fmt: skip


READ_ONLY: dict[str, Program] = {
    **{name: _quiet() for name in (
        "pwd", "echo", "true", "false", ":", "which", "type", "uname", "nproc", "sleep", "seq",
        "basename", "dirname", "tr", "whoami", "id", "groups", "arch", "tty", "uptime", "free",
        "expr",
    )},
    **{name: _reader() for name in (
        "cat", "df", "cmp", "comm", "tac", "rev", "base64", "md5sum", "sha1sum",
        "sha256sum", "sha512sum", "b2sum", "cksum", "sum", "od", "fold", "fmt", "expand",
        "unexpand",
    )},
    "strings": program("reads", runs="@", listed=True),
    "head": _reader("-n -c --lines --bytes"),
    "tail": _reader("-n -c -s --lines --bytes --sleep-interval --pid"),
    "stat": _reader("-c --format --printf"),
    "cut": _reader("-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter"),
    "paste": _reader("-d --delimiters"),
    "join": _reader("-1 -2 -a -e -j -o -t -v"),
    "nl": _reader("-b -d -f -h -i -l -n -s -v -w"),
    "column": _reader("-c -s -o -N -E -H -O -R -T -W"),
    "realpath": _reader("--relative-to --relative-base"),
    "readlink": _reader(),
    "ls": program(
        "reads", takes="-I -w -T --ignore --width --tabsize", listed=True, here=True,
        deep={"-R": "names", "--recursive": "names"},
    ),
    "wc": program("reads", reads="--files0-from", runs="--files0-from", listed=True),
    "file": program(
        "reads", takes="-e -F -P --exclude --separator --parameter", listed=True,
        reads="-f --files-from -m --magic-file", runs="-C --compile -f --files-from",
    ),
    "du": program(
        "reads", takes="-d -t -B --max-depth --threshold --block-size --exclude", base="names",
        reads="-X --exclude-from --files0-from", runs="--files0-from", listed=True, here=True,
    ),
    "tree": program(
        "reads", takes="-L -P -I --filelimit --charset", writes="-o", base="names", here=True,
        reads="--infofile --gitfile", runs="-R --fromfile --fromtabfile", listed=True,
    ),
    "diff": program(
        "reads", takes="-U -C -I -F -x -W --exclude --label --width --unified --context",
        reads="-X --exclude-from --from-file --to-file", runs="-l --paginate", listed=True,
        base="all",
    ),
    "sort": program(
        "reads", takes="-k -t -S --key --field-separator --buffer-size --parallel --batch-size",
        writes="-o --output -T --temporary-directory", runs="--compress-program --files0-from",
        reads="--files0-from --random-source", listed=True,
    ),
    "grep": _grep(),
    "egrep": _grep(),
    "fgrep": _grep(),
}  # fmt: skip
