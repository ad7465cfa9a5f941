#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""datasets/fetch against a server of this machine that can take up downloads, or cannot, or breaks off, or sends something
else; and what LOAD says of a public file that is not there. ctest runs it: fetch.py SOURCE LACIS
"""
import hashlib
import http.server
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOURCE, LACIS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
CONTENT = bytes(range(256)) * 4096  # 1 MiB
SUM = hashlib.sha256(CONTENT).hexdigest()
stopped = threading.Event()  # whoever waited for /slow is gone
asked = []  # what came to the server: (path, Range or None)


class Handler(http.server.BaseHTTPRequestHandler):
    """/good takes up; /plain has no ranges; /short ends half way; /slow stops there the first time; /other is another file;
    /moved is /good, /away leads to a file of this machine."""

    def do_GET(self):
        asked.append((self.path, self.headers.get("Range")))
        name = self.path.rsplit("/", 1)[1]
        if name in ("moved", "away"):
            self.send_response(302)
            self.send_header("Location", "/good" if name == "moved" else "file:///etc/passwd")
            self.end_headers()
            return
        if name not in ("good", "plain", "short", "slow", "other"):
            self.send_error(404)
            return
        start = 0
        if name != "plain" and self.headers.get("Range"):
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        if start >= len(CONTENT):
            self.send_error(416)
            return
        body = (b"x" * len(CONTENT) if name == "other" else CONTENT)[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if name == "slow" and not start:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            stopped.wait(60)
            return
        self.wfile.write(body[: len(body) // 2] if name == "short" else body)

    def log_message(self, *_):
        pass


class Desk:
    def __init__(self, folder, port):
        self.folder, self.base = folder, f"http://127.0.0.1:{port}"
        self.manifest = folder / "manifest.csv"
        self.to = folder / "to"
        local = folder / "local file"
        local.write_bytes(CONTENT)
        rows = [f'a/{name},"one, ""{name}""",here,free,{len(CONTENT)},{SUM},{self.base}/{name}'
                for name in ("good", "plain", "short", "slow", "other", "gone", "moved", "away")]
        rows += [f"a/unknown,size and sum unknown,here,free,,,{self.base}/good",
                 f"a/local,a file,here,free,{len(CONTENT)},{SUM},file://{str(local).replace(' ', '%20')}",
                 f"a/twice,one,here,free,1,{SUM},x", f"b/twice,two,here,free,1,{SUM},x", "own.csv,ours,made,free,1,1,"]
        self.manifest.write_text("\n".join(["name,what,source,licence,bytes,sha256,url", *rows, ""]))

    def fetch(self, *names, code=0, says=""):
        asked.clear()
        command = [SOURCE / "datasets" / "fetch", "--manifest", self.manifest, "--to", self.to, *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        out = done.stdout + done.stderr
        assert done.returncode == code and says in out, (names, done.returncode, out)
        return out

    def left(self):
        return sorted(path.name for path in self.to.iterdir()) if self.to.exists() else []


def whole_files_come(desk):
    desk.fetch("good", "a/plain", "local", says="sha256 as it should be")
    assert desk.left() == ["good", "local", "plain"]
    assert all((desk.to / name).read_bytes() == CONTENT for name in desk.left())
    desk.fetch("good", says="there already")
    assert asked == []
    desk.fetch("unknown", says=f"sha256 {SUM} (none is known")
    assert (desk.to / "unknown").read_bytes() == CONTENT


def cut_off_files_go_on(desk):
    desk.to.mkdir()
    (desk.to / "good.part").write_bytes(CONTENT[:1000])
    desk.fetch("good")
    assert asked == [("/good", "bytes=1000-")], asked
    (desk.to / "plain.part").write_bytes(CONTENT[:1000])  # no ranges there: anew
    desk.fetch("plain")
    assert [ask[1] for ask in asked] == ["bytes=1000-", None], asked
    (desk.to / "unknown.part").write_bytes(CONTENT)  # nothing behind it: 416
    desk.fetch("unknown")
    (desk.to / "local.part").write_bytes(CONTENT)  # whole, not yet renamed
    desk.fetch("local")
    assert desk.left() == ["good", "local", "plain", "unknown"]
    assert all((desk.to / name).read_bytes() == CONTENT for name in desk.left())


def what_breaks_off_is_kept(desk):
    desk.fetch("short", code=1, says="call fetch again to go on")
    assert desk.left() == ["short.part"]
    first = (desk.to / "short.part").stat().st_size
    assert (desk.to / "short.part").read_bytes() == CONTENT[:first] and first > 0
    desk.fetch("short", code=1)
    assert asked[0][1] == f"bytes={first}-" and (desk.to / "short.part").stat().st_size > first


def interrupted_goes_on(desk):
    """Ctrl-C in the middle: the part stays, and the next call takes it up."""
    command = [SOURCE / "datasets" / "fetch", "--manifest", desk.manifest, "--to", desk.to, "slow"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as fetch:
        part, until = desk.to / "slow.part", time.time() + 30
        while not (part.exists() and part.stat().st_size > 0):
            assert fetch.poll() is None and time.time() < until
            time.sleep(0.05)
        os.killpg(fetch.pid, signal.SIGINT)
        assert fetch.wait(30) != 0
    stopped.set()
    size = part.stat().st_size
    assert desk.left() == ["slow.part"] and part.read_bytes() == CONTENT[:size]
    desk.fetch("slow", says="sha256 as it should be")
    assert asked == [("/slow", f"bytes={size}-")] and (desk.to / "slow").read_bytes() == CONTENT


def redirects_are_followed(desk):
    desk.fetch("moved", says="sha256 as it should be")
    assert [ask[0] for ask in asked] == ["/moved", "/good"] and (desk.to / "moved").read_bytes() == CONTENT
    desk.fetch("away", code=1, says="away did not come from")
    assert desk.left() == ["moved"], desk.left()


def other_files_are_refused(desk):
    desk.fetch("other", code=1, says="is not a/other of the manifest")
    assert desk.left() == []
    (desk.to / "good.part").write_bytes(b"x" * 1000)  # of something else: found out at the end, and begun anew
    desk.fetch("good", code=1, says="is not a/good of the manifest")
    desk.fetch("good")
    (desk.to / "plain").write_bytes(b"mine")
    desk.fetch("plain", code=1, says="move it away")
    assert (desk.to / "plain").read_bytes() == b"mine" and asked == []


def errors_are_told(desk):
    desk.fetch("gone", code=1, says="404")
    assert desk.left() == []
    desk.fetch("nosuch", code=1, says="no data set is called 'nosuch'")
    desk.fetch("twice", code=1, says="a/twice b/twice")
    desk.fetch("own.csv", code=1, says="ships with lacis")
    desk.fetch("nosuch", "good", code=1, says="as it should be")
    desk.fetch(code=2, says="--list")
    desk.fetch("--nosuch", code=2, says="no option --nosuch")
    assert 'one, "good"' in desk.fetch("--list", "A/GOOD")
    assert "own.csv" not in desk.fetch("--list")
    desk.fetch("--list", "xyzzy", code=1)


def lists_may_be_cut_off(desk):
    """fetch --list | head -1 says nothing more."""
    many = desk.folder / "many.csv"
    row = "a/good,one,,,1,,http://127.0.0.1/good"
    many.write_text("name,what,licence,origin,bytes,sha256,url\n" + "".join(f"{row}{i}\n" for i in range(20000)))
    done = subprocess.run(f"'{SOURCE}/datasets/fetch' --manifest '{many}' --list | head -1", shell=True, capture_output=True, text=True,
                          executable="/bin/bash", preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    assert done.stdout.startswith("a/good") and done.stderr == "", done


def load_suggests_it(desk):
    def load(path):
        done = subprocess.run([LACIS, "-c", f"LOAD x FROM '{path}';"], capture_output=True, text=True, cwd=desk.folder)
        assert done.returncode == 1, done
        return done.stderr

    assert "cannot open 'in/wiki-Vote.txt': No such file" in load("in/wiki-Vote.txt")
    assert "datasets/fetch wiki-Vote.txt" in load("in/wiki-Vote.txt")
    assert "datasets/downloaded/web-Google.txt.gz" in load("web-Google.txt")
    assert "datasets/cell.swc" in load("cell.swc")
    for path in ("wiki-Vot.txt", "name", "snap/", "", "wiki-Vote.txt/x"):
        assert "fetch" not in load(path), path
    for row in (SOURCE / "datasets" / "manifest.csv").read_text().splitlines()[1:]:
        assert not row.startswith('"') and len(row.split(",")[0]) < 100, row
    (desk.folder / "wiki-Vote.txt").write_text("1 2\n")
    subprocess.run([LACIS, "-c", "LOAD x FROM 'wiki-Vote.txt';"], check=True, cwd=desk.folder, capture_output=True)


def main():
    if shutil.which("curl") is None:
        print("skipped: there is no curl")
        return 77
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cases = [whole_files_come, cut_off_files_go_on, what_breaks_off_is_kept, interrupted_goes_on, redirects_are_followed,
             other_files_are_refused, errors_are_told, lists_may_be_cut_off, load_suggests_it]
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            case(Desk(pathlib.Path(name), server.server_port))
        print("ok", case.__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
