/** Sidelight's own environment: made by a real Python from a real wheel, and gone again when a step fails. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { diagnose, make, NotMade, wheelIn } from '../../src/environment';
import { builders, candidates, objection, ownEnvironment, probe, search, tooOld } from '../../src/python';

const PYTHON = process.platform === 'win32' ? 'python' : 'python3';
const MAKE_WHEEL = `
import sys, zipfile
path, info = sys.argv[1], "sidelight-9.8.7.dist-info"
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr("sidelight/__init__.py", "")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: sidelight\\nVersion: 9.8.7\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

const folder = mkdtempSync(path.join(tmpdir(), 'sidelight-environment-'));
const extension = path.join(folder, 'extension');
mkdirSync(path.join(extension, 'wheel'), { recursive: true });
after(() => rmSync(folder, { recursive: true, force: true }));

function place(name: string): string {
  const storage = path.join(folder, name);
  mkdirSync(storage);
  return storage;
}

function making(storage: string, requirements = '') {
  const file = path.join(extension, 'wheel', 'sidelight-9.8.7-py3-none-any.whl');
  execFileSync(PYTHON, ['-c', MAKE_WHEEL, file]);
  const lock = path.join(extension, 'wheel', 'requirements.lock');
  writeFileSync(lock, requirements);
  const wheel = wheelIn(extension);
  assert.deepEqual(wheel, { file, requirements: lock, version: '9.8.7' });
  const steps: string[] = [];
  return {
    steps,
    python: PYTHON,
    storage,
    wheel,
    env: { ...process.env, PIP_NO_INDEX: '1', PYTHONPATH: '' },
    signal: new AbortController().signal,
    onStep: (step: string) => void steps.push(step),
    onOutput: () => undefined,
  };
}

test('an environment is made from the wheel, and is then the one that runs the server', async () => {
  const all = making(place('made'));
  await make(all);
  assert.deepEqual(all.steps, ['environment', 'libraries', 'server']);
  const own = ownEnvironment(all.storage);
  assert.equal((await probe(own, all.storage, all.env)).sidelight, '9.8.7');
  const list = candidates('', undefined, all.storage).filter(({ from }) => from !== 'path');
  const found = await search(list, all.storage, all.env, '9.8.7');
  assert.equal('found' in found && found.found.candidate.command, own);
  const newer = await search(list, all.storage, all.env, '9.9.0');
  assert.deepEqual('tried' in newer && newer.tried.map(({ why }) => why), [
    'it has sidelight 9.8.7, this extension brings 9.9.0',
  ]);
});

test('a library that cannot be had is said, and no half environment stays', async () => {
  const all = making(place('offline'), `no-such-library==1.0 --hash=sha256:${'0'.repeat(64)}\n`);
  await assert.rejects(make(all), (error) => {
    assert.ok(error instanceof NotMade);
    assert.equal(error.problem, 'noNetwork');
    assert.match(error.said, /no-such-library/);
    return true;
  });
  assert.deepEqual(all.steps, ['environment', 'libraries']);
  assert.equal(existsSync(path.join(all.storage, '.venv')), false);
});

test('a cancel ends the step that runs and leaves nothing behind', async () => {
  const stop = new AbortController();
  const all = making(place('cancelled'));
  await assert.rejects(make({ ...all, signal: stop.signal, onStep: () => stop.abort() }), {
    name: 'AbortError',
  });
  assert.equal(existsSync(path.join(all.storage, '.venv')), false);
});

test('the troubles that people meet are told apart', () => {
  const debian = 'The virtual environment was not created successfully because ensurepip is not available.';
  assert.equal(diagnose(debian), 'noVenv');
  assert.equal(diagnose('Cannot connect to proxy. ProxyError'), 'noNetwork');
  assert.equal(diagnose('OSError: [Errno 28] No space left on device'), 'noSpace');
  assert.equal(diagnose('something else'), 'other');
});

test('an extension that was packed without a wheel says so', () => {
  assert.equal(wheelIn(place('bare')), undefined);
});

test('an old Python is named with its version, and which may build is an explicit list', () => {
  assert.equal(tooOld({ python: '3.9.2' }), 'it is Python 3.9.2; 3.11 or newer is needed');
  assert.equal(tooOld({ python: '3.11.0' }), undefined);
  const onPath = { command: 'python3', from: 'path' } as const;
  assert.equal(objection({ python: '3.12.1' }, onPath), 'it does not have the sidelight package');
  assert.equal(objection({ python: '3.12.1', sidelight: '0.0.1' }, onPath, '0.1.0'), undefined);
  const [first, second] = builders('/mine', '/theirs');
  assert.deepEqual([first?.command, second?.command], ['/mine', '/theirs']);
});

test('the package takes the wheel along', () => {
  assert.match(readFileSync('.vscodeignore', 'utf8'), /^!wheel\/\*\*$/m);
});
