"""Programs that are not read-only but whose effects on files are known from their words."""

from sidelight.tools.bash.programs import Program, program

CURL_TAKES = (
    "-X -H -d -A -e -u -m -b -F -w -r -x -y -Y -z -C -Q -P --request --header --data --user-agent "
    "--referer --user --max-time --cookie --form --write-out --range --proxy --retry --url "
    "--connect-timeout --data-raw --data-binary --data-urlencode --data-ascii --json --resolve "
    "--limit-rate --url-query --proxy-header --form-string"
)


def _viewer(runs: str = "", takes: str = "") -> Program:
    return program("reads", runs=runs, takes=takes)


def _editor() -> Program:
    return program("edits", runs="+ -c --cmd -S -s -u -U -W -w -i -eval --eval -l --load -f")


ACTIONS: dict[str, Program] = {
    "mkdir": program("writes", takes="-m --mode", listed=True),
    "touch": program("writes", takes="-d -t --date", reads="-r --reference", listed=True),
    "tee": program("writes", listed=True),
    "rm": program("removes"),
    "rmdir": program("removes"),
    "unlink": program("removes"),
    "shred": program("removes", takes="-n -s --iterations --size", reads="--random-source"),
    "truncate": program("writes", takes="-s --size", reads="-r --reference"),
    "chmod": program("mode", given="--reference", deep={"-R": "all", "--recursive": "all"}),
    "chown": program("mode", given="--reference"),
    "chgrp": program("mode", given="--reference"),
    "less": _viewer("+ -o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src -t -T --tag"),
    "more": _viewer("+"),
    "most": _viewer(),
    "bat": _viewer("--pager", "-l -H -r --language --line-range --theme --style"),
    "hexdump": _viewer("-f"),
    "zcat": _viewer(),
    "zgrep": _viewer(),
    "bzcat": _viewer(),
    "xzcat": _viewer(),
    "pr": _viewer(),
    "shuf": program("reads", writes="-o --output", takes="-n -i --head-count --input-range"),
    "diff3": _viewer("--diff-program"),
    "sdiff": program("reads", runs="--diff-program", writes="-o --output"),
    "iconv": program("reads", takes="-f -t --from-code --to-code", writes="-o --output"),
    "yq": _viewer("-i --inplace"),
    **{name: _editor() for name in ("vim", "vi", "nvim", "view", "ex", "nano", "ed", "emacs")},
    "gzip": program("edits"),
    "gunzip": program("edits"),
    "bzip2": program("edits"),
    "xz": program("edits"),
    "patch": program("edits", reads="-i --input", writes="-o --output -r --reject-file"),
    "man": program(
        "none", takes="-S -s -L", reads="-C -M --config-file --manpath -l",
        runs="-P -H -C -M --pager --html --preprocessor --config-file --manpath -p -R",
    ),
    "tar": program(
        "none",
        runs="--checkpoint-action --to-command -I --use-compress-program --rsh-command "
        "--info-script --new-volume-script -F --rmt-command -T --files-from -P --absolute-names",
        takes="-C -b -H -I -K -L -N -V -F --checkpoint --directory --exclude --file -f",
        reads="-T -X --files-from --exclude-from",
        writes="-g --listed-incremental --index-file --volno-file",
        flags="--list --extract --create --append --update --verbose --verify --no-recursion",
    ),
    "zip": program("none", runs="-T -TT --unzip-command -@ -m --move", takes="-b -n -t -x -i"),
    "rsync": program(
        "none",
        runs="-e --rsh --rsync-path --config -M --remote-option --files-from",
        writes="--log-file --write-batch --only-write-batch --backup-dir --partial-dir -T "
        "--temp-dir",
        reads="--password-file --include-from --exclude-from",
    ),
    "ssh": program("none", runs="-o -F -E -S -I -L -R -D -w", takes="-p -l -i"),
    "scp": program("none", runs="-o -S -F -D"),
    "sftp": program("none", runs="-o -S -F -b -D"),
    "script": program("none", runs="-c --command -q -f -a"),
    "curl": program(
        "none", takes=CURL_TAKES,
        writes="-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr "
        "--libcurl --etag-save --output-dir --hsts --alt-svc",
        reads="-T --upload-file -K --config -E --cert --key --cacert --netrc-file --etag-compare",
        runs="-K --config -O --remote-name --remote-name-all -J --remote-header-name --engine "
        "-n --netrc --netrc-optional --proto-default --unix-socket --abstract-unix-socket "
        "--variable --expand-url --expand-data --expand-header --expand-output",
        flags="--head",
    ),
    "wget": program(
        "none", takes="-U -t -T -e --header --user-agent --timeout --tries --post-data",
        writes="-O -o -a -P --output-document --output-file --append-output --directory-prefix "
        "--save-cookies --warc-file --warc-tempdir --rejected-log --hsts-file",
        reads="-i --input-file --post-file --body-file --config --load-cookies",
        runs="--use-askpass -e --execute --config -i --input-file",
    ),
    **dict.fromkeys(
        ("python", "python3", "node", "ruby", "perl"),
        program("script", takes="-m -c -e -W -X -r -I"),
    ),
    "code": program("reads", takes="-g --goto"),
    "open": program("reads"),
    "xdg-open": program("reads"),
}  # fmt: skip
