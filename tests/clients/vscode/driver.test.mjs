// The parts of the driver that need no editor: `node --test driver.test.mjs`.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { ChildProcess, until } from './processes.mjs';
import { loadTests, runTests } from './runner.mjs';

const alive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('tests run one after the other, and each failure is counted and handed over', async () => {
  const order = [];
  const tests = [
    { name: 'first', run: (t) => order.push(`first ${t.word}`) },
    { name: 'breaks', run: () => Promise.reject(new Error('broken')) },
    { name: 'hangs', timeout: 20, run: () => new Promise(() => {}) },
    { name: 'last', run: () => order.push('last') },
  ];
  const failures = [];
  const printed = [];
  const counts = await runTests(
    tests,
    { word: 'is given t' },
    {
      print: (line) => printed.push(line),
      before: (one) => order.push(`before ${one.name}`),
      onFailure: (one, error) => failures.push([one.name, error.message]),
    },
  );
  assert.deepEqual(counts, { passed: 2, failed: 2 });
  assert.deepEqual(failures, [
    ['breaks', 'broken'],
    ['hangs', 'no end after 20 ms'],
  ]);
  assert.deepEqual(order, [
    'before first',
    'first is given t',
    'before breaks',
    'before hangs',
    'before last',
    'last',
  ]);
  assert.deepEqual(
    printed.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' ')),
    ['ok first', 'FAIL breaks', 'FAIL hangs', 'ok last'],
  );
});

test('a failing preparation is the failure of its test alone', async () => {
  const before = (one) => {
    if (one.name === 'second') throw new Error('the page did not open');
  };
  const tests = ['first', 'second', 'third'].map((name) => ({ name, run: () => {} }));
  const counts = await runTests(tests, {}, { print: () => {}, before });
  assert.deepEqual(counts, { passed: 2, failed: 1 });
});

test('test files are loaded in the order of their names, chosen by a part of the title', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sidelight-driver-'));
  try {
    const file = (name, text) => writeFileSync(join(folder, name), text);
    file('b.test.mjs', `export const name = 'a hunk is kept'; export const run = () => {};`);
    file('a.test.mjs', `export const name = 'a hunk is undone'; export const run = () => {};`);
    file('suite.mjs', 'throw new Error("not a test")');
    const names = async (only) => (await loadTests(folder, only)).map((one) => one.name);
    assert.deepEqual(await names(), ['a hunk is undone', 'a hunk is kept']);
    assert.deepEqual(await names('kept'), ['a hunk is kept']);
    assert.deepEqual(await names('nowhere'), []);
    file('c.test.mjs', `export const title = 'wrong';`);
    await assert.rejects(loadTests(folder), /c\.test\.mjs must export/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('stopping a process ends its children too, also one that ignores the polite signal', async () => {
  const script = `trap '' TERM; (trap '' TERM; echo child $BASHPID; exec sleep 60) & wait`;
  const parent = new ChildProcess('bash', ['-c', script]);
  const [, child] = await parent.line(/child (\d+)/, 5_000);
  await parent.stop(100);
  assert.equal(parent.exitCode, 'SIGKILL');
  await until('the end of the child', () => !alive(Number(child)), 5_000);
});

test('waiting for a line of a process that ended says what it printed', async () => {
  const child = new ChildProcess('bash', ['-c', 'echo something else; exit 3']);
  await assert.rejects(child.line(/ready/, 5_000), /ended early \(3\)\nsomething else/);
  await assert.rejects(child.succeeded(5_000), /: 3\nsomething else/);
});

test('a program that is not there is an error, not a wait', async () => {
  const child = new ChildProcess('no-such-program-of-sidelight', []);
  await assert.rejects(child.line(/ready/, 5_000), /ended early \(.*ENOENT/);
  await child.stop();
});

test('a wait that ends in vain says what was awaited and what went wrong last', async () => {
  const probe = () => {
    throw new Error('not yet');
  };
  await assert.rejects(until('the moon', probe, 60), {
    message: 'the moon: not within 60 ms; last problem: not yet',
  });
});
