// Runs tests one after the other. A test is a module with `name` and `run(t)`, and perhaps `timeout` (ms).

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const TEST_MS = 120_000;

/** Import the test files of a folder in the order of their names; `only` is a part of a test's name. */
export async function loadTests(folder, only = '') {
  const files = (existsSync(folder) ? readdirSync(folder) : []).filter((file) => file.endsWith('.test.mjs'));
  const tests = [];
  for (const file of files.sort()) {
    const test = await import(pathToFileURL(join(folder, file)));
    if (typeof test.name !== 'string' || typeof test.run !== 'function') {
      throw new Error(`${file} must export a string \`name\` and a function \`run\``);
    }
    if (test.name.includes(only)) tests.push(test);
  }
  return tests;
}

/**
 * Run them all and return how many `passed` and `failed`. `before` and `after` belong to the test and are
 * bounded with it; `onFailure` keeps the evidence. A test that hangs fails; what it awaits is its owner's to end.
 */
export async function runTests(tests, t, { print, before, after, onFailure } = {}) {
  const counts = { passed: 0, failed: 0 };
  for (const test of tests) {
    const start = Date.now();
    const seconds = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
    try {
      await bounded(test.timeout ?? TEST_MS, async () => {
        await before?.(test);
        await test.run(t);
        await after?.(test);
      });
      counts.passed += 1;
      print(`  ok    ${test.name} (${seconds()})`);
    } catch (error) {
      counts.failed += 1;
      print(`  FAIL  ${test.name} (${seconds()})\n${indented(error.stack ?? String(error))}`);
      await onFailure?.(test, error);
    }
  }
  return counts;
}

async function bounded(ms, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function indented(text) {
  return text.replace(/^/gm, '        ');
}
